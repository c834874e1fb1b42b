/* See rng.h. The transforms are written without libm, in arithmetic that IEEE 754 fixes to the last
 * bit (this file is compiled without contraction to fused multiply-add), so a seed gives the same
 * numbers on every machine, and in loops without branches, so that they run in vector registers:
 *
 *   u      = (2 k + 1) 2^-53,  k = the upper 52 bits
 *   log u  = e log 2 + 2 atanh(s),  u = m 2^e,  m in [sqrt 1/2, sqrt 2),  s = (m - 1)/(m + 1)
 *   normal = sqrt(-2 log u1) (cos 2 pi u2, sin 2 pi u2),  the angle reduced to [-pi/4, pi/4]
 *
 * Taylor series to the last bit on those ranges; the tests compare with libm.
 */
#include "base/rng.h"
#include "base/series.h"
#include "base/simd.h"

#include <math.h>
#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <Random123/philox.h>
#pragma GCC diagnostic pop

__extension__ typedef unsigned __int128 uint128;

enum { CHUNK = 64 }; /* blocks transformed at a time: two kilobytes, always in the first cache */

typedef struct bits128 {
    uint64_t lane[2];
} bits128;

static inline bits128 philox(rng r, uint64_t block)
{
    philox4x32_ctr_t counter = {
        {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)r.stream, (uint32_t)(r.stream >> 32)}};
    philox4x32_key_t key = {{(uint32_t)r.seed, (uint32_t)(r.seed >> 32)}};
    philox4x32_ctr_t out = philox4x32(counter, key);
    return (bits128){{out.v[0] | (uint64_t)out.v[1] << 32, out.v[2] | (uint64_t)out.v[3] << 32}};
}

