#include "infer/sample/view_scatter.h"

#include "base/threads.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Subtracts the noise from the diagonal, but leaves a thousandth of every direction. */
static void correct(const view_scatter *g, double *scatter, double noise)
{
    size_t r = g->rank;
    if (!(noise > 0)) {
        return;
    }
    memcpy(g->copy, scatter, r * r * sizeof *scatter);
    if (LAPACKE_dsyevd(LAPACK_ROW_MAJOR, 'N', 'U', (int)r, g->copy, (int)r, g->eigen) != 0) {
        return;
    }
    noise = fmin(noise, fmax(0.999 * g->eigen[0], 0));
    for (size_t c = 0; c < r; c++) {
        scatter[c * r + c] -= noise;
    }
}

/* The first level, with its noise. */
static void collect(view_scatter *g, const gram_sums *all, size_t i)
{
    size_t r = g->rank;
    double *scatter = g->scatter + i * g->most * r * r;
    double *mean = g->mean + i * g->most * r;
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
}

/* The other levels from it; then all without noise. */
static void fill_levels(view_scatter *g, size_t i, double x_noise, const size_t *only)
{
    size_t r = g->rank;
    level_sums sums = {.node = i,
                       .count = r,
                       .heft = g->rows[i],
                       .scatter = g->scatter + i * g->most * r * r,
                       .mean = g->mean + i * g->most * r};
    family_level *level = g->level + i * g->most;
    double noise = (g->rows[i] - 1) * x_noise * x_noise;
    g->levels[i] = g->most > 1 ? set_means_levels(&g->sets, i) : 1;
    level[0] = set_means_none(g->levels[i]);
    for (size_t l = 1; l < g->levels[i]; l++) {
        if (only == NULL || only[i] == l) {
            level[l] = set_means_level(&g->sets, &sums, l);
            correct(g, sums.scatter + l * r * r, level[l].blurred * noise);
        }
    }
    correct(g, sums.scatter, noise);
}

static void lay_out(view_scatter *g, arena *a)
{
    g->rows = arena_take(a, g->d, sizeof(double));
    g->levels = arena_take(a, g->d, sizeof *g->levels);
    g->level = arena_take(a, g->d * g->most, sizeof *g->level);
    g->mean = arena_take(a, g->d * g->most * g->rank, sizeof(double));
    g->scatter = arena_take(a, g->d * g->most * g->rank * g->rank, sizeof(double));
    g->row = arena_take(a, g->design->rows, sizeof *g->row);
    g->centre = arena_take(a, g->rank, sizeof(double));
    g->work = arena_take(a, gram_work(g->d, g->rank), sizeof(double));
    g->copy = arena_take(a, g->rank * g->rank, sizeof(double));
    g->eigen = arena_take(a, g->rank, sizeof(double));
    if (g->most > 1) {
        g->sets = (set_means){.design = g->design, .width = g->rank, .centre = g->centre};
        set_means_lay_out(&g->sets, a, g->rank);
    }
}

void view_scatter_sum(view_scatter *g, const double *y, double x_noise, const size_t *only)
{
    gram_rows rows = {.design = g->design,
                      .used = g->used,
                      .width = g->rank,
                      .row = g->row,
                      .x = y,
                      .centre = g->centre};
    gram_centre(&rows, g->work);
    gram_sums all = gram_by_set(&rows, g->work);
    if (g->most > 1) {
        set_means_sum(&g->sets, &(set_rows){g->used, g->row, y, NULL});
    }
    for (size_t i = 0; i < g->d; i++) {
        collect(g, &all, i);
        fill_levels(g, i, x_noise, only);
    }
}

lscm_status view_scatter_of(view_scatter *out, const linear_view *s, const uint8_t *keep,
                            bool effects, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    view_scatter g = {
        .d = s->d, .rank = s->rank, .most = effects ? FAMILY_LEVELS : 1, .design = &s->design};
    threads_blas_single();
    lay_out(&g, &g.memory);
    TRY(arena_open(&g.memory, why));
    lay_out(&g, &g.memory);
    g.used = design_list(&s->design, keep, true, g.row);
    view_scatter_sum(&g, s->y, s->x_noise, NULL);
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

void view_scatter_encode(const view_scatter *g, const view_encoder *by, const view_family *of,
                         double *work, double *mean, double *scatter)
{
    size_t r = g->rank;
    size_t count = of->count;
    double *encoder = work;             /* (count, r): the columns of B, as rows */
    double *product = work + count * r; /* (count, r) */
    for (size_t k = 0; k < count; k++) {
        size_t column = of->column[k];
        cblas_dcopy((int)r, by->slope + column, (int)by->d, encoder + k * r, 1);
        mean[k] = by->shift[column] +
                  cblas_ddot((int)r, encoder + k * r, 1, view_mean_at(g, of->node, of->level), 1);
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)count, (int)r, (int)r, 1, encoder,
                (int)r, view_scatter_at(g, of->node, of->level), (int)r, 0, product, (int)r);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)count, (int)r, 1, product,
                (int)r, encoder, (int)r, 0, scatter, (int)count);
}
