#include "infer/biols/biols_moments.h"

#include "base/simd.h"
#include "base/threads.h"

#include <cblas.h>
#include <lapacke.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Scratch of one block of eight draws; matrices (d, d) in positions. */
typedef struct block_work {
    lanes *lower;            /* L */
    lanes *gram;             /* G */
    lanes *vv, *vx;          /* Q_t, H_t */
    lanes *free, *noise;     /* (d): the diagonal of M_t; n_t M_t S */
    lanes *reach_t, *reach;  /* R' and R */
    lanes *v, *u, *y;        /* (Q + n N) R; that times G, then E; R' E */
    lanes *weights, *second; /* sums over sets: dF/dW; R' (Q + n N) R */
    lanes *log_sigma;        /* (d) */
    lanes *row;              /* (d) */
    double *reach_sum;       /* (K, d, d), by node: sum of R over the eight draws */
} block_work;

struct linear_work {
    const moments *m;
    size_t blocks;
    block_work *block; /* (blocks) */
    double *gram;      /* (d, d): G */
    double *cross;     /* (K, d, d): H_t */
    double *second;    /* (d, d): sum over draws of sum_t R' (Q + n N) R, by node */
    double *reach;     /* (K, d, d) */
    arena memory;
};

static void lay_out(linear_work *w, arena *a)
{
    size_t d = w->m->d;
    size_t dd = d * d;
    w->block = arena_take(a, w->blocks, sizeof *w->block);
    w->gram = arena_take(a, dd, sizeof(double));
    w->cross = arena_take(a, w->m->sets * dd, sizeof(double));
    w->second = arena_take(a, dd, sizeof(double));
    w->reach = arena_take(a, w->m->sets * dd, sizeof(double));
    for (size_t k = 0; k < w->blocks; k++) {
        block_work b;
        lanes **matrix[] = {&b.lower, &b.gram, &b.vv, &b.vx,      &b.reach_t, &b.reach,
                            &b.v,     &b.u,    &b.y,  &b.weights, &b.second};
        lanes **vector[] = {&b.free, &b.noise, &b.log_sigma, &b.row};
        for (size_t i = 0; i < sizeof matrix / sizeof matrix[0]; i++) {
            *matrix[i] = arena_take(a, dd, sizeof(lanes));
        }
        for (size_t i = 0; i < sizeof vector / sizeof vector[0]; i++) {
            *vector[i] = arena_take(a, d, sizeof(lanes));
        }
        b.reach_sum = arena_take(a, w->m->sets * dd, sizeof(double));
        if (w->block != NULL) {
            w->block[k] = b;
        }
    }
}

lscm_status linear_open(linear_work **out, const moments *m, size_t draws, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    linear_work *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return fail_memory(why, sizeof *w);
    }
    w->m = m;
    w->blocks = draws / LANES;
    lay_out(w, &w->memory);
    TRY(arena_open(&w->memory, why));
    lay_out(w, &w->memory);
    *out = w;
    w = NULL;
done:
    linear_close(w);
    return status;
}

void linear_close(linear_work *work)
{
    if (work != NULL) {
        arena_close(&work->memory);
        free(work);
    }
}

/* out[j] = sum_{c = from}^{to - 1} x[c] y[c][j] for columns j .. j + 3 (as far as they exist) */
static inline __attribute__((always_inline)) void
row_times(const lanes *x, const lanes *y, size_t d, size_t from, size_t to, size_t j, lanes *out)
{
    if (j + 4 <= d) {
        lanes s0 = {0};
        lanes s1 = {0};
        lanes s2 = {0};
        lanes s3 = {0};
        for (size_t c = from; c < to; c++) {
            const lanes *row = y + c * d + j;
            s0 += x[c] * row[0];
            s1 += x[c] * row[1];
            s2 += x[c] * row[2];
            s3 += x[c] * row[3];
        }
        out[j] = s0;
        out[j + 1] = s1;
        out[j + 2] = s2;
        out[j + 3] = s3;
        return;
    }
    for (; j < d; j++) {
        lanes sum = {0};
        for (size_t c = from; c < to; c++) {
            sum += x[c] * y[c * d + j];
        }
        out[j] = sum;
    }
}

static inline size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* R' row by row: R'[b] = e_b + m_b sum_{c < b} L[b][c] R'[c] */
static inline __attribute__((always_inline)) void find_reach(const block_work *w, size_t d)
{
    const lanes one = {1, 1, 1, 1, 1, 1, 1, 1};
    for (size_t b = 0; b < d; b++) {
        lanes *row = w->reach_t + b * d;
        for (size_t j = 0; j < d; j += 4) {
            row_times(w->lower + b * d, w->reach_t, d, smaller(j, b), b, j, row);
        }
        for (size_t a = 0; a < d; a++) {
            row[a] = a < b ? row[a] * w->free[b] : a == b ? one : (lanes){0};
            w->reach[a * d + b] = row[a];
        }
    }
}

