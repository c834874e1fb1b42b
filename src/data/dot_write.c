/* The true graph in the DOT language: one node per variable, an edge j -> i where w[j][i] is not 0,
 * its thickness |w| / max |w|, its colour the sign (blue and orange, told apart by everyone), its
 * label the weight; a graph of zeros and ones has plain edges.
 */
#include "data/formats.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char STYLE[] =
    "    rankdir=TB; bgcolor=\"white\"; nodesep=0.35; ranksep=0.55;\n"
    "    node [shape=box, style=\"rounded,filled\", fillcolor=\"#f4f6f8\", color=\"#8a94a0\",\n"
    "          fontname=\"Helvetica\", fontsize=12, fontcolor=\"#1f2933\", height=0.36,\n"
    "          margin=\"0.14,0.06\"];\n"
    "    edge [fontname=\"Helvetica\", fontsize=10, color=\"#52606d\", fontcolor=\"#52606d\",\n"
    "          arrowsize=0.7];\n";

/* Inside a DOT string \ and " are special, and in a label & begins an entity. */
static void put_label(FILE *file, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            (void)fprintf(file, "\\%c", *text);
        } else if (*text == '&') {
            (void)fputs("&amp;", file);
        } else if (*text == '\n') {
            (void)fputs("\\n", file);
        } else {
            (void)putc(*text, file);
        }
    }
}

static void put_nodes(FILE *file, const lscm_dataset *data)
{
    for (size_t i = 0; i < data->nodes; i++) {
        const char *name = lscm_dataset_node_name(data, i);
        if (name != NULL) {
            (void)fprintf(file, "    n%zu [label=\"", i);
            put_label(file, name);
            (void)fputs("\"];\n", file);
        } else {
            (void)fprintf(file, "    n%zu [label=\"%zu\"];\n", i, i);
        }
    }
}

/* Hundredths as integers: the same text in every locale. */
static void put_weight(FILE *file, double w)
{
    double size = fabs(w);
    if (size >= 0.005 && size < 1e9) {
        long long hundredths = llround(100 * size);
        (void)fprintf(file, "%s%lld.%02lld", w < 0 ? "-" : "", hundredths / 100, hundredths % 100);
    } else {
        (void)fprintf(file, "%.0e", w);
    }
}

static void put_edges(FILE *file, const double *w, size_t d)
{
    double largest = 0;
    bool plain = true; /* zeros and ones only */
    for (size_t k = 0; k < d * d; k++) {
        largest = fmax(largest, fabs(w[k]));
        plain = plain && (w[k] == 0 || w[k] == 1);
    }
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) {
            double weight = w[j * d + i];
            if (weight == 0) {
                continue;
            }
            (void)fprintf(file, "    n%zu -> n%zu", j, i);
            if (!plain) {
                const char *colour = weight > 0 ? "#0072b2" : "#d55e00";
                long long width = llround(100 * (0.6 + 2.4 * fabs(weight) / largest));
                (void)fprintf(file, " [color=\"%s\", fontcolor=\"%s\", penwidth=%lld.%02lld",
                              colour, colour, width / 100, width % 100);
                (void)fputs(", label=\" ", file);
                put_weight(file, weight);
                (void)fputs("\"]", file);
            }
            (void)fputs(";\n", file);
        }
    }
}

lscm_status dot_write(const lscm_dataset *data, const char *to, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = data->nodes;
    FILE *file = NULL;
    double *w = NULL; /* (d, d) */
    if (!data->shape[LSCM_W].present) {
        return fail(why, LSCM_MISSING,
                    "%s: there is no true graph 'w' to draw; give one with --truth", data->path);
    }
    w = malloc(d * d * sizeof *w);
    if (w == NULL) {
        return fail_memory(why, d * d * sizeof *w);
    }
    TRY(lscm_dataset_read(data, LSCM_W, 0, d, w, why));
    file = fopen(to, "wb");
    if (file == NULL) {
        TRY(fail(why, LSCM_WRITE, "drawing the graph of %s: %s", data->path, strerror(errno)));
    }
    (void)fputs("digraph lscm {\n", file);
    (void)fputs(STYLE, file);
    put_nodes(file, data);
    put_edges(file, w, d);
    (void)fputs("}\n", file);
done:
    if (file != NULL) {
        bool bad = ferror(file) != 0;
        bad = fclose(file) != 0 || bad;
        if (bad && status == LSCM_OK) {
            status =
                fail(why, LSCM_WRITE, "drawing the graph of %s: %s", data->path, strerror(errno));
        }
    }
    free(w);
    return status;
}
