/* Do the parts of a data set fit together? Shapes first, then the small truth: for N rows, D
 * features and d nodes
 *
 *     x (N, D) or a picture per row, targets, values, z (N, d), w (d, d), sigma (d), order (d)
 *
 * with N >= 2, D >= d, w finite and acyclic, sigma >= 0, order a permutation that w follows. What
 * stands in the rows is checked as they stream by: see check_rows.c.
 */
#include "base/order.h"
#include "data/dataset/dataset_handle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a data set is opened for. */
typedef enum purpose { FOR_ALL, FOR_TRUTH, FOR_X } purpose;

static lscm_status check_present(const lscm_dataset *data, purpose use, lscm_error *why)
{
    bool x = data->shape[LSCM_X].present;
    bool targets = data->shape[LSCM_TARGETS].present;
    if (use == FOR_TRUTH) {
        if (!x && !data->shape[LSCM_W].present) {
            return fail(why, LSCM_MISSING, "%s: there is no graph; store its matrix as 'w'",
                        data->path);
        }
        return LSCM_OK;
    }
    if (!x) {
        return fail(why, LSCM_MISSING, "%s: 'x' is missing; a data set needs 'x'%s", data->path,
                    use == FOR_X ? "" : " and 'targets'");
    }
    if (!targets && use != FOR_X) {
        return fail(why, LSCM_MISSING,
                    "%s: 'targets' is missing; store an array of one row per sample and one column "
                    "per node, 1 where do() acted and 0 elsewhere",
                    data->path);
    }
    return LSCM_OK;
}

/* The number of dimensions, none of length 0, and a size that fits in memory addresses. */
static lscm_status check_rank(const lscm_dataset *data, lscm_field field, lscm_error *why)
{
    const array_shape *shape = &data->shape[field];
    int least = field == LSCM_SIGMA || field == LSCM_ORDER ? 1 : 2;
    int most = field == LSCM_X ? LSCM_MAX_DIMS : least;
    if (shape->ndim < least || shape->ndim > most) {
        return fail(why, LSCM_SHAPE, "%s: '%s' has %d dimension%s; it must have %s", data->path,
                    FIELD_NAMES[field], shape->ndim, shape->ndim == 1 ? "" : "s",
                    field == LSCM_X ? "2 to 4: samples first, then features or a picture"
                    : least == 1    ? "1"
                                    : "2");
    }
    for (int i = 0; i < shape->ndim; i++) {
        if (shape->dims[i] == 0) {
            return fail(why, LSCM_SHAPE, "%s: '%s' is empty: its dimension %d has length 0",
                        data->path, FIELD_NAMES[field], i);
        }
    }
    if (shape_bytes(shape) > PTRDIFF_MAX) {
        return fail(why, LSCM_SHAPE, "%s: the shape of '%s' is absurdly large", data->path,
                    FIELD_NAMES[field]);
    }
    return LSCM_OK;
}

static lscm_status check_rows_agree(const lscm_dataset *data, purpose use, lscm_error *why)
{
    int first = LSCM_X;
    while (FIELD_IS_ROWS(first) && !data->shape[first].present) {
        first++;
    }
    for (int field = first; FIELD_IS_ROWS(field); field++) {
        const array_shape *shape = &data->shape[field];
        if (shape->present && shape->dims[0] != data->rows) {
            return fail(why, LSCM_SHAPE, "%s: '%s' has %zu rows but '%s' has %zu; they must match",
                        data->path, FIELD_NAMES[first], data->rows, FIELD_NAMES[field],
                        shape->dims[0]);
        }
    }
    if (data->shape[LSCM_X].present && data->rows < 2 && use != FOR_X) {
        return fail(why, LSCM_SHAPE, "%s: there is one sample only; at least two are needed",
                    data->path);
    }
    return LSCM_OK;
}

