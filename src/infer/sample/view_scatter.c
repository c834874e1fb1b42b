#include "infer/sample/view_scatter.h"

#include "base/threads.h"
#include "data/design/design.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARTS = 16, /* shares of the rows; fixed, so that sums do not depend on threads */
    CHUNK = 256 /* rows at a time */
};

/* Lists the rows in use; returns how many. Sorts them only where equal masks do not already stand
 * together, as they do in data taken set by set. */
static size_t list_rows(const linear_view *s, const uint8_t *keep, mask_row *key)
{
    size_t used = 0;
    size_t changes = 1;
    for (size_t r = 0; r < s->rows; r++) {
        if (keep != NULL && keep[r] == 0) {
            continue;
        }
        const uint8_t *mask = s->mask + r * s->d;
        uint64_t h = mask_hash(mask, s->d, 0);
        key[used] = (mask_row){h, r};
        changes += used > 0 && key[used - 1].hash != h ? 1 : 0;
        used++;
    }
    if (changes * 32 > used) {
        mask_rows_sort(key, used);
    }
    return used;
}

/* Sums of a part of the rows about `centre`. */
typedef struct part_sums {
    double *gram;  /* (d, r, r), upper triangles */
    double *sum;   /* (d, r) */
    double *count; /* (d) */
    double *chunk; /* (CHUNK, r) */
    double *one;   /* (r, r): of a run of rows that share a mask */
    double *total; /* (r) */
} part_sums;

typedef struct gram_work {
    const linear_view *s;
    const mask_row *key;
    size_t used;
    double *centre; /* (r) */
    part_sums part[PARTS];
} gram_work;

static size_t part_start(const gram_work *w, size_t part)
{
    return w->used / PARTS * part + (part < w->used % PARTS ? part : w->used % PARTS);
}

static void lay_out_work(gram_work *w, arena *a)
{
    size_t d = w->s->d;
    size_t r = w->s->rank;
    w->centre = arena_take(a, r, sizeof(double));
    for (size_t p = 0; p < PARTS; p++) {
        w->part[p] = (part_sums){.gram = arena_take(a, d * r * r, sizeof(double)),
                                 .sum = arena_take(a, d * r, sizeof(double)),
                                 .count = arena_take(a, d, sizeof(double)),
                                 .chunk = arena_take(a, CHUNK * r, sizeof(double)),
                                 .one = arena_take(a, r * r, sizeof(double)),
                                 .total = arena_take(a, r, sizeof(double))};
    }
}

/* Gram and sum of rows from .. to - 1 of the list. */
static void sum_run(const gram_work *w, const part_sums *p, size_t from, size_t to)
{
    size_t r = w->s->rank;
    memset(p->total, 0, r * sizeof *p->total);
    for (size_t first = from; first < to; first += CHUNK) {
        size_t n = to - first < CHUNK ? to - first : CHUNK;
        for (size_t k = 0; k < n; k++) {
            const double *y = w->s->y + w->key[first + k].row * r;
            for (size_t c = 0; c < r; c++) {
                p->chunk[k * r + c] = y[c] - w->centre[c];
                p->total[c] += p->chunk[k * r + c];
            }
        }
        cblas_dsyrk(CblasRowMajor, CblasUpper, CblasTrans, (int)r, (int)n, 1, p->chunk, (int)r,
                    first == from ? 0 : 1, p->one, (int)r);
    }
}

static void sum_part(const gram_work *w, size_t part)
{
    const part_sums *p = &w->part[part];
    size_t d = w->s->d;
    size_t r = w->s->rank;
    size_t end = part_start(w, part + 1);
    size_t to = 0;
    for (size_t from = part_start(w, part); from < end; from = to) {
        const uint8_t *mask = w->s->mask + w->key[from].row * d;
        for (to = from + 1; to < end && memcmp(mask, w->s->mask + w->key[to].row * d, d) == 0;) {
            to++;
        }
        sum_run(w, p, from, to);
        for (size_t i = 0; i < d; i++) {
            if (mask[i] == 0) {
                cblas_daxpy((int)(r * r), 1, p->one, 1, p->gram + i * r * r, 1);
                cblas_daxpy((int)r, 1, p->total, 1, p->sum + i * r, 1);
                p->count[i] += (double)(to - from);
            }
        }
    }
}

static void find_centre(gram_work *w)
{
    size_t r = w->s->rank;
    for (size_t k = 0; k < w->used; k++) {
        cblas_daxpy((int)r, 1 / (double)w->used, w->s->y + w->key[k].row * r, 1, w->centre, 1);
    }
}

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

static void collect(view_scatter *g, const gram_work *w, size_t i)
{
    size_t r = g->rank;
    double *scatter = g->scatter + i * r * r;
    double *mean = g->mean + i * r;
    for (size_t p = 0; p < PARTS; p++) {
        g->rows[i] += w->part[p].count[i];
        cblas_daxpy((int)r, 1, w->part[p].sum + i * r, 1, mean, 1);
        cblas_daxpy((int)(r * r), 1, w->part[p].gram + i * r * r, 1, scatter, 1);
    }
    double n = fmax(g->rows[i], 1);
    for (size_t a = 0; a < r; a++) {
        for (size_t b = a; b < r; b++) {
            scatter[a * r + b] -= mean[a] * mean[b] / n;
            scatter[b * r + a] = scatter[a * r + b];
        }
    }
    for (size_t a = 0; a < r; a++) {
        mean[a] = mean[a] / n + w->centre[a];
    }
    correct(scatter, g->rows[i], w->s->x_noise, r, w->part[0].one, w->part[0].total);
}

static void lay_out(view_scatter *g, arena *a)
{
    g->rows = arena_take(a, g->d, sizeof(double));
    g->mean = arena_take(a, g->d * g->rank, sizeof(double));
    g->scatter = arena_take(a, g->d * g->rank * g->rank, sizeof(double));
}

lscm_status view_scatter_of(view_scatter *out, const linear_view *s, const uint8_t *keep,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    view_scatter g = {.d = s->d, .rank = s->rank};
    gram_work w = {.s = s};
    arena scratch = {0};
    threads_blas_single();
    mask_row *key = calloc(s->rows, sizeof *key);
    if (key == NULL) {
        status = fail_memory(why, s->rows * sizeof *key);
        goto done;
    }
    lay_out(&g, &g.memory);
    TRY(arena_open(&g.memory, why));
    lay_out(&g, &g.memory);
    lay_out_work(&w, &scratch);
    TRY(arena_open(&scratch, why));
    lay_out_work(&w, &scratch);
    w.used = list_rows(s, keep, key);
    w.key = key;
    find_centre(&w);
#pragma omp parallel for schedule(dynamic)
    for (size_t p = 0; p < PARTS; p++) {
        sum_part(&w, p);
    }
    for (size_t i = 0; i < g.d; i++) {
        collect(&g, &w, i);
    }
    *out = g;
    g.memory = (arena){0};
done:
    threads_blas_restore();
    free(key);
    arena_close(&scratch);
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
