/* exp, log and the small change of eight numbers at once, without branches or tables:
 *
 *   exp x = 2^n e^r,            n = round(x / log 2),  |r| <= log(2)/2,  Taylor to r^13
 *   log x = e log 2 + 2 atanh s,  x = m 2^e,  m in [sqrt 1/2, sqrt 2),  s = (m - 1)/(m + 1)
 *
 * to about one unit in the last place (the tests compare with libm). A NaN in a lane stays NaN in
 * that lane, and no lane ever depends on another. Everything is inlined, also across target clones.
 */
#ifndef LSCM_BASE_LANES_MATH_H
#define LSCM_BASE_LANES_MATH_H

#include "base/lanes.h"
#include "base/series.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What comparing lanes gives: all bits set where true, none where false. */
typedef int64_t lanes_mask __attribute__((vector_size(LANES * sizeof(int64_t))));
typedef uint64_t lanes_bits __attribute__((vector_size(LANES * sizeof(uint64_t))));

/* Always inlined, so that no call depends on how the machine passes wide vectors. */
#define LANES_INLINE static inline __attribute__((always_inline))
#pragma GCC diagnostic ignored "-Wpsabi"

LANES_INLINE lanes lanes_of(double x)
{
    return (lanes){x, x, x, x, x, x, x, x};
}

/* a < b; false where either is NaN. Written by element, as are the others below: comparisons of
 * whole vectors are taken apart by GCC 12 when they are inlined into target clones. */
LANES_INLINE lanes_mask lanes_less(lanes a, lanes b)
{
    lanes_mask result = {0};
    for (size_t k = 0; k < LANES; k++) {
        result[k] = a[k] < b[k] ? -1 : 0;
    }
    return result;
}

/* yes where the mask is set, else no */
LANES_INLINE lanes lanes_select(lanes_mask mask, lanes yes, lanes no)
{
    return (lanes)((mask & (lanes_mask)yes) | (~mask & (lanes_mask)no));
}

/* The larger and the smaller; NaN where either is NaN. */
LANES_INLINE lanes lanes_max(lanes a, lanes b)
{
    lanes result = a;
    for (size_t k = 0; k < LANES; k++) {
        result[k] = a[k] >= b[k] || a[k] != a[k] ? a[k] : b[k];
    }
    return result;
}

LANES_INLINE lanes lanes_min(lanes a, lanes b)
{
    lanes result = a;
    for (size_t k = 0; k < LANES; k++) {
        result[k] = a[k] <= b[k] || a[k] != a[k] ? a[k] : b[k];
    }
    return result;
}

/* x where it is larger (smaller), else so_far: one instruction. A NaN in x is passed over. */
LANES_INLINE lanes lanes_larger(lanes x, lanes so_far)
{
    for (size_t k = 0; k < LANES; k++) {
        so_far[k] = x[k] > so_far[k] ? x[k] : so_far[k];
    }
    return so_far;
}

LANES_INLINE lanes lanes_smaller(lanes x, lanes so_far)
{
    for (size_t k = 0; k < LANES; k++) {
        so_far[k] = x[k] < so_far[k] ? x[k] : so_far[k];
    }
    return so_far;
}

LANES_INLINE lanes lanes_abs(lanes a)
{
    return (lanes)((lanes_mask)a & INT64_MAX);
}

LANES_INLINE bool lanes_any(lanes_mask mask)
{
    return (mask[0] | mask[1] | mask[2] | mask[3] | mask[4] | mask[5] | mask[6] | mask[7]) != 0;
}

LANES_INLINE bool lanes_all(lanes_mask mask)
{
    return (mask[0] & mask[1] & mask[2] & mask[3] & mask[4] & mask[5] & mask[6] & mask[7]) != 0;
}

/* The largest of the eight; NaN when one of them is NaN. */
LANES_INLINE double lanes_largest(lanes a)
{
    double largest = a[0];
    for (size_t k = 1; k < LANES; k++) {
        largest = a[k] > largest || isnan(a[k]) ? a[k] : largest;
    }
    return largest;
}

/* Any argument: 0 below -745.2 (gradually from -708), infinity above 709.8. */
LANES_INLINE lanes lanes_exp(lanes x)
{
    /* adding it rounds to a whole number, which is then in the low bits */
    const double magic = 0x1.8p52;
    for (size_t k = 0; k < LANES; k++) {
        x[k] = x[k] < -746 ? -746 : x[k];
        x[k] = x[k] > 710 ? 710 : x[k];
    }
    lanes n = (x * 0x1.71547652b82fep0 + magic) - magic;
    lanes half = n * 0.5 + magic;
    lanes rest = (n - (half - magic)) + magic;
    /* log 2 in two parts: n times the first is exact */
    lanes r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    lanes p = r * (1.0 / 6227020800) + 1.0 / 479001600;
    p = p * r + 1.0 / 39916800;
    p = p * r + 1.0 / 3628800;
    p = p * r + 1.0 / 362880;
    p = p * r + 1.0 / 40320;
    p = p * r + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = (p * r * r + r) + 1.0;
    /* 2^n in two factors: n reaches below and above the exponents of normal numbers */
    lanes_bits one = (lanes_bits)lanes_of(1.0);
    lanes first = (lanes)(((lanes_bits)half << 52) + one);
    lanes second = (lanes)(((lanes_bits)rest << 52) + one);
    return p * first * second;
}

/* Positive normal numbers; anything else (0, subnormal, negative, infinite, NaN) gives NaN. */
LANES_INLINE lanes lanes_log(lanes x)
{
    const uint64_t root_half = 0x3fe6a09e667f3bcdU; /* sqrt 1/2 */
    /* adding the gap between sqrt 1/2 and 1 makes the exponent field change at sqrt 1/2 */
    lanes_bits moved = (lanes_bits)x + (0x3ff0000000000000U - root_half);
    lanes m = (lanes)((moved & 0xfffffffffffffU) + root_half);
    /* the small integer in the exponent field as a double, by its bits */
    lanes e = (lanes)((moved >> 52) | 0x4330000000000000U) - (0x1p52 + 1023);
    lanes s = (m - 1.0) / (m + 1.0);
    lanes q = s * s;
    lanes sum = lanes_of(1.0 / 23);
    SERIES_ATANH(sum, q);
    lanes twice = s + s;
    lanes result = e * 0x1.62e42feep-1 + (twice + (twice * (q * sum) + e * 0x1.a39ef35793c76p-33));
    for (size_t k = 0; k < LANES; k++) {
        result[k] = x[k] >= DBL_MIN && x[k] <= DBL_MAX ? result[k] : (double)NAN;
    }
    return result;
}

/* P(a standard normal number < u), to 1e-7, by Abramowitz and Stegun's 7.1.26 for erf(|u| / sqrt
 * 2): enough where it is averaged over draws. */
LANES_INLINE lanes lanes_normal_below(lanes u)
{
    lanes x = lanes_abs(u);
    lanes t = 1.0 / (x * (0.3275911 * 0.70710678118654752) + 1.0);
    lanes p = t * 1.061405429 - 1.453152027;
    p = p * t + 1.421413741;
    p = p * t - 0.284496736;
    p = p * t + 0.254829592;
    lanes beyond = p * t * lanes_exp(x * x * -0.5) * 0.5;
    return lanes_select(lanes_less(u, lanes_of(0)), beyond, 1.0 - beyond);
}

#endif
