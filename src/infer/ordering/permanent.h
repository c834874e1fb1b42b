/* log perm(exp T) = log sum over permutations of exp <P, T>, the normaliser of the Gibbs law
 * p(P) ~ exp <P, T>, two ways:
 *
 * Bethe, for eight draws at once: the minimum of the Bethe free energy by sum-product iterations
 * (Vontobel 2013). It never exceeds the truth, and truth <= value + d/2 log 2. The beliefs b are
 * doubly stochastic and, at the minimum, the gradient: d value / dT_ij = b_ij.
 *
 * Exact, for one matrix of at most PERMANENT_MOST rows: dynamic programming over subsets of
 * columns, 2^d d/2 terms, all positive; with the exact marginals (the gradient) and exact draws.
 */
#ifndef LSCM_INFER_ORDERING_PERMANENT_H
#define LSCM_INFER_ORDERING_PERMANENT_H

#include "base/arena.h"
#include "base/lanes.h"
#include "base/rng.h"
#include "scm/graph/graph.h"

#define PERMANENT_TOLERANCE 1e-12

enum { PERMANENT_MOST = 16, PERMANENT_ITERATIONS = 50 };

typedef struct bethe_work {
    lanes *theta;          /* (d, d): exp(T), rows and columns divided by their largest entry */
    lanes *a;              /* (d, d): messages to rows; the belief is a_ij / (sum of row i) */
    lanes *b;              /* (d, d): messages to columns */
    lanes *row, *column;   /* (d): sums of rows of a, of columns of b */
    lanes *largest, *rest; /* (d): the largest term of `column` and the others */
    lanes *inverse;        /* (d): 1 / column */
} bethe_work;

void bethe_lay_out(bethe_work *work, arena *a, size_t d);

/* value (1) and belief (d, d) of t (d, d), |t| <= 50. Each draw stops by itself when its beliefs
 * agree to PERMANENT_TOLERANCE as rows and columns see them (10 to 40 iterations are usual,
 * hundreds where permutations compete), at the latest after `iterations`. Returns the largest
 * disagreement left in any draw; NaN when t has a NaN. */
double bethe_permanent(const lanes *t, size_t d, size_t iterations, lanes *value, lanes *belief,
                       const bethe_work *work);

typedef struct permanent_work {
    size_t d;
    double *theta;    /* (d, d): exp(T) over rows and columns, at most 1, 1 on a best assignment */
    double *forward;  /* (2^d): sum over ways to give the first rows exactly these columns */
    double *backward; /* (2^d): and the other rows the other columns */
    size_t *column_of;
    assignment_work matching;
} permanent_work;

void permanent_lay_out(permanent_work *work, arena *a, size_t d);

/* The exact log-permanent of t (d, d), any finite numbers. Fails when d > PERMANENT_MOST or t is
 * not finite. Prepares `work` for the two below. */
lscm_status permanent_exact(const double *t, size_t d, double *value, permanent_work *work,
                            lscm_error *why);
/* marginal (d, d): the probability that row i has column j; the gradient of the value. */
void permanent_marginals(const permanent_work *work, double *marginal);
/* A draw from the Gibbs law: column_of (d). Uses the uniform numbers first .. first + d - 1. */
void permanent_draw(const permanent_work *work, rng r, uint64_t first, size_t *column_of);

#endif
