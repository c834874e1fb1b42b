#include "data/csv/csv_observed.h"

#include <stdlib.h>

/* x, targets, values and z of a block, as double (block, nodes) each. */
typedef struct beside {
    void *raw;
    double *field[LSCM_W];
} beside;

static lscm_status make_room(beside *b, const lscm_dataset *data, size_t rows, lscm_error *why)
{
    size_t bytes = rows * data->nodes * sizeof(double);
    bool good = (b->raw = malloc(bytes)) != NULL;
    for (int field = 0; FIELD_IS_ROWS(field) && good; field++) {
        if (data->shape[field].present) {
            good = (b->field[field] = malloc(bytes)) != NULL;
        }
    }
    return good ? LSCM_OK : fail_memory(why, bytes);
}

static bool says_nothing_new(const beside *b, size_t count)
{
    const double *x = b->field[LSCM_X];
    const double *targets = b->field[LSCM_TARGETS];
    const double *values = b->field[LSCM_VALUES];
    const double *z = b->field[LSCM_Z];
    bool same = true;
    for (size_t k = 0; k < count && same; k++) {
        same =
            (values == NULL || targets[k] == 0 || values[k] == x[k]) && (z == NULL || z[k] == x[k]);
    }
    return same;
}

static lscm_status take_block(beside *b, const row_blocks *walk, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const lscm_dataset *data = walk->data;
    size_t count = walk->count * data->nodes;
    dtype_to_double(data->shape[LSCM_X].type, walk->raw, count, b->field[LSCM_X]);
    for (int field = LSCM_TARGETS; FIELD_IS_ROWS(field); field++) {
        if (b->field[field] != NULL) {
            TRY(dataset_read_raw(data, (lscm_field)field, walk->first, walk->count, b->raw, why));
            dtype_to_double(data->shape[field].type, b->raw, count, b->field[field]);
        }
    }
done:
    return status;
}

lscm_status csv_is_observed(const lscm_dataset *data, bool *observed, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    beside b = {0};
    row_blocks walk;
    *observed = data->nodes == lscm_dataset_features(data);
    if (!*observed || !(data->shape[LSCM_VALUES].present || data->shape[LSCM_Z].present)) {
        return LSCM_OK;
    }
    TRY(blocks_begin(&walk, data, LSCM_X, NULL, why));
    walk.holes = true;
    TRY(make_room(&b, data, walk.block_rows, why));
    while (*observed) {
        TRY(blocks_next(&walk, why));
        if (walk.count == 0) {
            break;
        }
        TRY(take_block(&b, &walk, why));
        *observed = says_nothing_new(&b, walk.count * data->nodes);
    }
done:
    blocks_end(&walk);
    free(b.raw);
    for (int field = 0; FIELD_IS_ROWS(field); field++) {
        free(b.field[field]);
    }
    return status;
}
