#include "infer/likelihood/likelihood_value.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

likelihood_at likelihood_layout(size_t d)
{
    likelihood_at at = {.shift = d * d};
    at.centre = at.shift + d;
    at.log_sigma = at.centre + d;
    at.weight = at.log_sigma + d;
    at.count = at.weight + d * d;
    return at;
}

/* What one set is worked out in. */
typedef struct set_work {
    double *j, *k, *inner, *inverse, *s, *left, *right; /* (d, d) */
    double *q;                                          /* (d + 1, d) */
    double *fq;                                         /* (2 d + 1, d) */
    int *pivot;                                         /* (d) */
} set_work;

size_t likelihood_work(size_t d)
{
    return 7 * d * d + (d + 1) * d + (2 * d + 1) * d + 8 * d + 8;
}

static set_work work_of(double *at, size_t d)
{
    set_work w = {0};
    double **squares[] = {&w.j, &w.k, &w.inner, &w.inverse, &w.s, &w.left, &w.right};
    for (size_t k = 0; k < sizeof squares / sizeof squares[0]; k++, at += d * d) {
        *squares[k] = at;
    }
    w.q = at;
    w.fq = w.q + (d + 1) * d;
    w.pivot = (int *)(w.fq + (2 * d + 1) * d);
    return w;
}

/* log |det m|, m (d, d) becoming its inverse; not finite where it has none. */
static double invert(double *m, size_t d, int *pivot, double *room)
{
    int n = (int)d;
    double sum = 0;
    if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, m, n, pivot) != 0) {
        return -INFINITY;
    }
    for (size_t i = 0; i < d; i++) {
        sum += log(fabs(m[i * d + i]));
    }
    return LAPACKE_dgetri_work(LAPACK_COL_MAJOR, n, m, n, pivot, room, (int)(d * d)) == 0
               ? sum
               : -INFINITY;
}

static void product(CBLAS_TRANSPOSE a, CBLAS_TRANSPOSE b, size_t d, const double *left,
                    const double *right, double *out)
{
    int n = (int)d;
    cblas_dgemm(CblasRowMajor, a, b, n, n, n, 1, left, n, right, n, 0, out, n);
}

/* J, K, the map q of (1, y) to residuals, and their Gram matrix S. */
static void set_residuals(const likelihood_sums *s, size_t k, const double *theta, set_work *w)
{
    size_t d = s->d;
    size_t f = 2 * d + 1;
    int n = (int)d;
    likelihood_at at = likelihood_layout(d);
    const uint8_t *target = s->target + k * d;
    const double *gram = s->gram + k * f * f;
    for (size_t p = 0; p < d; p++) {
        for (size_t i = 0; i < d; i++) {
            double weight = target[i] != 0 ? 0 : theta[at.weight + p * d + i];
            w->j[p * d + i] = (p == i ? 1 : 0) - weight;
        }
    }
    product(CblasNoTrans, CblasNoTrans, d, theta, w->j, w->k);
    cblas_dgemv(CblasRowMajor, CblasTrans, n, n, 1, w->j, n, theta + at.shift, 1, 0, w->q, 1);
    for (size_t i = 0; i < d; i++) {
        w->q[i] -= target[i] != 0 ? 0 : theta[at.centre + i];
    }
    memcpy(w->q + d, w->k, d * d * sizeof(double));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)f, n, n + 1, 1, gram, (int)f, w->q,
                n, 0, w->fq, n);
    for (size_t i = 0; i < d; i++) {
        for (size_t r = 0; r < f && target[i] != 0; r++) {
            w->fq[r * d + i] -= gram[r * f + d + 1 + i];
        }
    }
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, n, n + 1, 1, w->q, n, w->fq, n, 0, w->s,
                n);
    for (size_t i = 0; i < d; i++) {
        for (size_t c = 0; c < d && target[i] != 0; c++) {
            w->s[i * d + c] -= w->fq[(d + 1 + i) * d + c];
        }
    }
}

/* The variance that a node has of its own in set k. */
static double own_variance(const likelihood_sums *s, const likelihood_fixed *f, size_t k, size_t i,
                           const double *theta)
{
    double log_sigma = theta[likelihood_layout(s->d).log_sigma + i];
    return s->target[k * s->d + i] != 0 ? s->actuator[i]
                                        : exp(2 * log_sigma) * (1 + s->drift[k] * f->effect[i]);
}

