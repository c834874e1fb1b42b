/* The likelihood of x linear in z, z integrated out. In units of the nodes (u, about the mean of
 * their values) and of y (about its mean, in its sds), with t the targets of a set, F = diag(1 -
 * t), J = I - W F, K = B J, and s_c^2 the noise of direction c of y,
 *
 *     (a + y B) J - v t - c F  ~  N(0, O_t),
 *     O_t = diag(sigma_i^2 (1 + m tau_i^2) where free, s_I^2 where set) + K' diag(s^2) K,
 *     log p(y) = n log |det B| + n log |det J| - n/2 log |O_t| - 1/2 tr(O_t^-1 S_t)    of each set,
 *
 * S_t from the Gram matrix of (1, y, v) over its n rows: one pass, then O(sets d^3) however many
 * rows there are. Rows of a batch of a set share an intercept of sd tau sigma: each is then two,
 * what varies about its mean (n - 1, m = 0) and sqrt(n) its mean (1, m = n). log sigma has its
 * prior; B that of joint.h, |det B|^-(d + 1) with the intercept's.
 */
#ifndef LSCM_INFER_LIKELIHOOD_LIKELIHOOD_VALUE_H
#define LSCM_INFER_LIKELIHOOD_LIKELIHOOD_VALUE_H

#include "base/arena.h"
#include "data/statistics/statistics.h"

enum { LIKELIHOOD_MOST = 20 }; /* nodes */

typedef struct likelihood_sums {
    size_t d, sets;
    double rows;
    uint8_t *target;         /* (sets, d) */
    double *count, *drift;   /* (sets): n, m */
    double *gram;            /* (sets, 2 d + 1, 2 d + 1): of (1, y, v), v 0 off target */
    double *noise;           /* (d): s_c^2 */
    double *actuator;        /* (d): s_I^2 */
    double *y_mean, *y_unit; /* (d): y is (y - y_mean)/y_unit */
    double *v_mean, *unit;   /* (d): z is (z - v_mean)/unit */
    arena memory;
} likelihood_sums;

/* unit, actuator (d) of the nodes: u, s_I. `split`: sets are two each, as above. */
lscm_status likelihood_sums_of(likelihood_sums *out, const linear_view *s, const uint8_t *keep,
                               const double *unit, const double *actuator, bool split,
                               lscm_error *why);
void likelihood_sums_close(likelihood_sums *s);

/* Where in theta: B (d, d), a, c, log sigma (d), W (d, d) whose diagonal is 0. */
typedef struct likelihood_at {
    size_t slope, shift, centre, log_sigma, weight, count;
} likelihood_at;
likelihood_at likelihood_layout(size_t d);

/* What is held fixed: tau_i^2 (d); t and nu_i (d) of sigma_i^2 ~ t/chi2(nu_i). */
typedef struct likelihood_fixed {
    const double *effect, *dof;
    double ridge;
} likelihood_fixed;

/* Starts, into theta: the slope of node j by plain regression of its labels; W, c and sigma of node
 * i by regression on its parents, z as theta reads it. False where it is singular. work: as below.
 */
bool likelihood_regress_labels(const likelihood_sums *s, size_t j, double *theta, double *work);
bool likelihood_regress_node(const likelihood_sums *s, size_t i, uint32_t parents, double *theta,
                             double *work);

size_t likelihood_work(size_t d); /* doubles */
/* log p(y, sigma) up to a constant; -INFINITY where it has none. gradient (count), or NULL. */
double likelihood_value(const likelihood_sums *s, const likelihood_fixed *f, const double *theta,
                        double *gradient, double *work);

#endif
