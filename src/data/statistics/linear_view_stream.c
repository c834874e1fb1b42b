/* x that is too large to keep. Up to 8 192 rows, one at a random place in each of as many equal
 * stretches of the file, give m = d + 16 directions E_m; then one pass over all rows keeps
 *
 *     y_m = (x - c0) / u E_m  (N, m, as double),   sum x - c0,   sum ||(x - c0) / u||^2,
 *
 * and which r <= d directions of y_m carry the signal is decided on all rows. With n sampled rows a
 * direction of variance v lacks a share (s_x^2 / v)(D / n) of it. What occurs only in rows that the
 * sample missed is left to the noise.
 *
 * A block is converted, centred and multiplied in fixed parts while the next one is read. Memory:
 * the sample (64 MB), released before y_m (N m numbers, later cut down to N r) is filled.
 *
 * Where several processes share the data (split.h), each projects its own rows on the directions
 * that the first found; sums are added by stretches, in order.
 */
#include "base/rng.h"
#include "base/simd.h"
#include "base/streams.h"
#include "base/threads.h"
#include "data/dataset/dataset.h"
#include "data/statistics/linear_view_parts.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE_ROWS = 8192, LEAST_ROWS = 16, MOST_ROWS = 512, LANES = 8 };
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
static lscm_status take_sample(reduced *r, const lscm_dataset *data, size_t wanted,
                               const design *labels, size_t bytes, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t N = data->rows;
    size_t D = lscm_dataset_features(data);
    size_t count = sample_size(N, D, wanted, bytes);
    rng from = stream_of(0, STREAM_VIEW_SAMPLE);
    double *x = malloc(count * D * sizeof *x); /* (count, D) */
    double *most = malloc(D * sizeof *most);   /* (D) */
    size_t *row = malloc(count * sizeof *row); /* (count) */
    if (x == NULL || most == NULL || row == NULL) {
        status = fail_memory(why, count * D * sizeof *x);
        goto done;
    }
    TRY(signal_sample(data, count, from, x, m, why));
    for (size_t k = 0; k < count; k++) {
        row[k] = signal_sample_row(N, count, from, k);
    }
    if (labels != NULL) {
        TRY(signal_noise_most(x, row, count, D, labels, most, why));
    }
    const principal_units units = {labels != NULL, most};
    TRY(signal_directions(&r->sample, data, x, count, D, wanted, units, why));
done:
    free(row);
    free(most);
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
    double *weight; /* (D): 1 / u^2, 0 for constant columns */
    double *energy; /* (PARTS): of ||(x - c0) / u||^2 */
    stretches cut;
    row_share own;   /* what this process takes */
    reduced *whole;  /* the leader's: stretches are added to it; else NULL */
    double *stretch; /* (D + 1) sum and energy of a stretch; without `whole`, of each (.., D + 1) */
    size_t closed;   /* stretches so far */
    double *y;       /* (rows of own, m) */
} pass;

static void lay_out(pass *p, arena *a)
{
    size_t block = PRINCIPAL_PARTS * p->share;
    p->raw[0] = arena_take(a, block, p->row_raw);
    p->raw[1] = arena_take(a, block, p->row_raw);
    p->x = arena_take(a, PRINCIPAL_PARTS * p->rows * p->D, sizeof(double));
    p->sum = arena_take(a, PRINCIPAL_PARTS * p->D, sizeof(double));
    p->weight = arena_take(a, p->D, sizeof(double));
    p->energy = arena_take(a, PRINCIPAL_PARTS, sizeof(double));
    size_t kept = p->whole != NULL ? 1 : p->own.past - p->own.from;
    p->stretch = arena_take(a, kept * (p->D + 1), sizeof(double));
}

static size_t block_at(const pass *p, size_t first)
{
    size_t block = PRINCIPAL_PARTS * p->share;
    return p->own.end - first < block ? p->own.end - first : block;
}

/* row - mean, added to sum; returns its energy, weighted */
CLONED static double centre(double *row, size_t D, const double *mean, const double *weight,
                            double *sum)
{
    double energy[LANES] = {0};
    for (size_t j = 0; j < D; j++) {
        row[j] -= mean[j];
        sum[j] += row[j];
    }
    for (size_t j = 0; j < D; j++) {
        energy[j % LANES] += weight[j] * row[j] * row[j];
    }
    double all = 0;
    for (size_t k = 0; k < LANES; k++) {
        all += energy[k];
    }
    return all;
}

