/* One node of a block: regression, refinement, measures. Normal equations are quick but lose half
 * of the digits; where that could be seen beside the noise of the data, steps on the rows
 * themselves,
 *
 *     b += P (Y'(v - a - y b) + ridge b),
 *
 * make b as precise as an orthogonal decomposition would.
 */
#include "base/tuned.h"
#include "infer/anchor/anchor_work.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Mean product of rows and columns: sum of A o (S + m m'), S = w->all. */
static double against_all(const anchor_work *w, const double *a, const double *mean)
{
    size_t r = w->s->rank;
    double sum = 0;
    for (size_t i = 0; i < r; i++) {
        for (size_t c = 0; c < r; c++) {
            sum += a[i * r + c] * (w->all[i * r + c] + mean[i] * mean[c]);
        }
    }
    return sum;
}

static void keep_covariance(const anchor_work *w, anchor *out, size_t j, const double *cov)
{
    size_t r = w->s->rank;
    for (size_t i = 0; out->covariance != NULL && i < r; i++) {
        memcpy(out->covariance + (j * (r + 1) + i + 1) * (r + 1) + 1, cov + i * r,
               r * sizeof(double));
    }
}

static void fit_direction(const anchor_work *w, anchor *out, size_t j, const node_sums *m,
                          anchor_scratch *t)
{
    size_t r = w->s->rank;
    node_fit *fit = w->fits.fit + j;
    double left = 0;
    if (!anchor_direction(m, w->all, w->rows, w->s->x_noise, t, &left)) {
        return;
    }
    cblas_dsymv(CblasRowMajor, CblasUpper, (int)r, 1, m->gram, (int)r, t->slope, 1, 0, t->other, 1);
    *fit = (node_fit){.n = m->n, .share = 1, .trace = (double)r, .rank = (double)r};
    fit->rest = cblas_ddot((int)r, t->slope, 1, t->other, 1);
    fit->spread = against_all(w, t->inverse, m->mean);
    memcpy(w->fits.slope + j * r, t->slope, r * sizeof(double));
    memcpy(w->fits.mean + j * r, m->mean, r * sizeof(double));
    keep_covariance(w, out, j, t->inverse);
    out->kind[j] = ANCHOR_DIRECTION;
    out->r2[j] = 1 - left;
}

/* True when rounding in the normal equations may be more than a thousandth of what noise does, or
 * all that is left of v. */
static bool is_coarse(const node_fit *fit)
{
    double rounding = 10 * DBL_EPSILON / fit->condition;
    double left = fit->rest / fit->vv;
    return rounding > 1e-3 * sqrt(left) || rounding > 1e-3 * left;
}

/* Sets left out are predicted; s_x, or 0 where undoing the noise of y makes that worse than the
 * mean of the values, and leaving it does not. */
static double noise_to_undo(const anchor_work *w, size_t k, anchor_scratch *t, node_fit *fit)
{
    node_fit plain = {0};
    anchor_fold(&w->block, k, w->s->x_noise, t, fit);
    if (!(fit->fold_rest > fit->fold_vv)) {
        return w->s->x_noise;
    }
    anchor_fold(&w->block, k, 0, t, &plain);
    if (!(plain.fold_rest < plain.fold_vv)) {
        return w->s->x_noise;
    }
    *fit = plain;
    fit->shrunk = true;
    return 0;
}

bool anchor_fit_node(const anchor_work *w, anchor *out, size_t k, anchor_scratch *t)
{
    const node_block *b = &w->block;
    size_t r = w->s->rank;
    size_t j = b->node[k];
    node_fit *fit = w->fits.fit + j;
    double noise = w->constant[j] ? 0 : noise_to_undo(w, k, t, fit);
    node_sums m = block_sums(b, k, ANCHOR_ALL, t);
    b->a[k] = 0;
    for (size_t c = 0; c < r; c++) {
        b->b[c * b->count + k] = 0;
    }
    if (w->constant[j]) {
        fit_direction(w, out, j, &m, t);
        return false;
    }
    bool shrunk = fit->shrunk;
    if (!anchor_solve(&m, noise, w->all, t, fit)) {
        return false;
    }
    fit->shrunk = shrunk;
    out->kind[j] = ANCHOR_VALUES;
    b->a[k] = m.v_mean;
    for (size_t c = 0; c < r; c++) {
        b->b[c * b->count + k] = t->slope[c];
        b->a[k] -= m.mean[c] * t->slope[c];
    }
    memcpy(w->fits.mean + j * r, m.mean, r * sizeof(double));
    block_pack(b, k, t->inverse);
    return is_coarse(fit);
}

