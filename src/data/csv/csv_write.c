/* A table from a data set: one column per feature (its name, or x0, x1, ...), then
 *
 *     target             of observed variables: the columns acted on joined by ';', -1 for none; by
 *                        name where nodes are the features themselves, else by number
 *     do:NAME, z:NAME    of latent nodes, one of each: the value that do() set, nothing where it
 * did not act, `set` where values are not recorded; and z, where it is known
 *
 * Variables are observed where the nodes are the columns of x (csv_observed.h). Every number is the
 * shortest text that reads back to the same double.
 */
#include "data/csv/csv.h"
#include "data/csv/csv_observed.h"
#include "data/text/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BUFFER = 1 << 18 };

typedef struct csv_out {
    const lscm_dataset *data;
    FILE *file;
    char separator;
    size_t features, nodes;
    char **columns;       /* (features): names */
    bool latent;          /* do:NAME, or else target */
    char **nodes_named;   /* (nodes), or NULL: targets are written as numbers */
    bool quoted;          /* a node's name needs quotes */
    double *rows[LSCM_W]; /* (block, features or nodes) of each field that is written, or NULL */
} csv_out;

static bool needs_quotes(const char *text)
{
    size_t length = strlen(text);
    return length == 0 || strpbrk(text, ",;\t\"\r\n") != NULL || strchr(" \t", text[0]) != NULL ||
           strchr(" \t", text[length - 1]) != NULL;
}

static void put_inside_quotes(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"') {
            (void)putc('"', file);
        }
        (void)putc(*text, file);
    }
}

void csv_put_cell(FILE *file, const char *text)
{
    if (needs_quotes(text)) {
        (void)putc('"', file);
        put_inside_quotes(file, text);
        (void)putc('"', file);
    } else {
        (void)fputs(text, file);
    }
}

/* The names of the columns, checked to be readable again. */
static lscm_status name_columns(csv_out *out, const meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    csv_names table = {0};
    out->columns = calloc(out->features, sizeof *out->columns);
    for (size_t i = 0; out->columns != NULL && i < out->features; i++) {
        char number[NUMBER_TEXT];
        const char *name = lscm_dataset_feature_name(out->data, i);
        (void)snprintf(number, sizeof number, "x%zu", i);
        out->columns[i] = strdup(name != NULL ? name : number);
        if (out->columns[i] == NULL) {
            return fail_memory(why, out->features);
        }
    }
    if (out->columns == NULL) {
        return fail_memory(why, out->features * sizeof *out->columns);
    }
    TRY(csv_names_open(&table, out->columns, out->features, m->what, why));
    for (size_t i = 0; i < out->features; i++) {
        const char *name = out->columns[i];
        if (strcmp(name, CSV_TARGET_NAME) == 0 ||
            strncmp(name, CSV_DO_PREFIX, strlen(CSV_DO_PREFIX)) == 0 ||
            strncmp(name, CSV_Z_PREFIX, strlen(CSV_Z_PREFIX)) == 0) {
            TRY(fail(why, LSCM_VALUE,
                     "%s: a feature is named '%.*s', which in a CSV says what do() acted on; "
                     "rename it, or write .nc or .npz",
                     m->what, csv_shown(name), name));
        }
    }
done:
    csv_names_close(&table);
    return status;
}

/* By name where nodes are features and the names survive being joined by ';'. */
static lscm_status name_targets(csv_out *out, const meter *m, lscm_error *why)
{
    char *const *names = out->data->node_names;
    bool named = names != NULL && out->nodes == out->features;
    for (size_t i = 0; named && i < out->nodes; i++) {
        size_t length = strlen(names[i]);
        named = strcmp(names[i], out->columns[i]) == 0 && strchr(names[i], ';') == NULL &&
                strchr(" \t", names[i][0]) == NULL && strchr(" \t", names[i][length - 1]) == NULL;
        out->quoted = out->quoted || needs_quotes(names[i]);
    }
    for (size_t i = 0; !named && i < out->features; i++) {
        const char *name = out->columns[i];
        if (name[strspn(name, "0123456789;")] == '\0') {
            return fail(why, LSCM_VALUE,
                        "%s: targets are written as numbers, and the feature named '%.*s' would be "
                        "mistaken for one; rename it, or write .nc or .npz",
                        m->what, csv_shown(name), name);
        }
    }
    out->nodes_named = named ? out->data->node_names : NULL;
    return LSCM_OK;
}

