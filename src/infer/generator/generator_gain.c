/* How wrong the scale of z_j may be, by its held-out values: the share g of the values v that a
 * set's errors e are alike, e = g v, has the mean square
 *
 *     sum (sum e v)^2/(sum v^2) / sum (sum v^2)
 *
 * over the sets of all nodes, each in the mean over its rows. */
#include "infer/generator/generator_state.h"

#include "base/quantile.h"
#include "base/tuned.h"

#include <math.h>
#include <stdlib.h>

typedef struct gain_work {
    uint32_t *row;  /* (rows): those of a node, by set */
    double *e;      /* (rows): errors of that node, by row */
    double *sorted; /* (rows) */
} gain_work;

/* e of n rows of node j, at most so many medians: rows that are misread altogether say nothing of
 * its scale. */
static void take_errors(const generator *g, size_t j, size_t n, const gain_work *t)
{
    for (size_t k = 0; k < n; k++) {
        size_t r = t->row[k];
        size_t at = r * g->rows.d + j;
        t->e[r] = generator_z_of(g, r, j, (double)g->u[at]) - design_value(g->rows.design, r, j);
        t->sorted[k] = fabs(t->e[r]);
    }
    qsort(t->sorted, n, sizeof *t->sorted, quantile_compare);
    double most = n > 0 ? tuned_gain_medians() * quantile_of_sorted(t->sorted, n, 0.5) : 0;
    for (size_t k = 0; k < n; k++) {
        double *e = t->e + t->row[k];
        *e = fmax(fmin(*e, most), -most);
    }
}

/* The held-out rows of node j, set by set: n of them. */
static size_t list_rows(const generator *g, size_t j, uint32_t *row)
{
    size_t n = 0;
    for (size_t k = 0; k < g->rows.rows; k++) {
        uint32_t r = g->rows.design->row[k];
        if (g->rows.held[r * g->rows.d + j] != 0) {
            row[n++] = r;
        }
    }
    return n;
}

/* Of one set: adds (sum e v)^2/(sum v^2 n) and sum v^2/n, v about where the network's z begins. */
static void add_gain(const generator *g, size_t j, const uint32_t *row, size_t n, const double *e,
                     double sum[2])
{
    double product = 0;
    double squares = 0;
    for (size_t k = 0; k < n; k++) {
        double v = design_value(g->rows.design, row[k], j) - g->offset[j];
        product += v * e[row[k]];
        squares += v * v;
    }
    if (squares > 0) {
        sum[0] += product * product / (squares * (double)n);
        sum[1] += squares / (double)n;
    }
}

static void add_node(const generator *g, size_t j, const gain_work *t, double sum[2])
{
    const uint32_t *set = g->rows.design->set;
    size_t n = list_rows(g, j, t->row);
    take_errors(g, j, n, t);
    for (size_t from = 0, to = 0; from < n; from = to) {
        while (to < n && set[t->row[to]] == set[t->row[from]]) {
            to++;
        }
        add_gain(g, j, t->row + from, to - from, t->e, sum);
    }
}

lscm_status generator_gain(const generator *g, double *gain, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t rows = g->rows.rows;
    double sum[2] = {0};
    gain_work t = {.row = calloc(rows, sizeof *t.row), .e = calloc(2 * rows, sizeof *t.e)};
    if (t.row == NULL || t.e == NULL) {
        status = fail_memory(why, rows * (sizeof *t.row + 2 * sizeof *t.e));
        goto done;
    }
    t.sorted = t.e + rows;
    for (size_t j = 0; j < g->rows.d; j++) {
        add_node(g, j, &t, sum);
    }
    *gain = sum[1] > 0 ? sqrt(sum[0] / sum[1]) : 0;
done:
    free(t.row);
    free(t.e);
    return status;
}
