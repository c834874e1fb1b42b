/* The true graph as a CSV matrix: w (d, d), row = parent, entries 0/1 or weights.
 *
 *     a,b,c        also: a first column with the names of the rows (in any order), or no header
 *     0,1,1        at all. Columns are matched to the nodes of the data set by name where both
 *     0,0,2.5      have names, else by position; names that only count from 0 are no names.
 *     0,0,0
 */
#include "base/order.h"
#include "data/csv/csv.h"
#include "data/text/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct graph_file {
    csv_lines in; /* its record in hand is the next row */
    size_t d;
    char **header; /* (columns), or NULL */
    size_t columns;
    char **names; /* (d): the end of the header, or NULL */
    csv_names by_name;
    bool labelled; /* a name stands before every row */
    size_t rows;   /* read so far */
    double *w;     /* (d + 1, d): one row more, in case the first is a header of numbers */
    bool *seen;    /* (d + 1): rows that were filled */
} graph_file;

static void close_graph(graph_file *g)
{
    csv_names_close(&g->by_name);
    names_free(g->header, g->columns);
    free(g->w);
    free(g->seen);
    csv_lines_close(&g->in);
}

static bool is_count(const graph_file *g, const char *text, size_t expected)
{
    double number = 0;
    return number_parse(text, g->in.c, &number) && number == (double)expected;
}

/* From the header and the first row: names, whether rows have labels, and d. */
static lscm_status read_header(graph_file *g, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char where[512];
    double number = 0;
    csv_lines *in = &g->in;
    g->columns = in->count;
    g->header = names_copy(in->cells, in->count);
    if (g->header == NULL) {
        return fail_memory(why, in->count * sizeof *g->header);
    }
    TRY(csv_lines_next(in, why));
    if (in->count == 0) {
        return fail(why, LSCM_SHAPE, "%s: has a header but no rows", in->path);
    }
    g->labelled = in->count == g->columns + 1 || g->header[0][0] == '\0' ||
                  !number_parse(in->cells[0], in->c, &number);
    g->d = in->count - (g->labelled ? 1 : 0);
    if (g->d == 0 || (in->count != g->columns && in->count != g->columns + 1)) {
        return fail(why, LSCM_SHAPE, "%s: line %zu has %zu cells but line 1 has %zu", in->path,
                    in->line, in->count, g->columns);
    }
    g->names = g->header + (g->columns - g->d);
    (void)snprintf(where, sizeof where, "%s: line 1", in->path);
    TRY(csv_names_open(&g->by_name, g->names, g->d, where, why));
done:
    return status;
}

/* Where the record in hand goes: by its label, or behind the last. */
static lscm_status place_row(const graph_file *g, size_t *row, lscm_error *why)
{
    const char *label = g->in.cells[0];
    char hint[64];
    *row = g->rows;
    if (g->labelled && !is_count(g, label, g->rows)) {
        *row = csv_names_find(&g->by_name, label);
        if (*row == g->d) {
            return fail(why, LSCM_FORMAT, "%s: line %zu: there is no column '%.*s' for this row%s",
                        g->in.path, g->in.line, csv_shown(label), label,
                        csv_names_hint(&g->by_name, label, hint, sizeof hint));
        }
    }
    if (g->seen[*row]) {
        return fail(why, LSCM_FORMAT, "%s: line %zu: there are two rows for '%.*s'", g->in.path,
                    g->in.line, csv_shown(label), label);
    }
    return LSCM_OK;
}

static lscm_status take_row(graph_file *g, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    csv_lines *in = &g->in;
    size_t labels = g->labelled ? 1 : 0;
    size_t row = 0;
    if (in->count != g->d + labels) {
        return fail(why, LSCM_SHAPE, "%s: line %zu has %zu cells but the first row has %zu",
                    in->path, in->line, in->count, g->d + labels);
    }
    if (g->rows == g->d + (g->header == NULL ? 1 : 0)) {
        return fail(why, LSCM_SHAPE,
                    "%s: line %zu is one row too many for %zu columns; a graph is a square matrix, "
                    "row = parent",
                    in->path, in->line, g->d);
    }
    TRY(place_row(g, &row, why));
    for (size_t i = 0; i < g->d; i++) {
        const char *name = g->names != NULL ? g->names[i] : NULL;
        TRY(csv_number(in, i + labels, name, false, &g->w[row * g->d + i], why));
    }
    g->seen[row] = true;
    g->rows++;
done:
    return status;
}

/* Some programs write 0,1,2,... above a matrix without names: then there is one row more. */
static void drop_counting_row(graph_file *g)
{
    bool counts = g->header == NULL && g->rows == g->d + 1;
    for (size_t i = 0; counts && i < g->d; i++) {
        counts = g->w[i] == (double)i;
    }
    if (counts) {
        g->rows--;
        memmove(g->w, g->w + g->d, g->d * g->d * sizeof *g->w);
    }
}

