/* GraphML as Gephi, Cytoscape, igraph and NetworkX read it. An id must be a word, so nodes are n0,
 * n1, ..; their names are the attribute `name`, and `label`, which Gephi shows. The mean weight is
 * not called `weight`: programs take that for a length or a strength, which is never negative.
 */
#include "data/drawing/graph_file.h"

#include "data/text/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char HEAD[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\"\n"
    "         xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"\n"
    "         xsi:schemaLocation=\"http://graphml.graphdrawing.org/xmlns\n"
    "                             http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd\">\n"
    "  <key id=\"name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n"
    "  <key id=\"label\" for=\"node\" attr.name=\"label\" attr.type=\"string\"/>\n"
    "  <key id=\"probability\" for=\"edge\" attr.name=\"probability\" attr.type=\"double\"/>\n"
    "  <key id=\"mean\" for=\"edge\" attr.name=\"mean\" attr.type=\"double\"/>\n"
    "  <key id=\"sd\" for=\"edge\" attr.name=\"sd\" attr.type=\"double\"/>\n"
    "  <key id=\"sign\" for=\"edge\" attr.name=\"sign\" attr.type=\"int\"/>\n"
    "  <key id=\"directed\" for=\"edge\" attr.name=\"directed\" attr.type=\"boolean\"/>\n"
    "  <graph id=\"lscm\" edgedefault=\"directed\">\n";

/* XML has no way to write most control characters, nor U+FFFE and U+FFFF: U+FFFD stands for them.
 */
static void put_text(FILE *file, const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '&' || c == '<' || c == '>') {
            (void)fputs(c == '&' ? "&amp;" : c == '<' ? "&lt;" : "&gt;", file);
        } else if (c == '\r') {
            (void)fputs("&#13;", file);
        } else if (c < ' ' && c != '\t' && c != '\n') {
            (void)fputs(replacement, file);
        } else if (strncmp(text, "\xEF\xBF\xBE", 3) == 0 || strncmp(text, "\xEF\xBF\xBF", 3) == 0) {
            (void)fputs(replacement, file);
            text += 2;
        } else {
            (void)putc(c, file);
        }
    }
}

static void put_nodes(FILE *file, const graph_file *graph)
{
    for (size_t i = 0; i < graph->nodes; i++) {
        char number[NUMBER_TEXT];
        (void)snprintf(number, sizeof number, "%zu", i);
        const char *name = graph->names != NULL ? graph->names[i] : number;
        (void)fprintf(file, "    <node id=\"n%zu\"><data key=\"name\">", i);
        put_text(file, name);
        (void)fputs("</data><data key=\"label\">", file);
        put_text(file, name);
        (void)fputs("</data></node>\n", file);
    }
}

static void put_number(FILE *file, const char *key, double value)
{
    char text[NUMBER_TEXT];
    (void)number_text(value, text);
    (void)fprintf(file, "<data key=\"%s\">%s</data>", key, text);
}

static void put_edges(FILE *file, const graph_file *graph)
{
    for (size_t k = 0; k < graph->count; k++) {
        const lscm_edge *e = &graph->edges[k];
        (void)fprintf(file, "    <edge source=\"n%zu\" target=\"n%zu\">", e->from, e->to);
        put_number(file, "probability", e->probability);
        put_number(file, "mean", e->mean);
        put_number(file, "sd", e->sd);
        (void)fprintf(file, "<data key=\"sign\">%d</data><data key=\"directed\">%s</data></edge>\n",
                      e->mean > 0   ? 1
                      : e->mean < 0 ? -1
                                    : 0,
                      e->undirected ? "false" : "true");
    }
}

lscm_status graphml_write(const graph_file *graph, const char *to, const char *what,
                          lscm_error *why)
{
    FILE *file = fopen(to, "wb");
    if (file == NULL) {
        return fail(why, LSCM_WRITE, "%s: %s", what, strerror(errno));
    }
    (void)fputs(HEAD, file);
    put_nodes(file, graph);
    put_edges(file, graph);
    (void)fputs("  </graph>\n</graphml>\n", file);
    bool bad = ferror(file) != 0;
    bad = fclose(file) != 0 || bad;
    return bad ? fail(why, LSCM_WRITE, "%s: %s", what, strerror(errno)) : LSCM_OK;
}
