/* CSV from a data set: one column per feature (its name, or x0, x1, ...), then `target`: the nodes
 * acted on joined by ';', -1 for none. Nodes are written by name when they are the features
 * themselves, else by number. Every number is the shortest text that reads back to the same double.
 */
#include "data/csv/csv.h"
#include "data/text/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BUFFER = 1 << 18 };

typedef struct csv_out {
    const lscm_dataset *data;
    FILE *file;
    size_t features, nodes;
    char **columns;     /* (features): names */
    char **nodes_named; /* (nodes), or NULL: targets are written as numbers */
    bool quoted;        /* a node's name needs quotes */
    double *x;          /* (block, features) */
    void *raw;          /* (block, nodes) of targets as stored */
    double *targets;    /* (nodes) */
} csv_out;

static bool needs_quotes(const char *text)
{
    size_t length = strlen(text);
    return length == 0 || strpbrk(text, ",\"\r\n") != NULL || strchr(" \t", text[0]) != NULL ||
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
    if (csv_names_find(&table, "target") < out->features) {
        status = fail(why, LSCM_VALUE,
                      "%s: a feature is named 'target', which in a CSV says what do() acted on; "
                      "rename it, or write .nc or .npz",
                      m->what);
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

static void put_targets(const csv_out *out)
{
    FILE *file = out->file;
    size_t count = 0;
    for (size_t i = 0; i < out->nodes; i++) {
        if (out->targets[i] == 0) {
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

/* Rows of the block in hand; `raw` holds their targets. */
static void put_rows(const csv_out *out, size_t count)
{
    const array_shape *targets = &out->data->shape[LSCM_TARGETS];
    char text[NUMBER_TEXT];
    for (size_t row = 0; row < count; row++) {
        for (size_t i = 0; i < out->features; i++) {
            size_t length = number_text(out->x[row * out->features + i], text);
            text[length] = ',';
            (void)fwrite(text, 1, length + 1, out->file);
        }
        dtype_to_double(targets->type, (char *)out->raw + row * shape_row_bytes(targets),
                        out->nodes, out->targets);
        put_targets(out);
        (void)putc('\n', out->file);
    }
}

static lscm_status write_rows(csv_out *out, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const lscm_dataset *data = out->data;
    size_t target_bytes = shape_row_bytes(&data->shape[LSCM_TARGETS]);
    row_blocks walk;
    TRY(blocks_begin(&walk, data, LSCM_X, m, why));
    out->x = malloc(walk.block_rows * out->features * sizeof *out->x);
    out->raw = malloc(walk.block_rows * target_bytes);
    out->targets = malloc(out->nodes * sizeof *out->targets);
    if (out->x == NULL || out->raw == NULL || out->targets == NULL) {
        status = fail_memory(why, walk.block_rows * out->features * sizeof *out->x);
        goto done;
    }
    for (;;) {
        TRY(blocks_next(&walk, why));
        if (walk.count == 0) {
            break;
        }
        TRY(dataset_read_raw(data, LSCM_TARGETS, walk.first, walk.count, out->raw, why));
        TRY(dataset_check_rows(data, LSCM_TARGETS, walk.first, walk.count, out->raw, why));
        TRY(meter_add(m, (uint64_t)walk.count * target_bytes, why));
        dtype_to_double(data->shape[LSCM_X].type, walk.raw, walk.count * out->features, out->x);
        put_rows(out, walk.count);
        if (ferror(out->file)) {
            TRY(fail(why, LSCM_WRITE, "%s: %s", m->what, strerror(errno)));
        }
    }
done:
    blocks_end(&walk);
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

lscm_status csv_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    csv_out out = {.data = data, .features = lscm_dataset_features(data), .nodes = data->nodes};
    TRY(check_fields(data, m, why));
    m->total = shape_bytes(&data->shape[LSCM_X]) + shape_bytes(&data->shape[LSCM_TARGETS]);
    TRY(name_columns(&out, m, why));
    TRY(name_targets(&out, m, why));
    out.file = fopen(to, "wb");
    if (out.file == NULL) {
        TRY(fail(why, LSCM_WRITE, "%s: %s", m->what, strerror(errno)));
    }
    (void)setvbuf(out.file, NULL, _IOFBF, FILE_BUFFER);
    for (size_t i = 0; i < out.features; i++) {
        csv_put_cell(out.file, out.columns[i]);
        (void)putc(',', out.file);
    }
    (void)fputs("target\n", out.file);
    TRY(write_rows(&out, m, why));
done:
    if (out.file != NULL && fclose(out.file) != 0 && status == LSCM_OK) {
        status = fail(why, LSCM_WRITE, "%s: %s", m->what, strerror(errno));
    }
    names_free(out.columns, out.features);
    free(out.x);
    free(out.raw);
    free(out.targets);
    return status;
}
