/* Element types: every conversion against another way to the same number. */
#include "data/dataset/dataset.h"

#include "testing.h"

static void names_and_codes_lead_back(void **state)
{
    (void)state;
    for (int type = 0; type < DTYPE_COUNT; type++) {
        const char *code = dtype_code((dtype)type);
        assert_int_equal(dtype_from_name(dtype_name((dtype)type)), type);
        assert_int_equal(dtype_from_code(code), type);
        assert_int_equal(dtype_size((dtype)type), code[1] - '0');
    }
    assert_int_equal(dtype_from_name("float"), DTYPE_COUNT);
    assert_int_equal(dtype_from_code("O8"), DTYPE_COUNT);
    assert_int_equal(dtype_size(DTYPE_COUNT), 0);
}

/* Three elements at an odd address, so that alignment is never assumed. */
#define CHECK_TYPE(type, ctype, a, b, c)                                                           \
    do {                                                                                           \
        const ctype from_[3] = {(a), (b), (c)};                                                    \
        char odd_[1 + sizeof from_] = {0};                                                         \
        double to_[3] = {0};                                                                       \
        memcpy(odd_ + 1, from_, sizeof from_);                                                     \
        dtype_to_double((type), odd_ + 1, 3, to_);                                                 \
        assert_near(to_[0], (double)(a), 0);                                                       \
        assert_near(to_[1], (double)(b), 0);                                                       \
        assert_near(to_[2], (double)(c), 0);                                                       \
        dtype_swap((type), odd_ + 1, 3);                                                           \
        for (size_t i_ = 0; i_ < sizeof from_; i_++) {                                             \
            size_t first_ = i_ - i_ % sizeof(ctype);                                               \
            size_t other_ = first_ + sizeof(ctype) - 1 - i_ % sizeof(ctype);                       \
            assert_int_equal(odd_[1 + i_], ((const char *)from_)[other_]);                         \
        }                                                                                          \
    } while (0)

static void numbers_become_doubles_and_bytes_turn(void **state)
{
    (void)state;
    CHECK_TYPE(DTYPE_BOOL, uint8_t, 0, 1, 1);
    CHECK_TYPE(DTYPE_INT8, int8_t, INT8_MIN, -1, INT8_MAX);
    CHECK_TYPE(DTYPE_INT16, int16_t, INT16_MIN, -2, INT16_MAX);
    CHECK_TYPE(DTYPE_INT32, int32_t, INT32_MIN, 70000, INT32_MAX);
    CHECK_TYPE(DTYPE_INT64, int64_t, INT64_MIN, -5000000000, 1 - (INT64_C(1) << 53));
    CHECK_TYPE(DTYPE_UINT8, uint8_t, 0, 200, UINT8_MAX);
    CHECK_TYPE(DTYPE_UINT16, uint16_t, 0, 40000, UINT16_MAX);
    CHECK_TYPE(DTYPE_UINT32, uint32_t, 0, 3000000000U, UINT32_MAX);
    CHECK_TYPE(DTYPE_UINT64, uint64_t, 0, UINT64_C(1) << 63, 5);
    CHECK_TYPE(DTYPE_FLOAT32, float, 0.1F, -1e-42F, 3e38F);
    CHECK_TYPE(DTYPE_FLOAT64, double, 0.1, -5e-324, 1e308);
    dtype_to_double(DTYPE_FLOAT64, NULL, 0, NULL);
}

/* sign * fraction * 2^exponent, from the definition. */
static double half_by_hand(uint16_t half)
{
    int exponent = (half >> 10) & 31;
    int fraction = half & 1023;
    double size = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) {
        size = fraction == 0 ? INFINITY : NAN;
    }
    return half >> 15 != 0 ? -size : size;
}

