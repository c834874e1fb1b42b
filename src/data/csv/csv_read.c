/* Data in CSV: observed variables with names, x (N, D) float64, and targets (N, D) uint8 with one
 * node per column; no values (they stand in x) and no z.
 *
 * A first pass reads everything, so that whatever is wrong is said at once and N is known. Rows are
 * then read again as they are asked for, x and targets each at its own place in the file: going
 * forward costs one pass for each, going back starts from the top.
 */
#include "data/csv/csv.h"
#include "data/csv/csv_columns.h"

#include <stdlib.h>
#include <string.h>

typedef struct csv_source {
    row_source base;
    csv_columns columns;
    size_t rows;
    csv_lines in[2]; /* for LSCM_X and LSCM_TARGETS */
    size_t at[2];    /* the row that comes next there */
} csv_source;

static lscm_status start_over(csv_lines *in, size_t *at, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(csv_lines_restart(in, why));
    TRY(csv_lines_next(in, why)); /* the header */
    *at = 0;
done:
    return status;
}

/* The next row. The file was whole when it was opened; it may have changed since. */
static lscm_status next_row(const csv_source *source, csv_lines *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(csv_lines_next(in, why));
    if (in->count == 0) {
        return fail(why, LSCM_READ, "%s: ended before its %zu rows; was it changed while open?",
                    in->path, source->rows);
    }
    TRY(csv_columns_check(&source->columns, in, why));
done:
    return status;
}

static lscm_status csv_read_rows(row_source *self, lscm_field field, size_t first, size_t count,
                                 void *raw, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    csv_source *source = (csv_source *)self;
    size_t variables = source->columns.variables;
    csv_lines *in = &source->in[field];
    size_t *at = &source->at[field];
    double *x = raw;        /* (count, variables), or */
    uint8_t *targets = raw; /* (count, variables) */
    if (first < *at) {
        TRY(start_over(in, at, why));
    }
    for (; *at < first; (*at)++) {
        TRY(next_row(source, in, why));
    }
    for (size_t i = 0; i < count; i++) {
        TRY(next_row(source, in, why));
        if (field == LSCM_X) {
            TRY(csv_columns_x(&source->columns, in, x + i * variables, why));
        } else {
            TRY(csv_columns_targets(&source->columns, in, targets + i * variables, why));
        }
        (*at)++;
    }
done:
    if (status != LSCM_OK) {
        *at = SIZE_MAX; /* its place is lost */
    }
    return status;
}

static void csv_close(row_source *self)
{
    csv_source *source = (csv_source *)self;
    csv_lines_close(&source->in[LSCM_X]);
    csv_lines_close(&source->in[LSCM_TARGETS]);
    csv_columns_close(&source->columns);
    free(source);
}

/* Checks every row and counts them. */
static lscm_status first_pass(csv_source *source, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    csv_lines *in = &source->in[LSCM_X];
    const csv_columns *columns = &source->columns;
    size_t variables = columns->variables;
    double *x = malloc(variables * sizeof *x);              /* (variables) */
    uint8_t *targets = malloc(variables * sizeof *targets); /* (variables) */
    if (x == NULL || targets == NULL) {
        status = fail_memory(why, variables * sizeof *x);
        goto done;
    }
    for (;;) {
        TRY(csv_lines_next(in, why));
        if (in->count == 0) {
            break;
        }
        TRY(csv_columns_check(columns, in, why));
        TRY(csv_columns_x(columns, in, x, why));
        TRY(csv_columns_targets(columns, in, targets, why));
        source->rows++;
    }
    if (source->rows == 0) {
        status = fail(why, LSCM_SHAPE, "%s: has a header but no rows", in->path);
    }
done:
    free(x);
    free(targets);
    return status;
}

static lscm_status describe(lscm_dataset *data, const csv_source *source, lscm_error *why)
{
    const csv_columns *columns = &source->columns;
    size_t variables = columns->variables;
    data->rows = source->rows;
    data->nodes = variables;
    data->shape[LSCM_X] = (array_shape){true, DTYPE_FLOAT64, 2, {source->rows, variables}};
    data->shape[LSCM_TARGETS] = (array_shape){true, DTYPE_UINT8, 2, {source->rows, variables}};
    data->node_names = calloc(variables, sizeof *data->node_names);
    data->feature_names = calloc(variables, sizeof *data->feature_names);
    for (size_t i = 0; i < variables; i++) {
        const char *name = columns->names[columns->column[i]];
        if (data->node_names != NULL && data->feature_names != NULL) {
            data->node_names[i] = strdup(name);
            data->feature_names[i] = strdup(name);
        }
        if (data->feature_names == NULL || data->node_names == NULL ||
            data->node_names[i] == NULL || data->feature_names[i] == NULL) {
            return fail_memory(why, variables * sizeof *data->node_names);
        }
    }
    return LSCM_OK;
}

lscm_status csv_open(lscm_dataset *data, const lscm_open_options *options, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    csv_source *source = NULL;
    if (options != NULL && options->truth_only) {
        TRY(csv_read_graph(data, data->path, why));
        return dataset_check_shapes(data, true, why);
    }
    source = calloc(1, sizeof *source);
    if (source == NULL) {
        return fail_memory(why, sizeof *source);
    }
    source->base = (row_source){csv_read_rows, csv_close};
    data->source = &source->base;
    csv_lines *in = &source->in[LSCM_X];
    TRY(csv_lines_open(in, data->path, why));
    TRY(csv_lines_next(in, why));
    TRY(csv_columns_open(&source->columns, in, options != NULL ? options->ignore : NULL, why));
    TRY(first_pass(source, why));
    TRY(csv_lines_open(&source->in[LSCM_TARGETS], data->path, why));
    source->at[LSCM_X] = SIZE_MAX;
    source->at[LSCM_TARGETS] = SIZE_MAX;
    TRY(describe(data, source, why));
    TRY(options != NULL && options->x_only ? dataset_check_x(data, why)
                                           : dataset_check_shapes(data, false, why));
done:
    return status;
}