static void put_targets(const csv_out *out, const double *targets)
{
    FILE *file = out->file;
    size_t count = 0;
    for (size_t i = 0; i < out->nodes; i++) {
        if (targets[i] == 0) {
            continue;
        }
        bool first = count++ == 0;
        if (out->nodes_named == NULL) {
            (void)fprintf(file, "%s%zu", first ? "" : ";", i);
        } else {
            (void)fputs(!first ? ";" : out->quoted ? "\"" : "", file);
            put_inside_quotes(file, out->nodes_named[i]);
        }
    }
    if (count == 0) {
        (void)fputs("-1", file);
    } else if (out->quoted && out->nodes_named != NULL) {
        (void)putc('"', file);
    }
}

static void put_number(const csv_out *out, double number)
{
    char text[NUMBER_TEXT];
    size_t length = number_text(number, text);
    (void)fwrite(text, 1, length, out->file);
}

/* What do() set; values (nodes) may be NULL. */
static void put_acts(const csv_out *out, const double *targets, const double *values)
{
    for (size_t i = 0; i < out->nodes; i++) {
        (void)putc(out->separator, out->file);
        if (targets[i] != 0 && values != NULL) {
            put_number(out, values[i]);
        } else if (targets[i] != 0) {
            (void)fputs(CSV_UNRECORDED, out->file);
        }
    }
}

/* Row `row` of the block in hand. */
static void put_row(const csv_out *out, size_t row)
{
    const double *x = out->rows[LSCM_X] + row * out->features;
    const double *targets = out->rows[LSCM_TARGETS] + row * out->nodes;
    const double *values = out->rows[LSCM_VALUES];
    const double *z = out->rows[LSCM_Z];
    for (size_t i = 0; i < out->features; i++) {
        if (i > 0) {
            (void)putc(out->separator, out->file);
        }
        if (!isnan(x[i])) { /* missing: an empty cell */
            put_number(out, x[i]);
        }
    }
    if (out->latent) {
        put_acts(out, targets, values != NULL ? values + row * out->nodes : NULL);
    } else {
        (void)putc(out->separator, out->file);
        put_targets(out, targets);
    }
    for (size_t i = 0; z != NULL && i < out->nodes; i++) {
        (void)putc(out->separator, out->file);
        put_number(out, z[row * out->nodes + i]);
    }
    (void)putc('\n', out->file);
}

/* Rows of a field beside x, checked, as double. */
static lscm_status take_beside(csv_out *out, lscm_field field, const row_blocks *walk, void *raw,
                               meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const array_shape *shape = &out->data->shape[field];
    TRY(dataset_read_raw(out->data, field, walk->first, walk->count, raw, why));
    TRY(dataset_check_rows(out->data, field, walk->first, walk->count, raw, false, why));
    TRY(meter_add(m, (uint64_t)walk->count * shape_row_bytes(shape), why));
    dtype_to_double(shape->type, raw, walk->count * out->nodes, out->rows[field]);
done:
    return status;
}

static lscm_status make_room(csv_out *out, size_t rows, void **raw, lscm_error *why)
{
    size_t columns = out->nodes > out->features ? out->nodes : out->features;
    size_t bytes = rows * columns * sizeof(double) + 1;
    *raw = malloc(bytes);
    out->rows[LSCM_X] = malloc(bytes);
    out->rows[LSCM_TARGETS] = malloc(bytes);
    bool good = *raw != NULL && out->rows[LSCM_X] != NULL && out->rows[LSCM_TARGETS] != NULL;
    for (int field = LSCM_VALUES; FIELD_IS_ROWS(field) && good && out->latent; field++) {
        if (out->data->shape[field].present) {
            good = (out->rows[field] = malloc(bytes)) != NULL;
        }
    }
    if (!good) {
        (void)fail_memory(why, bytes);
        return LSCM_MEMORY;
    }
    return LSCM_OK;
}

