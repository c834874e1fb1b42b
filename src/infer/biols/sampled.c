#include "infer/biols/sampled.h"

#include "base/threads.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = SAMPLED_TILE };

/* Scratch of one tile. Columns by position: (d, TILE). */
typedef struct tile_work {
    double *noise;   /* (TILE, d): eps by node */
    double *column;  /* z */
    double *pushed;  /* n */
    double *adjoint; /* lambda, then lambda M */
    double *free;    /* 1 off target */
} tile_work;

struct sampled_work {
    size_t d, slots, together;
    tile_work *work;    /* (slots, together) */
    sampled_tile *tile; /* the same */
    arena memory;
};

static void lay_out(sampled_work *w, arena *a)
{
    size_t tiles = w->slots * w->together;
    w->work = arena_take(a, tiles, sizeof *w->work);
    w->tile = arena_take(a, tiles, sizeof *w->tile);
    for (size_t k = 0; k < tiles; k++) {
        tile_work t;
        sampled_tile of;
        double **array[] = {&t.noise, &of.z, &of.slope, &t.column, &t.pushed, &t.adjoint, &t.free};
        for (size_t i = 0; i < sizeof array / sizeof array[0]; i++) {
            *array[i] = arena_take(a, TILE * w->d, sizeof(double));
        }
        if (w->work != NULL) {
            w->work[k] = t;
            w->tile[k] = of;
        }
    }
}

lscm_status sampled_open(sampled_work **out, size_t d, const tile_decoder *decode, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    sampled_work *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return fail_memory(why, sizeof *w);
    }
    w->d = d;
    w->slots = decode->slots;
    w->together = decode->together;
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
static void sample_tile(const tile_work *t, const sampled_tile *tile, const row_batch *batch,
                        const size_t *order, const double *lower, const double *sigma)
{
    size_t d = batch->d;
    size_t n = tile->rows;
    for (size_t b = 0; b < d; b++) {
        size_t node = order[b];
        double *restrict z = t->column + b * TILE;
        double *restrict pushed = t->pushed + b * TILE;
        double *restrict open = t->free + b * TILE;
        for (size_t r = 0; r < n; r++) {
            size_t at = (tile->first + r) * d + node;
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
            z[r] = open[r] * z[r] + pushed[r] + batch->values[(tile->first + r) * d + node];
            tile->z[r * d + node] = z[r];
        }
    }
}

/* lambda from the last position to the first; then the gradients it gives. */
static void push_back(const tile_work *t, const sampled_tile *tile, size_t d, const size_t *order,
                      const double *lower, double *weights, double *log_sigma)
{
    size_t n = tile->rows;
    for (size_t b = 0; b < d; b++) {
        for (size_t r = 0; r < n; r++) {
            t->adjoint[b * TILE + r] = tile->slope[r * d + order[b]];
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

/* A pass over all draws; job j is tile j % tiles of draw j / tiles. */
typedef struct sampled_pass {
    const sampled_work *work;
    const row_batch *batch;
    const model_draws *draws;
    rng noise;
    tile_decoder *decode;
    double *error;
    const linear_gradients *gradients; /* NULL: none */
    size_t tiles;
} sampled_pass;

static void sample_job(const sampled_pass *p, size_t job, const tile_work *t, sampled_tile *tile)
{
    const row_batch *b = p->batch;
    size_t d = b->d;
    size_t s = job / p->tiles;
    tile->first = job % p->tiles * TILE;
    tile->rows = b->rows - tile->first < TILE ? b->rows - tile->first : TILE;
    rng_normals(p->noise, (s * b->rows + tile->first) * d, tile->rows * d, t->noise);
    sample_tile(t, tile, b, p->draws->order + s * d, p->draws->lower + s * d * d,
                p->draws->sigma + s * d);
}

/* What jobs first .. end - 1 have of draw s, in their order. */
static void finish_draw(const sampled_pass *p, size_t s, size_t first, size_t end,
                        const tile_work *t, const sampled_tile *tile)
{
    size_t d = p->batch->d;
    size_t from = s * p->tiles > first ? s * p->tiles : first;
    size_t to = (s + 1) * p->tiles < end ? (s + 1) * p->tiles : end;
    for (size_t job = from; job < to; job++) {
        p->error[s] += tile[job - first].error;
        if (p->gradients != NULL) {
            push_back(&t[job - first], &tile[job - first], d, p->draws->order + s * d,
                      p->draws->lower + s * d * d, p->gradients->weights + s * d * d,
                      p->gradients->log_sigma + s * d);
        }
    }
}

/* Jobs first .. end - 1, at most `together`: draw, decode, push back. */
static void run_jobs(const sampled_pass *p, size_t slot, size_t first, size_t end)
{
    const tile_work *t = p->work->work + slot * p->work->together;
    sampled_tile *tile = p->work->tile + slot * p->work->together;
#pragma omp parallel for schedule(static) if (end > first + 1)
    for (size_t job = first; job < end; job++) {
        sample_job(p, job, &t[job - first], &tile[job - first]);
    }
    p->decode->errors(p->decode, slot, end - first, tile, p->gradients != NULL);
#pragma omp parallel for schedule(static) if (end > first + 1)
    for (size_t s = first / p->tiles; s <= (end - 1) / p->tiles; s++) {
        finish_draw(p, s, first, end, t, tile);
    }
}

/* The draws of a slot. */
static void run_slot(const sampled_pass *p, size_t slot)
{
    size_t dd = p->batch->d * p->batch->d;
    size_t slots = p->work->slots;
    size_t first = slot * p->draws->count / slots;
    size_t end = (slot + 1) * p->draws->count / slots;
    memset(p->error + first, 0, (end - first) * sizeof *p->error);
    if (p->gradients != NULL) {
        memset(p->gradients->weights + first * dd, 0, (end - first) * dd * sizeof(double));
        memset(p->gradients->log_sigma + first * p->batch->d, 0,
               (end - first) * p->batch->d * sizeof(double));
    }
    for (size_t job = first * p->tiles; job < end * p->tiles; job += p->work->together) {
        size_t left = end * p->tiles - job;
        run_jobs(p, slot, job, job + (left < p->work->together ? left : p->work->together));
    }
}

void sampled_error(sampled_work *work, const row_batch *batch, const model_draws *draws, rng noise,
                   tile_decoder *decode, double *error, const linear_gradients *gradients)
{
    sampled_pass p = {.work = work,
                      .batch = batch,
                      .draws = draws,
                      .noise = noise,
                      .decode = decode,
                      .gradients = gradients,
                      .tiles = (batch->rows + TILE - 1) / TILE};
    p.error = error;
    threads_blas_single();
#pragma omp parallel for schedule(static) if (work->slots > 1)
    for (size_t slot = 0; slot < work->slots; slot++) {
        run_slot(&p, slot);
    }
    threads_blas_restore();
}
