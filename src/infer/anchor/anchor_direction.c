/* Values that do not vary say where z_j stands still: the direction u of y whose variance vanishes
 * at the targets. With C_t, C_f the covariances of y at the targets and where the node is free,
 * less the noise of x,
 *
 *     C_t u = mu C_f u,  the smallest mu;   z_j = u y,  sd 1 where it is free.
 *
 * An intervention touches one mechanism, so the other mu are about 1; two that vanish are two nodes
 * that always stand still together, and cannot be told apart.
 */
#include "base/tuned.h"
#include "infer/anchor/anchor_state.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

static void covariances(const node_sums *m, const double *all, double rows, double noise,
                        double *targets, double *rest)
{
    size_t r = m->r;
    double left = rows - m->n;
    double between = m->n * rows / left; /* the means differ, too */
    for (size_t i = 0; i < r; i++) {
        for (size_t c = 0; c < r; c++) {
            double g = m->gram[i * r + c];
            double own = i == c ? noise * noise : 0;
            double other = rows * all[i * r + c] - g - between * m->mean[i] * m->mean[c];
            targets[i * r + c] = g / (m->n - 1) - own;
            rest[i * r + c] = other / (left - 1) - own;
        }
    }
}

/* First-order error of the direction, sum over k > 0 of u_k u_k' var_k var_0 / (n (mu_k - mu_0)^2),
 * var with the noise of x. */
static void spread_of(const node_sums *m, double noise, anchor_scratch *w)
{
    size_t r = m->r;
    const double *u = w->copy; /* (r, r): one a row */
    double here = 0;
    memset(w->inverse, 0, r * r * sizeof(double));
    for (size_t k = 0; k < r; k++) {
        double norm = cblas_ddot((int)r, u + k * r, 1, u + k * r, 1);
        double variance = fmax(w->value[k], 0) + noise * noise * norm;
        double gap = w->value[k] - w->value[0];
        if (k == 0) {
            here = variance;
        } else {
            cblas_dsyr(CblasRowMajor, CblasUpper, (int)r, variance * here / (m->n * gap * gap),
                       u + k * r, 1, w->inverse, (int)r);
        }
    }
    for (size_t i = 0; i < r; i++) {
        for (size_t c = 0; c < i; c++) {
            w->inverse[i * r + c] = w->inverse[c * r + i];
        }
    }
}

bool anchor_direction(const node_sums *m, const double *all, double rows, double noise,
                      anchor_scratch *w, double *share)
{
    size_t r = m->r;
    int n = (int)r;
    if (!(rows - m->n >= (double)r + 2)) {
        return false;
    }
    covariances(m, all, rows, noise, w->copy, w->inverse);
    if (LAPACKE_dsygvd_work(LAPACK_COL_MAJOR, 1, 'V', 'L', n, w->copy, n, w->inverse, n, w->value,
                            w->eigen, (int)(1 + 6 * r + 2 * r * r), w->integer,
                            (int)(3 + 5 * r)) != 0) {
        return false;
    }
    *share = fmax(w->value[0], 0);
    if (!(*share <= tuned_anchor_vanished()) ||
        (r > 1 &&
         !(w->value[1] > tuned_anchor_vanished() && w->value[1] >= tuned_anchor_gap() * *share))) {
        return false;
    }
    size_t largest = cblas_idamax(n, w->copy, 1);
    double sign = w->copy[largest] < 0 ? -1 : 1;
    for (size_t i = 0; i < r; i++) {
        w->slope[i] = sign * w->copy[i];
    }
    spread_of(m, noise, w);
    return true;
}
