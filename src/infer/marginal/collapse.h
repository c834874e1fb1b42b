/* z of noisy rows given x and the model, x linear in z. On the linear_view part y (N, r) of x
 * (data/statistics/linear_view.h), for a row with targets t and values v,
 *
 *     z = (m + e) R,   m_i = c_i + a_ik where free, v_i at targets,   R = (I - W M_t)^-1,
 *     e_i ~ N(0, s_i^2) where free, N(0, s_I^2) at targets;    y = z A + b + N(0, s_x^2 I).
 *
 * Only the coordinates U with noise (all, or the free ones when s_I = 0) are uncertain. With
 * L = R A, D = diag(s_U), G = D L_U (u, r), delta = y - m L - b and H = I + G G'/s_x^2 = C C',
 *
 *     e_U | y ~ N(h D, D H^-1 D),  h = delta G'/s_x^2 H^-1,
 *     z | y ~ N((m + h D) R, X'X),  X = C^-1 D R_U (u, d).
 *
 * All but delta is the same for the rows of a set.
 */
#ifndef LSCM_INFER_MARGINAL_COLLAPSE_H
#define LSCM_INFER_MARGINAL_COLLAPSE_H

#include "base/rng.h"
#include "data/statistics/statistics.h"

typedef struct collapse_parameters {
    size_t d, rank;
    const size_t *order;   /* (d), causes first */
    double *a;             /* (d, r): A */
    double *b;             /* (r) */
    double *w;             /* (d, d): j -> i */
    double *c;             /* (d) */
    double *sigma;         /* (d): s */
    const double *own;     /* (batches, d): what each adds to c; NULL: nothing */
    double actuator_noise; /* s_I; 0: targets have exactly their values */
    double x_noise;        /* s_x; at least 1e-5 of the smallest sd of y and 1e-7 of the largest is
                              meant */
    arena memory;
} collapse_parameters;

/* All 0; order is the caller's. */
lscm_status collapse_parameters_open(collapse_parameters *out, size_t d, size_t rank,
                                     lscm_error *why);
void collapse_parameters_close(collapse_parameters *p);

typedef struct collapse collapse;

/* Keeps `s`, which must stay. Memory for the draws, which allocate nothing. */
lscm_status collapse_open(collapse **out, const linear_view *s, lscm_error *why);
void collapse_close(collapse *c);

/* Draw `index` of all z (rows, d) given x and the parameters. */
void collapse_draw_z(collapse *c, const collapse_parameters *p, rng r, uint64_t index, double *z);
/* Draw `index` of A and b given z (rows, d) and s_x under a flat prior, into p; the regression is
 * of what the A and b there leave. */
void collapse_draw_decoder(collapse *c, const double *z, collapse_parameters *p, rng r,
                           uint64_t index);

#endif
