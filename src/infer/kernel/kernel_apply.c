/* z = shift + r k(f, inputs) alpha, and its sd: the same for rows that were learned from and for
 * new ones. Kernel values exist one tile at a time; products of 256 inputs are float32, their sum
 * is double. */
#include "infer/kernel/kernel_parts.h"

#include "base/threads.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { TOLD = 4096 }; /* rows between two reports */

typedef struct work {
    const kernel_encoder *e;
    kernel_inputs in;
    size_t k; /* coordinates of an input */
    size_t threads;
    double *alpha;  /* (m, d), linear */
    double *unit;   /* (threads, KERNEL_ROWS, k) */
    double *radius; /* (threads, KERNEL_ROWS) */
    float *tile;    /* (threads, KERNEL_ROWS, KERNEL_COLUMNS) */
    float *part;    /* (threads, KERNEL_ROWS, max(d, k)) */
    double *sum;    /* (threads, KERNEL_ROWS, d) */
    arena memory;
} work;

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void lay_out(work *w, arena *a)
{
    size_t many = w->threads * KERNEL_ROWS;
    size_t d = w->e->d;
    w->alpha = w->e->inputs == NULL ? arena_take(a, w->e->m * d, sizeof(double)) : NULL;
    w->unit = arena_take(a, many * w->k, sizeof(double));
    w->radius = arena_take(a, many, sizeof(double));
    w->tile = arena_take(a, many * KERNEL_COLUMNS, sizeof(float));
    w->part = arena_take(a, many * (d > w->k ? d : w->k), sizeof(float));
    w->sum = arena_take(a, many * d, sizeof(double));
}

static lscm_status work_open(work *w, const kernel_encoder *e, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    *w = (work){.e = e, .k = kernel_width(&e->space), .threads = (size_t)omp_get_max_threads()};
    lay_out(w, &w->memory);
    TRY(arena_open(&w->memory, why));
    lay_out(w, &w->memory);
    if (e->inputs != NULL) {
        TRY(kernel_inputs_of(&w->in, &e->space, e->inputs, NULL, e->m, why));
    } else {
        for (size_t i = 0; i < e->m * e->d; i++) {
            w->alpha[i] = (double)e->alpha[i];
        }
    }
done:
    return status;
}

static void work_close(work *w)
{
    kernel_inputs_close(&w->in);
    arena_close(&w->memory);
}

static void linear_rows(work *w, size_t thread, size_t count, const float *f, double *sum)
{
    const kernel_encoder *e = w->e;
    double *phi = w->unit + thread * KERNEL_ROWS * w->k;
    for (size_t i = 0; i < count; i++) {
        kernel_linear_input(&e->space, f + i * e->space.R, phi + i * w->k);
        w->radius[thread * KERNEL_ROWS + i] = 1;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)count, (int)e->d, (int)e->m, 1, phi,
                (int)w->k, w->alpha, (int)e->d, 0, sum, (int)e->d);
}

static void kernel_rows(work *w, size_t thread, size_t count, const float *f, double *sum)
{
    const kernel_encoder *e = w->e;
    float *tile = w->tile + thread * KERNEL_ROWS * KERNEL_COLUMNS;
    float *part = w->part + thread * KERNEL_ROWS * (e->d > w->k ? e->d : w->k);
    kernel_points p = {.n = count,
                       .k = w->k,
                       .unit = w->unit + thread * KERNEL_ROWS * w->k,
                       .radius = w->radius + thread * KERNEL_ROWS};
    kernel_points_of(&e->space, f, NULL, &p);
    memset(sum, 0, count * e->d * sizeof *sum);
    for (size_t j = 0; j < e->m; j += KERNEL_COLUMNS) {
        kernel_points columns = kernel_points_from(&w->in.points, j, KERNEL_COLUMNS);
        kernel_tile(&p, &columns, w->in.cosine + thread * KERNEL_ROWS * KERNEL_COLUMNS, tile,
                    KERNEL_COLUMNS);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)count, (int)e->d,
                    (int)columns.n, 1, tile, KERNEL_COLUMNS, e->alpha + j * e->d, (int)e->d, 0,
                    part, (int)e->d);
        for (size_t i = 0; i < count * e->d; i++) {
            sum[i] += (double)part[i];
        }
    }
}