static lscm_status check_nodes_agree(const lscm_dataset *data, lscm_error *why)
{
    size_t d = data->nodes;
    size_t features = lscm_dataset_features(data);
    int first = LSCM_TARGETS;
    while (first < LSCM_FIELDS && !data->shape[first].present) {
        first++;
    }
    for (int field = first; field < LSCM_FIELDS; field++) {
        const array_shape *shape = &data->shape[field];
        size_t cols = shape->present ? shape->dims[shape->ndim - 1] : d;
        if (cols != d) {
            return fail(why, LSCM_SHAPE, "%s: '%s' has %zu %s but '%s' has %zu; they must match",
                        data->path, FIELD_NAMES[first], d,
                        data->shape[first].ndim == 1 ? "entries" : "columns", FIELD_NAMES[field],
                        cols);
        }
    }
    if (data->shape[LSCM_W].present && data->shape[LSCM_W].dims[0] != d) {
        return fail(why, LSCM_SHAPE, "%s: 'w' is %zu x %zu; it must be square, row = parent",
                    data->path, data->shape[LSCM_W].dims[0], d);
    }
    if (features > 0 && features < d) {
        return fail(why, LSCM_SHAPE,
                    "%s: 'x' has %zu features but there are %zu nodes; at least as many features "
                    "as nodes are needed",
                    data->path, features, d);
    }
    return LSCM_OK;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static lscm_status check_names(const lscm_dataset *data, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = data->nodes;
    const char **sorted = NULL;
    if (data->node_names == NULL) {
        return LSCM_OK;
    }
    sorted = malloc(d * sizeof *sorted);
    if (sorted == NULL) {
        return fail_memory(why, d * sizeof *sorted);
    }
    for (size_t i = 0; i < d; i++) {
        sorted[i] = data->node_names[i];
        if (sorted[i] == NULL || sorted[i][0] == '\0') {
            TRY(fail(why, LSCM_VALUE, "%s: node %zu (0-based) has an empty name", data->path, i));
        }
    }
    qsort(sorted, d, sizeof *sorted, by_text);
    for (size_t i = 1; i < d; i++) {
        if (strcmp(sorted[i - 1], sorted[i]) == 0) {
            TRY(fail(why, LSCM_VALUE, "%s: two nodes are named '%s'; names must differ", data->path,
                     sorted[i]));
        }
    }
done:
    free(sorted);
    return status;
}

/* A small field as double in new memory; NULL, and why, when there is too little. */
static double *whole_as_double(const lscm_dataset *data, lscm_field field, lscm_error *why)
{
    const array_shape *shape = &data->shape[field];
    size_t count = shape_count(shape);
    double *out = count <= PTRDIFF_MAX / sizeof *out ? malloc(count * sizeof *out) : NULL;
    if (out != NULL) {
        dtype_to_double(shape->type, data->whole[field], count, out);
    } else {
        (void)fail_memory(why, shape_bytes(shape));
    }
    return out;
}

/* A parent of `node` that could not be placed. */
static size_t parent_of(const double *w, size_t d, const size_t *placed, size_t node)
{
    size_t parent = 0;
    while (placed[parent] || w[parent * d + node] == 0) {
        parent++;
    }
    return parent;
}

/* Says one cycle. `order` (d) holds the nodes that could be placed, then d. Every other node has
 * a parent that could not be placed, so d steps to such parents end on a cycle. */
static lscm_status fail_cycle(const lscm_dataset *data, const double *w, const size_t *order,
                              size_t *placed, lscm_error *why)
{
    enum { SHOWN = 8 };
    size_t d = data->nodes;
    size_t node = 0;
    size_t length = 0;
    char text[SHOWN * 24 + 8] = "";
    size_t used = 0;
    memset(placed, 0, d * sizeof *placed);
    for (size_t k = 0; k < d && order[k] < d; k++) {
        placed[order[k]] = 1;
    }
    while (placed[node]) {
        node++;
    }
    for (size_t step = 0; step < d; step++) {
        node = parent_of(w, d, placed, node);
    }
    size_t start = node;
    do {
        if (length < SHOWN) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%zu <- ", node);
        }
        length++;
        node = parent_of(w, d, placed, node);
    } while (node != start);
    return fail(why, LSCM_CYCLE,
                "%s: the true graph 'w' has a cycle: %s%s%zu (nodes 0-based); it must have none",
                data->path, text, length > SHOWN ? "... <- " : "", start);
}

