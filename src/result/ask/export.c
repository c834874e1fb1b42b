/* The posterior in other programs' formats, by the ending of the name:
 *
 *   .npz      w (draws, d, d)  sigma, intercept, order (draws, d)  log_p, log_q (draws)
 *             edge_prob (d, d)  z, z_sd (rows, d)  names (d); where mechanisms bend, of the edges
 *             with probability above 1/2, curve_from, curve_to, curve_bends (edges), curve_at,
 *             curve_low, curve_mean, curve_high (edges, places), curve_seen (edges, 2)
 *   .dot      edges with probability above 1/2: width the probability, colour and label the mean;
 *             one line without arrowhead where nothing tells which way it points
 *   .graphml  the same edges, such lines both ways: probability, mean, sd, sign, directed
 *   .csv      all pairs, the likeliest first: from,to,probability,mean,sd,q05,q95 of w over the
 *             draws, directed (0: nothing tells which way); where mechanisms bend, bends, too
 *   .json     pairs with a probability, order, settings: see export_json.c
 */
#include "base/output.h"
#include "data/drawing/drawing.h"
#include "data/npy/npy.h"
#include "data/text/text.h"
#include "result/ask/export_edges.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void put_name(FILE *file, const lscm_posterior *p, size_t node)
{
    if (p->node_names != NULL) {
        csv_put_cell(file, p->node_names[node]);
    } else {
        (void)fprintf(file, "%zu", node);
    }
}

static void put_edge(FILE *file, const lscm_posterior *p, const lscm_edge *e)
{
    const double numbers[] = {e->probability, e->mean, e->sd, e->q05, e->q95};
    put_name(file, p, e->from);
    (void)putc(',', file);
    put_name(file, p, e->to);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char text[NUMBER_TEXT];
        (void)number_text(numbers[i], text);
        (void)fprintf(file, ",%s", text);
    }
    (void)fprintf(file, ",%d", e->undirected ? 0 : 1);
    if (lscm_posterior_any_bends(p)) {
        char text[NUMBER_TEXT];
        double bends = lscm_posterior_bends(p, e->from, e->to);
        text[0] = '\0';
        if (bends >= 0) { /* nothing where no draw has the edge */
            (void)number_text(bends, text);
        }
        (void)fprintf(file, ",%s", text);
    }
    (void)putc('\n', file);
}

static lscm_status write_csv(const lscm_posterior *p, const char *to, const char *what,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_edge *edges = NULL;
    size_t count = 0;
    FILE *file = NULL;
    TRY(lscm_posterior_edges(&edges, &count, p, why));
    file = fopen(to, "wb");
    if (file == NULL) {
        TRY(fail(why, LSCM_WRITE, "%s: %s", what, strerror(errno)));
    }
    (void)fprintf(file, "from,to,probability,mean,sd,q05,q95,directed%s\n",
                  lscm_posterior_any_bends(p) ? ",bends" : "");
    for (size_t k = 0; k < count; k++) {
        put_edge(file, p, &edges[k]);
    }
    bool bad = ferror(file) != 0;
    bad = fclose(file) != 0 || bad;
    if (bad) {
        status = fail(why, LSCM_WRITE, "%s: %s", what, strerror(errno));
    }
done:
    free(edges);
    return status;
}

static double mean_weight(const lscm_posterior *p, size_t from, size_t to)
{
    double sum = 0;
    for (size_t s = 0; s < p->draws; s++) {
        sum += p->w[(s * p->d + from) * p->d + to];
    }
    return sum / (double)p->draws;
}

/* Of an edge without a direction the likelier way is drawn, and stands for both. */
static bool stands_for_both(const lscm_posterior *p, const lscm_edge *e)
{
    double back = p->edge_prob[e->to * p->d + e->from];
    return e->probability > back || (e->probability == back && e->from < e->to);
}

static size_t draw_edges(const lscm_posterior *p, const lscm_edge *edges, size_t count,
                         dot_edge *drawn)
{
    size_t used = 0;
    for (size_t k = 0; k < count; k++) {
        const lscm_edge *e = &edges[k];
        if (!e->undirected || stands_for_both(p, e)) {
            double back = e->undirected ? mean_weight(p, e->to, e->from) : 0;
            drawn[used++] = (dot_edge){e->from, e->to, e->mean + back,
                                       posterior_shown(p, e->from, e->to), e->undirected};
        }
    }
    return used;
}

static lscm_status write_dot(const lscm_posterior *p, const char *to, const char *what,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_edge *edges = NULL;
    dot_edge *drawn = NULL;
    size_t count = 0;
    dot_graph graph = {.nodes = p->d, .names = p->node_names};
    TRY(lscm_posterior_edges(&edges, &count, p, why));
    drawn = malloc((count + 1) * sizeof *drawn);
    if (drawn == NULL) {
        status = fail_memory(why, count * sizeof *drawn);
        goto done;
    }
    count = export_edges_shown(p, edges, count);
    graph.count = draw_edges(p, edges, count, drawn);
    graph.edges = drawn;
    TRY(dot_write_graph(&graph, to, what, why));
done:
    free(drawn);
    free(edges);
    return status;
}

