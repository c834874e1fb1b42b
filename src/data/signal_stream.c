/* x that is too large to keep. Up to 8 192 rows, one at a random place in each of as many equal
 * stretches of the file, give m = d + 16 directions E_m; then one pass over all rows keeps
 *
 *     y_m = (x - c0) E_m  (N, m, as double),   sum x - c0,   sum ||x - c0||^2,
 *
 * and which r <= d directions of y_m carry the signal is decided on all rows. With n sampled rows a
 * direction of variance v lacks a share (s_x^2 / v)(D / n) of it. What occurs only in rows that the
 * sample missed is left to the noise.
 *
 * A block is converted, centred and multiplied in fixed parts while the next one is read. Memory:
 * the sample (64 MB), released before y_m (N m numbers, later cut down to N r) is filled.
 */
#include "base/rng.h"
#include "data/signal_parts.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_ROWS = 8192, LEAST_ROWS = 16, MOST_ROWS = 512 };
static const size_t PART_DOUBLES = (size_t)1 << 17; /* 1 MB: second-level cache */
static const size_t BLOCK_BYTES = (size_t)1 << 22;  /* read between two waits for threads */
static const size_t MOST_DOUBLES = (size_t)1 << 20; /* of a part, for very wide rows */

static size_t sample_size(size_t rows, size_t D, size_t wanted, size_t bytes)
{
    size_t count = bytes / sizeof(double) / D;
    size_t least = 4 * (wanted + PRINCIPAL_SPARE);
    count = count < SAMPLE_ROWS ? count : SAMPLE_ROWS;
    count = count > least ? count : least;
    return count < rows ? count : rows;
}

/* sample.directions and mean */
static lscm_status take_sample(reduced *r, const lscm_dataset *data, size_t wanted, size_t bytes,
                               meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t N = data->rows;
    size_t D = lscm_dataset_features(data);
    size_t count = sample_size(N, D, wanted, bytes);
    double *x = malloc(count * D * sizeof *x); /* (count, D) */
    if (x == NULL) {
        status = fail_memory(why, count * D * sizeof *x);
        goto done;
    }
    TRY(signal_sample(data, count, (rng){0, 1}, x, m, why));
    TRY(signal_directions(&r->sample, data, x, count, D, wanted, why));
done:
    free(x);
    return status;
}

typedef struct pass {
    const lscm_dataset *data;
    const principal *basis;
    size_t N, D, m;
    size_t rows;    /* that a part takes at a time */
    size_t share;   /* rows of a part in a block; a multiple of rows */
    size_t row_raw; /* bytes of a row in the file */
    char *raw[2];   /* (PARTS * share, D) as in the file: being used, being read */
    double *x;      /* (PARTS, rows, D) */
    double *sum;    /* (PARTS, D): of x - c0 */
    double *energy; /* (PARTS): of ||x - c0||^2 */
    double *y;      /* (N, m) */
} pass;

static void lay_out(pass *p, arena *a)
{
    size_t block = PRINCIPAL_PARTS * p->share;
    p->raw[0] = arena_take(a, block, p->row_raw);
    p->raw[1] = arena_take(a, block, p->row_raw);
    p->x = arena_take(a, PRINCIPAL_PARTS * p->rows * p->D, sizeof(double));
    p->sum = arena_take(a, PRINCIPAL_PARTS * p->D, sizeof(double));
    p->energy = arena_take(a, PRINCIPAL_PARTS, sizeof(double));
}

static size_t block_at(const pass *p, size_t first)
{
    size_t block = PRINCIPAL_PARTS * p->share;
    return p->N - first < block ? p->N - first : block;
}

/* rows of the file from `raw` on, to y */
static void add_rows(pass *p, const char *raw, size_t rows, size_t part, double *y)
{
    size_t D = p->D;
    double *x = p->x + part * p->rows * D;
    double *sum = p->sum + part * D;
    dtype_to_double(p->data->shape[LSCM_X].type, raw, rows * D, x);
    for (size_t i = 0; i < rows; i++) {
        double *row = x + i * D;
        for (size_t j = 0; j < D; j++) {
            row[j] -= p->basis->mean[j];
            sum[j] += row[j];
        }
        p->energy[part] += cblas_ddot((int)D, row, 1, row, 1);
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)p->m, (int)D, 1, x, (int)D,
                p->basis->directions, (int)D, 0, y, (int)p->m);
}

