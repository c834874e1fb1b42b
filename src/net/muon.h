/* Momentum whose steps are orthogonal matrices (Jordan et al. 2024, "Muon"). For a matrix W of
 * gradient G,
 *
 *     M <- b M + G,   U = orthogonal factor of G + b M (all singular values near 1),
 *     W <- W - rate size sqrt(max(in, out)) U,    size: the sd of W's first entries,
 *
 * so a step changes every direction of a matrix alike, by about `rate` of its first size:
 * directions with small gradients are learned as fast as those with large ones. The orthogonal
 * factor is found by five steps of X <- a X + (b A + c A^2) X, A = X X' (Newton-Schulz), products
 * only. What is no matrix takes Adam's steps, of `rate` each.
 */
#ifndef LSCM_NET_MUON_H
#define LSCM_NET_MUON_H

#include "net/network.h"
#include "net/optimiser.h"

/* Which of a vector of parameters are matrices (in, out), ascending, and of which first size. */
typedef struct muon_matrix {
    size_t at, in, out;
    double size;
} muon_matrix;

enum { MUON_MATRICES = 24 /* at most */, MUON_DIALS = 2 };

typedef struct muon_plan {
    size_t count; /* parameters */
    size_t matrices;
    muon_matrix matrix[MUON_MATRICES];
    double decay; /* of matrices: W <- (1 - rate decay) W before a step */
} muon_plan;

/* Of a network; sizes as `draw` has them, no decay. */
muon_plan muon_plan_of(const network_shape *shape);

/* muon_f32 or muon_f64 */
#define MUON TYPED(muon)

#include "backend/float32.h"

#include "net/muon_real.h"

#include "backend/float64.h"

#include "net/muon_real.h" /* NOLINT(readability-duplicate-include) */

#endif