static void every_half_is_itself(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 65536; bits++) {
        uint16_t half = (uint16_t)bits;
        uint16_t again = 0;
        float value = 0;
        double wide = 0;
        double expected = half_by_hand(half);
        half_to_float(&half, 1, &value);
        half_from_float(&value, 1, &again);
        assert_int_equal(again, half); /* NaN too, with its payload */
        dtype_to_double(DTYPE_FLOAT16, &half, 1, &wide);
        if (isnan(expected)) {
            assert_true(isnan(value) && isnan(wide));
        } else {
            assert_true((double)value == expected && wide == expected);
            assert_int_equal(signbit(wide) != 0, signbit(expected) != 0);
        }
    }
}

static uint16_t narrow(float value)
{
    uint16_t half = 0;
    half_from_float(&value, 1, &half);
    return half;
}

/* Between two neighbours: the nearer one, and from the middle the even one. */
static void floats_round_to_the_nearest_half(void **state)
{
    (void)state;
    for (uint16_t half = 0; half < 0x7c00; half++) {
        uint16_t next = (uint16_t)(half + 1);
        double above = next == 0x7c00 ? 65536 : half_by_hand(next);
        float middle = (float)((half_by_hand(half) + above) / 2); /* exact: 12 bits */
        uint16_t even = half % 2 == 0 ? half : next;
        assert_int_equal(narrow(middle), even);
        assert_int_equal(narrow(nextafterf(middle, 0)), half);
        assert_int_equal(narrow(nextafterf(middle, INFINITY)), next);
        assert_int_equal(narrow(-middle), even | 0x8000);
    }
    assert_int_equal(narrow(1e30F), 0x7c00);
    assert_int_equal(narrow(1e-40F), 0);
}

static void put(dtype type, void *raw, size_t index, uint64_t bits)
{
    size_t size = dtype_size(type);
    memcpy((char *)raw + index * size, &bits, size); /* little endian, as these tests are */
}

static void nan_and_inf_are_found_where_they_are(void **state)
{
    (void)state;
    enum { MOST = 2100 };
    static const struct {
        dtype type;
        uint64_t largest, bad[4]; /* Inf, -Inf, quiet NaN, the smallest signalling NaN */
    } cases[] = {
        {DTYPE_FLOAT16, 0x7bff, {0x7c00, 0xfc00, 0x7e00, 0x7c01}},
        {DTYPE_FLOAT32, 0x7f7fffff, {0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001}},
        {DTYPE_FLOAT64,
         0x7fefffffffffffff,
         {0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001}},
    };
    static const size_t lengths[] = {1, 2, 17, 1023, 1024, 1025, MOST};
    static uint64_t raw[MOST + 1];
    for (size_t c = 0; c < 3; c++) {
        dtype type = cases[c].type;
        for (size_t i = 0; i <= MOST; i++) {
            put(type, raw, i, i % 2 == 0 ? cases[c].largest : 0);
        }
        for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
            size_t n = lengths[l];
            put(type, raw, n, cases[c].bad[0]); /* just behind the end */
            assert_int_equal(dtype_first_nonfinite(type, raw, n), n);
            put(type, raw, n, 0);
            for (size_t at = 0; at < n; at += 1 + n / 40) {
                put(type, raw, at, cases[c].bad[at % 4]);
                put(type, raw, n - 1, cases[c].bad[0]);
                assert_int_equal(dtype_first_nonfinite(type, raw, n), at);
                put(type, raw, at, cases[c].largest);
                put(type, raw, n - 1, 0);
            }
        }
    }
    memset(raw, 0xff, sizeof raw);
    assert_int_equal(dtype_first_nonfinite(DTYPE_INT64, raw, MOST), MOST);
    assert_int_equal(dtype_first_nonfinite(DTYPE_FLOAT64, raw, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_codes_lead_back),
        cmocka_unit_test(numbers_become_doubles_and_bytes_turn),
        cmocka_unit_test(every_half_is_itself),
        cmocka_unit_test(floats_round_to_the_nearest_half),
        cmocka_unit_test(nan_and_inf_are_found_where_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
