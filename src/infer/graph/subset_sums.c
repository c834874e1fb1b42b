/* See subset_sums.h. m starts in [sqrt 1/2, sqrt 2] and at most doubles with every bit: it never
 * needs to be brought back. Blocks that fit in the second cache go through all of their bits. */
#include "infer/graph/subset_sums.h"

#include "base/simd.h"
#include "infer/graph/subset_lanes.h"

#include <string.h>

enum { LOW = SUBSET_LOW, BLOCK = 15 };

/* 0 = 0 2^LEAST, and logarithms below about LEAST are taken for it. */
static const double LEAST = -0x1p49;

size_t subset_entries(size_t count)
{
    return (size_t)1 << (count > LOW ? count : LOW);
}

/* 2^e for whole e <= 0; e below -1000 is taken for that, which adds nothing to what is there. */
LANES_INLINE lanes power_of_2(lanes e)
{
    lanes shifted = lanes_larger(e, lanes_of(-1000)) + 0x1.8p52;
    return (lanes)(((lanes_bits)shifted << 52) + (lanes_bits)lanes_of(1.0));
}

LANES_INLINE void split(lanes x, lanes *m, lanes *e)
{
    lanes bounded = lanes_larger(x, lanes_of(LEAST));
    lanes n = (bounded * 0x1.71547652b82fep0 + 0x1.8p52) - 0x1.8p52;
    lanes r = (bounded - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    *m = lanes_select(lanes_less(lanes_of(LEAST), x), lanes_exp(r), lanes_of(0));
    *e = n;
}

LANES_INLINE lanes join(lanes m, lanes e)
{
    lanes log_m = lanes_log(lanes_larger(m, lanes_of(0x1p-1000)));
    lanes x = e * 0x1.62e42feep-1 + (e * 0x1.a39ef35793c76p-33 + log_m);
    return lanes_select(lanes_less(lanes_of(0), m), x, lanes_of(-INFINITY));
}

/* m 2^e += other */
LANES_INLINE void add(lanes *m, lanes *e, lanes other_m, lanes other_e)
{
    lanes top = lanes_larger(*e, other_e);
    *m = *m * power_of_2(*e - top) + other_m * power_of_2(other_e - top);
    *e = top;
}

/* Within eight: the entries that have the bit get those that have it not. */
LANES_INLINE void add_within(lanes *m, lanes *e, size_t bit)
{
    const lanes has = bit == 0   ? (lanes){0, 1, 0, 1, 0, 1, 0, 1}
                      : bit == 1 ? (lanes){0, 0, 1, 1, 0, 0, 1, 1}
                                 : (lanes){0, 0, 0, 0, 1, 1, 1, 1};
    lanes other_e = subset_neighbours(*e, bit);
    /* where nothing is added, nothing must be scaled down either */
    other_e = has * other_e + (1 - has) * *e;
    add(m, e, has * subset_neighbours(*m, bit), other_e);
}

LANES_INLINE void add_low_bits(lanes *m, lanes *e, size_t groups)
{
    for (size_t g = 0; g < groups; g++) {
        add_within(&m[g], &e[g], 0);
        add_within(&m[g], &e[g], 1);
        add_within(&m[g], &e[g], 2);
    }
}

LANES_INLINE void add_bit(lanes *m, lanes *e, size_t groups, size_t bit)
{
    size_t half = (size_t)1 << (bit - LOW);
    for (size_t start = 0; start < groups; start += 2 * half) {
        for (size_t g = start; g < start + half; g++) {
            add(&m[g + half], &e[g + half], m[g], e[g]);
        }
    }
}

/* Bits first .. last-1, first 0 or at least LOW. */
LANES_INLINE void add_bits(lanes *m, lanes *e, size_t groups, size_t first, size_t last)
{
    size_t block = (size_t)1 << (BLOCK - LOW);
    size_t inner = last < BLOCK ? last : BLOCK;
    for (size_t start = 0; start < groups; start += block) {
        size_t size = groups - start < block ? groups - start : block;
        if (first == 0) {
            add_low_bits(m + start, e + start, size);
        }
        for (size_t bit = first > LOW ? first : LOW; bit < inner; bit++) {
            add_bit(m + start, e + start, size, bit);
        }
    }
    for (size_t bit = first > BLOCK ? first : BLOCK; bit < last; bit++) {
        add_bit(m, e, groups, bit);
    }
}

CLONED static void sums(const lanes *log_f, size_t count, size_t low, lanes *partial, lanes *total,
                        lanes *exponent)
{
    size_t groups = subset_entries(count) / LANES;
    for (size_t g = 0; g < groups; g++) {
        split(log_f[g], &total[g], &exponent[g]);
    }
    add_bits(total, exponent, groups, 0, low);
    for (size_t g = 0; g < groups && partial != NULL; g++) {
        partial[g] = join(total[g], exponent[g]);
    }
    add_bits(total, exponent, groups, low, count);
    for (size_t g = 0; g < groups; g++) {
        total[g] = join(total[g], exponent[g]);
    }
}

/* Clones stay static: their resolvers would be seen outside the library. */
void subset_sums(const double *log_f, size_t count, size_t low, double *partial, double *total,
                 double *exponent)
{
    sums((const lanes *)(const void *)log_f, count, low, (lanes *)(void *)partial,
         (lanes *)(void *)total, (lanes *)(void *)exponent);
}

void subset_spread(double *table, size_t bits, uint32_t kept, uint32_t must)
{
    size_t size = (size_t)1 << __builtin_popcount(kept);
    /* from the lowest bit that is missing: the bits below it are in their places, and every block
     * of them becomes two */
    for (size_t bit = 0; bit < bits; bit++) {
        if ((kept >> bit & 1) != 0) {
            continue;
        }
        size_t block = (size_t)1 << bit;
        for (size_t k = size / block; k-- > 0;) {
            double *without = table + 2 * k * block;
            memmove(without + block, table + k * block, block * sizeof *table);
            if ((must >> bit & 1) == 0) {
                memmove(without, table + k * block, block * sizeof *table);
                continue;
            }
            for (size_t e = 0; e < block; e++) {
                without[e] = -INFINITY;
            }
        }
        size *= 2;
    }
}
