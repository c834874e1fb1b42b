#include "infer/sight/pictures.h"

#include "base/streams.h"
#include "base/tuned.h"
#include "net/vision/vision.h"

#include <math.h>
#include <string.h>

static const size_t PICTURES_BYTES = (size_t)512 << 20;

bool pictures_are(const lscm_dataset *data)
{
    const array_shape *x = &data->shape[LSCM_X];
    size_t channels = x->ndim == 4 ? x->dims[3] : 1;
    bool is = x->ndim == 3 || x->ndim == 4;
    for (int k = 1; k < 3 && is; k++) {
        is = x->dims[k] >= PICTURE_SIDE_LEAST && x->dims[k] <= PICTURE_SIDE_MOST;
    }
    return is && channels >= 1 && channels <= 4;
}

static size_t bytes_of(const pictures *p)
{
    return p->count * (p->type == DTYPE_UINT8 ? 1 : sizeof(float));
}

static void lay_out(pictures *p)
{
    p->row = arena_take(&p->memory, p->kept, sizeof *p->row);
    p->x = arena_take(&p->memory, p->kept, bytes_of(p));
    p->backdrop = arena_take(&p->memory, p->count, sizeof *p->backdrop);
    p->reach = arena_take(&p->memory, p->height * p->width, sizeof *p->reach);
}

/* Sums while reading. */
typedef struct sums {
    double *x;             /* (block, count) */
    double *first;         /* (count): the first picture, about which sums are taken */
    double *sum, *squares; /* (count) */
    rng choose;
    arena memory;
} sums;

static void lay_out_sums(sums *s, size_t block, size_t count)
{
    s->x = arena_take(&s->memory, block * count, sizeof(double));
    s->first = arena_take(&s->memory, count, sizeof(double));
    s->sum = arena_take(&s->memory, count, sizeof(double));
    s->squares = arena_take(&s->memory, count, sizeof(double));
}

static void keep(pictures *p, const sums *s, size_t row, const double *x, size_t *kept)
{
    size_t wanted = p->kept - *kept;
    size_t left = p->rows - row;
    if (wanted == 0 || (wanted < left && rng_below(s->choose, row, left) >= wanted)) {
        return;
    }
    uint8_t *bytes = (uint8_t *)p->x + *kept * p->count;
    float *floats = (float *)p->x + *kept * p->count;
    for (size_t k = 0; k < p->count; k++) {
        if (p->type == DTYPE_UINT8) {
            bytes[k] = (uint8_t)x[k];
        } else {
            floats[k] = (float)x[k];
        }
    }
    p->row[(*kept)++] = (uint32_t)row;
}

static void add(sums *s, size_t count, const double *x, bool first)
{
    if (first) {
        memcpy(s->first, x, count * sizeof *x);
    }
    for (size_t k = 0; k < count; k++) {
        double moved = x[k] - s->first[k];
        s->sum[k] += moved;
        s->squares[k] += moved * moved;
    }
}

/* Backdrop, scale and reach from the sums. */
static void settle(pictures *p, sums *s)
{
    double N = (double)p->rows;
    double total = 0;
    double all = 0;
    for (size_t k = 0; k < p->count; k++) {
        double mean = s->sum[k] / N;
        /* what is too large to be squared is not still */
        s->squares[k] =
            isfinite(s->squares[k]) ? fmax(s->squares[k] / N - mean * mean, 0) : (double)INFINITY;
        p->backdrop[k] = (float)(s->first[k] + mean);
        total += s->squares[k] / (double)p->count;
    }
    p->scale = sqrt(total);
    size_t pixels = p->height * p->width;
    for (size_t n = 0; n < pixels; n++) {
        for (size_t c = 0; c < p->channels; c++) {
            p->reach[n] += sqrt(s->squares[n * p->channels + c]);
        }
        all += p->reach[n];
    }
    double floor = tuned_sight_still() * all / (double)pixels;
    double sum = 0;
    for (size_t n = 0; n < pixels; n++) {
        sum += p->reach[n] + floor;
        /* where nothing varies all pixels tell as much */
        p->reach[n] =
            all > 0 ? sum / (all + floor * (double)pixels) : (double)(n + 1) / (double)pixels;
    }
}

lscm_status pictures_within(pictures *out, const lscm_dataset *data, size_t bytes, uint64_t seed,
                            meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const array_shape *x = &data->shape[LSCM_X];
    pictures p = {.rows = data->rows,
                  .height = x->dims[1],
                  .width = x->dims[2],
                  .channels = x->ndim == 4 ? x->dims[3] : 1,
                  .count = lscm_dataset_features(data),
                  .type = x->type == DTYPE_UINT8 ? DTYPE_UINT8 : DTYPE_FLOAT32};
    sums s = {.choose = {seed, STREAM_SIGHT_KEEP}};
    row_blocks walk = {0};
    size_t kept = 0;
    size_t most = bytes / bytes_of(&p);
    p.kept = p.rows < most ? p.rows : most > 0 ? most : 1;
    lay_out(&p);
    TRY(arena_open(&p.memory, why));
    lay_out(&p);
    TRY(blocks_begin(&walk, data, LSCM_X, m, why));
    lay_out_sums(&s, walk.block_rows, p.count);
    TRY(arena_open(&s.memory, why));
    lay_out_sums(&s, walk.block_rows, p.count);
    for (;;) {
        TRY(blocks_next(&walk, why));
        if (walk.count == 0) {
            break;
        }
        dtype_to_double(x->type, walk.raw, walk.count * p.count, s.x);
        for (size_t r = 0; r < walk.count; r++) {
            add(&s, p.count, s.x + r * p.count, walk.first + r == 0);
            keep(&p, &s, walk.first + r, s.x + r * p.count, &kept);
        }
    }
    settle(&p, &s);
    *out = p;
    p = (pictures){0};
done:
    blocks_end(&walk);
    arena_close(&s.memory);
    pictures_close(&p);
    return status;
}

lscm_status pictures_of(pictures *out, const lscm_dataset *data, uint64_t seed, meter *m,
                        lscm_error *why)
{
    return pictures_within(out, data, PICTURES_BYTES, seed, m, why);
}

void pictures_kept(const pictures *p, size_t k, float *out)
{
    const uint8_t *bytes = (const uint8_t *)p->x + k * p->count;
    const float *floats = (const float *)p->x + k * p->count;
    float inverse = (float)(1 / p->scale);
    for (size_t n = 0; n < p->count; n++) {
        float x = p->type == DTYPE_UINT8 ? (float)bytes[n] : floats[n];
        out[n] = (x - p->backdrop[n]) * inverse;
    }
}

void pictures_scale(const pictures *p, const double *x, float *out)
{
    double inverse = 1 / p->scale;
    for (size_t n = 0; n < p->count; n++) {
        out[n] = (float)((x[n] - (double)p->backdrop[n]) * inverse);
    }
}

void pictures_close(pictures *p)
{
    arena_close(&p->memory);
}