/* One set for eight draws: adds to the sums and returns nothing but them. */
CLONED static void add_set(const block_work *w, size_t d, bool gradients, lanes *value)
{
    lanes sum = {0};
    find_reach(w, d);
    for (size_t a = 0; a < d; a++) {
        lanes *v = w->v + a * d;
        lanes *u = w->u + a * d;
        lanes diagonal = {0};
        for (size_t j = 0; j < d; j += 4) {
            row_times(w->vv + a * d, w->reach, d, 0, smaller(j + 4, d), j, v);
        }
        for (size_t j = a; j < d; j++) {
            v[j] += w->noise[a] * w->reach[a * d + j];
        }
        for (size_t j = 0; j < d; j += 4) {
            row_times(v, w->gram, d, 0, d, j, u);
        }
        for (size_t j = a; j < d; j++) {
            diagonal += w->reach[a * d + j] * u[j];
            sum -= 2 * w->reach[a * d + j] * w->vx[a * d + j];
        }
        sum += diagonal;
        w->log_sigma[a] += 2 * w->free[a] * diagonal; /* free rows of Q are 0 */
        for (size_t j = 0; j < d; j++) {
            u[j] = 2 * (u[j] - w->vx[a * d + j]); /* from here on u is E */
        }
    }
    *value += sum;
    for (size_t i = 0; i < d && gradients; i++) {
        lanes *y = w->y + i * d;
        for (size_t j = 0; j < d; j += 4) {
            row_times(w->reach_t + i * d, w->u, d, 0, i + 1, j, y);
        }
        for (size_t j = 0; j < d; j += 4) {
            row_times(y, w->reach_t, d, j, d, j, w->row);
        }
        for (size_t j = 0; j < d; j++) {
            w->weights[i * d + j] += w->free[j] * w->row[j];
        }
        /* the other half of R' (Q + n N) R follows by symmetry */
        for (size_t j = i / 4 * 4; j < d; j += 4) {
            row_times(w->reach_t + i * d, w->v, d, 0, i + 1, j, w->row);
        }
        for (size_t j = i; j < d; j++) {
            w->second[i * d + j] += w->row[j];
        }
    }
}

/* to[a][c] of draw k = from[order_k[a]][order_k[c]] */
static void gather(const double *from, const size_t *order, size_t d, lanes *to)
{
    for (size_t k = 0; k < LANES; k++) {
        const size_t *node = order + k * d;
        for (size_t a = 0; a < d; a++) {
            for (size_t c = 0; c < d; c++) {
                to[a * d + c][k] = from[node[a] * d + node[c]];
            }
        }
    }
}

/* to[order_k[a]][order_k[c]] += from[a][c] of draw k, over the upper triangle, summed over draws */
static void scatter_add(const lanes *from, const size_t *order, size_t d, double *to)
{
    for (size_t k = 0; k < LANES; k++) {
        const size_t *node = order + k * d;
        for (size_t a = 0; a < d; a++) {
            for (size_t c = a; c < d; c++) {
                to[node[a] * d + node[c]] += from[a * d + c][k];
            }
        }
    }
}

static void take_draws(const block_work *b, const model_draws *draws, size_t first, size_t d)
{
    for (size_t k = 0; k < LANES; k++) {
        const double *lower = draws->lower + (first + k) * d * d;
        for (size_t i = 0; i < d * d; i++) {
            b->lower[i][k] = lower[i];
        }
    }
}

static void take_set(const block_work *b, const linear_work *w, size_t t, const model_draws *draws,
                     size_t first)
{
    size_t d = w->m->d;
    const size_t *order = draws->order + first * d;
    const uint8_t *target = w->m->target + t * d;
    for (size_t k = 0; k < LANES; k++) {
        for (size_t a = 0; a < d; a++) {
            size_t node = order[k * d + a];
            double sigma = draws->sigma[(first + k) * d + node];
            b->free[a][k] = target[node] != 0 ? 0 : 1;
            b->noise[a][k] = target[node] != 0 ? 0 : w->m->count[t] * sigma * sigma;
        }
    }
    gather(w->m->vv + t * d * d, order, d, b->vv);
    gather(w->cross + t * d * d, order, d, b->vx);
}

