/* x that is too large to keep. One row at a random place in each of equal stretches of the file
 * gives E and c0; then one pass over all rows gives
 *
 *     f = (x - c0) E + c0 E,   sum |x - c0|^2,   sum of x - c0,
 *
 * the product in float32 (x - c0 has no large offset), all sums as double. Blocks are checked,
 * converted and multiplied in fixed parts while the next one is read.
 */
#include "base/rng.h"
#include "base/streams.h"
#include "data/statistics/features_parts.h"
#include "data/statistics/linear_view_parts.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_ROWS = 8192, PART_ROWS = 64, PARTS = PRINCIPAL_PARTS, PIECE = 1024 };

typedef struct pass {
    const lscm_dataset *data;
    const features_basis *basis;
    features *s;
    size_t row_raw; /* bytes of a row in the file */
    char *raw[2];   /* (PARTS * PART_ROWS, D) as in the file: being used, being read */
    float *x;       /* (PARTS, PART_ROWS, D): x - c0 */
    float *e;       /* (R, D): E' */
    double *offset; /* (R): c0 E */
    double *sum;    /* (PARTS, D): of x - c0 */
    double *energy; /* (PARTS): of |x - c0|^2 */
    double *inside; /* (PARTS): of |(x - c0) E|^2 */
} pass;

static void lay_out(pass *p, arena *a)
{
    size_t D = p->s->D;
    size_t R = p->s->R;
    p->raw[0] = arena_take(a, (size_t)PARTS * PART_ROWS, p->row_raw);
    p->raw[1] = arena_take(a, (size_t)PARTS * PART_ROWS, p->row_raw);
    p->x = arena_take(a, (size_t)PARTS * PART_ROWS * D, sizeof(float));
    p->e = arena_take(a, R * D, sizeof(float));
    p->offset = arena_take(a, R, sizeof(double));
    p->sum = arena_take(a, PARTS * D, sizeof(double));
    p->energy = arena_take(a, PARTS, sizeof(double));
    p->inside = arena_take(a, PARTS, sizeof(double));
}

static lscm_status take_sample(features_basis *out, const lscm_dataset *data, size_t bytes,
                               meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t N = data->rows;
    size_t D = lscm_dataset_features(data);
    size_t least = 4 * ((size_t)FEATURES_MOST + PRINCIPAL_SPARE);
    size_t count = bytes / sizeof(double) / D;
    count = count < SAMPLE_ROWS ? count : SAMPLE_ROWS;
    count = count > least ? count : least;
    count = count < N ? count : N;
    double *x = malloc(count * D * sizeof *x); /* (count, D) */
    if (x == NULL) {
        status = fail_memory(why, count * D * sizeof *x);
        goto done;
    }
    TRY(signal_sample(data, count, stream_of(0, STREAM_FEATURE_SAMPLE), x, m, why));
    TRY(features_basis_of(out, data, x, count, D, data->nodes, why));
done:
    free(x);
    return status;
}

/* rows of the file at raw: x - c0 as float, and its sums */
static void convert(pass *p, const char *raw, size_t rows, size_t part)
{
    size_t D = p->s->D;
    dtype type = p->data->shape[LSCM_X].type;
    float *x = p->x + part * PART_ROWS * D;
    double *sum = p->sum + part * D;
    double piece[PIECE];
    double energy = 0;
    for (size_t i = 0; i < rows; i++) {
        for (size_t first = 0; first < D; first += PIECE) {
            size_t count = D - first < PIECE ? D - first : PIECE;
            dtype_to_double(type, raw + i * p->row_raw + first * dtype_size(type), count, piece);
            for (size_t j = 0; j < count; j++) {
                double off = piece[j] - p->basis->mean[first + j];
                x[i * D + first + j] = (float)off;
                sum[first + j] += off;
                energy += off * off;
            }
        }
    }
    p->energy[part] += energy;
}

static void add_part(pass *p, const char *raw, size_t first, size_t count, size_t part)
{
    size_t D = p->s->D;
    size_t R = p->s->R;
    size_t from = part * PART_ROWS;
    if (from >= count) {
        return;
    }
    size_t rows = count - from < PART_ROWS ? count - from : PART_ROWS;
    float *f = p->s->f + (first + from) * R;
    convert(p, raw + from * p->row_raw, rows, part);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)R, (int)D, 1,
                p->x + part * PART_ROWS * D, (int)D, p->e, (int)D, 0, f, (int)R);
    for (size_t i = 0; i < rows * R; i++) {
        p->inside[part] += (double)f[i] * (double)f[i];
        f[i] = (float)((double)f[i] + p->offset[i % R]);
    }
}

static size_t block_at(const pass *p, size_t first)
{
    size_t block = (size_t)PARTS * PART_ROWS;
    return p->s->rows - first < block ? p->s->rows - first : block;
}

static lscm_status walk(pass *p, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t block = (size_t)PARTS * PART_ROWS;
    TRY(dataset_read_raw(p->data, LSCM_X, 0, block_at(p, 0), p->raw[0], why));
    for (size_t first = 0; first < p->s->rows; first += block) {
        size_t count = block_at(p, first);
        size_t next = first + block;
        lscm_status read = LSCM_OK;
        TRY(dataset_check_rows(p->data, LSCM_X, first, count, p->raw[0], false, why));
#pragma omp parallel
        {
#pragma omp single nowait
            if (next < p->s->rows) {
                read = dataset_read_raw(p->data, LSCM_X, next, block_at(p, next), p->raw[1], why);
            }
#pragma omp for schedule(dynamic)
            for (size_t part = 0; part < PARTS; part++) {
                add_part(p, p->raw[0], first, count, part);
            }
        }
        TRY(read);
        char *used = p->raw[0];
        p->raw[0] = p->raw[1];
        p->raw[1] = used;
        if (m != NULL) {
            TRY(meter_add(m, count * p->row_raw, why));
        }
    }
done:
    return status;
}

/* variance and left_out, from sums about c0 */
static void add_up(const pass *p)
{
    features *s = p->s;
    double N = (double)s->rows;
    double energy = 0;
    double inside = 0;
    double moved = 0;
    for (size_t part = 0; part < PARTS; part++) {
        energy += p->energy[part] / N;
        inside += p->inside[part] / N;
    }
    for (size_t j = 0; j < s->D; j++) {
        double off = 0;
        for (size_t part = 0; part < PARTS; part++) {
            off += p->sum[part * s->D + j] / N;
        }
        moved += off * off;
    }
    s->variance = fmax(energy - moved, 0);
    s->left_out = fmax(energy - inside, 0);
}

lscm_status features_stream(features *s, const lscm_dataset *data, size_t sample_bytes, meter *m,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    features_basis b = {0};
    arena scratch = {0};
    pass p = {.data = data, .basis = &b, .s = s};
    p.row_raw = shape_row_bytes(&data->shape[LSCM_X]);
    TRY(take_sample(&b, data, sample_bytes, m, why));
    s->R = b.R;
    TRY(features_open(s, b.directions, why));
    lay_out(&p, &scratch);
    TRY(arena_open(&scratch, why));
    lay_out(&p, &scratch);
    for (size_t k = 0; k < s->R; k++) {
        const double *e = b.directions + k * s->D;
        p.offset[k] = cblas_ddot((int)s->D, b.mean, 1, e, 1);
        for (size_t j = 0; j < s->D; j++) {
            p.e[k * s->D + j] = (float)e[j];
        }
    }
    TRY(walk(&p, m, why));
    add_up(&p);
    TRY(features_finish(s, data, why));
done:
    arena_close(&scratch);
    features_basis_close(&b);
    return status;
}
