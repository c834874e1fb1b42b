/* lscm_posterior_transform: rows of x in blocks to coordinates, chunks of these to z. x is never in
 * memory whole: a block of it has about 32 MB as double, a chunk of coordinates as much as float32.
 * Chunks are large because a kernel encoder starts anew with each; pictures are read one by one. */
#include "data/dataset/dataset.h"
#include "infer/encoder/stored_encoder.h"

#include <stdio.h>
#include <string.h>

static const size_t BLOCK_BYTES = (size_t)32 << 20;
enum { ROUND = 4096 }; /* chunks are multiples of it: so rows meet the same tiles in any */

typedef struct transforming {
    const lscm_posterior *p;
    const lscm_dataset *data;
    size_t bytes; /* of a block, and of a chunk */
    encoder encoder;
    device device;
    size_t chunk, block; /* rows of each */
    bool labelled;       /* there are targets and values */
    encoder_rows rows;   /* a chunk */
    uint8_t *mask;       /* (chunk, d) */
    double *values;      /* (chunk, d) */
    design design;       /* of the chunk */
    double *x;           /* (block, D) */
    void *raw;           /* (block, D) as in the file */
    void *labels;        /* (chunk, d): targets or values as in the file */
    meter m;
    arena memory;
} transforming;

enum { SHAPE_TEXT = 80 };

/* "50 x 50 x 3" */
static const char *shape_text(int count, const size_t *dims, char out[SHAPE_TEXT])
{
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        used +=
            (size_t)snprintf(out + used, SHAPE_TEXT - used, "%s%zu", i > 0 ? " x " : "", dims[i]);
    }
    return out;
}

static lscm_status check_x(const lscm_posterior *p, const lscm_dataset *data, lscm_error *why)
{
    const array_shape *x = &data->shape[LSCM_X];
    char there[SHAPE_TEXT];
    char here[SHAPE_TEXT];
    size_t D = lscm_dataset_features(data);
    if (!x->present) {
        return fail(why, LSCM_MISSING, "%s: there is no 'x'", data->path);
    }
    if (D != p->features) {
        return fail(why, LSCM_SHAPE, "%s: x has %zu features but the run was fitted on %zu",
                    data->path, D, p->features);
    }
    bool same = x->ndim == p->x_ndim;
    for (int i = 1; i < x->ndim && same; i++) {
        same = x->dims[i] == p->x_dims[i - 1];
    }
    return same ? LSCM_OK
                : fail(why, LSCM_SHAPE, "%s: a row of x is %s but the run was fitted on %s",
                       data->path, shape_text(x->ndim - 1, x->dims + 1, there),
                       shape_text(p->x_ndim - 1, p->x_dims, here));
}

/* Targets of observed variables, and those without values, say nothing about z. */
static lscm_status check_nodes(const lscm_posterior *p, const lscm_dataset *data, lscm_error *why)
{
    if (data->nodes != p->d) {
        return fail(why, LSCM_SHAPE, "%s: there are %zu nodes but the run has %zu", data->path,
                    data->nodes, p->d);
    }
    for (size_t i = 0; p->node_names != NULL && data->node_names != NULL && i < p->d; i++) {
        if (strcmp(p->node_names[i], data->node_names[i]) != 0) {
            return fail(why, LSCM_SHAPE,
                        "node %zu (0-based) is '%s' in the run but '%s' in %s; names must match", i,
                        p->node_names[i], data->node_names[i], data->path);
        }
    }
    return LSCM_OK;
}

static void lay_out(transforming *t, arena *a)
{
    const encoder *e = &t->encoder;
    bool floats = e->kind == ENCODES_KERNEL || e->kind == ENCODES_PICTURES;
    size_t n = t->chunk;
    t->rows.y = floats ? NULL : arena_take(a, n, e->width * sizeof(double));
    t->rows.f = floats ? arena_take(a, n, e->width * sizeof(float)) : NULL;
    t->rows.guess = e->inverted ? arena_take(a, n, 2 * e->d * sizeof(double)) : NULL;
    t->mask = arena_take(a, n, e->d);
    t->values = arena_take(a, n, e->d * sizeof(double));
    t->x = arena_take(a, t->block, e->D * sizeof(double));
    t->raw = arena_take(a, t->block, shape_row_bytes(&t->data->shape[LSCM_X]));
    t->labels =
        t->labelled ? arena_take(a, n, e->d * sizeof(double)) : NULL; /* of the widest type */
}

static lscm_status begin(transforming *t, const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const array_shape *shape = t->data->shape;
    size_t N = shape[LSCM_X].dims[0];
    TRY(encoder_open(&t->encoder, t->p, why));
    t->labelled = shape[LSCM_TARGETS].present && shape[LSCM_VALUES].present &&
                  t->encoder.kind != ENCODES_IDENTITY;
    TRY(t->labelled ? check_nodes(t->p, t->data, why) : LSCM_OK);
    size_t round = t->encoder.kind == ENCODES_PICTURES ? 1 : ROUND;
    size_t chunk = t->bytes / sizeof(float) / t->encoder.width / round * round;
    size_t block = t->bytes / sizeof(double) / t->encoder.D;
    t->chunk = chunk > round ? chunk : round;
    t->chunk = t->chunk < N ? t->chunk : N;
    t->block = block > 1 ? block : 1;
    t->block = t->block < t->chunk ? t->block : t->chunk;
    t->m = (meter){.progress = progress,
                   .what = "encoding",
                   .total = (uint64_t)shape_row_bytes(&shape[LSCM_X]) * N};
    lay_out(t, &t->memory);
    TRY(arena_open(&t->memory, why));
    lay_out(t, &t->memory);
done:
    return status;
}