static void put_draws(const block_work *b, const linear_gradients *g, const model_draws *draws,
                      size_t first, size_t d)
{
    for (size_t k = 0; k < LANES; k++) {
        size_t s = first + k;
        for (size_t i = 0; i < d * d; i++) {
            g->weights[s * d * d + i] = b->weights[i][k];
        }
        for (size_t a = 0; a < d; a++) {
            g->log_sigma[s * d + draws->order[s * d + a]] = b->log_sigma[a][k];
        }
    }
}

static void run_block(const linear_work *w, size_t index, const model_draws *draws, double *error,
                      const linear_gradients *gradients)
{
    size_t d = w->m->d;
    size_t first = index * LANES;
    const block_work *b = &w->block[index];
    const size_t *order = draws->order + first * d;
    lanes value = {0};
    memset(b->weights, 0, d * d * sizeof(lanes));
    memset(b->second, 0, d * d * sizeof(lanes));
    memset(b->log_sigma, 0, d * sizeof(lanes));
    take_draws(b, draws, first, d);
    gather(w->gram, order, d, b->gram);
    for (size_t t = 0; t < w->m->sets; t++) {
        take_set(b, w, t, draws, first);
        add_set(b, d, gradients != NULL, &value);
        if (gradients != NULL) {
            double *sum = b->reach_sum + t * d * d;
            memset(sum, 0, d * d * sizeof *sum);
            scatter_add(b->reach, order, d, sum);
        }
    }
    for (size_t k = 0; k < LANES; k++) {
        error[first + k] = w->m->xx + value[k];
    }
    if (gradients != NULL) {
        put_draws(b, gradients, draws, first, d);
    }
}

/* dF/dA = 2 (second) A - 2 sum_t (reach_t)' C_t, sums over blocks in their order */
static void decoder_gradient(const linear_work *w, const model_draws *draws, const double *decoder,
                             double *out)
{
    size_t d = w->m->d;
    size_t dd = d * d;
    int n = (int)d;
    int D = (int)w->m->D;
    memset(w->second, 0, dd * sizeof(double));
    for (size_t k = 0; k < w->blocks; k++) {
        scatter_add(w->block[k].second, draws->order + k * LANES * d, d, w->second);
    }
    /* half of a symmetric matrix was kept, in the positions of each draw */
    for (size_t i = 0; i < d; i++) {
        for (size_t j = i + 1; j < d; j++) {
            double both = w->second[i * d + j] + w->second[j * d + i];
            w->second[i * d + j] = w->second[j * d + i] = both;
        }
    }
    memcpy(w->reach, w->block[0].reach_sum, w->m->sets * dd * sizeof(double));
    for (size_t k = 1; k < w->blocks; k++) {
        cblas_daxpy((int)(w->m->sets * dd), 1, w->block[k].reach_sum, 1, w->reach, 1);
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, D, n, 2, w->second, n, decoder, D, 0,
                out, D);
    for (size_t t = 0; t < w->m->sets; t++) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, D, n, -2, w->reach + t * dd, n,
                    w->m->vx + t * d * w->m->D, D, 1, out, D);
    }
}

void linear_error(linear_work *work, const model_draws *draws, const double *decoder, double *error,
                  const linear_gradients *gradients)
{
    const moments *m = work->m;
    int d = (int)m->d;
    int D = (int)m->D;
    threads_blas_single();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, d, d, D, 1, decoder, D, decoder, D, 0,
                work->gram, d);
    /* all H_t in one product: (K d, D) times A' */
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)(m->sets * m->d), d, D, 1, m->vx, D,
                decoder, D, 0, work->cross, d);
#pragma omp parallel for schedule(static)
    for (ptrdiff_t k = 0; k < (ptrdiff_t)work->blocks; k++) {
        run_block(work, (size_t)k, draws, error, gradients);
    }
    if (gradients != NULL) {
        decoder_gradient(work, draws, decoder, gradients->decoder);
    }
    threads_blas_restore();
}

void linear_best_decoder(linear_work *work, double *gradient, double *decoder)
{
    const double ridge = 1e-6;
    int d = (int)work->m->d;
    int D = (int)work->m->D;
    double trace = 0;
    for (int i = 0; i < d; i++) {
        trace += work->second[i * d + i];
    }
    for (int i = 0; i < d; i++) {
        work->second[i * d + i] += ridge * trace / d;
    }
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', d, work->second, d) != 0) {
        return; /* not finite, or nothing there: the step that comes will say so */
    }
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, d, D, 0.5,
                work->second, d, gradient, D);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, d, D, 1,
                work->second, d, gradient, D);
    cblas_daxpy(d * D, -1, gradient, 1, decoder, 1);
}
