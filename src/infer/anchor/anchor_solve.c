/* The regression of v_j on y over the targets' rows, from their centred sums G = Y'Y, c = Y'v:
 *
 *     b = P c,   P = (G - ridge I)^-1,   ridge = share (n - r - 3) s_x^2 or 0
 *
 * (n - 1 would undo the noise of y exactly on average, but overshoots when n is small: Fuller's
 * correction). share = 1 unless labels clearly say that y has less noise than that: what they have
 * of their own, v'v - c'P c, cannot be negative, and share is then the largest that leaves it so
 * (maximum likelihood of labels and y, Fuller 1987, 2.3). Directions of y that do not vary here, or
 * not clearly more than the noise, are left out: P is then a pseudo-inverse and b the shortest
 * solution. `hidden` says how much they vary elsewhere, where z_j may depend on them for all we
 * know. Never NaN.
 */
#include "base/tuned.h"
#include "infer/anchor/anchor_state.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

static const double TOLERANCE = 1e-12; /* of eigenvalues, against the largest */
static const double NOWHERE = 1e-9;    /* of a typical variance: none */
enum { HALVES = 8 };

node_sums block_sums(const node_block *b, size_t k, unsigned folds, anchor_scratch *w)
{
    size_t r = b->s->rank;
    node_sums m = {.r = r, .gram = w->gram, .mean = w->sum, .cross = w->cross};
    memset(m.mean, 0, r * sizeof(double));
    memset(m.cross, 0, r * sizeof(double));
    for (size_t f = 0; f < b->folds; f++) {
        size_t at = k * b->folds + f;
        if ((folds >> f & 1U) == 0) {
            continue;
        }
        m.n += b->rows[at];
        m.v_mean += b->cross[at * (r + 2) + r];
        m.vv += b->cross[at * (r + 2) + r + 1];
        for (size_t c = 0; c < r; c++) {
            m.mean[c] += b->sum[at * r + c];
            m.cross[c] += b->cross[at * (r + 2) + c];
        }
    }
    if (!(m.n > 0)) {
        return m;
    }
    m.v_mean /= m.n;
    m.vv = fmax(m.vv - m.n * m.v_mean * m.v_mean, 0);
    block_unpack(b, k, folds, m.gram);
    for (size_t c = 0; c < r; c++) {
        m.mean[c] /= m.n;
        m.cross[c] -= m.n * m.mean[c] * m.v_mean;
    }
    cblas_dger(CblasRowMajor, (int)r, (int)r, -m.n, m.mean, 1, m.mean, 1, m.gram, (int)r);
    return m;
}

/* Smallest variance, in units of s_x^2, of a direction that is more than noise: the largest that
 * n rows of noise show in so many directions, and a little. */
static double clear_of_noise(const node_sums *m, size_t directions)
{
    double root = 1 + sqrt((double)directions / m->n);
    return root * root + tuned_anchor_clear();
}

/* matrix = (G - ridge I) / (scale scale'). */
static void scaled(const node_sums *m, double ridge, const double *scale, double *matrix)
{
    size_t r = m->r;
    for (size_t i = 0; i < r; i++) {
        for (size_t c = 0; c < r; c++) {
            double g = m->gram[i * r + c] - (i == c ? ridge : 0);
            matrix[i * r + c] = g / (scale[i] * scale[c]);
        }
    }
}

/* Symmetric from its upper triangle, divided by the scales. */
static void mirror(size_t r, const double *scale, double *matrix)
{
    for (size_t i = 0; i < r; i++) {
        for (size_t c = i; c < r; c++) {
            matrix[i * r + c] /= scale[i] * scale[c];
            matrix[c * r + i] = matrix[i * r + c];
        }
    }
}

