/* The linear family: with phi = ((f - centre) / scale, 1), k = R + 1 coordinates,
 *
 *     b = (Phi'Phi + ridge I)^-1 Phi'y,   y'alpha = (y'y - y'Phi b) / ridge,
 *     k_* - k_*L (K_LL + ridge I)^-1 k_L* = ridge phi' (Phi'Phi + ridge I)^-1 phi,
 *
 * the same regression and the same variance as with K = Phi Phi', at the cost of k^2 instead of
 * n^2. All in double; a node per thread.
 */
#include "infer/kernel/kernel_cholesky.h"
#include "infer/kernel/kernel_parts.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <string.h>

static const double ROUNDING = 1e-14;

void kernel_linear_input(const kernel_space *s, const float *f, double *phi)
{
    for (size_t k = 0; k < s->R; k++) {
        phi[k] = ((double)f[k] - s->centre[k]) / s->scale;
    }
    phi[s->R] = 1;
}

void kernel_linear_sums(const kernel_space *s, const float *f, const uint32_t *rows, size_t n,
                        const double *y, double *part, double *gram, double *moment)
{
    size_t k = s->R + 1;
    memset(gram, 0, k * k * sizeof *gram);
    memset(moment, 0, k * sizeof *moment);
    for (size_t first = 0; first < n; first += KERNEL_ROWS) {
        size_t count = n - first < KERNEL_ROWS ? n - first : KERNEL_ROWS;
        for (size_t i = 0; i < count; i++) {
            kernel_linear_input(s, f + rows[first + i] * s->R, part + i * k);
        }
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)k, (int)count, 1, part, (int)k, 1,
                    gram, (int)k);
        cblas_dgemv(CblasRowMajor, CblasTrans, (int)count, (int)k, 1, part, (int)k, y + first, 1, 1,
                    moment, 1);
    }
}

bool kernel_linear_solve(size_t k, const double *gram, const double *moment, double ridge,
                         double *factor, double *b)
{
    memcpy(factor, gram, k * k * sizeof *factor);
    memcpy(b, moment, k * sizeof *b);
    for (size_t i = 0; i < k; i++) {
        factor[i * k + i] += ridge;
    }
    /* row-major lower is column-major upper */
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)k, factor, (lapack_int)k) != 0) {
        return false;
    }
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)k, factor, (int)k, b,
                1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)k, factor, (int)k, b, 1);
    return true;
}

void kernel_linear_sd(const kernel_encoder *e, size_t j, const float *f, const uint32_t *row,
                      size_t n, float *part, double *out, size_t stride)
{
    size_t R = e->space.R;
    size_t k = e->m;
    for (size_t first = 0; first < n; first += KERNEL_ROWS) {
        size_t count = n - first < KERNEL_ROWS ? n - first : KERNEL_ROWS;
        for (size_t i = 0; i < count && e->factor != NULL; i++) {
            const float *from = f + (row != NULL ? row[first + i] : first + i) * R;
            for (size_t c = 0; c < R; c++) {
                part[i * k + c] = (float)(((double)from[c] - e->space.centre[c]) / e->space.scale);
            }
            part[i * k + R] = 1;
        }
        if (e->factor != NULL) {
            kernel_cholesky_rows(e->factor + j * k * k, k, count, part);
        }
        for (size_t i = 0; i < count; i++) {
            const float *l = part + i * k;
            double square = e->factor != NULL ? (double)cblas_sdot((int)k, l, 1, l, 1) : 0;
            out[(first + i) * stride] = e->ridge[j] * (1 + square);
        }
    }
}

typedef struct desk {
    uint32_t *rows;        /* (N) */
    double *y;             /* (N) */
    double *part;          /* (KERNEL_ROWS, k) */
    double *gram, *factor; /* (k, k) */
    double *moment, *b;    /* (k) */
} desk;

static void lay_out(desk *w, size_t threads, arena *a, size_t N, size_t k)
{
    for (size_t t = 0; t < threads; t++) {
        desk *at = w + t;
        at->rows = arena_take(a, N, sizeof(uint32_t));
        at->y = arena_take(a, N, sizeof(double));
        at->part = arena_take(a, KERNEL_ROWS * k, sizeof(double));
        at->gram = arena_take(a, k * k, sizeof(double));
        at->factor = arena_take(a, k * k, sizeof(double));
        at->moment = arena_take(a, k, sizeof(double));
        at->b = arena_take(a, k, sizeof(double));
    }
}

static void fit_node(kernel_encoder *e, const kernel_labels *l, size_t j, unsigned roles,
                     double ridge, desk *w)
{
    const features *f = l->f;
    size_t k = e->m;
    size_t n = kernel_labels_rows(l, j, roles, w->rows);
    double squares = 0;
    e->shift[j] = l->mean[j];
    for (size_t i = 0; i < n; i++) {
        w->y[i] = design_value(&f->design, w->rows[i], j) - e->shift[j];
        squares += w->y[i] * w->y[i];
    }
    kernel_linear_sums(&e->space, f->f, w->rows, n, w->y, w->part, w->gram, w->moment);
    bool solved = kernel_linear_solve(k, w->gram, w->moment, ridge, w->factor, w->b);
    e->ridge[j] = ridge;
    while (!solved && e->ridge[j] < 1) {
        e->ridge[j] *= 10;
        solved = kernel_linear_solve(k, w->gram, w->moment, e->ridge[j], w->factor, w->b);
    }
    /* residuals and pull of the ridge; what rounding leaves of a perfect fit */
    double left = squares - cblas_ddot((int)k, w->moment, 1, w->b, 1);
    left = fmax(left, ROUNDING * squares);
    e->unit[j] = solved ? sqrt(left / e->ridge[j] / (double)n) : 0;
    for (size_t i = 0; i < k; i++) {
        e->alpha[i * e->d + j] = solved ? (float)w->b[i] : 0;
    }
    for (size_t i = 0; i < k * k && e->factor != NULL; i++) {
        e->factor[j * k * k + i] = solved ? (float)w->factor[i] : 0;
    }
}

lscm_status kernel_linear_fit(kernel_encoder *e, const kernel_labels *l, unsigned roles,
                              double ridge, const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena memory = {0};
    size_t threads = (size_t)omp_get_max_threads();
    desk *w = NULL;
    TRY(kernel_told(progress, "encoding", 0, e->d, why));
    for (int placing = 0; placing < 2; placing++) {
        if (placing) {
            TRY(arena_open(&memory, why));
        }
        w = arena_take(&memory, threads, sizeof *w);
        desk none = {0};
        for (size_t t = 0; t < threads; t++) {
            lay_out(placing ? w + t : &none, 1, &memory, l->f->rows, e->m);
        }
    }
#pragma omp parallel for schedule(dynamic)
    for (size_t j = 0; j < e->d; j++) {
        if (l->usable[j]) {
            fit_node(e, l, j, roles, ridge, w + omp_get_thread_num());
        }
    }
done:
    arena_close(&memory);
    return status;
}
