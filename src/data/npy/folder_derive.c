/* The files of a BIOLS folder that follow from the others, for the public code that loads them:
 *
 *     interv_nodes (N, d) int64    the targets of the row, ascending, filled up with d
 *     interv_noise (N, d) float64  z - values at targets, 0 elsewhere (and without z or values)
 *     edge_weights (d, d)          L = P^T W^T P, lower triangular
 *
 * Rows go through in blocks.
 */
#include "base/order.h"
#include "data/npy/folder.h"

#include <stdlib.h>
#include <string.h>

typedef struct block {
    double *targets, *values, *z; /* (rows, d); values and z zeros when they are not there */
    double *noise;                /* (rows, d) */
    int64_t *nodes;               /* (rows, d) */
} block;

static void derive_rows(block *b, size_t rows, size_t d)
{
    for (size_t r = 0; r < rows; r++) {
        size_t found = 0;
        for (size_t i = 0; i < d; i++) {
            size_t at = r * d + i;
            bool target = b->targets[at] != 0;
            b->noise[at] = target ? b->z[at] - b->values[at] : 0;
            if (target) {
                b->nodes[r * d + found++] = (int64_t)i;
            }
        }
        while (found < d) {
            b->nodes[r * d + found++] = (int64_t)d;
        }
    }
}

/* Opens it and writes the header of shape (rows, cols). */
static lscm_status open_npy(folder_file *file, const char *to, const char *name, dtype type,
                            size_t rows, size_t cols, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char head[NPY_HEADER_OURS];
    array_shape shape = {true, type, 2, {rows, cols}};
    npy_header header = npy_header_of(&shape);
    size_t size = npy_header_format(&header, head);
    TRY(folder_file_open(file, to, name, file->what, why));
    TRY(folder_file_write(file, head, size, why));
done:
    return status;
}

static lscm_status derive_blocks(const lscm_dataset *data, block *b, size_t step,
                                 folder_file *nodes, folder_file *noise, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = data->nodes;
    bool both = data->shape[LSCM_Z].present && data->shape[LSCM_VALUES].present;
    for (size_t first = 0; first < data->rows; first += step) {
        size_t rows = data->rows - first < step ? data->rows - first : step;
        TRY(meter_add(m, 0, why)); /* somebody may want to stop */
        TRY(lscm_dataset_read(data, LSCM_TARGETS, first, rows, b->targets, why));
        if (both) {
            TRY(lscm_dataset_read(data, LSCM_VALUES, first, rows, b->values, why));
            TRY(lscm_dataset_read(data, LSCM_Z, first, rows, b->z, why));
        }
        derive_rows(b, rows, d);
        TRY(folder_file_write(nodes, b->nodes, rows * d * sizeof *b->nodes, why));
        TRY(folder_file_write(noise, b->noise, rows * d * sizeof *b->noise, why));
    }
done:
    return status;
}

static lscm_status derive_interventions(const lscm_dataset *data, const char *to, meter *m,
                                        lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = data->nodes;
    size_t step = ((size_t)1 << 20) / (d * sizeof(double)) + 1;
    step = step < data->rows ? step : data->rows;
    size_t each = step * d;
    folder_file nodes = {-1, m->what};
    folder_file noise = {-1, m->what};
    block b = {0};
    double *all = calloc(each, 5 * sizeof *all);
    if (all == NULL) {
        return fail_memory(why, 5 * each * sizeof *all);
    }
    b = (block){all, all + each, all + 2 * each, all + 3 * each,
                (int64_t *)(void *)(all + 4 * each)};
    TRY(open_npy(&nodes, to, "interv_nodes.npy", DTYPE_INT64, data->rows, d, why));
    TRY(open_npy(&noise, to, "interv_noise.npy", DTYPE_FLOAT64, data->rows, d, why));
    TRY(derive_blocks(data, &b, step, &nodes, &noise, m, why));
    TRY(folder_file_close(&nodes, why));
    TRY(folder_file_close(&noise, why));
done:
    (void)folder_file_close(&nodes, NULL);
    (void)folder_file_close(&noise, NULL);
    free(all);
    return status;
}

/* The stored order, or the one that the graph has. */
static lscm_status find_order(const lscm_dataset *data, double *numbers, size_t *order,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = data->nodes;
    if (!data->shape[LSCM_ORDER].present) {
        TRY(lscm_dataset_read(data, LSCM_W, 0, d, numbers, why));
        if (!order_of_graph(numbers, d, order, order + d)) {
            TRY(fail(why, LSCM_CYCLE, "%s: 'w' has a cycle", data->path));
        }
        return LSCM_OK;
    }
    TRY(lscm_dataset_read(data, LSCM_ORDER, 0, d, numbers, why));
    for (size_t k = 0; k < d; k++) {
        order[k] = (size_t)numbers[k];
    }
done:
    return status;
}

static lscm_status derive_lower(const lscm_dataset *data, const char *to, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = data->nodes;
    const array_shape *shape = &data->shape[LSCM_W];
    size_t item = dtype_size(shape->type);
    folder_file file = {-1, m->what};
    double *numbers = calloc(d * d, sizeof *numbers);
    size_t *order = calloc(2 * d, sizeof *order);
    char *lower = calloc(d, item); /* a row of L */
    if (numbers == NULL || order == NULL || lower == NULL) {
        status = fail_memory(why, d * d * sizeof *numbers);
        goto done;
    }
    TRY(find_order(data, numbers, order, why));
    TRY(open_npy(&file, to, "edge_weights.npy", shape->type, d, d, why));
    for (size_t a = 0; a < d; a++) {
        for (size_t b = 0; b < d; b++) {
            const char *w = (const char *)data->whole[LSCM_W] + (order[b] * d + order[a]) * item;
            memcpy(lower + b * item, w, item);
        }
        TRY(folder_file_write(&file, lower, d * item, why));
    }
    TRY(folder_file_close(&file, why));
done:
    (void)folder_file_close(&file, NULL);
    free(numbers);
    free(order);
    free(lower);
    return status;
}

lscm_status folder_derive(const lscm_dataset *data, const char *to, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (data->shape[LSCM_TARGETS].present) {
        TRY(derive_interventions(data, to, m, why));
    }
    if (data->shape[LSCM_W].present) {
        TRY(derive_lower(data, to, m, why));
    }
done:
    return status;
}
