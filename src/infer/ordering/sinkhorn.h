/* The soft permutation of logits s: the doubly stochastic P_ij = exp(s_ij + f_i + g_j), for eight
 * draws at once, and the gradient of s -> P.
 *
 * Sinkhorn's sweeps give the start; Newton's method on the dual finishes, so that P is the limit of
 * the sweeps (rows sum to 1 to rounding, columns to SINKHORN_TOLERANCE) and a smooth function of s.
 * Hence the gradient is that of the fixed point: one linear system per draw, no memory of the way.
 * Sweeps stopped at an error of 0.01 jump wherever their number changes, cost more at low
 * temperature, and their exact gradient would have to run all of them backwards.
 *
 * Logits may have any finite size: for (T + G)/tau with |T| <= 10 and tau = 0.01 they differ by
 * thousands. A lane depends on no other lane, not even in its last bit.
 */
#ifndef LSCM_INFER_ORDERING_SINKHORN_H
#define LSCM_INFER_ORDERING_SINKHORN_H

#include "base/arena.h"
#include "base/lanes.h"

#define SINKHORN_TOLERANCE 1e-12

enum { SINKHORN_STEPS = 200 }; /* at most; 5 to 15 are usual, 46 the most ever seen */

typedef struct sinkhorn_work {
    lanes *weight; /* (d, d): P'P above the diagonal, and its elimination */
    lanes *pivot;  /* (d): inverses */
    lanes *column; /* (d): sums of the columns of P */
    lanes *g;      /* (d): potentials of the columns */
    lanes *step;   /* (d): Newton's step in g, or the solution of the adjoint */
    lanes *scale;  /* (d): exp(step) */
    lanes *right;  /* (d): right-hand sides */
} sinkhorn_work;

/* Measures or places the scratch for d rows. */
void sinkhorn_lay_out(sinkhorn_work *work, arena *a, size_t d);

/* p (d, d) from s (d, d). Returns the largest |column sum - 1| of all draws: at most
 * SINKHORN_TOLERANCE when all went well, NaN when a logit is NaN or infinite. */
double sinkhorn_forward(const lanes *s, size_t d, lanes *p, const sinkhorn_work *work);

/* ds (d, d) = the gradient with respect to s of sum_ij dp_ij P_ij, at p from sinkhorn_forward.
 * ds may be dp. */
void sinkhorn_backward(const lanes *p, const lanes *dp, size_t d, lanes *ds,
                       const sinkhorn_work *work);

#endif
