/* r^2 (1 - k_S (K_SS + ridge I)^-1 k_S' + ridge): the variance of a label given those of the rows
 * S, in units of u^2. With K_SS + ridge I = L L' it takes one triangular solve per block of rows.
 */
#include "infer/kernel/kernel_cholesky.h"
#include "infer/kernel/kernel_parts.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>

enum { SMALL = 512 }; /* rows for one thread */

static void lay_out(kernel_sd *w, arena *a)
{
    size_t k = w->points.k;
    size_t many = w->threads * KERNEL_ROWS;
    w->points.unit = arena_take(a, w->most * k, sizeof(double));
    w->points.radius = arena_take(a, w->most, sizeof(double));
    w->factor = arena_take(a, w->most * w->most, sizeof(float));
    w->cosine = arena_take(a, many * KERNEL_COLUMNS, sizeof(double));
    w->block = arena_take(a, many * w->most, sizeof(float));
    w->unit = arena_take(a, many * k, sizeof(double));
    w->radius = arena_take(a, many, sizeof(double));
}

lscm_status kernel_sd_open(kernel_sd *w, const kernel_space *s, size_t most, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    *w = (kernel_sd){.space = s, .most = most, .threads = (size_t)omp_get_max_threads()};
    w->points.k = kernel_width(s);
    lay_out(w, &w->memory);
    TRY(arena_open(&w->memory, why));
    lay_out(w, &w->memory);
done:
    return status;
}

void kernel_sd_close(kernel_sd *w)
{
    arena_close(&w->memory);
}

static bool factor(kernel_sd *w)
{
    size_t n = w->n;
    kernel_triangle(&w->points, w->cosine, w->factor, n);
    for (size_t i = 0; i < n; i++) {
        w->factor[i * n + i] = (float)(1 + w->ridge);
    }
    return kernel_cholesky(w->factor, n);
}

void kernel_sd_set(kernel_sd *w, const float *f, const uint32_t *rows, size_t n, double ridge)
{
    w->n = n;
    w->points.n = n;
    w->ridge = ridge;
    kernel_points_of(w->space, f, rows, &w->points);
    bool solved = factor(w);
    while (!solved && w->ridge < 1) {
        w->ridge *= 10;
        solved = factor(w);
    }
    w->n = solved ? n : 0; /* 0: nothing is known */
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* rows first .. first + count - 1, at most KERNEL_ROWS */
static void block_rows(kernel_sd *w, const float *f, const uint32_t *row, size_t first,
                       size_t count, double *out, size_t stride)
{
    size_t n = w->n;
    size_t k = w->points.k;
    size_t thread = (size_t)omp_get_thread_num();
    float *block = w->block + thread * KERNEL_ROWS * w->most;
    kernel_points p = {.n = count,
                       .k = k,
                       .unit = w->unit + thread * KERNEL_ROWS * k,
                       .radius = w->radius + thread * KERNEL_ROWS};
    kernel_points_of(w->space, row != NULL ? f : f + first * w->space->R,
                     row != NULL ? row + first : NULL, &p);
    for (size_t j = 0; j < n; j += KERNEL_COLUMNS) {
        kernel_points columns = kernel_points_from(&w->points, j, KERNEL_COLUMNS);
        kernel_tile(&p, &columns, w->cosine + thread * KERNEL_ROWS * KERNEL_COLUMNS, block + j, n);
    }
    kernel_cholesky_rows(w->factor, n, count, block);
    for (size_t i = 0; i < count; i++) {
        const float *l = block + i * n;
        double known = n > 0 ? (double)cblas_sdot((int)n, l, 1, l, 1) : 0;
        double reach = kernel_reach(w->space, p.radius[i]);
        out[(first + i) * stride] = reach * reach * (fmax(1 - known, 0) + w->ridge);
    }
}

void kernel_sd_rows(kernel_sd *w, const float *f, const uint32_t *row, size_t n, double *out,
                    size_t stride)
{
#pragma omp parallel for schedule(dynamic) if (n > SMALL)
    for (size_t first = 0; first < n; first += KERNEL_ROWS) {
        block_rows(w, f, row, first, least(n - first, KERNEL_ROWS), out, stride);
    }
}
