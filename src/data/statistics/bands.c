/* Mean, sd and quantiles of every column over all N rows. A column must be whole to be sorted, so
 * as many columns are gathered at a time as BUDGET has room for, at least one; the rows are read
 * once for each such group, which is once unless there are very many.
 */
#include "data/statistics/bands.h"

#include "base/arena.h"
#include "base/quantile.h"

#include <math.h>
#include <stdlib.h>

enum { BUDGET = 1 << 28, BLOCK = 1 << 20 }; /* bytes */

typedef struct band_work {
    size_t rows, columns;
    size_t group, block; /* columns at a time, rows at a time */
    double *read;        /* (block, columns) */
    double *gathered;    /* (group, rows) */
} band_work;

static void lay_out(band_work *w, arena *a)
{
    w->read = arena_take(a, w->block, w->columns * sizeof *w->read);
    w->gathered = arena_take(a, w->group, w->rows * sizeof *w->gathered);
}

static void describe(double *values, size_t n, size_t column, const lscm_bands *out)
{
    double *const places[] = {out->lower, out->median, out->upper};
    static const double shares[] = {0.05, 0.5, 0.95};
    double sum = 0;
    double square = 0;
    for (size_t k = 0; k < n; k++) {
        sum += values[k];
    }
    double mean = sum / (double)n;
    for (size_t k = 0; k < n; k++) {
        square += (values[k] - mean) * (values[k] - mean);
    }
    qsort(values, n, sizeof *values, quantile_compare);
    if (out->mean != NULL) {
        out->mean[column] = mean;
    }
    if (out->sd != NULL) {
        out->sd[column] = sqrt(square / (double)n);
    }
    for (size_t k = 0; k < 3; k++) {
        if (places[k] != NULL) {
            places[k][column] = quantile_of_sorted(values, n, shares[k]);
        }
    }
}

lscm_status bands_of(const lscm_dataset *data, lscm_field field, const lscm_bands *out, meter *m,
                     lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena memory = {0};
    const array_shape *shape = &data->shape[field];
    if (!shape->present || !FIELD_IS_ROWS(field)) {
        return fail(why, LSCM_MISSING, "%s: there are no rows of '%s'", data->path,
                    FIELD_NAMES[field]);
    }
    band_work w = {.rows = shape->dims[0], .columns = shape_count(shape) / shape->dims[0]};
    size_t most = BUDGET / sizeof(double) / w.rows;
    size_t rows = BLOCK / sizeof(double) / w.columns;
    w.group = most < 1 ? 1 : most < w.columns ? most : w.columns;
    w.block = rows < 1 ? 1 : rows < w.rows ? rows : w.rows;
    lay_out(&w, &memory);
    TRY(arena_open(&memory, why));
    lay_out(&w, &memory);
    for (size_t from = 0; from < w.columns; from += w.group) {
        size_t group = w.columns - from < w.group ? w.columns - from : w.group;
        for (size_t first = 0; first < w.rows; first += w.block) {
            size_t n = w.rows - first < w.block ? w.rows - first : w.block;
            TRY(lscm_dataset_read(data, field, first, n, w.read, why));
            for (size_t k = 0; k < group * n; k++) {
                size_t row = k / group;
                w.gathered[k % group * w.rows + first + row] =
                    w.read[row * w.columns + from + k % group];
            }
            if (m != NULL) {
                TRY(meter_add(m, 0, why));
            }
        }
        for (size_t k = 0; k < group; k++) {
            describe(w.gathered + k * w.rows, w.rows, from + k, out);
        }
    }
done:
    arena_close(&memory);
    return status;
}

lscm_status lscm_dataset_bands(const lscm_dataset *data, lscm_field field, const lscm_bands *bands,
                               lscm_error *why)
{
    return bands_of(data, field, bands, NULL, why);
}