/* z of rows first .. past - 1 */
static void encode_rows(work *w, size_t first, size_t past, const float *f, double *z)
{
    const kernel_encoder *e = w->e;
#pragma omp parallel for schedule(dynamic)
    for (size_t from = first; from < past; from += KERNEL_ROWS) {
        size_t thread = (size_t)omp_get_thread_num();
        size_t count = least(past - from, KERNEL_ROWS);
        double *sum = w->sum + thread * KERNEL_ROWS * e->d;
        if (e->inputs != NULL) {
            kernel_rows(w, thread, count, f + from * e->space.R, sum);
        } else {
            linear_rows(w, thread, count, f + from * e->space.R, sum);
        }
        for (size_t i = 0; i < count; i++) {
            double r = w->radius[thread * KERNEL_ROWS + i];
            for (size_t j = 0; j < e->d; j++) {
                z[(from + i) * e->d + j] = e->shift[j] + r * sum[i * e->d + j];
            }
        }
    }
}

static void linear_sd(work *w, size_t j, size_t n, const float *f, double *sd)
{
    const kernel_encoder *e = w->e;
    size_t wide = e->d > w->k ? e->d : w->k;
#pragma omp parallel for schedule(dynamic)
    for (size_t from = 0; from < n; from += KERNEL_ROWS) {
        size_t count = least(n - from, KERNEL_ROWS);
        float *part = w->part + (size_t)omp_get_thread_num() * KERNEL_ROWS * wide;
        kernel_linear_sd(e, j, f + from * e->space.R, NULL, count, part, sd + from * e->d + j,
                         e->d);
    }
}

static lscm_status spread(work *w, size_t n, const float *f, double *sd,
                          const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const kernel_encoder *e = w->e;
    kernel_sd known = {0};
    size_t most = 0;
    for (size_t j = 0; j < e->d; j++) {
        size_t own = e->sd_first[j + 1] - e->sd_first[j];
        most = own > most ? own : most;
    }
    if (e->inputs != NULL) {
        TRY(kernel_sd_open(&known, &e->space, most, why));
    }
    for (size_t j = 0; j < e->d; j++) {
        TRY(kernel_told(progress, "encoding", j, e->d, why));
        if (!e->usable[j]) {
            for (size_t i = 0; i < n; i++) {
                sd[i * e->d + j] = 0;
            }
            continue;
        }
        if (e->inputs != NULL) {
            kernel_sd_set(&known, e->inputs, e->sd_row + e->sd_first[j],
                          e->sd_first[j + 1] - e->sd_first[j], e->ridge[j]);
            kernel_sd_rows(&known, f, NULL, n, sd + j, e->d);
        } else {
            linear_sd(w, j, n, f, sd);
        }
        for (size_t i = 0; i < n; i++) {
            sd[i * e->d + j] = e->unit[j] * sqrt(sd[i * e->d + j]);
        }
    }
done:
    kernel_sd_close(&known);
    return status;
}

lscm_status kernel_apply(const kernel_encoder *e, size_t n, const float *f, double *z, double *sd,
                         const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    threads_blas_single();
    work w = {0};
    TRY(work_open(&w, e, why));
    for (size_t first = 0; first < n; first += TOLD) {
        TRY(kernel_told(progress, "encoding", first, n, why));
        encode_rows(&w, first, least(n, first + TOLD), f, z);
    }
    if (sd != NULL) {
        TRY(spread(&w, n, f, sd, progress, why));
    }
done:
    work_close(&w);
    threads_blas_restore();
    return status;
}