static void add_part(pass *p, const char *raw, size_t first, size_t part)
{
    size_t from = part * p->share;
    size_t past = from + p->share;
    size_t count = block_at(p, first);
    past = past < count ? past : count;
    for (; from < past; from += p->rows) {
        size_t rows = past - from < p->rows ? past - from : p->rows;
        add_rows(p, raw + from * p->row_raw, rows, part, p->y + (first + from) * p->m);
    }
}

static lscm_status walk(pass *p, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t block = PRINCIPAL_PARTS * p->share;
    TRY(dataset_read_raw(p->data, LSCM_X, 0, block_at(p, 0), p->raw[0], why));
    for (size_t first = 0; first < p->N; first += block) {
        lscm_status read = LSCM_OK;
        size_t next = first + block;
#pragma omp parallel
        {
#pragma omp single nowait
            if (next < p->N) {
                read = dataset_read_raw(p->data, LSCM_X, next, block_at(p, next), p->raw[1], why);
            }
#pragma omp for schedule(dynamic)
            for (size_t part = 0; part < PRINCIPAL_PARTS; part++) {
                add_part(p, p->raw[0], first, part);
            }
        }
        TRY(read);
        char *used = p->raw[0];
        p->raw[0] = p->raw[1];
        p->raw[1] = used;
        if (m != NULL) {
            TRY(meter_add(m, block_at(p, first) * p->row_raw, why));
        }
    }
done:
    return status;
}

static void add_up(reduced *r, const pass *p)
{
    double N = (double)p->N;
    for (size_t part = 0; part < PRINCIPAL_PARTS; part++) {
        r->total += p->energy[part] / N;
        cblas_daxpy((int)p->D, 1 / N, p->sum + part * p->D, 1, r->left, 1);
    }
    r->total -= cblas_ddot((int)p->D, r->left, 1, r->left, 1);
    r->total = r->total > 0 ? r->total : 0;
}

static void choose_rows(pass *p)
{
    size_t most = MOST_DOUBLES / p->D + 1;
    p->rows = PART_DOUBLES / p->D;
    p->rows = p->rows < MOST_ROWS ? p->rows : MOST_ROWS;
    p->rows = p->rows > LEAST_ROWS ? p->rows : LEAST_ROWS;
    p->rows = p->rows < most ? p->rows : most;
    p->share = p->rows * (1 + BLOCK_BYTES / (PRINCIPAL_PARTS * p->rows * p->row_raw));
}

lscm_status signal_reduce(reduced *out, const lscm_dataset *data, size_t wanted,
                          size_t sample_bytes, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    reduced r = {0};
    arena scratch = {0};
    size_t D = lscm_dataset_features(data);
    TRY(take_sample(&r, data, wanted, sample_bytes, m, why));
    pass p = {.data = data, .basis = &r.sample, .N = data->rows, .D = D, .m = r.sample.count};
    p.row_raw = shape_row_bytes(&data->shape[LSCM_X]);
    choose_rows(&p);
    r.y = malloc(p.N * p.m * sizeof(double));
    r.left = calloc(D, sizeof(double));
    if (r.y == NULL || r.left == NULL) {
        status = fail_memory(why, (p.N * p.m + D) * sizeof(double));
        goto done;
    }
    p.y = r.y;
    lay_out(&p, &scratch);
    TRY(arena_open(&scratch, why));
    lay_out(&p, &scratch);
    TRY(walk(&p, m, why));
    add_up(&r, &p);
    *out = r;
    r = (reduced){0};
done:
    arena_close(&scratch);
    signal_reduce_close(&r);
    return status;
}

void signal_reduce_close(reduced *r)
{
    principal_close(&r->sample);
    free(r->y);
    free(r->left);
}
