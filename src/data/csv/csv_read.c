/* Data in a table: x (N, D) float64 with the names of its columns, targets (N, d) uint8, and of
 * latent nodes values (N, d) and z (N, d), where they are there. Which is which say csv_columns.h
 * and csv_do.h; the values of observed variables stand in x.
 *
 * A first pass reads everything, so that whatever is wrong is said at once and N is known. Rows are
 * then read again as they are asked for, each field at its own place in the file: going forward
 * costs one pass for each, going back starts from the top.
 */
#include "data/csv/csv.h"
#include "data/csv/csv_do.h"
#include "data/csv/csv_note.h"
#include "data/csv/csv_numbers.h"

#include <stdlib.h>
#include <string.h>

typedef struct csv_source {
    row_source base;
    csv_columns columns;
    csv_do did;
    csv_numbers numbers;
    size_t rows;
    csv_lines in[LSCM_W]; /* for every field of rows */
    size_t at[LSCM_W];    /* the row that comes next there */
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

/* The field of the record in hand, as row `row` of `raw`. */
static lscm_status read_row(csv_source *source, lscm_field field, size_t row, void *raw,
                            lscm_error *why)
{
    csv_lines *in = &source->in[field];
    size_t nodes = csv_do_nodes(&source->did);
    double *numbers = raw;  /* (rows, variables or nodes), or */
    uint8_t *targets = raw; /* (rows, nodes) */
    switch (field) {
    case LSCM_X:
        return csv_columns_x(&source->columns, in, numbers + row * source->columns.variables, why);
    case LSCM_TARGETS:
        return csv_do_read(&source->did, in, targets + row * nodes, NULL, why);
    case LSCM_VALUES:
        return csv_do_read(&source->did, in, NULL, numbers + row * nodes, why);
    default:
        return csv_columns_z(&source->columns, in, numbers + row * nodes, why);
    }
}

static lscm_status csv_read_rows(row_source *self, lscm_field field, size_t first, size_t count,
                                 void *raw, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    csv_source *source = (csv_source *)self;
    csv_lines *in = &source->in[field];
    size_t *at = &source->at[field];
    if (in->file == NULL) {
        TRY(csv_lines_open(in, source->in[LSCM_X].path, why));
        *at = SIZE_MAX;
    }
    if (first < *at) {
        TRY(start_over(in, at, why));
    }
    for (; *at < first; (*at)++) {
        TRY(next_row(source, in, why));
    }
    for (size_t i = 0; i < count; i++) {
        TRY(next_row(source, in, why));
        TRY(read_row(source, field, i, raw, why));
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
    for (int field = 0; FIELD_IS_ROWS(field); field++) {
        csv_lines_close(&source->in[field]);
    }
    csv_do_close(&source->did);
    csv_numbers_close(&source->numbers);
    csv_columns_close(&source->columns);
    free(source);
}

/* Checks every row and counts them. */
static lscm_status first_pass(csv_source *source, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    csv_lines *in = &source->in[LSCM_X];
    const csv_columns *columns = &source->columns;
    size_t numbers = columns->variables + columns->nodes;
    double *x = malloc(numbers * sizeof *x); /* x (variables), z (nodes) */
    if (x == NULL) {
        status = fail_memory(why, numbers * sizeof *x);
        goto done;
    }
    TRY(csv_numbers_open(&source->numbers, columns, why));
    for (;;) {
        TRY(csv_lines_next(in, why));
        if (in->count == 0) {
            break;
        }
        TRY(csv_columns_check(columns, in, why));
        TRY(csv_columns_x(columns, in, x, why));
        csv_numbers_look(&source->numbers, columns, x);
        TRY(csv_columns_z(columns, in, x + columns->variables, why));
        TRY(csv_do_learn(&source->did, in, why));
        source->rows++;
    }
    if (source->rows == 0) {
        status = fail(why, LSCM_SHAPE, "%s: has a header but no rows", in->path);
        goto done;
    }
    TRY(csv_do_learnt(&source->did, in->path, why));
    TRY(csv_numbers_judge(&source->numbers, columns, in->path, why));
done:
    free(x);
    return status;
}

static lscm_status name_all(lscm_dataset *data, const csv_source *source, lscm_error *why)
{
    const csv_columns *columns = &source->columns;
    bool named = data->nodes > 0 && csv_do_node_name(&source->did, 0) != NULL;
    data->node_names = named ? calloc(data->nodes, sizeof *data->node_names) : NULL;
    data->feature_names = calloc(columns->variables, sizeof *data->feature_names);
    if ((named && data->node_names == NULL) || data->feature_names == NULL) {
        return fail_memory(why, columns->variables * sizeof *data->feature_names);
    }
    for (size_t i = 0; i < columns->variables; i++) {
        data->feature_names[i] = strdup(columns->names[columns->column[i]]);
        if (data->feature_names[i] == NULL) {
            return fail_memory(why, columns->variables);
        }
    }
    for (size_t i = 0; named && i < data->nodes; i++) {
        data->node_names[i] = strdup(csv_do_node_name(&source->did, i));
        if (data->node_names[i] == NULL) {
            return fail_memory(why, data->nodes);
        }
    }
    return LSCM_OK;
}

static lscm_status take_note(lscm_dataset *data, const csv_source *source, lscm_error *why)
{
    const csv_columns *columns = &source->columns;
    size_t counter = csv_numbers_counter(&source->numbers, columns);
    char text[CSV_NOTE] = "";
    csv_note_columns(text, columns);
    if (source->did.numbered) {
        csv_note(text, "targets are numbers, which count columns from 0 ('%.*s')",
                 csv_do_first(&source->did));
    }
    if (counter < columns->variables) {
        csv_note(text,
                 "column '%.*s' counts the rows; if it is no variable, leave it out with --ignore",
                 columns->names[columns->column[counter]]);
    }
    if (source->in[LSCM_X].decimals.comma > 0) {
        csv_note(text, "numbers are written with decimal commas%.*s", "");
    }
    data->note = text[0] != '\0' ? strdup(text) : NULL;
    return text[0] == '\0' || data->note != NULL ? LSCM_OK : fail_memory(why, sizeof text);
}

static lscm_status describe(lscm_dataset *data, const csv_source *source, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t rows = source->rows;
    size_t nodes = csv_do_nodes(&source->did);
    bool valued = csv_do_valued(&source->did);
    data->rows = rows;
    data->nodes = nodes;
    data->shape[LSCM_X] = (array_shape){true, DTYPE_FLOAT64, 2, {rows, source->columns.variables}};
    data->shape[LSCM_TARGETS] = (array_shape){true, DTYPE_UINT8, 2, {rows, nodes}};
    data->shape[LSCM_VALUES] = (array_shape){valued, DTYPE_FLOAT64, 2, {rows, nodes}};
    data->shape[LSCM_Z] = (array_shape){source->columns.truth, DTYPE_FLOAT64, 2, {rows, nodes}};
    TRY(name_all(data, source, why));
    TRY(take_note(data, source, why));
done:
    return status;
}

lscm_status csv_open(lscm_dataset *data, const lscm_open_options *options, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    csv_source *source = NULL;
    if (options->truth_only) {
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
    TRY(csv_columns_open(&source->columns, in, options, why));
    if (source->columns.variables == 0) {
        return fail(why, LSCM_SHAPE,
                    "%s: no column is left to be a variable; name fewer after --ignore",
                    data->path);
    }
    TRY(csv_do_open(&source->did, &source->columns, options->control, why));
    TRY(first_pass(source, why));
    source->at[LSCM_X] = SIZE_MAX;
    TRY(describe(data, source, why));
    TRY(options->x_only ? dataset_check_x(data, why) : dataset_check_shapes(data, false, why));
done:
    return status;
}