/* rows of the file from `raw` on, to y */
static void add_rows(pass *p, const char *raw, size_t rows, size_t part, double *y)
{
    size_t D = p->D;
    double *x = p->x + part * p->rows * D;
    double *sum = p->sum + part * D;
    dtype_to_double(p->data->shape[LSCM_X].type, raw, rows * D, x);
    for (size_t i = 0; i < rows; i++) {
        p->energy[part] += centre(x + i * D, D, p->basis->mean, p->weight, sum);
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
        size_t at = first - p->own.first + from;
        add_rows(p, raw + from * p->row_raw, rows, part, p->y + at * p->m);
    }
}

static void add_stretch(reduced *r, const double *stretch, size_t N, size_t D)
{
    cblas_daxpy((int)D, 1 / (double)N, stretch, 1, r->left, 1);
    r->total += stretch[D] / (double)N;
}

static void close_stretch(pass *p)
{
    double *to = p->stretch + (p->whole == NULL ? p->closed * (p->D + 1) : 0);
    memset(to, 0, (p->D + 1) * sizeof *to);
    for (size_t part = 0; part < PRINCIPAL_PARTS; part++) {
        cblas_daxpy((int)p->D, 1, p->sum + part * p->D, 1, to, 1);
        to[p->D] += p->energy[part];
    }
    memset(p->sum, 0, PRINCIPAL_PARTS * p->D * sizeof *p->sum);
    memset(p->energy, 0, PRINCIPAL_PARTS * sizeof *p->energy);
    p->closed++;
    if (p->whole != NULL) {
        add_stretch(p->whole, to, p->N, p->D);
    }
}

