/* Reading: m * 10^e with m < 2^64 and |e| <= 27 is rounded once, because m * 5^e fits in 128 bits,
 * and so does the quotient m * 2^k / 5^-e with its last bit standing for the remainder. Anything
 * else goes to strtod in the C locale.
 *
 * Writing: of the 17 digits found in extended precision, the first 15, 16 or all 17 are kept,
 * whichever first reads back by the exact rule above; what is out of its range is searched for
 * with printf.
 */
#define _GNU_SOURCE /* strtod_l */
#include "data/text/number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { LARGEST_POWER = 27, MOST_DIGITS = 19 };

/* 5^power */
static uint64_t five(int power)
{
    static const uint64_t ONES[] = {1, 5, 25, 125, 625, 3125, 15625, 78125};
    static const uint64_t EIGHTS[] = {1, 390625, 152587890625, 59604644775390625};
    return ONES[power % 8] * EIGHTS[power / 8];
}

/* digits * 10^exponent, correctly rounded; false when out of the range of 128-bit integers. */
static bool exact(uint64_t digits, int exponent, double *out)
{
    if (exponent < -LARGEST_POWER || exponent > LARGEST_POWER) {
        return false;
    }
    if (digits == 0) {
        *out = 0;
    } else if (exponent >= 0) {
        *out = ldexp((double)((wide)digits * five(exponent)), exponent);
    } else {
        int shift = 64 + __builtin_clzll(digits);
        wide numerator = (wide)digits << shift;
        wide quotient = numerator / five(-exponent);
        quotient |= quotient * five(-exponent) != numerator ? 1 : 0;
        *out = ldexp((double)quotient, exponent - shift);
    }
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What a text says before rounding. */
typedef struct decimal {
    uint64_t digits;
    int exponent;
    bool cut; /* more digits than fit */
} decimal;

/* Reads digits with at most one point; the end of them, or NULL when there are none. */
static const char *scan_digits(const char *p, decimal *d)
{
    bool any = false;
    bool point = false;
    int significant = 0;
    for (; is_digit(*p) || (*p == '.' && !point); p++) {
        if (*p == '.') {
            point = true;
            continue;
        }
        any = true;
        if (significant == MOST_DIGITS) {
            d->cut = true;
        } else {
            d->digits = 10 * d->digits + (uint64_t)(*p - '0');
            significant += d->digits != 0 ? 1 : 0;
            d->exponent -= point ? 1 : 0;
        }
    }
    return any ? p : NULL;
}

static const char *scan_exponent(const char *p, decimal *d)
{
    int exponent = 0;
    p++;
    bool negative = *p == '-';
    p += *p == '-' || *p == '+' ? 1 : 0;
    if (!is_digit(*p)) {
        return NULL;
    }
    for (; is_digit(*p); p++) {
        exponent = exponent < 100000 ? 10 * exponent + (*p - '0') : exponent;
    }
    d->exponent += negative ? -exponent : exponent;
    return p;
}

bool number_parse(const char *text, locale_t c, double *out)
{
    decimal d = {0};
    double size = 0;
    bool negative = *text == '-';
    const char *p = scan_digits(text + (*text == '-' || *text == '+' ? 1 : 0), &d);
    if (p != NULL && (*p == 'e' || *p == 'E')) {
        p = scan_exponent(p, &d);
    }
    if (p == NULL || *p != '\0') {
        return false;
    }
    if (d.cut || !exact(d.digits, d.exponent, &size)) {
        *out = strtod_l(text, NULL, c);
    } else {
        *out = negative ? -size : size;
    }
    return true;
}

/* size = digits * 10^exponent with as few digits as read back; false when out of range. */
static bool shortest_in_range(double size, decimal *d)
{
    /* 15 digits; 16, where the last 5 of 17 may itself have been rounded up to; 17 */
    static const struct {
        uint64_t add, cut;
        int power;
    } TRIES[] = {{50, 100, 2}, {5, 10, 1}, {4, 10, 1}, {0, 1, 0}};
    if (!(size >= 1e-9 && size < 1e17)) {
        return false;
    }
    int power = 16 - (int)floor(log10(size));
    /* 10^|power|, exact where a long double has 64 bits */
    long double scale = (long double)five(abs(power)) * (long double)(UINT64_C(1) << abs(power));
    long double scaled = power >= 0 ? (long double)size * scale : (long double)size / scale;
    if (!(scaled < 1e18L)) {
        return false;
    }
    uint64_t digits = (uint64_t)(scaled + 0.5L);
    for (size_t i = 0; i < sizeof TRIES / sizeof TRIES[0]; i++) {
        double back = 0;
        d->digits = (digits + TRIES[i].add) / TRIES[i].cut;
        d->exponent = TRIES[i].power - power;
        if (exact(d->digits, d->exponent, &back) && back == size) {
            return true;
        }
    }
    return false;
}

/* The same for any size, slowly. printf and strtod share a locale, whichever it is. */
static void shortest(double size, decimal *d)
{
    char text[64];
    int count = 0;
    do {
        count++;
        (void)snprintf(text, sizeof text, "%.*e", count - 1, size);
    } while (count < 17 && strtod(text, NULL) != size);
    const char *p = text;
    d->digits = 0;
    for (; *p != 'e'; p++) {
        d->digits = is_digit(*p) ? 10 * d->digits + (uint64_t)(*p - '0') : d->digits;
    }
    d->exponent = (int)strtol(p + 1, NULL, 10) - (count - 1);
}

static char *put(char *out, const char *from, int count)
{
    memcpy(out, from, (size_t)count);
    return out + count;
}

static char *put_zeros(char *out, int count)
{
    memset(out, '0', (size_t)count);
    return out + count;
}

/* `text` holds n digits; the first stands for 10^first. */
static char *lay_out(char *out, const char *text, int n, int first)
{
    if (first < -5 || first > 16) {
        *out++ = *text;
        if (n > 1) {
            *out++ = '.';
            out = put(out, text + 1, n - 1);
        }
        return out + snprintf(out, 8, "e%d", first);
    }
    if (first < 0) {
        out = put(out, "0.", 2);
        out = put_zeros(out, -first - 1);
        return put(out, text, n);
    }
    if (n <= first + 1) {
        out = put(out, text, n);
        return put_zeros(out, first + 1 - n);
    }
    out = put(out, text, first + 1);
    *out++ = '.';
    return put(out, text + first + 1, n - first - 1);
}

size_t number_text(double value, char out[NUMBER_TEXT])
{
    char reversed[24];
    char text[24];
    decimal d = {0};
    char *p = out;
    int n = 0;
    if (signbit(value)) {
        *p++ = '-';
    }
    if (value != 0 && !shortest_in_range(fabs(value), &d)) {
        shortest(fabs(value), &d);
    }
    for (; d.digits != 0 && d.digits % 10 == 0; d.digits /= 10) {
        d.exponent++;
    }
    do {
        reversed[n++] = (char)('0' + (int)(d.digits % 10));
        d.digits /= 10;
    } while (d.digits != 0);
    for (int i = 0; i < n; i++) {
        text[i] = reversed[n - 1 - i];
    }
    p = lay_out(p, text, n, d.exponent + n - 1);
    *p = '\0';
    return (size_t)(p - out);
}