static inline double from_bits(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static inline uint64_t to_bits(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline double unit(uint64_t bits)
{
    return from_bits(0x3ff0000000000000U | bits >> 12) - (1 - 0x1p-53);
}

/* log of a positive normal number */
static inline double log_of(double u)
{
    /* adding the gap between sqrt 1/2 and 1 makes the exponent field change at sqrt 1/2 */
    uint64_t moved = to_bits(u) + (0x3ff0000000000000U - 0x3fe6a09e667f3bcdU);
    uint64_t field = moved >> 52;
    double m = from_bits((moved & 0xfffffffffffffU) + 0x3fe6a09e667f3bcdU);
    /* the small integer `field` as a double, by its bits: vector units lack that conversion */
    double e = from_bits(0x4330000000000000U | field) - (0x1p52 + 1023);
    double s = (m - 1) / (m + 1);
    double q = s * s;
    double sum = 1.0 / 23;
    SERIES_ATANH(sum, q);
    double two_s = s + s;
    /* log 2 in two parts: e times the first is exact */
    return e * 0x1.62e42feep-1 + (two_s + (two_s * (q * sum) + e * 0x1.a39ef35793c76p-33));
}

static inline void sin_cos_turn(double u, double *sine, double *cosine)
{
    double t = 4 * u;
    double shifted = t + 0x1.8p52; /* rounds t to a whole number, kept in the low bits */
    uint64_t quadrant = to_bits(shifted);
    double y = (t - (shifted - 0x1.8p52)) * 0x1.921fb54442d18p0; /* pi/2 */
    double q = y * y;
    double s = 1.0 / 355687428096000;
    s = s * q - 1.0 / 1307674368000;
    s = s * q + 1.0 / 6227020800;
    s = s * q - 1.0 / 39916800;
    s = s * q + 1.0 / 362880;
    s = s * q - 1.0 / 5040;
    s = s * q + 1.0 / 120;
    s = s * q - 1.0 / 6;
    s = y + y * q * s;
    double c = -1.0 / 6402373705728000;
    c = c * q + 1.0 / 20922789888000;
    c = c * q - 1.0 / 87178291200;
    c = c * q + 1.0 / 479001600;
    c = c * q - 1.0 / 3628800;
    c = c * q + 1.0 / 40320;
    c = c * q - 1.0 / 720;
    c = c * q + 1.0 / 24;
    c = c * q - 0.5;
    c = 1 + q * c;
    /* quadrant 1: (c, -s), 2: (-s, -c), 3: (-c, s), by selecting and flipping sign bits */
    uint64_t swap = 0 - (quadrant & 1);
    uint64_t sine_bits = (to_bits(s) & ~swap) | (to_bits(c) & swap);
    uint64_t cosine_bits = (to_bits(c) & ~swap) | (to_bits(s) & swap);
    *sine = from_bits(sine_bits ^ (quadrant & 2) << 62);
    *cosine = from_bits(cosine_bits ^ ((quadrant + 1) & 2) << 62);
}

static inline void box_muller(double u1, double u2, double *first, double *second)
{
    double radius = sqrt(-2 * log_of(u1));
    double sine = 0;
    double cosine = 0;
    sin_cos_turn(u2, &sine, &cosine);
    *first = radius * cosine;
    *second = radius * sine;
}

void rng_block(rng r, uint64_t block, uint64_t out[2])
{
    bits128 bits = philox(r, block);
    out[0] = bits.lane[0];
    out[1] = bits.lane[1];
}

double rng_uniform(rng r, uint64_t index)
{
    return unit(philox(r, index / 2).lane[index % 2]);
}

double rng_normal(rng r, uint64_t index)
{
    bits128 bits = philox(r, index / 2);
    double pair[2];
    box_muller(unit(bits.lane[0]), unit(bits.lane[1]), &pair[0], &pair[1]);
    return pair[index % 2];
}

double rng_gumbel(rng r, uint64_t index)
{
    return -log_of(-log_of(rng_uniform(r, index)));
}

uint64_t rng_below(rng r, uint64_t index, uint64_t bound)
{
    uint64_t bits = philox(r, index / 2).lane[index % 2];
    return (uint64_t)(((uint128)bits * bound) >> 64);
}

double rng_gamma(rng r, uint64_t first, double shape)
{
    /* Marsaglia and Tsang 2000: d (1 + c x)^3, accepted 95% of the time or more. A normal takes a
     * whole block, so each attempt has two. */
    double d = shape - 1.0 / 3;
    double c = 1 / sqrt(9 * d);
    for (uint64_t attempt = 0; attempt < RNG_GAMMA / 4; attempt++) {
        double x = rng_normal(r, first + 4 * attempt);
        double u = rng_uniform(r, first + 4 * attempt + 2);
        double root = 1 + c * x;
        double v = root * root * root;
        if (v > 0 && log_of(u) < 0.5 * x * x + d - d * v + d * log_of(v)) {
            return d * v;
        }
    }
    return d; /* once in 1e40 */
}

CLONED static void fill_uniforms(rng r, uint64_t block, double *restrict out)
{
    uint64_t bits[2 * CHUNK];
    for (size_t k = 0; k < CHUNK; k++) {
        bits128 b = philox(r, block + k);
        bits[2 * k] = b.lane[0];
        bits[2 * k + 1] = b.lane[1];
    }
    for (size_t k = 0; k < 2 * (size_t)CHUNK; k++) {
        out[k] = unit(bits[k]);
    }
}

CLONED static void fill_normals(rng r, uint64_t block, double *restrict out)
{
    double u[2][CHUNK];
    double pair[2][CHUNK];
    for (size_t k = 0; k < CHUNK; k++) {
        bits128 b = philox(r, block + k);
        u[0][k] = unit(b.lane[0]);
        u[1][k] = unit(b.lane[1]);
    }
    for (size_t k = 0; k < CHUNK; k++) {
        box_muller(u[0][k], u[1][k], &pair[0][k], &pair[1][k]);
    }
    for (size_t k = 0; k < CHUNK; k++) {
        out[2 * k] = pair[0][k];
        out[2 * k + 1] = pair[1][k];
    }
}

typedef void (*fill_fn)(rng r, uint64_t block, double *restrict out);

static void fill(fill_fn chunk, rng r, uint64_t first, size_t n, double *out)
{
    double numbers[2 * CHUNK];
    uint64_t block = first / 2;
    size_t skip = (size_t)(first % 2);
    while (n > 0) {
        size_t have = 2 * (size_t)CHUNK - skip;
        size_t take = n < have ? n : have;
        if (skip == 0 && take == have) {
            chunk(r, block, out);
        } else {
            chunk(r, block, numbers);
            memcpy(out, numbers + skip, take * sizeof *out);
        }
        out += take;
        n -= take;
        block += CHUNK;
        skip = 0;
    }
}

void rng_uniforms(rng r, uint64_t first, size_t n, double *out)
{
    fill(fill_uniforms, r, first, n, out);
}

void rng_normals(rng r, uint64_t first, size_t n, double *out)
{
    enum { FEW = 24 }; /* a chunk costs more than so many by themselves */
    for (size_t k = 0; k < n && n < FEW; k++) {
        out[k] = rng_normal(r, first + k);
    }
    if (n < FEW) {
        return;
    }
    fill(fill_normals, r, first, n, out);
}

void rng_choose(rng r, uint64_t first, size_t n, size_t count, size_t *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i] = i;
    }
    /* Fisher and Yates, as far as it is needed */
    for (size_t i = 0; i < count; i++) {
        size_t j = i + (size_t)rng_below(r, first + i, n - i);
        size_t kept = out[i];
        out[i] = out[j];
        out[j] = kept;
    }
}

void rng_permutation(rng r, uint64_t first, size_t n, size_t *out)
{
    rng_choose(r, first, n, n, out);
}