void anchor_refine_node(const anchor_work *w, size_t k, anchor_scratch *t)
{
    const node_block *b = &w->block;
    size_t r = w->s->rank;
    node_fit *fit = w->fits.fit + b->node[k];
    const double *mean = w->fits.mean + b->node[k] * r;
    const double *cross = b->cross + k * b->folds * (r + 2);
    for (size_t c = 0; c < r; c++) {
        t->cross[c] = cross[c] - mean[c] * cross[r] + fit->ridge * b->b[c * b->count + k];
    }
    fit->rest = fmax(cross[r + 1] - cross[r] * cross[r] / fit->n, 0);
    block_unpack(b, k, 1, t->inverse);
    cblas_dsymv(CblasRowMajor, CblasUpper, (int)r, 1, t->inverse, (int)r, t->cross, 1, 0, t->other,
                1);
    b->a[k] += cross[r] / fit->n;
    for (size_t c = 0; c < r; c++) {
        b->b[c * b->count + k] += t->other[c];
        b->a[k] -= mean[c] * t->other[c];
    }
}

/* Whether v is explained at all, and no direction is missing that matters, or they may be. */
static bool is_anchored(const node_fit *fit, size_t r, bool rough)
{
    double left = fmax(fit->n - 1 - fit->trace, 1);
    /* of an F ratio of pure noise */
    double chance = 1 + tuned_anchor_chance() * sqrt(2 / fit->rank + 2 / left);
    if (!((fit->vv - fit->rest) * left > chance * fit->rank * fit->rest)) {
        return false;
    }
    if (fit->rank == (double)r || rough) {
        return true;
    }
    return fit->fold_rest < (1 - tuned_anchor_predicted()) * fit->fold_vv &&
           fit->hidden <= tuned_anchor_hidden();
}

/* What is left to say of node k once b stands: r2, P b, P G P = P + ridge P^2 and its mean. */
void anchor_measure_node(const anchor_work *w, anchor *out, size_t k, anchor_scratch *t)
{
    const node_block *b = &w->block;
    size_t r = w->s->rank;
    size_t j = b->node[k];
    int n = (int)r;
    node_fit *fit = w->fits.fit + j;
    double *slope = w->fits.slope + j * r;
    double *tilt = w->fits.tilt + j * r;
    const double *mean = w->fits.mean + j * r;
    cblas_dcopy(n, b->b + k, (int)b->count, slope, 1);
    out->r2[j] = fit->fold_vv > 0 ? 1 - fit->fold_rest / fit->fold_vv : NAN;
    if (!is_anchored(fit, r, w->rough)) {
        out->kind[j] = ANCHOR_NONE;
        return;
    }
    block_unpack(b, k, 1, t->inverse);
    cblas_dsymv(CblasRowMajor, CblasUpper, n, 1, t->inverse, n, slope, 1, 0, tilt, 1);
    memcpy(t->gram, t->inverse, r * r * sizeof(double));
    if (out->covariance != NULL) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, fit->ridge, t->inverse, n,
                    t->inverse, n, 1, t->gram, n);
        keep_covariance(w, out, j, t->gram);
    } else { /* y are principal components: only the diagonal of P^2 counts */
        for (size_t c = 0; c < r; c++) {
            const double *row = t->inverse + c * r;
            t->gram[c * r + c] += fit->ridge * cblas_ddot(n, row, 1, row, 1);
        }
    }
    fit->spread = against_all(w, t->gram, mean);
    cblas_dsymv(CblasRowMajor, CblasUpper, n, 1, w->all, n, tilt, 1, 0, t->other, 1);
    double shift = cblas_ddot(n, tilt, 1, mean, 1);
    fit->tilt = cblas_ddot(n, tilt, 1, t->other, 1) + shift * shift;
}