static lscm_status check_graph(const lscm_dataset *data, const double *w, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = data->nodes;
    size_t bad = dtype_first_nonfinite(DTYPE_FLOAT64, w, d * d);
    if (bad < d * d) {
        return fail(why, LSCM_VALUE, "%s: 'w' is not finite at row %zu, column %zu (0-based)",
                    data->path, bad / d, bad % d);
    }
    size_t *order = malloc(2 * d * sizeof *order); /* order, waiting */
    if (order == NULL) {
        return fail_memory(why, 2 * d * sizeof *order);
    }
    for (size_t k = 0; k < d; k++) {
        order[k] = d;
    }
    if (!order_of_graph(w, d, order, order + d)) {
        TRY(fail_cycle(data, w, order, order + d, why));
    }
done:
    free(order);
    return status;
}

static lscm_status check_sigma(const lscm_dataset *data, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double *sigma = whole_as_double(data, LSCM_SIGMA, why);
    if (sigma == NULL) {
        return LSCM_MEMORY;
    }
    for (size_t i = 0; i < data->nodes; i++) {
        if (!(sigma[i] >= 0 && sigma[i] <= 1.7976931348623157e308)) {
            TRY(fail(why, LSCM_VALUE,
                     "%s: 'sigma' is %g at node %zu (0-based); it must be finite and not negative",
                     data->path, sigma[i], i));
        }
    }
done:
    free(sigma);
    return status;
}

/* w may be NULL: then any permutation will do. */
static lscm_status check_order(const lscm_dataset *data, const double *w, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = data->nodes;
    double *stored = NULL;
    size_t *order = calloc(2 * d, sizeof *order); /* order, position */
    if (order == NULL) {
        return fail_memory(why, 2 * d * sizeof *order);
    }
    stored = whole_as_double(data, LSCM_ORDER, why);
    if (stored == NULL) {
        status = LSCM_MEMORY;
        goto done;
    }
    for (size_t k = 0; k < d; k++) {
        bool node = stored[k] >= 0 && stored[k] < (double)d && stored[k] == floor(stored[k]);
        if (!node || order[d + (size_t)stored[k]] != 0) {
            TRY(fail(why, LSCM_VALUE,
                     "%s: 'order' is not a permutation of 0 to %zu: entry %zu is %g%s", data->path,
                     d - 1, k, stored[k], node ? " again" : ""));
        }
        order[k] = (size_t)stored[k];
        order[d + order[k]] = 1;
    }
    if (w != NULL && !order_fits_graph(w, d, order, order + d)) {
        TRY(fail(why, LSCM_VALUE,
                 "%s: 'order' does not fit 'w': an edge leads from a later node to an earlier one "
                 "(w[j][i] is the edge j -> i; the order has causes first)",
                 data->path));
    }
done:
    free(stored);
    free(order);
    return status;
}

static lscm_status check_shapes(const lscm_dataset *data, purpose use, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double *w = NULL; /* (d, d) */
    TRY(check_present(data, use, why));
    for (int field = 0; field < LSCM_FIELDS; field++) {
        if (data->shape[field].present) {
            TRY(check_rank(data, (lscm_field)field, why));
        }
    }
    TRY(check_rows_agree(data, use, why));
    TRY(check_nodes_agree(data, why));
    TRY(check_names(data, why));
    if (data->shape[LSCM_W].present) {
        w = whole_as_double(data, LSCM_W, why);
        if (w == NULL) {
            return LSCM_MEMORY;
        }
        TRY(check_graph(data, w, why));
    }
    if (data->shape[LSCM_SIGMA].present) {
        TRY(check_sigma(data, why));
    }
    if (data->shape[LSCM_ORDER].present) {
        TRY(check_order(data, w, why));
    }
done:
    free(w);
    return status;
}

lscm_status dataset_check_shapes(const lscm_dataset *data, bool truth_only, lscm_error *why)
{
    return check_shapes(data, truth_only ? FOR_TRUTH : FOR_ALL, why);
}

lscm_status dataset_check_x(const lscm_dataset *data, lscm_error *why)
{
    return check_shapes(data, FOR_X, why);
}
