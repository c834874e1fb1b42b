/* The likelihood of x with the causal variables integrated out, for a linear decoder and a given
 * graph. On the linear_view part y (N, r) of x (data/statistics/linear_view.h), for a row with
 * targets t and values v,
 *
 *     z = (m + e) R,   m_i = c_i where free, v_i at targets,   R = (I - W M_t)^-1,
 *     e_i ~ N(0, s_i^2) where free, N(0, s_I^2) at targets;    y = z A + b + N(0, s_x^2 I).
 *
 * Only the coordinates U with noise (all, or the free ones when s_I = 0) are integrated over. With
 * L = R A, D = diag(s_U), G = D L_U (u, r), delta = y - m L - b and H = I + G G'/s_x^2 = C C',
 *
 *     y | t, v ~ N(m L + b, K),  K = s_x^2 I + G'G,   log |K| = r log s_x^2 + log |H|,
 *     e_U | y ~ N(h D, D H^-1 D),  h = delta G'/s_x^2 H^-1,
 *     delta K^-1 delta' = |h|^2 + |y - E[z] A - b|^2/s_x^2   (a minimum: no digits cancel),
 *     z | y ~ N((m + h D) R, X'X),  X = C^-1 D R_U (u, d).
 *
 * Everything is linear in (1, y, v) within a set, so the rows of a set are replaced by the
 * triangle of their QR factorisation: at most 1 + r + targets rows with the same second moments,
 * and no precision lost to squaring. The D - r dimensions outside y add N (D - r) squares of mean
 * x_noise^2 to what is known of s_x.
 *
 * The gradient is that of the complete data in expectation (Fisher), e.g. E[z'(y - zA - b)]/s_x^2
 * for A; the M-step is that gradient times the inverse of its second moments.
 */
#ifndef LSCM_INFER_MARGINAL_COLLAPSE_H
#define LSCM_INFER_MARGINAL_COLLAPSE_H

#include "data/statistics/statistics.h"
#include "infer/anchor/anchor.h"
#include "infer/mechanism/mechanism.h"

/* Also the shape of a gradient, which is then in A, b, w, c, log s, log s_I, log s_x. */
typedef struct collapse_parameters {
    size_t d, rank;
    double *a;             /* (d, r): A */
    double *b;             /* (r) */
    double *w;             /* (d, d): j -> i, 0 off the graph */
    double *c;             /* (d) */
    double *sigma;         /* (d): s */
    double actuator_noise; /* s_I; 0: targets have exactly their values */
    double x_noise;        /* s_x; taken as collapse_floor when smaller */
    arena memory;
} collapse_parameters;

lscm_status collapse_parameters_open(collapse_parameters *out, size_t d, size_t rank,
                                     lscm_error *why);
void collapse_parameters_close(collapse_parameters *p);
void collapse_parameters_copy(collapse_parameters *to, const collapse_parameters *from);

typedef struct collapse_graph {
    const uint8_t *parent; /* (d, d): [j * d + i] is 1 for j -> i */
    const size_t *order;   /* (d), causes first */
} collapse_graph;

/* What is learned, and the penalty that goes with it. Per node, with its k parents and the units
 * and ridge of the prior (family.h; its variance is not looked at), the log density of w and
 * log s^2 up to a constant:
 *
 *     -(dof + 2 k) log s_i - t (u_i^2 + sum_p u_p^2 w_p^2)/(2 s_i^2),
 *
 * and with one s for all nodes, ubar^2 the mean of u^2: -(dof + 2 sum k) log s in its place, and
 * ubar^2 in that of u_i^2, once. EM raises the log likelihood plus this. */
typedef struct collapse_settings {
    const dag_prior *prior; /* its ridge > 0 */
    bool equal;             /* one s for all nodes; sigma must be equal at the start */
    bool learn_x_noise;
    bool learn_actuator_noise; /* only where s_I > 0 at the start */
    size_t steps;              /* at most; 0: 1000. A step is two EM steps and an extrapolation */
    double tolerance; /* stop when a step gains less than this times |objective| + rows; 0: 1e-10 */
} collapse_settings;

typedef struct collapse_report {
    double log_likelihood; /* of x, in nats */
    double objective;      /* with the penalty */
    size_t steps;
    bool converged;
} collapse_report;

typedef struct collapse collapse;

/* Keeps `s`, which must stay. Memory for all calls below, none of which allocates. */
lscm_status collapse_open(collapse **out, const linear_view *s, lscm_error *why);
void collapse_close(collapse *c);
/* The smallest s_x that is meant: 1e-5 of the smallest sd of y, 1e-7 of the largest. */
double collapse_floor(const collapse *c);

/* A is the pseudo-inverse of the anchor's slope, b = -intercept A; nodes without an anchor get
 * the largest directions of y outside the slope, in units in which they have variance 1 (small
 * multiples of the directions of y when none are left). w = 0, c and s the mean and sd of z where
 * free: so wide a prior of z that the first EM step is the regression on the anchored z. */
lscm_status collapse_start(collapse *c, const anchor *from, bool equal, collapse_parameters *p,
                           lscm_error *why);

/* Exact. `gradient` may be NULL; its w is 0 off the graph. */
double collapse_log_likelihood(collapse *c, const collapse_graph *g, const collapse_parameters *p,
                               collapse_parameters *gradient);
/* The penalty above; adds to `gradient` (NULL: no). With one s the slopes of log sigma are shares
 * of the one slope. */
double collapse_penalty(const collapse_graph *g, const collapse_settings *s,
                        const collapse_parameters *p, collapse_parameters *gradient);

/* EM from p, with SQUAREM extrapolation taken only where the objective does not fall. Nodes that
 * are never a target may be rescaled or mixed with a parent without changing the likelihood; each
 * M-step ends at the best such choice for the penalty. LSCM_STOPPED leaves p as good as it got. */
lscm_status collapse_em(collapse *c, const collapse_graph *g, const collapse_settings *s,
                        collapse_parameters *p, collapse_report *out, const lscm_progress *progress,
                        lscm_error *why);

/* Mean and sd of z given x, (rows, d) each. */
void collapse_z(collapse *c, const collapse_graph *g, const collapse_parameters *p, double *z,
                double *z_sd);
/* Draw `index` of all z (rows, d) given x and the parameters. */
void collapse_draw_z(collapse *c, const collapse_graph *g, const collapse_parameters *p, rng r,
                     uint64_t index, double *z);
/* Draw `index` of A and b given z (rows, d) and s_x under a flat prior, into p; the A and b there
 * should be near, the regression is of what they leave. */
void collapse_draw_decoder(collapse *c, const double *z, collapse_parameters *p, rng r,
                           uint64_t index);

#endif