/* inner = O^-1; log |O|, not finite where it is no covariance. */
static double set_covariance(const likelihood_sums *s, const likelihood_fixed *f, size_t k,
                             const double *theta, set_work *w)
{
    size_t d = s->d;
    int n = (int)d;
    double sum = 0;
    for (size_t c = 0; c < d; c++) {
        for (size_t i = 0; i < d; i++) {
            w->left[c * d + i] = s->noise[c] * w->k[c * d + i];
        }
    }
    product(CblasTrans, CblasNoTrans, d, w->k, w->left, w->inner);
    for (size_t i = 0; i < d; i++) {
        w->inner[i * d + i] += own_variance(s, f, k, i, theta);
    }
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, w->inner, n) != 0) {
        return INFINITY;
    }
    for (size_t i = 0; i < d; i++) {
        sum += 2 * log(w->inner[i * d + i]);
    }
    if (LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', n, w->inner, n) != 0) {
        return INFINITY;
    }
    for (size_t i = 0; i < d; i++) { /* the lower triangle of columns is the upper one of rows */
        for (size_t c = i + 1; c < d; c++) {
            w->inner[c * d + i] = w->inner[i * d + c];
        }
    }
    return sum;
}

/* Adds the derivatives of a set; w->inverse is J^-1, transposed or not as `invert` leaves it. */
static void set_gradient(const likelihood_sums *s, const likelihood_fixed *f, size_t k,
                         const double *theta, set_work *w, double *gradient)
{
    size_t d = s->d;
    int n = (int)d;
    likelihood_at at = likelihood_layout(d);
    const uint8_t *target = s->target + k * d;
    double count = s->count[k];
    product(CblasNoTrans, CblasNoTrans, d, w->inner, w->s, w->left);
    product(CblasNoTrans, CblasNoTrans, d, w->left, w->inner, w->right);
    for (size_t e = 0; e < d * d; e++) { /* by O */
        w->right[e] = 0.5 * (w->right[e] - count * w->inner[e]);
    }
    for (size_t i = 0; i < d; i++) {
        gradient[at.log_sigma + i] +=
            target[i] != 0 ? 0 : 2 * own_variance(s, f, k, i, theta) * w->right[i * d + i];
    }
    /* by q: its first row, then K, which O has too */
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n + 1, n, n, -1, w->fq, n, w->inner, n,
                0, w->q, n);
    product(CblasNoTrans, CblasNoTrans, d, w->k, w->right, w->left);
    double *by_k = w->q + d;
    for (size_t c = 0; c < d; c++) {
        for (size_t i = 0; i < d; i++) {
            by_k[c * d + i] += 2 * s->noise[c] * w->left[c * d + i];
        }
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, 1, by_k, n, w->j, n, 1, gradient,
                n);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, n, 1, w->j, n, w->q, 1, 1, gradient + at.shift, 1);
    product(CblasTrans, CblasNoTrans, d, theta, by_k, w->left);
    for (size_t i = 0; i < d; i++) {
        gradient[at.centre + i] -= target[i] != 0 ? 0 : w->q[i];
        for (size_t p = 0; p < d && target[i] == 0; p++) {
            double by_j =
                w->left[p * d + i] + theta[at.shift + p] * w->q[i] + count * w->inverse[i * d + p];
            gradient[at.weight + p * d + i] -= p != i ? by_j : 0;
        }
    }
}

/* Adds |det B|^(n - d - 1) and the prior of log sigma. */
static double add_shared(const likelihood_sums *s, const likelihood_fixed *f, const double *theta,
                         double *gradient, set_work *w)
{
    size_t d = s->d;
    likelihood_at at = likelihood_layout(d);
    double power = s->rows - (double)d - 1;
    memcpy(w->inverse, theta, d * d * sizeof(double));
    double value = power * invert(w->inverse, d, w->pivot, w->left);
    for (size_t i = 0; i < d; i++) {
        double share = f->ridge * exp(-2 * theta[at.log_sigma + i]);
        value -= f->dof[i] * theta[at.log_sigma + i] + share / 2;
        for (size_t c = 0; gradient != NULL && c < d; c++) {
            gradient[c * d + i] += power * w->inverse[i * d + c];
        }
        if (gradient != NULL) {
            gradient[at.log_sigma + i] += share - f->dof[i];
        }
    }
    return value;
}

double likelihood_value(const likelihood_sums *s, const likelihood_fixed *f, const double *theta,
                        double *gradient, double *work)
{
    size_t d = s->d;
    set_work w = work_of(work, d);
    if (gradient != NULL) {
        memset(gradient, 0, likelihood_layout(d).count * sizeof(double));
    }
    double value = add_shared(s, f, theta, gradient, &w);
    for (size_t k = 0; k < s->sets && isfinite(value); k++) {
        set_residuals(s, k, theta, &w);
        double log_det = set_covariance(s, f, k, theta, &w);
        memcpy(w.inverse, w.j, d * d * sizeof(double));
        double volume = invert(w.inverse, d, w.pivot, w.left);
        double misfit = cblas_ddot((int)(d * d), w.inner, 1, w.s, 1);
        value += s->count[k] * (volume - log_det / 2) - misfit / 2;
        if (gradient != NULL && isfinite(value)) {
            set_gradient(s, f, k, theta, &w, gradient);
        }
    }
    return isfinite(value) ? value : -INFINITY;
}