static lscm_status read_matrix(graph_file *g, const char *path, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t entries = 0;
    TRY(csv_lines_open(&g->in, path, why));
    TRY(csv_lines_next(&g->in, why));
    if (g->in.count == 0) {
        return fail(why, LSCM_FORMAT, "%s: is empty; a graph is a square matrix, row = parent",
                    path);
    }
    g->d = g->in.count;
    if (!csv_all_numbers(&g->in)) {
        TRY(read_header(g, why));
    }
    if (!__builtin_mul_overflow(g->d + 1, g->d, &entries)) {
        g->w = calloc(entries, sizeof *g->w);
        g->seen = calloc(g->d + 1, sizeof *g->seen);
    }
    if (g->w == NULL || g->seen == NULL) {
        return fail_memory(why, entries * sizeof *g->w);
    }
    while (g->in.count > 0) {
        TRY(take_row(g, why));
        TRY(csv_lines_next(&g->in, why));
    }
    drop_counting_row(g);
    if (g->rows != g->d) {
        status = fail(why, LSCM_SHAPE,
                      "%s: has %zu rows and %zu columns; a graph is a square matrix, row = parent",
                      path, g->rows, g->d);
    }
done:
    return status;
}

/* node[i] is the node of the data set that column i of the file is. */
static lscm_status match_names(const graph_file *g, const lscm_dataset *data, size_t *node,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    csv_names nodes = {0};
    char hint[64];
    TRY(csv_names_open(&nodes, data->node_names, data->nodes, data->path, why));
    for (size_t i = 0; i < g->d; i++) {
        const char *name = g->names[i];
        node[i] = csv_names_find(&nodes, name);
        if (node[i] == data->nodes) {
            TRY(fail(why, LSCM_SHAPE,
                     "%s: '%.*s' is not a node of %s%s (if it was left out with --ignore, leave it "
                     "out of the graph too)",
                     g->in.path, csv_shown(name), name, data->path,
                     csv_names_hint(&nodes, name, hint, sizeof hint)));
        }
    }
    for (size_t i = 0; i < data->nodes; i++) {
        const char *name = data->node_names[i];
        if (csv_names_find(&g->by_name, name) == g->d) {
            TRY(fail(why, LSCM_SHAPE,
                     "%s: there is no column '%.*s', which is a node of %s; add its row and column",
                     g->in.path, csv_shown(name), name, data->path));
        }
    }
done:
    csv_names_close(&nodes);
    return status;
}

static lscm_status match(const graph_file *g, lscm_dataset *data, size_t *node, lscm_error *why)
{
    bool named = g->names != NULL;
    size_t counting = 0;
    while (named && counting < g->d && is_count(g, g->names[counting], counting)) {
        counting++;
    }
    named = named && counting < g->d;
    if (named && data->nodes > 0 && data->node_names != NULL) {
        return match_names(g, data, node, why);
    }
    if (data->nodes > 0 && data->nodes != g->d) {
        return fail(why, LSCM_SHAPE, "%s: the graph has %zu nodes but %s has %zu; they must match",
                    g->in.path, g->d, data->path, data->nodes);
    }
    for (size_t i = 0; i < g->d; i++) {
        node[i] = i;
    }
    if (named) {
        data->node_names = names_copy(g->names, g->d);
        if (data->node_names == NULL) {
            return fail_memory(why, g->d * sizeof *data->node_names);
        }
    }
    data->nodes = g->d;
    return LSCM_OK;
}

/* Replaces w of the data set, and its order; a cyclic graph has none. */
static lscm_status store(const graph_file *g, const size_t *node, lscm_dataset *data,
                         lscm_error *why)
{
    size_t d = g->d;
    double *w = malloc(d * d * sizeof *w);                 /* (d, d) */
    int64_t *order = malloc(d * sizeof *order);            /* (d) */
    size_t *positions = malloc(2 * d * sizeof *positions); /* order, scratch */
    if (w == NULL || order == NULL || positions == NULL) {
        free(w);
        free(order);
        free(positions);
        return fail_memory(why, d * d * sizeof *w);
    }
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) {
            w[node[j] * d + node[i]] = g->w[j * d + i];
        }
    }
    bool acyclic = order_of_graph(w, d, positions, positions + d);
    for (size_t k = 0; acyclic && k < d; k++) {
        order[k] = (int64_t)positions[k];
    }
    free(positions);
    free(data->whole[LSCM_W]);
    free(data->whole[LSCM_ORDER]);
    data->whole[LSCM_W] = w;
    data->whole[LSCM_ORDER] = order;
    data->shape[LSCM_W] = (array_shape){true, DTYPE_FLOAT64, 2, {d, d}};
    data->shape[LSCM_ORDER] = (array_shape){acyclic, DTYPE_INT64, 1, {d}};
    return LSCM_OK;
}

lscm_status csv_read_graph(lscm_dataset *data, const char *path, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    graph_file g = {0};
    size_t *node = NULL; /* (d) */
    TRY(read_matrix(&g, path, why));
    node = calloc(g.d + 1, sizeof *node);
    if (node == NULL) {
        status = fail_memory(why, g.d * sizeof *node);
        goto done;
    }
    TRY(match(&g, data, node, why));
    TRY(store(&g, node, data, why));
done:
    free(node);
    close_graph(&g);
    return status;
}
