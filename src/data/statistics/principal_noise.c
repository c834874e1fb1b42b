/* The noise of columns, by maximum likelihood factor analysis: with r common factors,
 *
 *     x_j = c_j + f L_j' + e_j,   e_j ~ N(0, psi_j),   w_j = x_j / sqrt(psi_j),
 *
 * given psi the likelihood is greatest where L_j = sqrt(psi_j) E_j (v - 1)^1/2, E and v the r
 * leading eigenvectors and eigenvalues of cov(w), and given L where
 *
 *     psi_j = var_j - sum_k psi_j E_jk^2 (v_k - 1).
 *
 * These two in turn (Joreskog), from psi in proportion to var: what of psi the data do not tell -
 * nothing, where D = r + 1 - stays so. Multiplying columns by numbers multiplies psi by their
 * squares, at every step. In the units sqrt(psi) noise is the same in all directions, and E spans
 * the most likely signal.
 *
 * Where labels bound it (linear_view_caps.c), psi is no more than that.
 *
 * Where r directions leave no more than rounding there is no noise to tell, and units stay those of
 * the columns' sd. psi is kept above 1e-6 of what it would be were all columns equally noisy: a
 * column without any noise of its own would make the others worthless (Heywood).
 */
#include "base/tuned.h"
#include "data/statistics/principal.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

static const double NO_NOISE = 1e-12;   /* of the variance of standardised columns */
static const double LEAST_SHARE = 1e-6; /* of the mean psi in those units */

/* Variance outside the first r directions, per direction; 0 where there is none. */
static double mean_outside(const principal *p, const principal_block *b, size_t r)
{
    double left = p->total;
    double directions = -(double)r;
    for (size_t k = 0; k < r; k++) {
        left -= b->ritz[k];
    }
    for (size_t j = 0; j < p->D; j++) {
        directions += p->scale[j] > 0 ? 1 : 0;
    }
    bool seen = directions > 0 && p->n > r + 2 && left > NO_NOISE * p->total;
    return seen ? left / directions : 0;
}

/* psi given E and v, in proportion to the units before: s becomes its root, and `image` follows.
 * Returns by how much log psi moved at most. */
static double step(principal *p, principal_block *b, const double *variance, double least, size_t r)
{
    double moved = 0;
    for (size_t j = 0; j < p->D; j++) {
        double old = p->scale[j] * p->scale[j];
        if (!(old > 0)) {
            continue;
        }
        double common = 0;
        for (size_t k = 0; k < r; k++) {
            double e = b->q[k * p->D + j];
            common += e * e * fmax(b->ritz[k] - 1, 0);
        }
        double most = p->units.most != NULL ? p->units.most[j] : INFINITY;
        double psi = fmax(fmin(variance[j] - old * common, most), least * variance[j]);
        double ratio = sqrt(old / psi);
        for (size_t k = 0; k < p->count; k++) {
            b->image[k * p->D + j] *= ratio;
        }
        p->scale[j] = sqrt(psi);
        moved = fmax(moved, fabs(log(psi / old)));
    }
    return moved;
}

static void take(principal *p, const principal_block *b, const double *variance)
{
    p->total = 0;
    for (size_t j = 0; j < p->D; j++) {
        double s = p->scale[j];
        p->total += s > 0 ? variance[j] / (s * s) : 0;
        for (size_t k = 0; k < p->count; k++) {
            p->directions[k * p->D + j] = s > 0 ? b->q[k * p->D + j] / s : 0;
        }
    }
    for (size_t k = 0; k < p->count; k++) {
        p->variance[k] = fmax(b->ritz[k], 0);
    }
}

lscm_status principal_noise(principal *p, principal_source from, principal_block *b,
                            const double *variance, size_t wanted, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t r = wanted < p->count ? wanted : p->count;
    double mean = p->units.own ? mean_outside(p, b, r) : 0;
    if (mean > 0) {
        cblas_dscal((int)p->D, sqrt(mean), p->scale, 1);
        cblas_dscal((int)p->count, 1 / mean, b->ritz, 1);
        memcpy(b->image, b->q, p->count * p->D * sizeof(double));
        for (size_t round = 0; round < tuned_units_rounds(); round++) {
            double moved = step(p, b, variance, LEAST_SHARE * mean, r);
            TRY(principal_advance(p, from, b, why));
            if (moved <= tuned_units_still()) {
                break;
            }
        }
        TRY(principal_settle(p, from, b, wanted, why));
    }
    take(p, b, variance);
done:
    return status;
}
