#include "result/report/report_page.h"

#include "data/text/text.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MINUS "\xe2\x88\x92"
#define REPLACEMENT "\xef\xbf\xbd"
#define ELLIPSIS "\xe2\x80\xa6"

/* ---- Numbers ---- */

/* |value| by integers: printf would ask the locale for the point. */
static void put_digits(char *out, size_t size, const char *minus, double value, int decimals)
{
    static const long long powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    long long unit = powers[decimals];
    long long scaled = llround(fabs(value) * (double)unit);
    const char *sign = value < 0 && scaled > 0 ? minus : "";
    if (decimals > 0) {
        (void)snprintf(out, size, "%s%lld.%0*lld", sign, scaled / unit, decimals, scaled % unit);
    } else {
        (void)snprintf(out, size, "%s%lld", sign, scaled);
    }
}

/* d.ddeK */
static void put_power(char *out, size_t size, const char *minus, double value)
{
    int power = (int)floor(log10(fabs(value)));
    double lead = fabs(value) / pow(10, power);
    if (!(lead < 9.95)) {
        lead /= 10;
        power++;
    }
    int at_end = 0;
    put_digits(out, size, minus, value < 0 ? -lead : lead, 1);
    at_end = (int)strlen(out);
    (void)snprintf(out + at_end, size - (size_t)at_end, "e%s%d", power < 0 ? minus : "",
                   power < 0 ? -power : power);
}

static number number_of(double value, int decimals, const char *minus)
{
    number n = {"\xe2\x80\x93"};
    if (!(fabs(value) <= DBL_MAX)) {
        return n;
    }
    if (fabs(value) < 1e10) {
        put_digits(n.text, sizeof n.text, minus, value, decimals < 7 ? decimals : 7);
    } else {
        put_power(n.text, sizeof n.text, minus, value);
    }
    return n;
}

number fixed(double value, int decimals)
{
    return number_of(value, decimals, "-");
}

number decimals(double value, int count)
{
    return number_of(value, count, MINUS);
}

number few_digits(double value)
{
    double size = fabs(value);
    number n;
    if (size > 0 && (size < 1e-3 || (size >= 1e6 && size <= DBL_MAX))) {
        put_power(n.text, sizeof n.text, MINUS, value);
        return n;
    }
    int count = size >= 99.95 || size == 0 ? 0 : size >= 9.995 ? 1 : size >= 0.0995 ? 2 : 4;
    return number_of(value, count, MINUS);
}

int decimals_for(double range)
{
    double wanted = range > 0 ? ceil(1 - log10(range)) : 2;
    return wanted < 2 ? 2 : wanted > 6 ? 6 : (int)wanted;
}

number tiny(double value)
{
    double size = fabs(value);
    if (!(size > 0 && size < 0.005)) {
        return number_of(value, size >= 999.5 ? 0 : size >= 99.95 ? 1 : 2, MINUS);
    }
    int power = (int)floor(log10(size));
    long lead = lround(size / pow(10, power));
    number n;
    (void)snprintf(n.text, sizeof n.text, "%s%lde%s%d", value < 0 ? MINUS : "",
                   lead < 10 ? lead : 1L, MINUS, lead < 10 ? -power : -power - 1);
    return n;
}

number percent(double share)
{
    number n;
    if (share > 0 && share < 0.005) {
        (void)snprintf(n.text, sizeof n.text, "under 1&#160;%%");
    } else if (share < 1 && share >= 0.995) {
        (void)snprintf(n.text, sizeof n.text, "over 99&#160;%%");
    } else {
        (void)snprintf(n.text, sizeof n.text, "%.0f&#160;%%", 100 * share);
    }
    return n;
}

/* 1.50 to 1.5, 2.00 to 2 */
static number trimmed(number n)
{
    size_t length = strlen(n.text);
    while (length > 0 && n.text[length - 1] == '0' && strchr(n.text, '.') != NULL) {
        n.text[--length] = '\0';
    }
    if (length > 0 && n.text[length - 1] == '.') {
        n.text[--length] = '\0';
    }
    return n;
}

number coordinate(double value)
{
    return trimmed(number_of(value, 2, "-"));
}

number round_number(double value)
{
    return value != 0 && fabs(value) < 1e-4 ? few_digits(value)
                                            : trimmed(number_of(value, 4, MINUS));
}

number counted(size_t count)
{
    static const char *const words[] = {"none",  "one",   "two",  "three", "four",   "five",  "six",
                                        "seven", "eight", "nine", "ten",   "eleven", "twelve"};
    number n;
    if (count < sizeof words / sizeof words[0]) {
        (void)snprintf(n.text, sizeof n.text, "%s", words[count]);
    } else {
        (void)snprintf(n.text, sizeof n.text, "%zu", count);
    }
    return n;
}

/* ---- Texts ---- */

/* Bytes of the character at `text`, 0 where it is none that XML allows. */
static size_t character(const char *text)
{
    unsigned char first = (unsigned char)text[0];
    size_t bytes = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    uint32_t code = 0;
    if (strnlen(text, bytes) < bytes || utf8_length(text, bytes) != 1) {
        return 0;
    }
    utf8_decode(text, bytes, &code);
    bool control = (code < 0x20 && code != '\t' && code != '\n') || (code >= 0x7F && code < 0xA0);
    return control || code == 0xFFFE || code == 0xFFFF ? 0 : bytes;
}

static void put_character(FILE *out, const char *text, size_t bytes)
{
    static const struct {
        char plain;
        const char *entity;
    } special[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    for (size_t k = 0; k < sizeof special / sizeof special[0]; k++) {
        if (text[0] == special[k].plain) {
            (void)fputs(special[k].entity, out);
            return;
        }
    }
    (void)fwrite(text, 1, bytes, out);
}

size_t text_width(const char *text)
{
    size_t width = 0;
    while (*text != '\0') {
        size_t bytes = character(text);
        text += bytes > 0 ? bytes : 1;
        width++;
    }
    return width;
}

void put_short_text(FILE *out, const char *text, size_t most)
{
    bool cut = text_width(text) > most;
    for (size_t k = 0; *text != '\0' && k < (cut ? most - 1 : most); k++) {
        size_t bytes = character(text);
        if (bytes > 0) {
            put_character(out, text, bytes);
        } else {
            (void)fputs(REPLACEMENT, out);
        }
        text += bytes > 0 ? bytes : 1;
    }
    if (cut) {
        (void)fputs(ELLIPSIS, out);
    }
}

void put_text(FILE *out, const char *text)
{
    put_short_text(out, text, SIZE_MAX);
}

/* ---- The page ---- */

/* Nothing is fetched and nothing runs: the page says so to the browser, too. */
void page_open(FILE *out, const char *title)
{
    (void)fputs("<!DOCTYPE html>\n"
                "<html lang=\"en\">\n<head>\n"
                "<meta charset=\"utf-8\" />\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\" "
                "/>\n"
                "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
                "<meta name=\"color-scheme\" content=\"light dark\" />\n"
                "<title>",
                out);
    put_text(out, title);
    (void)fputs(": report of lscm</title>\n<style>\n", out);
    for (size_t k = 0; REPORT_STYLE[k] != NULL; k++) {
        (void)fputs(REPORT_STYLE[k], out);
    }
    (void)fputs("</style>\n</head>\n<body>\n", out);
}

void page_close(FILE *out)
{
    (void)fputs("</body>\n</html>\n", out);
}

void section_open(FILE *out, const char *id, const char *title)
{
    (void)fprintf(out,
                  "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">%s</h2>\n",
                  id, id, id, title);
}

void section_close(FILE *out)
{
    (void)fputs("</section>\n", out);
}
