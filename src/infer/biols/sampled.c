#include "infer/biols/sampled.h"

#include "base/threads.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = SAMPLED_TILE };

/* Scratch of one slot. Columns by position: (d, TILE). */
typedef struct tile_work {
    double *noise;   /* (TILE, d): eps by node */
    double *z;       /* (TILE, d): by node */
    double *slope;   /* (TILE, d): by node */
    double *column;  /* z */
    double *pushed;  /* n */
    double *adjoint; /* lambda, then lambda M */
    double *free;    /* 1 off target */
} tile_work;

struct sampled_work {
    size_t d;
    tile_work *tile; /* (SAMPLED_SLOTS) */
    arena memory;
};

static void lay_out(sampled_work *w, arena *a)
{
    w->tile = arena_take(a, SAMPLED_SLOTS, sizeof *w->tile);
    for (int k = 0; k < SAMPLED_SLOTS; k++) {
        tile_work t;
        double **array[] = {&t.noise, &t.z, &t.slope, &t.column, &t.pushed, &t.adjoint, &t.free};
        for (size_t i = 0; i < sizeof array / sizeof array[0]; i++) {
            *array[i] = arena_take(a, TILE * w->d, sizeof(double));
        }
        if (w->tile != NULL) {
            w->tile[k] = t;
        }
    }
}

lscm_status sampled_open(sampled_work **out, size_t d, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    sampled_work *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return fail_memory(why, sizeof *w);
    }
    w->d = d;
    lay_out(w, &w->memory);
    TRY(arena_open(&w->memory, why));
    lay_out(w, &w->memory);
    *out = w;
    w = NULL;
done:
    sampled_close(w);
    return status;
}

void sampled_close(sampled_work *work)
{
    if (work != NULL) {
        arena_close(&work->memory);
        free(work);
    }
}

/* n and M in the order of the draw, then z position by position, and z by node. */
static void sample_tile(const tile_work *t, const row_batch *batch, size_t first, size_t n,
                        const size_t *order, const double *lower, const double *sigma)
{
    size_t d = batch->d;
    for (size_t b = 0; b < d; b++) {
        size_t node = order[b];
        double *restrict z = t->column + b * TILE;
        double *restrict pushed = t->pushed + b * TILE;
        double *restrict open = t->free + b * TILE;
        for (size_t r = 0; r < n; r++) {
            size_t at = (first + r) * d + node;
            open[r] = batch->mask[at] != 0 ? 0 : 1;
            pushed[r] = open[r] * sigma[node] * t->noise[r * d + node];
            z[r] = 0;
        }
        for (size_t a = 0; a < b; a++) {
            double weight = lower[b * d + a];
            const double *restrict from = t->column + a * TILE;
            for (size_t r = 0; r < n; r++) {
                z[r] += weight * from[r];
            }
        }
        for (size_t r = 0; r < n; r++) {
            z[r] = open[r] * z[r] + pushed[r] + batch->values[(first + r) * d + node];
            t->z[r * d + node] = z[r];
        }
    }
}

/* lambda from the last position to the first; then the gradients it gives. */
static void push_back(const tile_work *t, size_t d, size_t n, const size_t *order,
                      const double *lower, double *weights, double *log_sigma)
{
    for (size_t b = 0; b < d; b++) {
        for (size_t r = 0; r < n; r++) {
            t->adjoint[b * TILE + r] = t->slope[r * d + order[b]];
        }
    }
    for (size_t b = d; b-- > 0;) {
        double *restrict lambda = t->adjoint + b * TILE;
        const double *restrict open = t->free + b * TILE;
        const double *restrict pushed = t->pushed + b * TILE;
        double sum = 0;
        for (size_t r = 0; r < n; r++) {
            sum += lambda[r] * pushed[r];
            lambda[r] *= open[r];
        }
        log_sigma[order[b]] += sum;
        for (size_t a = 0; a < b; a++) {
            double weight = lower[b * d + a];
            double *restrict to = t->adjoint + a * TILE;
            for (size_t r = 0; r < n; r++) {
                to[r] += weight * lambda[r];
            }
        }
    }
    /* weights[a][b] += sum_r z_a (lambda M)_b */
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)d, (int)d, (int)n, 1, t->column, TILE,
                t->adjoint, TILE, 1, weights, (int)d);
}

static double run_draw(const tile_work *t, size_t slot, const row_batch *batch,
                       const model_draws *draws, size_t s, rng noise, tile_decoder *decode,
                       const linear_gradients *gradients)
{
    size_t d = batch->d;
    const size_t *order = draws->order + s * d;
    const double *lower = draws->lower + s * d * d;
    double total = 0;
    if (gradients != NULL) {
        memset(gradients->weights + s * d * d, 0, d * d * sizeof(double));
        memset(gradients->log_sigma + s * d, 0, d * sizeof(double));
    }
    for (size_t first = 0; first < batch->rows; first += TILE) {
        size_t n = batch->rows - first < TILE ? batch->rows - first : TILE;
        rng_normals(noise, (s * batch->rows + first) * d, n * d, t->noise);
        sample_tile(t, batch, first, n, order, lower, draws->sigma + s * d);
        total += decode->error(decode, slot, first, n, t->z, gradients != NULL ? t->slope : NULL);
        if (gradients != NULL) {
            push_back(t, d, n, order, lower, gradients->weights + s * d * d,
                      gradients->log_sigma + s * d);
        }
    }
    return total;
}

void sampled_error(sampled_work *work, const row_batch *batch, const model_draws *draws, rng noise,
                   tile_decoder *decode, double *error, const linear_gradients *gradients)
{
    threads_blas_single();
#pragma omp parallel for schedule(static)
    for (ptrdiff_t k = 0; k < SAMPLED_SLOTS; k++) {
        size_t slot = (size_t)k;
        size_t end = (slot + 1) * draws->count / SAMPLED_SLOTS;
        for (size_t s = slot * draws->count / SAMPLED_SLOTS; s < end; s++) {
            error[s] = run_draw(&work->tile[slot], slot, batch, draws, s, noise, decode, gradients);
        }
    }
    threads_blas_restore();
}
