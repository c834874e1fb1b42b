/* Numbers as text: reading agrees with strtod, writing is the shortest that reads back. */
#include "data/text/text.h"

#include "testing.h"

static void numbers_read_as_strtod_does(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "1",
                                        "+1.",
                                        ".5",
                                        "-1.5e3",
                                        "1E-7",
                                        "123456789012345678901234567890",
                                        "9007199254740993",
                                        "9007199254740992.99999999999999",
                                        "1.7976931348623157e308",
                                        "5e-324",
                                        "2.2250738585072011e-308",
                                        "0.000000000000000000000000000000000000001234",
                                        "1e27",
                                        "1e28",
                                        "18446744073709551615e-27",
                                        "1e999",
                                        "1e-99999999999999999999",
                                        "0e99999999999"};
    static const char *const wrong[] = {"",    "-",  ".",  "1e",    "1e+", "0x10", "nan",
                                        "inf", "1 ", " 1", "1.2.3", "--1", "1,5",  "1e5.0"};
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double number = 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_true(number_parse(texts[i], c, &number));
        assert_true(number == strtod(texts[i], NULL));
        assert_true(!signbit(number) == !signbit(strtod(texts[i], NULL)));
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_false(number_parse(wrong[i], c, &number));
    }
    freelocale(c);
}

static uint64_t scramble(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

/* Digits that count in a text such as "-0.00120e7". */
static int digits_in(const char *text)
{
    int digits = 0;
    int zeros = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text >= '1' && *text <= '9') {
            digits += zeros + 1;
            zeros = 0;
        } else if (*text == '0' && digits > 0) {
            zeros++;
        }
    }
    return digits;
}

static void numbers_are_written_shortest(void **state)
{
    (void)state;
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    uint64_t seed = 88172645463325252U;
    for (int i = 0; i < 30000; i++) {
        uint64_t bits = scramble(&seed);
        double value = (double)(int64_t)bits * 1e-18;
        if (i % 3 == 0) {
            memcpy(&value, &bits, sizeof value);
        } else if (i % 3 == 1) {
            value = (double)(bits % 1000000) / 1000;
        }
        if (!isfinite(value)) {
            continue;
        }
        char text[NUMBER_TEXT];
        char printed[64];
        double back = 0;
        size_t length = number_text(value, text);
        assert_int_equal(length, strlen(text));
        assert_true(number_parse(text, c, &back));
        assert_true(back == value && strtod(text, NULL) == value);
        int precision = 0;
        do {
            (void)snprintf(printed, sizeof printed, "%.*e", precision++, value);
        } while (strtod(printed, NULL) != value);
        assert_int_equal(digits_in(text), digits_in(printed));
    }
    freelocale(c);
}

static void numbers_look_natural(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "-0"},
                 {72, "72"},
                 {-5.962, "-5.962"},
                 {0.1, "0.1"},
                 {0.00001, "0.00001"},
                 {1e-6, "1e-6"},
                 {1e16, "10000000000000000"},
                 {1e17, "1e17"},
                 {5e-324, "5e-324"},
                 {1.5e300, "1.5e300"},
                 {1 / 3.0, "0.3333333333333333"}};
    char text[NUMBER_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)number_text(cases[i].value, text);
        assert_string_equal(text, cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_read_as_strtod_does),
        cmocka_unit_test(numbers_are_written_shortest),
        cmocka_unit_test(numbers_look_natural),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