/* Rows of a chunk that begins at row `first`. */
static lscm_status read_x(transforming *t, size_t first, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const array_shape *shape = &t->data->shape[LSCM_X];
    const encoder *e = &t->encoder;
    for (size_t row = 0; row < t->rows.rows; row += t->block) {
        size_t n = t->rows.rows - row < t->block ? t->rows.rows - row : t->block;
        TRY(dataset_read_raw(t->data, LSCM_X, first + row, n, t->raw, why));
        TRY(dataset_check_rows(t->data, LSCM_X, first + row, n, t->raw, false, why));
        dtype_to_double(shape->type, t->raw, n * e->D, t->x);
        encoder_reduce(e, &t->rows, row, n, t->x);
        TRY(meter_add(&t->m, (uint64_t)n * shape_row_bytes(shape), why));
    }
done:
    return status;
}

/* A field of the chunk as double, checked; what is not finite may stand where nothing was set. */
static lscm_status read_labels(const transforming *t, lscm_field field, size_t first, double *out,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t n = t->rows.rows;
    TRY(dataset_read_raw(t->data, field, first, n, t->labels, why));
    TRY(dataset_check_rows(t->data, field, first, n, t->labels, false, why));
    dtype_to_double(t->data->shape[field].type, t->labels, n * t->encoder.d, out);
done:
    return status;
}

/* Nothing was set where there are no labels. */
static lscm_status read_design(transforming *t, size_t first, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t n = t->rows.rows;
    if (t->labelled) {
        TRY(read_labels(t, LSCM_TARGETS, first, t->values, why));
        for (size_t k = 0; k < n * t->encoder.d; k++) {
            t->mask[k] = t->values[k] != 0 ? 1 : 0;
        }
        TRY(read_labels(t, LSCM_VALUES, first, t->values, why));
    }
    design_close(&t->design);
    TRY(design_of(&t->design, n, t->encoder.d, t->mask, t->values, why));
    t->rows.design = &t->design;
done:
    return status;
}

/* Whether to go on, while the encoder counts something of its own. */
static bool go_on(void *self, const char *what, uint64_t done, uint64_t total)
{
    const meter *m = self;
    (void)what;
    (void)done;
    (void)total;
    return m->progress == NULL || m->progress->report == NULL ||
           m->progress->report(m->progress->self, m->what, m->done, m->total);
}

static lscm_status check_finite(const transforming *t, size_t first, lscm_error *why)
{
    size_t n = t->rows.rows * t->encoder.d;
    size_t z = dtype_first_nonfinite(DTYPE_FLOAT64, t->rows.z, n);
    size_t sd = dtype_first_nonfinite(DTYPE_FLOAT64, t->rows.sd, n);
    size_t bad = z < sd ? z : sd;
    return bad == n ? LSCM_OK
                    : fail(why, LSCM_VALUE,
                           "%s: the numbers of 'x' at row %zu (0-based) are too large for the "
                           "encoder of this run",
                           t->data->path, first + bad / t->encoder.d);
}

/* That which was asked for, where the encoder has work for one. */
static lscm_status take_device(transforming *t, lscm_device asked, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bool works = t->encoder.kind == ENCODES_PICTURES || t->encoder.inverted;
    TRY(device_find(asked, why));
    TRY(device_open(&t->device, works ? asked : LSCM_DEVICE_CPU, NULL, why));
    t->rows.device = &t->device;
done:
    return status;
}

lscm_status transform_within(const lscm_posterior *posterior, const lscm_dataset *data,
                             size_t bytes, lscm_device asked, lscm_encoding *out,
                             const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    transforming t = {.p = posterior, .data = data, .bytes = bytes};
    const lscm_progress still = {go_on, &t.m};
    size_t d = posterior->d;
    size_t beyond = 0;
    TRY(check_x(posterior, data, why));
    TRY(begin(&t, progress, why));
    TRY(take_device(&t, asked, why));
    for (size_t first = 0; first < data->rows; first += t.chunk) {
        t.rows.rows = data->rows - first < t.chunk ? data->rows - first : t.chunk;
        t.rows.z = out->z + first * d;
        t.rows.sd = out->sd + first * d;
        TRY(read_x(&t, first, why));
        TRY(read_design(&t, first, why));
        TRY(encoder_apply(&t.encoder, &t.rows, &still, why));
        TRY(check_finite(&t, first, why));
        size_t more = encoder_outside(&t.encoder, &t.rows);
        beyond = more == SIZE_MAX ? SIZE_MAX : beyond + more;
    }
    out->outside = beyond;
    (void)snprintf(out->device, sizeof out->device, "%s", t.device.name);
done:
    design_close(&t.design);
    arena_close(&t.memory);
    device_close(&t.device);
    return status;
}

lscm_status lscm_posterior_transform_on(const lscm_posterior *posterior, const lscm_dataset *data,
                                        lscm_device asked, lscm_encoding *out,
                                        const lscm_progress *progress, lscm_error *why)
{
    return transform_within(posterior, data, BLOCK_BYTES, asked, out, progress, why);
}

lscm_status lscm_posterior_transform(const lscm_posterior *posterior, const lscm_dataset *data,
                                     double *z, double *sd, size_t *outside,
                                     const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_encoding out = {0};
    out.z = z;
    out.sd = sd;
    TRY(lscm_posterior_transform_on(posterior, data, LSCM_DEVICE_AUTO, &out, progress, why));
    if (outside != NULL) {
        *outside = out.outside;
    }
done:
    return status;
}
