#include "infer/sample/view_scatter.h"

#include "base/threads.h"
#include "infer/mechanism/mechanism.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Subtracts n s_x^2 from the diagonal, but leaves a thousandth of every direction. */
static void correct(double *scatter, double rows, double x_noise, size_t r, double *copy,
                    double *eigen)
{
    double noise = (rows - 1) * x_noise * x_noise;
    if (!(noise > 0)) {
        return;
    }
    memcpy(copy, scatter, r * r * sizeof *copy);
    if (LAPACKE_dsyevd(LAPACK_ROW_MAJOR, 'N', 'U', (int)r, copy, (int)r, eigen) != 0) {
        return;
    }
    noise = fmin(noise, fmax(0.999 * eigen[0], 0));
    for (size_t c = 0; c < r; c++) {
        scatter[c * r + c] -= noise;
    }
}

static void collect(view_scatter *g, const gram_sums *all, size_t i, double x_noise)
{
    size_t r = g->rank;
    double *scatter = g->scatter + i * r * r;
    double *mean = g->mean + i * r;
    g->rows[i] = all->count[i];
    memcpy(mean, all->sum + i * r, r * sizeof *mean);
    memcpy(scatter, all->gram + i * r * r, r * r * sizeof *scatter);
    double n = fmax(g->rows[i], 1);
    for (size_t a = 0; a < r; a++) {
        for (size_t b = a; b < r; b++) {
            scatter[a * r + b] -= mean[a] * mean[b] / n;
            scatter[b * r + a] = scatter[a * r + b];
        }
    }
    for (size_t a = 0; a < r; a++) {
        mean[a] = mean[a] / n + g->centre[a];
    }
    correct(scatter, g->rows[i], x_noise, r, g->copy, g->eigen);
}

static void lay_out(view_scatter *g, arena *a)
{
    g->rows = arena_take(a, g->d, sizeof(double));
    g->mean = arena_take(a, g->d * g->rank, sizeof(double));
    g->scatter = arena_take(a, g->d * g->rank * g->rank, sizeof(double));
    g->row = arena_take(a, g->design->rows, sizeof *g->row);
    g->centre = arena_take(a, g->rank, sizeof(double));
    g->work = arena_take(a, gram_work(g->d, g->rank), sizeof(double));
    g->copy = arena_take(a, g->rank * g->rank, sizeof(double));
    g->eigen = arena_take(a, g->rank, sizeof(double));
}

void view_scatter_sum(view_scatter *g, const double *y, double x_noise)
{
    gram_rows rows = {.design = g->design,
                      .used = g->used,
                      .width = g->rank,
                      .row = g->row,
                      .x = y,
                      .centre = g->centre};
    gram_centre(&rows, g->work);
    gram_sums all = gram_by_set(&rows, g->work);
    for (size_t i = 0; i < g->d; i++) {
        collect(g, &all, i, x_noise);
    }
}

lscm_status view_scatter_of(view_scatter *out, const linear_view *s, const uint8_t *keep,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    view_scatter g = {.d = s->d, .rank = s->rank, .design = &s->design};
    threads_blas_single();
    lay_out(&g, &g.memory);
    TRY(arena_open(&g.memory, why));
    lay_out(&g, &g.memory);
    g.used = design_list(&s->design, keep, true, g.row);
    view_scatter_sum(&g, s->y, s->x_noise);
    *out = g;
    g.memory = (arena){0};
done:
    threads_blas_restore();
    arena_close(&g.memory);
    return status;
}

void view_scatter_close(view_scatter *g)
{
    arena_close(&g->memory);
}

void view_scatter_encode(const view_scatter *g, size_t node, const view_encoder *by,
                         const size_t *column, size_t count, double *work, double *mean,
                         double *scatter)
{
    size_t r = g->rank;
    double *encoder = work;             /* (count, r): the columns of B, as rows */
    double *product = work + count * r; /* (count, r) */
    for (size_t k = 0; k < count; k++) {
        cblas_dcopy((int)r, by->slope + column[k], (int)by->d, encoder + k * r, 1);
        mean[k] =
            by->shift[column[k]] + cblas_ddot((int)r, encoder + k * r, 1, g->mean + node * r, 1);
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)count, (int)r, (int)r, 1, encoder,
                (int)r, g->scatter + node * r * r, (int)r, 0, product, (int)r);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)count, (int)r, 1, product,
                (int)r, encoder, (int)r, 0, scatter, (int)count);
}