static lscm_status walk(pass *p, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t block = PRINCIPAL_PARTS * p->share;
    size_t past = p->own.end;
    uint64_t others = (uint64_t)split_size(p->data->team); /* read as much meanwhile */
    if (p->own.first >= past) {
        return LSCM_OK;
    }
    TRY(dataset_read_raw(p->data, LSCM_X, p->own.first, block_at(p, p->own.first), p->raw[0], why));
    for (size_t first = p->own.first; first < past; first += block) {
        lscm_status read = LSCM_OK;
        size_t next = first + block;
#pragma omp parallel
        {
#pragma omp single nowait
            if (next < past) {
                read = dataset_read_raw(p->data, LSCM_X, next, block_at(p, next), p->raw[1], why);
            }
#pragma omp for schedule(dynamic)
            for (size_t part = 0; part < PRINCIPAL_PARTS; part++) {
                add_part(p, p->raw[0], first, part);
            }
        }
        TRY(read);
        if (next >= past || next % p->cut.length == 0) {
            close_stretch(p);
        }
        char *used = p->raw[0];
        p->raw[0] = p->raw[1];
        p->raw[1] = used;
        if (m != NULL) {
            TRY(meter_add(m, others * block_at(p, first) * p->row_raw, why));
        }
    }
done:
    return status;
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

static void weigh(pass *p)
{
    for (size_t j = 0; j < p->D; j++) {
        double u = p->basis->scale[j];
        p->weight[j] = u > 0 ? 1 / (u * u) : 0;
    }
}

/* Everything but y, for `own` rows of the data. */
static lscm_status open_pass(pass *p, arena *scratch, const principal *basis, reduced *whole,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const lscm_dataset *data = p->data;
    p->basis = basis;
    p->whole = whole;
    p->N = data->rows;
    p->D = lscm_dataset_features(data);
    p->m = basis->count;
    p->row_raw = shape_row_bytes(&data->shape[LSCM_X]);
    choose_rows(p);
    p->cut = split_rows(p->N, PRINCIPAL_PARTS * p->share, SPLIT_STRETCHES);
    p->own = split_share(data->team, split_rank(data->team), p->cut);
    lay_out(p, scratch);
    TRY(arena_open(scratch, why));
    lay_out(p, scratch);
done:
    return status;
}

/* The other processes' rows, in order; stretch (D + 1) is scratch. */
static lscm_status collect(reduced *r, const pass *p, double *stretch, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const team *t = p->data->team;
    for (int rank = 1; rank < split_size(t); rank++) {
        row_share share = split_share(t, rank, p->cut);
        for (size_t k = share.from; k < share.past; k++) {
            TRY(comm_receive(t->comm, rank, stretch, (p->D + 1) * sizeof *stretch, why));
            add_stretch(r, stretch, p->N, p->D);
        }
        size_t count = (share.end - share.first) * p->m;
        TRY(comm_receive(t->comm, rank, r->y + share.first * p->m, count * sizeof *r->y, why));
    }
done:
    return status;
}

/* The leader's pass: others get the directions, then all walk. */
static lscm_status lead(reduced *r, pass *p, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    team *t = p->data->team;
    if (split_size(t) == 1) {
        return walk(p, m, why);
    }
    t->passes++;
    TRY(split_call(t, SPLIT_SIGNAL, why));
    TRY(comm_broadcast(t->comm, &p->m, sizeof p->m, why));
    TRY(lscm_comm_agree(t->comm, LSCM_OK, why)); /* they have the memory */
    TRY(comm_broadcast(t->comm, r->sample.mean, p->D * sizeof(double), why));
    TRY(comm_broadcast(t->comm, r->sample.scale, p->D * sizeof(double), why));
    TRY(comm_broadcast(t->comm, r->sample.directions, p->m * p->D * sizeof(double), why));
    status = walk(p, m, why);
    TRY(lscm_comm_agree(t->comm, status, why));
    TRY(collect(r, p, p->stretch, why));
done:
    return status;
}

lscm_status signal_reduce(reduced *out, const lscm_dataset *data, size_t wanted,
                          const design *labels, size_t sample_bytes, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    reduced r = {0};
    arena scratch = {0};
    pass p = {.data = data};
    size_t D = lscm_dataset_features(data);
    TRY(take_sample(&r, data, wanted, labels, sample_bytes, m, why));
    TRY(open_pass(&p, &scratch, &r.sample, &r, why));
    r.y = malloc(p.N * p.m * sizeof(double));
    r.left = calloc(D, sizeof(double));
    if (r.y == NULL || r.left == NULL) {
        status = fail_memory(why, (p.N * p.m + D) * sizeof(double));
        goto done;
    }
    p.y = r.y;
    weigh(&p);
    TRY(lead(&r, &p, m, why));
    for (size_t j = 0; j < D; j++) {
        r.total -= p.weight[j] * r.left[j] * r.left[j];
    }
    r.total = r.total > 0 ? r.total : 0;
    *out = r;
    r = (reduced){0};
done:
    arena_close(&scratch);
    signal_reduce_close(&r);
    return status;
}

lscm_status signal_reduce_assist(const lscm_dataset *data, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const team *t = data->team;
    arena scratch = {0};
    pass p = {.data = data};
    principal basis = {.D = lscm_dataset_features(data)};
    size_t D = basis.D;
    double *memory = NULL; /* mean, scale (D), directions (m, D) */
    threads_blas_single();
    TRY(comm_broadcast(t->comm, &basis.count, sizeof basis.count, why));
    status = open_pass(&p, &scratch, &basis, NULL, why);
    memory = malloc((basis.count + 2) * D * sizeof *memory);
    p.y = malloc(((p.own.end - p.own.first) * p.m + 1) * sizeof *p.y);
    if (status == LSCM_OK && (memory == NULL || p.y == NULL)) {
        status = fail_memory(why, (p.own.end - p.own.first + D) * p.m * sizeof *p.y);
    }
    TRY(lscm_comm_agree(t->comm, status, why));
    basis.mean = memory;
    basis.scale = memory + D;
    basis.directions = memory + 2 * D;
    TRY(comm_broadcast(t->comm, basis.mean, D * sizeof *memory, why));
    TRY(comm_broadcast(t->comm, basis.scale, D * sizeof *memory, why));
    TRY(comm_broadcast(t->comm, basis.directions, p.m * D * sizeof *memory, why));
    weigh(&p);
    status = walk(&p, m, why);
    TRY(lscm_comm_agree(t->comm, status, why));
    for (size_t k = 0; k < p.closed; k++) {
        TRY(comm_send(t->comm, 0, p.stretch + k * (D + 1), (D + 1) * sizeof(double), why));
    }
    TRY(comm_send(t->comm, 0, p.y, (p.own.end - p.own.first) * p.m * sizeof *p.y, why));
done:
    threads_blas_restore();
    free(memory);
    free(p.y);
    arena_close(&scratch);
    return status;
}

void signal_reduce_close(reduced *r)
{
    principal_close(&r->sample);
    free(r->y);
    free(r->left);
}
