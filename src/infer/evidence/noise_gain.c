#include "infer/evidence/noise_gain.h"

#include "base/threads.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { SIDE = NOISE_GAIN_NODES + 2, STEPS = 4 };

/* The rows of a node, and scratch. */
typedef struct gain_rows {
    size_t d, node, count;
    double *z;      /* (count, d) */
    double *x;      /* (count): residuals */
    double *weight; /* (count) */
} gain_rows;

static size_t count_of(const anchored_input *in)
{
    size_t rows = in->view->rows;
    return rows < NOISE_GAIN_ROWS ? rows : NOISE_GAIN_ROWS;
}

/* Every so many of the rows in which it is free. */
static void take_rows(gain_rows *g, const anchored_input *in, const double *z)
{
    const linear_view *s = in->view;
    size_t step = (s->rows + NOISE_GAIN_ROWS - 1) / NOISE_GAIN_ROWS;
    g->count = 0;
    for (size_t r = 0; r < s->rows; r += step) {
        if (row_counts(in->keep, r) && !design_is_set(&s->design, r, g->node)) {
            memcpy(g->z + g->count++ * g->d, z + r * g->d, g->d * sizeof *z);
        }
    }
}

/* The columns 1, parents, z_i of a row; returns how many. */
static size_t columns_of(const gain_rows *g, uint32_t parents, const double *z, double *column)
{
    size_t n = 0;
    column[n++] = 1;
    for (size_t p = 0; p < g->d; p++) {
        if ((parents >> p & 1) != 0) {
            column[n++] = z[p];
        }
    }
    column[n++] = z[g->node];
    return n;
}

/* x: what weighted least squares leave. False where there are no such slopes. */
static bool regress(gain_rows *g, uint32_t parents)
{
    const double rounding = 1e-10; /* where parents are combinations of others */
    double gram[SIDE * SIDE] = {0};
    double column[SIDE];
    double slope[SIDE];
    size_t m = (size_t)__builtin_popcount(parents) + 2;
    size_t n = m - 1;
    for (size_t r = 0; r < g->count; r++) {
        (void)columns_of(g, parents, g->z + r * g->d, column);
        for (size_t a = 0; a < m; a++) {
            double own = g->weight[r] * column[a];
            for (size_t b = 0; b <= a; b++) {
                gram[a * m + b] += own * column[b];
            }
        }
    }
    memcpy(slope, gram + n * m, n * sizeof *slope);
    for (size_t a = 0; a < n; a++) {
        gram[a * m + a] *= 1 + rounding;
    }
    if (LAPACKE_dposv_work(LAPACK_ROW_MAJOR, 'L', (int)n, 1, gram, (int)m, slope, 1) != 0) {
        return false;
    }
    for (size_t r = 0; r < g->count; r++) {
        (void)columns_of(g, parents, g->z + r * g->d, column);
        g->x[r] = column[n];
        for (size_t a = 0; a < n; a++) {
            g->x[r] -= slope[a] * column[a];
        }
    }
    return true;
}

static double root_mean_square(const gain_rows *g)
{
    double sum = 0;
    double heft = 0;
    for (size_t r = 0; r < g->count; r++) {
        sum += g->weight[r] * g->x[r] * g->x[r];
        heft += g->weight[r];
    }
    return sqrt(sum / heft);
}

static double gain_of(gain_rows *g, const noise_grid *grid, uint32_t parents)
{
    const noise_point pilot = {.dof = 4};
    for (size_t r = 0; r < g->count; r++) {
        g->weight[r] = 1;
    }
    if (g->count < (size_t)2 * SIDE || !regress(g, parents)) {
        return 0;
    }
    double normal = noise_normal_likelihood(g->x, g->count);
    for (size_t step = 0; step < STEPS; step++) {
        double scale = root_mean_square(g);
        for (size_t r = 0; r < g->count && scale > 0; r++) {
            g->weight[r] = noise_mean_weight(&pilot, g->x[r] / scale);
        }
        if (!regress(g, parents)) {
            return 0;
        }
    }
    double likelier = noise_likelier(grid, g->x, g->count, normal);
    return isfinite(likelier) ? likelier : 0;
}

static void lay_out(gain_rows *g, arena *a, size_t d, size_t rows)
{
    g->z = arena_take(a, rows * d, sizeof(double));
    g->x = arena_take(a, rows, sizeof(double));
    g->weight = arena_take(a, rows, sizeof(double));
}

lscm_status noise_gains(double *gain, const noise_grid *grid, const anchored_input *in,
                        const double *z, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = in->view->d;
    size_t rows = count_of(in);
    bool failed = false;
    threads_blas_single();
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < d; i++) {
        gain_rows g = {.d = d, .node = i};
        arena memory = {0};
        lay_out(&g, &memory, d, rows);
        if (arena_open(&memory, NULL) != LSCM_OK) {
#pragma omp atomic write
            failed = true;
            continue;
        }
        lay_out(&g, &memory, d, rows);
        take_rows(&g, in, z);
        for (uint32_t parents = 0; parents < (uint32_t)1 << d; parents++) {
            if ((parents >> i & 1) == 0) {
                gain[(i << d) + parents] = gain_of(&g, grid, parents);
            }
        }
        arena_close(&memory);
    }
    threads_blas_restore();
    if (failed) {
        status = fail_memory(why, rows * (d + 2) * sizeof(double));
    }
    return status;
}
