/* See in_units.h. Sums are about the first row, so that large offsets do not cancel. The source
 * below converts as it reads: what is read is double. */
#include "data/dataset/in_units.h"

#include "base/tuned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONVERT_BYTES = 1 << 18 }; /* raw rows converted at a time */

typedef struct units_source {
    row_source base;
    const lscm_dataset *of;
    const struct column_units *columns;
} units_source;

void units_apply(const struct column_units *u, size_t n, double *x)
{
    for (size_t row = 0; row < n; row++) {
        for (size_t j = 0; j < u->D; j++) {
            x[row * u->D + j] = (x[row * u->D + j] - u->origin[j]) / u->scale[j];
        }
    }
}

/* The lock of the data set behind is the one that is held. */
static lscm_status read_units(row_source *self, lscm_field field, size_t first, size_t count,
                              void *raw, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const units_source *s = (const units_source *)(const void *)self;
    row_source *from = s->of->source;
    const array_shape *shape = &s->of->shape[field];
    if (field != LSCM_X) {
        return from->read(from, field, first, count, raw, why);
    }
    size_t D = s->columns->D;
    size_t step = dataset_block_rows(s->of, field, CONVERT_BYTES);
    double *x = raw;
    void *some = malloc(step * shape_row_bytes(shape));
    if (some == NULL) {
        return fail_memory(why, step * shape_row_bytes(shape));
    }
    for (size_t row = 0; row < count; row += step) {
        size_t rows = count - row < step ? count - row : step;
        TRY(from->read(from, field, first + row, rows, some, why));
        dtype_to_double(shape->type, some, rows * D, x + row * D);
        units_apply(s->columns, rows, x + row * D);
    }
done:
    free(some);
    return status;
}

static void close_nothing(row_source *self)
{
    (void)self;
}

typedef struct column_sums {
    double *x, *about;      /* (block, D) scratch; (D) the first row */
    double *all, *squares;  /* (D): of x - about */
    double *free, *targets; /* (D) where nothing was set; (block, d) scratch */
    double rows, rows_free;
} column_sums;

static void lay_out(column_sums *s, arena *a, size_t block, size_t D, size_t d)
{
    s->x = arena_take(a, block * D, sizeof(double));
    s->about = arena_take(a, D, sizeof(double));
    s->all = arena_take(a, D, sizeof(double));
    s->squares = arena_take(a, D, sizeof(double));
    s->free = arena_take(a, D, sizeof(double));
    s->targets = arena_take(a, block * d, sizeof(double));
}

static void add_row(column_sums *s, const double *x, size_t D, bool untouched)
{
    for (size_t j = 0; j < D; j++) {
        double t = x[j] - s->about[j];
        s->all[j] += t;
        s->squares[j] += t * t;
        s->free[j] += untouched ? t : 0;
    }
    s->rows++;
    s->rows_free += untouched ? 1 : 0;
}

static void choose(const column_sums *s, units_origin origin, struct column_units *u)
{
    double far = 0;
    double columns = 0;
    for (size_t j = 0; j < u->D; j++) {
        double mean = s->all[j] / s->rows;
        double variance = s->squares[j] / s->rows - mean * mean;
        u->scale[j] = variance > 0 ? sqrt(variance) : 1;
        mean = s->about[j] +
               (origin == ORIGIN_FREE && s->rows_free > 0 ? s->free[j] / s->rows_free : mean);
        u->origin[j] = mean;
        far += variance > 0 ? mean * mean / variance : 0;
        columns += variance > 0 ? 1 : 0;
    }
    bool zero =
        origin == ORIGIN_FREE ? !(s->rows_free > 0) : !(far > columns * pow(tuned_units_far(), 2));
    if (zero) {
        memset(u->origin, 0, u->D * sizeof *u->origin);
    }
}

static lscm_status measure(in_units *u, const lscm_dataset *of, units_origin origin,
                           lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t D = u->columns.D;
    size_t d = of->nodes;
    column_sums s = {0};
    arena scratch = {0};
    row_blocks walk = {0};
    TRY(blocks_begin(&walk, of, LSCM_X, NULL, why));
    lay_out(&s, &scratch, walk.block_rows, D, d);
    TRY(arena_open(&scratch, why));
    lay_out(&s, &scratch, walk.block_rows, D, d);
    for (;;) {
        TRY(blocks_next(&walk, why));
        if (walk.count == 0) {
            break;
        }
        dtype_to_double(of->shape[LSCM_X].type, walk.raw, walk.count * D, s.x);
        TRY(lscm_dataset_read(of, LSCM_TARGETS, walk.first, walk.count, s.targets, why));
        if (walk.first == 0) {
            memcpy(s.about, s.x, D * sizeof *s.x);
        }
        for (size_t row = 0; row < walk.count; row++) {
            bool untouched = true;
            for (size_t i = 0; i < d; i++) {
                untouched = untouched && s.targets[row * d + i] == 0;
            }
            add_row(&s, s.x + row * D, D, untouched);
        }
    }
    choose(&s, origin, &u->columns);
done:
    blocks_end(&walk);
    arena_close(&scratch);
    return status;
}

static void lay_out_units(in_units *u)
{
    u->columns.origin = arena_take(&u->memory, u->columns.D, sizeof(double));
    u->columns.scale = arena_take(&u->memory, u->columns.D, sizeof(double));
    u->source = arena_take(&u->memory, 1, sizeof *u->source);
}

lscm_status in_units_open(in_units *out, const lscm_dataset *of, units_origin origin,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    in_units *u = out;
    *u = (in_units){.data = *of, .columns = {.D = lscm_dataset_features(of)}};
    if (of->shape[LSCM_X].ndim > 2) {
        return LSCM_OK;
    }
    lay_out_units(u);
    TRY(arena_open(&u->memory, why));
    lay_out_units(u);
    TRY(measure(u, of, origin, why));
    *u->source = (units_source){{read_units, close_nothing}, of, &u->columns};
    u->data.source = &u->source->base;
    u->data.shape[LSCM_X].type = DTYPE_FLOAT64;
    u->data.units = &u->columns;
done:
    return status;
}

void in_units_close(in_units *u)
{
    arena_close(&u->memory);
}
