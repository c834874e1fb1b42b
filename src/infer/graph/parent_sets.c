/* See parent_sets.h. The tables that hold sums first hold what the scores are made of. */
#include "infer/graph/parent_sets.h"

#include "base/lanes_math.h"
#include "base/simd.h"
#include "infer/graph/subset_sums.h"

#include <math.h>

/* Bits of the lower half; subset_sums takes three at once. */
static size_t lower_bits(size_t count)
{
    return count / 2 > 3 ? count / 2 : 3;
}

void parent_sets_lay_out(parent_sets *sets, arena *a, size_t count)
{
    sets->count = count;
    sets->score = arena_take(a, subset_entries(count), sizeof *sets->score);
    sets->partial = arena_take(a, subset_entries(count), sizeof *sets->partial);
}

/* Takes the largest of the scores off all of them, and returns it. */
CLONED static double take_best(lanes *score, size_t groups)
{
    lanes best = lanes_of(-INFINITY);
    for (size_t g = 0; g < groups; g++) {
        best = lanes_larger(score[g], best);
    }
    double most = lanes_largest(best);
    for (size_t g = 0; g < groups; g++) {
        score[g] -= most;
    }
    return most;
}

/* Totals of the scores, less their maximum. */
static void sum_up(parent_sets *sets, size_t count, double *total, double *scratch)
{
    double *score = sets->score;
    for (size_t set = (size_t)1 << count; set < subset_entries(count); set++) {
        score[set] = -INFINITY;
    }
    sets->count = count;
    sets->offset = take_best((lanes *)(void *)score, subset_entries(count) / LANES);
    subset_sums(score, count, lower_bits(count), sets->partial, total, scratch);
}

void parent_sets_shift(parent_sets *sets, double odds, double *total, double *scratch)
{
    double before = sets->offset;
    for (size_t set = 0; set < (size_t)1 << sets->count; set++) {
        sets->score[set] += odds * (double)__builtin_popcountll(set);
    }
    sum_up(sets, sets->count, total, scratch);
    sets->offset += before;
}

void parent_sets_fill_free(parent_sets *sets, const mechanisms *m, const family *f, double *total,
                           double *scratch)
{
    m->law->score_all(f, &m->prior, &(family_table){total, scratch}, sets->score);
    sum_up(sets, family_free(f), total, scratch);
}

void parent_sets_fill(parent_sets *sets, const mechanisms *m, const family *f, double *total,
                      double *scratch)
{
    uint32_t all = ((uint32_t)1 << f->count) - 1;
    m->law->score_all(f, &m->prior, &(family_table){total, scratch}, sets->score);
    subset_spread(sets->score, f->count, all & ~f->required, f->required);
    sum_up(sets, f->count, total, scratch);
}

/* One of the masks fixed | (part of `free`), with probability e^(table - total). */
static uint32_t choose(const double *table, uint32_t fixed, uint32_t free, double total, double u)
{
    /* all sets together, were they this far below, would not make up for one rounding */
    const double least = total - 60;
    uint32_t chosen = fixed | free;
    uint32_t part = 0;
    do {
        double x = table[fixed | part];
        if (x > least) {
            u -= exp(x - total);
            /* rounding may leave a little of u: then it is the last one that could be */
            chosen = fixed | part;
        }
        part = (part - free) & free;
    } while (u > 0 && part != 0);
    return chosen;
}

uint32_t parent_sets_draw(const parent_sets *sets, uint32_t within, double total, double upper,
                          double lower)
{
    uint32_t low = ((uint32_t)1 << lower_bits(sets->count)) - 1;
    uint32_t high = choose(sets->partial, within & low, within & ~low, total, upper);
    return choose(sets->score, high & ~low, within & low, sets->partial[high], lower);
}