/* By Cholesky; false when a direction is missing. Column-major 'L' is row-major 'U'. */
static bool invert(const node_sums *m, double noise, anchor_scratch *w, node_fit *fit)
{
    size_t r = m->r;
    int n = (int)r;
    double floor = clear_of_noise(m, r) * (m->n - 1) * noise * noise;
    for (size_t i = 0; i < r; i++) {
        w->scale[i] = sqrt(m->gram[i * r + i]);
        if (!(w->scale[i] > 0)) {
            return false;
        }
    }
    if (floor > 0) {
        scaled(m, floor, w->scale, w->copy);
        if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, w->copy, n) != 0) {
            return false;
        }
    }
    scaled(m, fit->ridge, w->scale, w->inverse);
    double norm = 0;
    for (size_t i = 0; i < r; i++) {
        norm = fmax(norm, cblas_dasum(n, w->inverse + i * r, 1));
    }
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, w->inverse, n) != 0 ||
        LAPACKE_dpocon_work(LAPACK_COL_MAJOR, 'L', n, w->inverse, n, norm, &fit->condition,
                            w->eigen, w->integer) != 0 ||
        !(fit->condition > TOLERANCE) ||
        LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', n, w->inverse, n) != 0) {
        return false;
    }
    mirror(r, w->scale, w->inverse);
    fit->rank = (double)r;
    return true;
}

/* Variance of y over all rows along eigenvector u of the scaled matrix: what is there beside the
 * noise of x, relative to it; without noise, whether there is any. */
static double variance_along(const node_sums *m, const double *u, const double *all, double noise,
                             anchor_scratch *w)
{
    size_t r = m->r;
    double here = 0;
    double typical = 0;
    for (size_t i = 0; i < r; i++) {
        w->slope[i] = u[i] / w->scale[i];
        here += noise * noise * w->slope[i] * w->slope[i];
        typical += all[i * r + i] / (w->scale[i] * w->scale[i]) / (double)r;
    }
    cblas_dsymv(CblasRowMajor, CblasUpper, (int)r, 1, all, (int)r, w->slope, 1, 0, w->other, 1);
    double there = cblas_ddot((int)r, w->slope, 1, w->other, 1);
    if (here > 0) {
        return there / here - 1;
    }
    return there > NOWHERE * typical ? INFINITY : 0;
}

/* By eigenvectors, without those that do not vary. */
static bool invert_part(const node_sums *m, double noise, const double *all, anchor_scratch *w,
                        node_fit *fit)
{
    size_t r = m->r;
    int n = (int)r;
    double *value = w->value;
    double largest = 0;
    double smallest = INFINITY;
    for (size_t i = 0; i < r; i++) {
        largest = fmax(largest, m->gram[i * r + i]);
        smallest = fmin(smallest, m->gram[i * r + i]);
    }
    /* noise of x is the same in all directions, and is recognised only when they keep their
     * lengths; without it the units of y are anybody's */
    bool noisy = (m->n - 1) * noise * noise > 1e-8 * smallest;
    for (size_t i = 0; i < r; i++) {
        double own = noisy ? largest : m->gram[i * r + i];
        w->scale[i] = own > 0 ? sqrt(own) : 1;
    }
    scaled(m, 0, w->scale, w->copy);
    if (LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', n, w->copy, n, value, w->eigen,
                            (int)(1 + 6 * r + 2 * r * r), w->integer, (int)(3 + 5 * r)) != 0) {
        return false;
    }
    double one = noisy ? (m->n - 1) * noise * noise / (w->scale[0] * w->scale[0]) : 0;
    double ridge = noisy ? fit->ridge / (w->scale[0] * w->scale[0]) : 0;
    fit->ridge = noisy ? fit->ridge : 0;
    memset(w->inverse, 0, r * r * sizeof(double));
    for (size_t e = 0; e < r; e++) {
        const double *u = w->copy + e * r;
        double floor =
            clear_of_noise(m, e + 1) * one; /* values ascend: at most so many are noise */
        if (value[e] > fmax(floor, TOLERANCE * value[r - 1])) {
            cblas_dsyr(CblasRowMajor, CblasUpper, n, 1 / (value[e] - ridge), u, 1, w->inverse, n);
            fit->rank++;
        } else if (all != NULL) {
            double hidden = variance_along(m, u, all, noisy ? noise : 0, w);
            fit->hidden = fmax(fit->hidden, hidden);
        }
    }
    fit->condition = TOLERANCE;
    fit->lost = noisy && fit->rank < (double)r;
    mirror(r, w->scale, w->inverse);
    return fit->rank > 0;
}

/* v'v - c'(G - ridge I)^-1 c, what labels have of their own where y has that much noise; -INFINITY
 * where it cannot have so much. */