static lscm_status write_rows(csv_out *out, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const lscm_dataset *data = out->data;
    void *raw = NULL; /* (block, nodes) of a field as stored */
    row_blocks walk;
    TRY(blocks_begin(&walk, data, LSCM_X, m, why));
    walk.holes = true;
    TRY(make_room(out, walk.block_rows, &raw, why));
    for (;;) {
        TRY(blocks_next(&walk, why));
        if (walk.count == 0) {
            break;
        }
        for (int field = LSCM_TARGETS; FIELD_IS_ROWS(field); field++) {
            if (out->rows[field] != NULL) {
                TRY(take_beside(out, (lscm_field)field, &walk, raw, m, why));
            }
        }
        dtype_to_double(data->shape[LSCM_X].type, walk.raw, walk.count * out->features,
                        out->rows[LSCM_X]);
        for (size_t row = 0; row < walk.count; row++) {
            put_row(out, row);
        }
        if (ferror(out->file)) {
            TRY(fail(why, LSCM_WRITE, "%s: %s", m->what, strerror(errno)));
        }
    }
done:
    blocks_end(&walk);
    free(raw);
    return status;
}

static lscm_status check_fields(const lscm_dataset *data, const meter *m, lscm_error *why)
{
    const array_shape *x = &data->shape[LSCM_X];
    if (!x->present || !data->shape[LSCM_TARGETS].present) {
        return fail(why, LSCM_MISSING, "%s: %s has no '%s', which a CSV of data needs", m->what,
                    data->path, x->present ? "targets" : "x");
    }
    if (x->ndim != 2) {
        return fail(why, LSCM_SHAPE,
                    "%s: x holds pictures, which do not fit in a CSV; write .nc or .npz, or a grid "
                    "of them as .png",
                    m->what);
    }
    return LSCM_OK;
}

/* "do:raf" */
static lscm_status put_node_column(const csv_out *out, const char *prefix, size_t node,
                                   lscm_error *why)
{
    const char *name = lscm_dataset_node_name(out->data, node);
    size_t size = strlen(prefix) + (name != NULL ? strlen(name) : NUMBER_TEXT) + 1;
    char *title = malloc(size);
    if (title == NULL) {
        return fail_memory(why, size);
    }
    (void)(name != NULL ? snprintf(title, size, "%s%s", prefix, name)
                        : snprintf(title, size, "%s%zu", prefix, node));
    (void)putc(out->separator, out->file);
    csv_put_cell(out->file, title);
    free(title);
    return LSCM_OK;
}

static lscm_status put_header(const csv_out *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t i = 0; i < out->features; i++) {
        if (i > 0) {
            (void)putc(out->separator, out->file);
        }
        csv_put_cell(out->file, out->columns[i]);
    }
    if (!out->latent) {
        (void)fprintf(out->file, "%c%s", out->separator, CSV_TARGET_NAME);
    }
    for (size_t i = 0; out->latent && i < out->nodes; i++) {
        TRY(put_node_column(out, CSV_DO_PREFIX, i, why));
    }
    for (size_t i = 0; out->latent && out->data->shape[LSCM_Z].present && i < out->nodes; i++) {
        TRY(put_node_column(out, CSV_Z_PREFIX, i, why));
    }
    (void)putc('\n', out->file);
done:
    return status;
}

lscm_status csv_write(const lscm_dataset *data, const char *to, char separator, meter *m,
                      lscm_error *why)
{
    lscm_status status = LSCM_OK;
    csv_out out = {.data = data,
                   .separator = separator,
                   .features = lscm_dataset_features(data),
                   .nodes = data->nodes};
    bool observed = false;
    TRY(check_fields(data, m, why));
    TRY(csv_is_observed(data, &observed, why));
    out.latent = !observed;
    if (observed) {
        m->total = shape_bytes(&data->shape[LSCM_X]) + shape_bytes(&data->shape[LSCM_TARGETS]);
    }
    TRY(name_columns(&out, m, why));
    if (!out.latent) {
        TRY(name_targets(&out, m, why));
    }
    out.file = fopen(to, "wb");
    if (out.file == NULL) {
        TRY(fail(why, LSCM_WRITE, "%s: %s", m->what, strerror(errno)));
    }
    (void)setvbuf(out.file, NULL, _IOFBF, FILE_BUFFER);
    TRY(put_header(&out, why));
    TRY(write_rows(&out, m, why));
done:
    if (out.file != NULL && fclose(out.file) != 0 && status == LSCM_OK) {
        status = fail(why, LSCM_WRITE, "%s: %s", m->what, strerror(errno));
    }
    names_free(out.columns, out.features);
    for (int field = 0; FIELD_IS_ROWS(field); field++) {
        free(out.rows[field]);
    }
    return status;
}
