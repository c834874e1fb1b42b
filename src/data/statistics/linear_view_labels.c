/* Whole fields in memory, read block by block so that progress is seen and a stop is heard: x as
 * double, masks as bytes, values that are 0 wherever there was no target (whatever the file has
 * there, NaN included). Masks are 0 or 1 and values at targets finite, or the first fault is named;
 * x that is not finite shows in its covariance. */
#include "data/dataset/dataset.h"
#include "data/statistics/linear_view_parts.h"

#include <stdlib.h>

static const size_t BLOCK_BYTES = (size_t)1 << 22;
static const size_t MASK_BYTES = (size_t)1 << 15; /* eight times that as double: stays in cache */

static lscm_status count_rows(meter *m, const lscm_dataset *data, lscm_field field, size_t rows,
                              lscm_error *why)
{
    return m == NULL ? LSCM_OK : meter_add(m, rows * shape_row_bytes(&data->shape[field]), why);
}

/* Rows of a field as double. */
static lscm_status read_rows(const lscm_dataset *data, lscm_field field, row_share rows_of,
                             double *out, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const array_shape *shape = &data->shape[field];
    size_t row = shape_row_bytes(shape) / dtype_size(shape->type);
    size_t step = dataset_block_rows(data, field, BLOCK_BYTES);
    for (size_t first = rows_of.first; first < rows_of.end; first += step) {
        size_t rows = rows_of.end - first < step ? rows_of.end - first : step;
        TRY(lscm_dataset_read(data, field, first, rows, out + (first - rows_of.first) * row, why));
        TRY(count_rows(m, data, field, rows, why));
    }
done:
    return status;
}

lscm_status signal_rows(const lscm_dataset *data, double *x, meter *m, lscm_error *why)
{
    return read_rows(data, LSCM_X, (row_share){.end = data->rows}, x, m, why);
}

/* The sentence about what is wrong in these rows, which are read again. */
static lscm_status find_fault(const lscm_dataset *data, lscm_field field, size_t first, size_t rows,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t bytes = rows * shape_row_bytes(&data->shape[field]);
    void *raw = malloc(bytes);
    if (raw == NULL) {
        return fail_memory(why, bytes);
    }
    TRY(dataset_read_raw(data, field, first, rows, raw, why));
    TRY(dataset_check_rows(data, field, first, rows, raw, false, why));
done:
    free(raw);
    return status;
}

/* False where something is neither 0 nor 1. */
static bool to_mask(const double *restrict targets, size_t n, uint8_t *restrict mask)
{
    size_t other = 0;
    for (size_t k = 0; k < n; k++) {
        mask[k] = targets[k] != 0 ? 1 : 0;
        other += targets[k] == mask[k] ? 0 : 1;
    }
    return other == 0;
}

static lscm_status read_masks(const lscm_dataset *data, row_share share, uint8_t *mask, meter *m,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = data->nodes;
    size_t step = dataset_block_rows(data, LSCM_TARGETS, MASK_BYTES);
    double *targets = malloc(step * d * sizeof *targets); /* (step, d) */
    if (targets == NULL) {
        status = fail_memory(why, step * d * sizeof *targets);
        goto done;
    }
    for (size_t first = share.first; first < share.end; first += step) {
        size_t rows = share.end - first < step ? share.end - first : step;
        uint8_t *to = mask + (first - share.first) * d;
        TRY(lscm_dataset_read(data, LSCM_TARGETS, first, rows, targets, why));
        if (!to_mask(targets, rows * d, to)) {
            TRY(find_fault(data, LSCM_TARGETS, first, rows, why));
        }
        TRY(count_rows(m, data, LSCM_TARGETS, rows, why));
    }
done:
    free(targets);
    return status;
}

/* Of the rows of one process. */
static lscm_status read_labels(const lscm_dataset *data, row_share share, uint8_t *mask,
                               double *values, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(read_masks(data, share, mask, m, why));
    if (values != NULL) {
        size_t n = (share.end - share.first) * data->nodes;
        TRY(read_rows(data, LSCM_VALUES, share, values, m, why));
        for (size_t k = 0; k < n; k++) {
            values[k] = mask[k] != 0 ? values[k] : 0;
        }
        if (dtype_first_nonfinite(DTYPE_FLOAT64, values, n) < n) {
            TRY(find_fault(data, LSCM_VALUES, share.first, share.end - share.first, why));
        }
    }
done:
    return status;
}

