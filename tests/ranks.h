/* Ranks of the truth among draws: uniform where data are drawn from the prior. */
#ifndef LSCM_TESTS_RANKS_H
#define LSCM_TESTS_RANKS_H

#include "lcg.h"
#include "testing.h"

enum { RANKS = 49, BINS = 10 };

typedef struct tally {
    double bin[BINS], count;
} tally;

/* The rank of the truth among draws, ties broken at random. */
static inline void put(tally *t, double truth, const double *draw, size_t stride, lcg *g)
{
    size_t below = 0;
    size_t ties = 0;
    for (size_t k = 0; k < RANKS; k++) {
        assert_true(isfinite(draw[k * stride]));
        below += draw[k * stride] < truth ? 1 : 0;
        ties += draw[k * stride] == truth ? 1 : 0;
    }
    size_t rank = below + lcg_below(g, ties + 1);
    t->bin[rank * BINS / (RANKS + 1)] += 1;
    t->count += 1;
}

/* chi2 with 9 degrees of freedom is over 33.7 once in 10 000 times. */
static inline void assert_uniform(const tally *t, const char *what)
{
    double chi2 = 0;
    for (int b = 0; b < BINS; b++) {
        double left = t->bin[b] - t->count / BINS;
        chi2 += left * left / (t->count / BINS);
    }
    if (!(chi2 < 33.7)) {
        print_error("ranks of %s are not uniform: chi2(9) = %.1f\n", what, chi2);
        for (int b = 0; b < BINS; b++) {
            print_error(" %.3f", t->bin[b] / t->count);
        }
        print_error("\n");
        fail();
    }
}

#endif
