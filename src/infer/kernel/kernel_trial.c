/* See kernel_trial.h: regression and kernel of a node's labels, by at most so many of them. */
#include "infer/kernel/kernel_trial.h"

#include "base/streams.h"
#include "infer/kernel/kernel_cholesky.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

static void lay_out(kernel_trial *w, arena *a)
{
    const size_t most = KERNEL_TRIAL;
    size_t k = w->l->f->R + 1;
    w->rows = arena_take(a, w->l->f->rows, sizeof *w->rows);
    w->train = arena_take(a, most, sizeof *w->train);
    w->held = arena_take(a, most, sizeof *w->held);
    w->lit = arena_take(a, most, sizeof *w->lit);
    w->a.unit = arena_take(a, most * k, sizeof(double));
    w->a.radius = arena_take(a, most, sizeof(double));
    w->b.unit = arena_take(a, most * k, sizeof(double));
    w->b.radius = arena_take(a, most, sizeof(double));
    w->k = arena_take(a, most * most, sizeof(float));
    w->across = arena_take(a, most * most, sizeof(float));
    w->factor = arena_take(a, most * most, sizeof(float));
    w->x = arena_take(a, most, sizeof(float));
    w->z = arena_take(a, most, sizeof(float));
    w->y = arena_take(a, most, sizeof(double));
    w->part = arena_take(a, KERNEL_ROWS * k, sizeof(double));
    w->gram = arena_take(a, k * k, sizeof(double));
    w->lower = arena_take(a, k * k, sizeof(double));
    w->moment = arena_take(a, k, sizeof(double));
    w->slope = arena_take(a, k, sizeof(double));
    w->cosine =
        arena_take(a, (size_t)omp_get_max_threads() * KERNEL_ROWS * KERNEL_COLUMNS, sizeof(double));
}

lscm_status kernel_trial_open(kernel_trial *w, const kernel_labels *l, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    *w = (kernel_trial){.l = l};
    lay_out(w, &w->memory);
    TRY(arena_open(&w->memory, why));
    lay_out(w, &w->memory);
done:
    return status;
}

void kernel_trial_close(kernel_trial *w)
{
    arena_close(&w->memory);
}

double kernel_trial_value(const kernel_trial *w, size_t row, size_t j)
{
    return design_value(&w->l->f->design, row, j);
}

void kernel_trial_rows(kernel_trial *w, size_t j, uint64_t seed)
{
    size_t N = w->l->f->rows;
    size_t most = KERNEL_TRIAL;
    rng r = stream_of(seed, STREAM_KERNEL_CHOICE);
    size_t n = kernel_labels_rows(w->l, j, KERNEL_TRAIN, w->rows);
    w->n = kernel_some(w->rows, n, most, r, 2 * j * N);
    memcpy(w->train, w->rows, w->n * sizeof *w->rows);
    n = kernel_labels_rows(w->l, j, KERNEL_HELD, w->rows);
    w->h = kernel_some(w->rows, n, most, r, (2 * j + 1) * N);
    memcpy(w->held, w->rows, w->h * sizeof *w->rows);
}

bool kernel_trial_linear(kernel_trial *w, const kernel_space *s, size_t j, double ridge)
{
    const features *f = w->l->f;
    size_t k = s->R + 1;
    double mean = w->l->mean[j];
    for (size_t i = 0; i < w->n; i++) {
        w->y[i] = kernel_trial_value(w, w->train[i], j) - mean;
    }
    kernel_linear_sums(s, f->f, w->train, w->n, w->y, w->part, w->gram, w->moment);
    if (!kernel_linear_solve(k, w->gram, w->moment, ridge, w->lower, w->slope)) {
        return false;
    }
    for (size_t i = 0; i < w->h; i++) {
        kernel_linear_input(s, f->f + w->held[i] * s->R, w->part);
        w->z[i] = (float)(mean + cblas_ddot((int)k, w->part, 1, w->slope, 1));
    }
    return true;
}

/* Rows without direction leave; returns how many stay. */
static size_t keep_lit(const kernel_space *s, uint32_t *rows, const kernel_points *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (kernel_lit(s, p->radius[i])) {
            rows[n++] = rows[i];
        }
    }
    return n;
}

void kernel_trial_kernel(kernel_trial *w, const kernel_space *s)
{
    const features *f = w->l->f;
    memcpy(w->lit, w->train, w->n * sizeof *w->lit);
    w->a.n = w->n;
    w->b.n = w->h;
    w->a.k = w->b.k = kernel_width(s);
    kernel_points_of(s, f->f, w->lit, &w->a);
    w->a.n = keep_lit(s, w->lit, &w->a);
    kernel_points_of(s, f->f, w->lit, &w->a);
    kernel_points_of(s, f->f, w->held, &w->b);
    kernel_triangle(&w->a, w->cosine, w->k, w->a.n);
    kernel_matrix(&w->b, &w->a, w->cosine, w->across);
}

bool kernel_trial_solve(kernel_trial *w, const kernel_space *s, size_t j, double ridge)
{
    size_t n = w->a.n;
    double shift = kernel_shift(w->l, s->family, j);
    memcpy(w->factor, w->k, n * n * sizeof *w->factor);
    for (size_t i = 0; i < n; i++) {
        w->factor[i * n + i] = (float)(1 + ridge);
        w->x[i] = (float)((kernel_trial_value(w, w->lit[i], j) - shift) / w->a.radius[i]);
    }
    if (n == 0 || !kernel_cholesky(w->factor, n)) {
        return false;
    }
    kernel_cholesky_solve(w->factor, n, w->x);
    cblas_sgemv(CblasRowMajor, CblasNoTrans, (int)w->h, (int)n, 1, w->across, (int)n, w->x, 1, 0,
                w->z, 1);
    for (size_t i = 0; i < w->h; i++) {
        w->z[i] = (float)(shift + w->b.radius[i] * (double)w->z[i]);
    }
    return true;
}