static double left_over(const node_sums *m, double ridge, anchor_scratch *w)
{
    size_t r = m->r;
    int n = (int)r;
    for (size_t i = 0; i < r; i++) {
        w->scale[i] = 1;
    }
    scaled(m, ridge, w->scale, w->copy);
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, w->copy, n) != 0) {
        return -INFINITY;
    }
    memcpy(w->other, m->cross, r * sizeof(double));
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, w->copy, n, w->other, 1);
    return m->vv - cblas_ddot(n, w->other, 1, w->other, 1);
}

/* The largest share of the noise, to 1/2^HALVES, that leaves labels no less than nothing of their
 * own. 1 where that says nothing: some direction is not there at all. */
static double share_of_noise(const node_sums *m, double most, anchor_scratch *w)
{
    double low = 0;
    double high = 1;
    if (!(most > 0) || left_over(m, most, w) >= 0 || !(left_over(m, 0, w) >= 0)) {
        return 1;
    }
    for (size_t k = 0; k < HALVES; k++) {
        double middle = (low + high) / 2;
        bool fits = left_over(m, middle * most, w) >= 0;
        low = fits ? middle : low;
        high = fits ? high : middle;
    }
    return low < 1 - tuned_anchor_seen() * sqrt(2 / m->n) ? low : 1; /* by its standard error */
}

bool anchor_solve(const node_sums *m, double noise, const double *all, anchor_scratch *w,
                  node_fit *fit)
{
    size_t r = m->r;
    double most = fmax(m->n - (double)r - 3, 0) * noise * noise;
    *fit = (node_fit){.n = m->n, .vv = m->vv, .fold_rest = fit->fold_rest, .fold_vv = fit->fold_vv};
    fit->share = share_of_noise(m, most, w);
    fit->ridge = fit->share * most;
    noise *= sqrt(fit->share);
    if (!invert(m, noise, w, fit) && !invert_part(m, noise, all, w, fit)) {
        return false;
    }
    cblas_dsymv(CblasRowMajor, CblasUpper, (int)r, 1, w->inverse, (int)r, m->cross, 1, 0, w->slope,
                1);
    double fitted = cblas_ddot((int)r, w->slope, 1, m->cross, 1);
    double squares = cblas_ddot((int)r, w->slope, 1, w->slope, 1);
    fit->trace = fit->rank;
    for (size_t i = 0; i < r; i++) {
        fit->trace += fit->ridge * w->inverse[i * r + i];
    }
    fit->rest = fmax(m->vv - fitted + fit->ridge * squares, 0);
    return isfinite(fitted) && isfinite(squares);
}

/* Sums of squares over fold f: of v - v_mean - (y - mean) b, and of v - v_mean. */
static void add_fold(const node_block *b, size_t k, size_t f, const node_sums *m, anchor_scratch *w,
                     node_fit *fit)
{
    size_t r = m->r;
    size_t at = k * b->folds + f;
    const double *cross = b->cross + at * (r + 2);
    double v = cross[r];
    double vv = cross[r + 1];
    double rows = b->rows[at];
    double a = m->v_mean - cblas_ddot((int)r, m->mean, 1, w->slope, 1);
    double sum = cblas_ddot((int)r, b->sum + at * r, 1, w->slope, 1);
    double product = cblas_ddot((int)r, cross, 1, w->slope, 1);
    block_unpack(b, k, 1U << f, w->gram);
    cblas_dsymv(CblasRowMajor, CblasUpper, (int)r, 1, w->gram, (int)r, w->slope, 1, 0, w->other, 1);
    double squares = cblas_ddot((int)r, w->other, 1, w->slope, 1);
    fit->fold_rest += fmax(vv - 2 * a * v - 2 * product + rows * a * a + 2 * a * sum + squares, 0);
    fit->fold_vv += fmax(vv - 2 * m->v_mean * v + rows * m->v_mean * m->v_mean, 0);
}

void anchor_fold(const node_block *b, size_t k, double noise, anchor_scratch *w, node_fit *fit)
{
    size_t tried = b->folds == ANCHOR_FOLDS ? b->folds : 1;
    for (size_t f = 0; f < tried; f++) {
        node_sums m = block_sums(b, k, ANCHOR_ALL & ~(1U << f), w);
        bool enough = b->rows[k * b->folds + f] > 0 && m.n >= (double)m.r + 2;
        if (enough && anchor_solve(&m, noise, NULL, w, fit)) {
            add_fold(b, k, f, &m, w, fit);
        }
    }
}
