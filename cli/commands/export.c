/* lscm export IN OUT: a graph as text for other programs, or drawn by Graphviz's `dot`; a run's
 * draws and edges. */
#include "common/files.h"
#include "common/program.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const struct argp *export_argp(void)
{
    static const struct argp_option options[] = {OPEN_ALL, COMMON_FORCE, COMMON_QUIET, {0}};
    static const struct argp argp = {
        .options = options,
        .parser = files_parse,
        .args_doc = "IN OUT",
        .doc =
            "Bring a graph or a run to other programs. IN is a run folder, or a data file with its "
            "true graph.\v"
            "OUT ends in\n"
            "  .dot              the graph as text for Graphviz\n"
            "  .svg .pdf .png    the graph, drawn by Graphviz\n"
            "  .graphml          the graph for Gephi, Cytoscape, igraph, NetworkX: names; "
            "probability of each edge, mean, sd and sign of its weight\n"
            "  .json             nodes and edges (node-link, as NetworkX and D3 read them), the "
            "order; of a run with 90% intervals, settings and summary, and curves of the edges "
            "over 1/2 where mechanisms bend\n"
            "  .csv              of a run: every pair of nodes with the probability of its edge, "
            "and mean, sd and 90% interval of its weight (where mechanisms bend, the average "
            "slope)\n"
            "  .npz              of a run: w, sigma, intercept, order, log_p, log_q, edge_prob, z, "
            "z_sd, and such curves\n\n"
            "A run's graph has the edges with a probability above 1/2: the thicker the likelier, "
            "blue for a positive and orange for a negative mean weight.\n\n"
            "Examples:\n"
            "  lscm export data.nc graph.svg\n"
            "  lscm export data.run graph.svg\n"
            "  lscm export data.run edges.csv\n"
            "  lscm export data.run graph.graphml\n"
            "  lscm export chamber.csv graph.dot --ignore soft,env --truth dag.csv",
    };
    return &argp;
}

/* dot -Tsvg -o `to` `from` */
static lscm_status run_dot(const char *format, const char *from, const char *to, lscm_error *why)
{
    char option[16];
    (void)snprintf(option, sizeof option, "-T%s", format);
    int code = run_program(NULL, (const char *const[]){"dot", option, "-o", to, from, NULL});
    if (code == PROGRAM_MISSING) {
        return cli_explain(why, LSCM_TOOL,
                           "drawing needs Graphviz, which is not installed; install it (Debian: "
                           "graphviz) or write a .dot file");
    }
    return code == 0 ? LSCM_OK : cli_explain(why, LSCM_WRITE, "Graphviz could not draw the graph");
}

/* What IN is. */
typedef struct subject {
    lscm_dataset *data; /* or NULL: */
    lscm_posterior *run;
} subject;

static lscm_status save(const subject *in, const char *path, bool force, lscm_error *why)
{
    return in->run != NULL ? lscm_posterior_export(in->run, path, force, why)
                           : lscm_dataset_save_graph(in->data, path, force, why);
}

/* The DOT text and the drawing are made beside the output and renamed when whole. */
static lscm_status draw(const subject *in, const file_arguments *a, const char *format,
                        lscm_error *why)
{
    char text[4096];
    char drawing[4096];
    if ((size_t)snprintf(text, sizeof text, "%s.%ld.dot", a->out, (long)getpid()) >= sizeof text ||
        (size_t)snprintf(drawing, sizeof drawing, "%s.%ld.tmp", a->out, (long)getpid()) >=
            sizeof drawing) {
        return cli_explain(why, LSCM_USAGE, "the name of the output is too long");
    }
    if (!a->common.force && access(a->out, F_OK) == 0) {
        return cli_explain(why, LSCM_EXISTS, "%s exists already; --force replaces it", a->out);
    }
    lscm_status status = save(in, text, true, why);
    if (status == LSCM_OK) {
        status = run_dot(format, text, drawing, why);
    }
    if (status == LSCM_OK && rename(drawing, a->out) != 0) {
        status = cli_explain(why, LSCM_WRITE, "%s: %s", a->out, strerror(errno));
    }
    (void)unlink(text);
    (void)unlink(drawing);
    return status;
}

static lscm_status open_subject(const file_arguments *a, subject *in, lscm_error *why)
{
    if (!is_run(a->in)) {
        return lscm_dataset_open(&in->data, a->in, &a->open, why);
    }
    const lscm_open_options *o = &a->open;
    if (o->ignore != NULL || o->truth != NULL || o->names != NULL || o->target_column != NULL ||
        o->value_column != NULL || o->control != NULL || o->layer != NULL) {
        return cli_explain(
            why, LSCM_USAGE,
            "--ignore, --truth, --names and the like are for data files; %s is a run", a->in);
    }
    return lscm_posterior_open(&in->run, a->in, why);
}

enum { FORMATS = 8, DRAWN = 3, DATA_FORMATS = 6 };

/* First what is drawn, then text, then what only a run has. */
static const char *const ENDINGS[FORMATS] = {"svg",     "pdf",  "png", "dot",
                                             "graphml", "json", "csv", "npz"};

static void summarise(const subject *in, const char *out, size_t format)
{
    size_t nodes = in->run != NULL ? lscm_posterior_nodes(in->run) : lscm_dataset_nodes(in->data);
    if (format < DATA_FORMATS) {
        (void)printf("%s: graph of %zu node%s\n", out, nodes, PLURAL(nodes));
    } else if (strcmp(ENDINGS[format], "csv") == 0) {
        (void)printf("%s: %zu pairs of %zu nodes, the likeliest edge first\n", out,
                     nodes * (nodes - 1), nodes);
    } else {
        (void)printf("%s: %zu draws of %zu nodes\n", out, lscm_posterior_draws(in->run), nodes);
    }
}

int export_run(int argc, char **argv)
{
    file_arguments a = {
        .common = {.word = {&a.in, &a.out},
                   .missing = "name the run or data file to read and the file to write"}};
    lscm_error why = {0};
    subject in = {0};
    cli_parse("export", export_argp(), argc, argv, &a);
    const char *ending = strrchr(a.out, '.');
    size_t known = is_run(a.in) ? FORMATS : DATA_FORMATS;
    size_t format = 0;
    while (format < known && (ending == NULL || strcasecmp(ending + 1, ENDINGS[format]) != 0)) {
        format++;
    }
    if (format == known) {
        (void)fprintf(stderr,
                      "lscm: %s: a %s goes to %s.dot, .graphml, .json, .svg, .pdf or .png\n", a.out,
                      known == FORMATS ? "run" : "graph", known == FORMATS ? ".npz, .csv, " : "");
        return EXIT_USAGE;
    }
    lscm_status status = open_subject(&a, &in, &why);
    if (status == LSCM_OK) {
        status = format < DRAWN ? draw(&in, &a, ENDINGS[format], &why)
                                : save(&in, a.out, a.common.force, &why);
    }
    if (status == LSCM_OK && !a.common.quiet) {
        summarise(&in, a.out, format);
    }
    lscm_dataset_free(in.data);
    lscm_posterior_free(in.run);
    return status == LSCM_OK ? EXIT_DONE : cli_fail(&why);
}
