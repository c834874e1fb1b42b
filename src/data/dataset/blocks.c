/* Walking over the rows of a field in blocks, each checked as it comes: see blocks.h.
 *
 * A block is small enough to stay in the second-level cache between being copied from the file
 * and being searched for NaN, so checking costs little more than reading.
 */
#include "data/dataset/blocks.h"

#include <stdlib.h>

enum { BLOCK_BYTES = 1 << 19 };

meter meter_over(const lscm_dataset *data, const lscm_progress *progress, const char *what)
{
    meter m = {.progress = progress, .what = what};
    for (int field = LSCM_X; FIELD_IS_ROWS(field); field++) {
        m.total += data->shape[field].present ? shape_bytes(&data->shape[field]) : 0;
    }
    return m;
}

lscm_status meter_add(meter *m, uint64_t bytes, lscm_error *why)
{
    m->done += bytes;
    if (m->progress != NULL && m->progress->report != NULL &&
        !m->progress->report(m->progress->self, m->what, m->done, m->total)) {
        return fail(why, LSCM_STOPPED, "%s: stopped on request", m->what);
    }
    return LSCM_OK;
}

lscm_status blocks_begin(row_blocks *walk, const lscm_dataset *data, lscm_field field,
                         meter *progress, lscm_error *why)
{
    *walk = (row_blocks){.data = data, .field = field, .progress = progress};
    if (!data->shape[field].present) {
        return fail(why, LSCM_MISSING, "%s: there is no '%s'", data->path, FIELD_NAMES[field]);
    }
    walk->past = data->shape[field].dims[0];
    walk->block_rows = dataset_block_rows(data, field, BLOCK_BYTES);
    size_t bytes = walk->block_rows * shape_row_bytes(&data->shape[field]);
    walk->raw = malloc(bytes);
    return walk->raw != NULL ? LSCM_OK : fail_memory(why, bytes);
}

void blocks_within(row_blocks *walk, size_t first, size_t past)
{
    walk->first = first;
    walk->past = past;
}

lscm_status blocks_next(row_blocks *walk, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const array_shape *shape = &walk->data->shape[walk->field];
    size_t first = walk->first + walk->count;
    size_t left = walk->past - first;
    size_t count = left < walk->block_rows ? left : walk->block_rows;
    walk->first = first;
    walk->count = 0;
    if (count > 0) {
        TRY(dataset_read_raw(walk->data, walk->field, first, count, walk->raw, why));
        TRY(dataset_check_rows(walk->data, walk->field, first, count, walk->raw, walk->holes, why));
        if (walk->progress != NULL) {
            TRY(meter_add(walk->progress, (uint64_t)count * shape_row_bytes(shape), why));
        }
        walk->count = count;
    }
done:
    return status;
}

void blocks_end(row_blocks *walk)
{
    free(walk->raw);
    walk->raw = NULL;
}

lscm_status blocks_check(const lscm_dataset *data, lscm_field field, size_t first, size_t past,
                         meter *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    row_blocks walk = {0};
    TRY(blocks_begin(&walk, data, field, progress, why));
    blocks_within(&walk, first, past);
    do {
        TRY(blocks_next(&walk, why));
    } while (walk.count > 0);
done:
    blocks_end(&walk);
    return status;
}