static lscm_status write_graphml(const lscm_posterior *p, const char *to, const char *what,
                                 lscm_error *why)
{
    lscm_edge *edges = NULL;
    graph_file graph = {.nodes = p->d, .names = p->node_names};
    lscm_status status = lscm_posterior_edges(&edges, &graph.count, p, why);
    if (status == LSCM_OK) {
        graph.count = export_edges_shown(p, edges, graph.count);
        graph.edges = edges;
        status = graphml_write(&graph, to, what, why);
    }
    free(edges);
    return status;
}

typedef struct named_array {
    const char *name;
    array_shape shape;
    const void *raw;
} named_array;

static lscm_status add_arrays(npz_writer *writer, const named_array *arrays, size_t count,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t k = 0; k < count; k++) {
        if (arrays[k].shape.present) {
            npy_header header = npy_header_of(&arrays[k].shape);
            TRY(npz_writer_add(writer, arrays[k].name, npy_stream_of_memory(header, arrays[k].raw),
                               why));
        }
    }
done:
    return status;
}

static lscm_status add_curves(npz_writer *writer, const export_curves *c, lscm_error *why)
{
    bool there = c->count > 0;
    const array_shape edges = {there, DTYPE_INT64, 1, {c->count}};
    const array_shape shares = {there, DTYPE_FLOAT64, 1, {c->count}};
    const array_shape ranges = {there, DTYPE_FLOAT64, 2, {c->count, 2}};
    const array_shape curves = {there, DTYPE_FLOAT64, 2, {c->count, EXPORT_PLACES}};
    const named_array arrays[] = {
        {"curve_from", edges, c->from},    {"curve_to", edges, c->to},
        {"curve_bends", shares, c->bends}, {"curve_seen", ranges, c->seen},
        {"curve_at", curves, c->at},       {"curve_low", curves, c->low},
        {"curve_mean", curves, c->mean},   {"curve_high", curves, c->high},
    };
    return add_arrays(writer, arrays, sizeof arrays / sizeof arrays[0], why);
}

static lscm_status write_npz(const lscm_posterior *p, const char *to, const char *what,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    npz_writer *writer = NULL;
    export_curves curves = {0};
    size_t n = p->draws;
    size_t d = p->d;
    const named_array arrays[] = {
        {"w", {true, DTYPE_FLOAT64, 3, {n, d, d}}, p->w},
        {"sigma", {true, DTYPE_FLOAT64, 2, {n, d}}, p->sigma},
        {"intercept", {true, DTYPE_FLOAT64, 2, {n, d}}, p->intercept},
        {"order", {true, DTYPE_INT64, 2, {n, d}}, p->order},
        {"log_p", {true, DTYPE_FLOAT64, 1, {n}}, p->log_p},
        {"log_q", {true, DTYPE_FLOAT64, 1, {n}}, p->log_q},
        {"edge_prob", {true, DTYPE_FLOAT64, 2, {d, d}}, p->edge_prob},
        {"z", {p->rows > 0, DTYPE_FLOAT64, 2, {p->rows, d}}, p->z},
        {"z_sd", {p->rows > 0, DTYPE_FLOAT64, 2, {p->rows, d}}, p->z_sd},
    };
    TRY(export_curves_open(&curves, p, why));
    TRY(npz_writer_open(&writer, to, what, why));
    TRY(add_arrays(writer, arrays, sizeof arrays / sizeof arrays[0], why));
    TRY(add_curves(writer, &curves, why));
    TRY(npz_writer_add_texts(writer, "names", p->node_names, 1, d, why));
    TRY(npz_writer_finish(writer, why));
done:
    npz_writer_close(writer);
    export_curves_close(&curves);
    return status;
}

lscm_status lscm_posterior_export(const lscm_posterior *posterior, const char *path, bool force,
                                  lscm_error *why)
{
    static const struct {
        const char *ending;
        lscm_status (*write)(const lscm_posterior *p, const char *to, const char *what,
                             lscm_error *why);
    } formats[] = {{".npz", write_npz},
                   {".dot", write_dot},
                   {".csv", write_csv},
                   {".graphml", write_graphml},
                   {".json", export_json}};
    const size_t known = sizeof formats / sizeof formats[0];
    lscm_status status = LSCM_OK;
    output out = {0};
    char *what = NULL;
    const char *ending = strrchr(path, '.');
    size_t format = 0;
    while (format < known && (ending == NULL || strcasecmp(ending, formats[format].ending) != 0)) {
        format++;
    }
    if (format == known) {
        return fail(why, LSCM_USAGE, "%s: a posterior goes to .npz, .dot, .graphml, .csv or .json",
                    path);
    }
    size_t size = strlen(path) + sizeof "writing ";
    what = malloc(size);
    if (what == NULL) {
        return fail_memory(why, size);
    }
    (void)snprintf(what, size, "writing %s", path);
    TRY(output_begin(&out, path, false, force, why));
    TRY(formats[format].write(posterior, out.temporary, what, why));
    TRY(output_commit(&out, why));
done:
    output_end(&out);
    free(what);
    return status;
}