/* values may be NULL: not wanted. */
static lscm_status gather_labels(const lscm_dataset *data, uint8_t *mask, double *values, meter *m,
                                 lscm_error *why)
{
    lscm_status status = LSCM_OK;
    team *t = data->team;
    size_t d = data->nodes;
    stretches s = split_rows(data->rows, 1, SPLIT_STRETCHES);
    int wanted = values != NULL ? 1 : 0;
    if (split_size(t) == 1) {
        return read_labels(data, split_share(NULL, 0, s), mask, values, m, why);
    }
    TRY(split_call(t, SPLIT_LABELS, why));
    TRY(comm_broadcast(t->comm, &wanted, sizeof wanted, why));
    status = read_labels(data, split_share(t, 0, s), mask, values, m, why);
    TRY(lscm_comm_agree(t->comm, status, why));
    for (int rank = 1; rank < split_size(t); rank++) {
        row_share share = split_share(t, rank, s);
        size_t n = (share.end - share.first) * d;
        TRY(comm_receive(t->comm, rank, mask + share.first * d, n, why));
        if (values != NULL) {
            TRY(comm_receive(t->comm, rank, values + share.first * d, n * sizeof *values, why));
        }
    }
done:
    return status;
}

lscm_status signal_design(const lscm_dataset *data, bool values, design *out, meter *m,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    design s = {0};
    size_t entries = data->rows * data->nodes;
    uint8_t *mask = malloc(entries + 1); /* (rows, d) */
    if (mask == NULL) {
        status = fail_memory(why, entries);
        goto done;
    }
    TRY(design_open(&s, data->rows, data->nodes, why));
    TRY(gather_labels(data, mask, values ? s.value : NULL, m, why));
    TRY(design_group(&s, mask, why));
    s.names = data->node_names;
    *out = s;
    s = (design){0};
done:
    free(mask);
    design_close(&s);
    return status;
}

lscm_status signal_labels_assist(const lscm_dataset *data, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    team *t = data->team;
    row_share share = split_share(t, split_rank(t), split_rows(data->rows, 1, SPLIT_STRETCHES));
    size_t n = (share.end - share.first) * data->nodes;
    uint8_t *mask = calloc(n + 1, 1);
    double *values = malloc((n + 1) * sizeof *values);
    int wanted = 0;
    TRY(comm_broadcast(t->comm, &wanted, sizeof wanted, why));
    if (mask == NULL || values == NULL) {
        status = fail_memory(why, n * sizeof *values);
    } else {
        status = read_labels(data, share, mask, wanted != 0 ? values : NULL, m, why);
    }
    TRY(lscm_comm_agree(t->comm, status, why));
    TRY(comm_send(t->comm, 0, mask, n, why));
    if (wanted != 0) {
        TRY(comm_send(t->comm, 0, values, n * sizeof *values, why));
    }
done:
    free(mask);
    free(values);
    return status;
}

lscm_status signal_needs_values(const lscm_dataset *data, lscm_error *why)
{
    return data->shape[LSCM_VALUES].present
               ? LSCM_OK
               : fail(why, LSCM_MISSING,
                      "%s: there are no 'values'; finding the causal variables in x needs what "
                      "do() set, an array shaped as 'targets'",
                      data->path);
}

size_t signal_sample_row(size_t rows, size_t count, rng r, size_t k)
{
    /* not every count-th row: designs have periods */
    size_t first = (size_t)((double)k / (double)count * (double)rows);
    size_t past = (size_t)((double)(k + 1) / (double)count * (double)rows);
    size_t row = first + (size_t)rng_below(r, k, past > first ? past - first : 1);
    return row < rows ? row : rows - 1;
}

lscm_status signal_sample(const lscm_dataset *data, size_t count, rng r, double *x, meter *m,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t D = lscm_dataset_features(data);
    for (size_t k = 0; k < count; k++) {
        size_t row = signal_sample_row(data->rows, count, r, k);
        TRY(lscm_dataset_read(data, LSCM_X, row, 1, x + k * D, why));
        if (m != NULL && k % 256 == 0) {
            TRY(meter_add(m, 0, why));
        }
    }
done:
    return status;
}
