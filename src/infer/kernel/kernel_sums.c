/* What labels leave open of sums over rows: with b_r = c_r r(f_r), K of those rows, K_S theirs with
 * the labels S,
 *
 *     var sum_r c_r z_j(f_r) = u_j^2 (b'K b - |L^-1 K_S'b|^2),   K_SS + ridge I = L L',
 *
 * and for the linear family ridge u_j^2 |L^-1 sum_r c_r phi(f_r)|^2, Phi'Phi + ridge I = L L'. */
#include "base/threads.h"
#include "infer/kernel/kernel_cholesky.h"
#include "infer/kernel/kernel_parts.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>

typedef struct sums_work {
    size_t n, k, most;    /* rows, sums, labels (linear: coefficients) */
    kernel_points points; /* (n) */
    float *own, *across;  /* (n, n), (n, most) */
    float *b;             /* (k, n) */
    float *known, *spent; /* (k, most), (k, n) */
    double *cosine, *phi;
    arena memory;
} sums_work;

static void lay_out(sums_work *w, bool linear)
{
    arena *a = &w->memory;
    size_t tile = (size_t)omp_get_max_threads() * KERNEL_ROWS * KERNEL_COLUMNS;
    w->known = arena_take(a, w->k * w->most, sizeof(float));
    w->phi = arena_take(a, w->most, sizeof(double));
    if (!linear) {
        w->points.unit = arena_take(a, w->n * w->points.k, sizeof(double));
        w->points.radius = arena_take(a, w->n, sizeof(double));
        w->own = arena_take(a, w->n * w->n, sizeof(float));
        w->across = arena_take(a, w->n * w->most, sizeof(float));
        w->b = arena_take(a, w->k * w->n, sizeof(float));
        w->spent = arena_take(a, w->k * w->n, sizeof(float));
        w->cosine = arena_take(a, tile, sizeof(double));
    }
}

static void sum_linear(const kernel_encoder *e, size_t j, const float *f, const double *c,
                       const sums_work *w, double *out)
{
    size_t m = e->m;
    for (size_t r = 0; r < w->n; r++) {
        kernel_linear_input(&e->space, f + r * e->space.R, w->phi);
        for (size_t s = 0; s < w->k; s++) {
            for (size_t q = 0; q < m; q++) {
                w->known[s * m + q] += (float)(c[r * w->k + s] * w->phi[q]);
            }
        }
    }
    if (e->factor != NULL) {
        kernel_cholesky_rows(e->factor + j * m * m, m, w->k, w->known);
    }
    for (size_t s = 0; s < w->k; s++) {
        const float *x = w->known + s * m;
        out[s] = e->ridge[j] * (double)cblas_sdot((int)m, x, 1, x, 1);
    }
}

static lscm_status sum_kernel(const kernel_encoder *e, size_t j, const float *f, const double *c,
                              sums_work *w, double *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    kernel_sd labels = {0};
    int n = (int)w->n;
    int k = (int)w->k;
    TRY(kernel_sd_open(&labels, &e->space, w->most, why));
    kernel_sd_set(&labels, e->inputs, e->sd_row + e->sd_first[j], w->most, e->ridge[j]);
    w->points.n = w->n;
    kernel_points_of(&e->space, f, NULL, &w->points);
    for (size_t r = 0; r < w->n; r++) {
        double reach = kernel_reach(&e->space, w->points.radius[r]);
        for (size_t s = 0; s < w->k; s++) {
            w->b[s * w->n + r] = (float)(c[r * w->k + s] * reach);
        }
    }
    kernel_matrix(&w->points, &w->points, w->cosine, w->own);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, k, n, n, 1, w->b, n, w->own, n, 0,
                w->spent, n);
    if (labels.n > 0) {
        int m = (int)w->most;
        kernel_matrix(&w->points, &labels.points, w->cosine, w->across);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, k, m, n, 1, w->b, n, w->across, m, 0,
                    w->known, m);
        kernel_cholesky_rows(labels.factor, w->most, w->k, w->known);
    }
    for (size_t s = 0; s < w->k; s++) {
        const float *known = w->known + s * w->most;
        double all = (double)cblas_sdot(n, w->b + s * w->n, 1, w->spent + s * w->n, 1);
        double told = (double)cblas_sdot((int)w->most, known, 1, known, 1);
        out[s] = fmax(all - told, 0);
    }
done:
    kernel_sd_close(&labels);
    return status;
}

lscm_status kernel_sums(const kernel_encoder *e, size_t j, size_t n, const float *f, size_t k,
                        const double *c, double *variance, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bool linear = e->inputs == NULL;
    size_t most = linear ? e->m : e->sd_first[j + 1] - e->sd_first[j];
    sums_work w = {.n = n, .k = k, .most = most, .points = {.k = kernel_width(&e->space)}};
    threads_blas_single();
    lay_out(&w, linear);
    TRY(arena_open(&w.memory, why));
    lay_out(&w, linear);
    if (linear) {
        sum_linear(e, j, f, c, &w, variance);
    } else {
        TRY(sum_kernel(e, j, f, c, &w, variance, why));
    }
    for (size_t s = 0; s < k; s++) {
        variance[s] *= e->unit[j] * e->unit[j];
    }
done:
    arena_close(&w.memory);
    threads_blas_restore();
    return status;
}
