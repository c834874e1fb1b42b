/* lscm check DATA|RUN: named checks, each with its figure, a verdict and a remedy; then which pairs
 * of nodes are decided. A run has them from its fit; of data they come from a quick fit that is not
 * kept. */
#include "common/files.h"

#include <jansson.h>
#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PAIRS = 12 };

const struct argp *check_argp(void)
{
    static const struct argp_option options[] = {OPEN_ALL, COMMON_LAST};
    static const struct argp argp = {
        .options = options,
        .parser = files_parse,
        .args_doc = "DATA|RUN",
        .doc =
            "Check what a fit assumes, on data before it or on a run after it: whether do() "
            "brought "
            "nodes to their values and cut them off their causes, effects are straight, slopes are "
            "the same where do() set a cause, nothing hidden moves two nodes, noise is normal and "
            "alike in all sets; and of every pair of nodes whether the data decide it, cannot yet, "
            "or never can by this design, and which sets would. Each check has a figure, a verdict "
            "and a remedy; so have columns that are constant, copies or written with few digits, "
            "and what values of do() reach. Together they give a false alarm in fewer than 3 of "
            "100 data sets.\v"
            "Examples:\n"
            "  lscm check data.nc\n"
            "  lscm check data.run --json\n"
            "  lscm check cells.csv --ignore batch && lscm fit cells.csv\n\n"
            "Exit code 0: no problems detected. 3: something was found (what is only noted, as "
            "chains that have not mixed, does not count). 1 and 2 as everywhere: "
            "failed, wrong usage.",
    };
    return &argp;
}

static struct libscols_table *new_table(const char *const *heads, size_t count)
{
    struct libscols_table *table = scols_new_table();
    for (size_t k = 0; k < count && table != NULL; k++) {
        (void)scols_table_new_column(table, heads[k], 0, 0);
    }
    return table;
}

static void add_row(struct libscols_table *table, const char *const *cells, size_t count)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    for (size_t k = 0; k < count && line != NULL; k++) {
        (void)scols_line_set_data(line, k, cells[k]);
    }
}

static void print_verdicts(const lscm_diagnostics *d)
{
    static const char *const heads[] = {"check", "verdict", "figure", "limit"};
    struct libscols_table *table = new_table(heads, 4);
    for (size_t k = 0; k < d->findings && table != NULL; k++) {
        const lscm_finding *f = d->finding[k];
        char figure[32] = "-";
        char limit[32] = "-";
        if (isfinite(f->figure)) {
            (void)snprintf(figure, sizeof figure, "%.2g", f->figure);
        }
        if (isfinite(f->figure) && isfinite(f->limit)) {
            (void)snprintf(limit, sizeof limit, "%.2g", f->limit);
        }
        const char *cells[] = {f->check, f->verdict, figure, limit};
        add_row(table, cells, 4);
    }
    if (table != NULL) {
        (void)scols_print_table(table);
        scols_unref_table(table);
    }
}

static void print_findings(const lscm_diagnostics *d)
{
    for (size_t k = 0; k < d->findings; k++) {
        const lscm_finding *f = d->finding[k];
        if (strcmp(f->verdict, "found") == 0 || strcmp(f->verdict, "noted") == 0) {
            (void)printf("\n%s: %s.\n", f->check, f->says);
            if (f->remedy[0] != '\0') {
                (void)printf("  %s.\n", f->remedy);
            }
        }
    }
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

/* Pairs of one verdict that someone may want to act on. */
static void print_pairs(const json_t *pairs, const char *verdict)
{
    size_t shown = 0;
    size_t all = 0;
    for (size_t k = 0; k < json_array_size(pairs); k++) {
        const json_t *one = json_array_get(pairs, k);
        const json_t *nodes = json_object_get(one, "nodes");
        const json_t *p = json_object_get(one, "p");
        const char *edge = json_string_value(json_object_get(one, "edge"));
        if (strcmp(text_of(one, "verdict"), verdict) != 0 || all++ >= MOST_PAIRS) {
            continue;
        }
        (void)printf("  ");
        if (edge != NULL) {
            (void)printf("%s", edge);
        } else {
            (void)printf("%s ? %s (p %.2f, %.2f)", json_string_value(json_array_get(nodes, 0)),
                         json_string_value(json_array_get(nodes, 1)),
                         json_number_value(json_array_get(p, 0)),
                         json_number_value(json_array_get(p, 1)));
        }
        (void)printf(": %s. Would tell: %s.\n", text_of(one, "why"), text_of(one, "remedy"));
        shown++;
    }
    if (all > shown) {
        (void)printf("  and %zu more\n", all - shown);
    }
}

static void print_edges(const json_t *edges)
{
    static const char *const verdicts[][2] = {
        {"assumed", "pairs that are as said if nothing hidden moves both, or checks were wrong"},
        {"undecided", "pairs that the rows leave open"},
        {"undecidable", "pairs that this design can never decide"}};
    if (json_object_get(edges, "decided") == NULL) { /* at most which way they point was asked */
        return;
    }
    (void)printf("\n%lld pairs of nodes are decided\n",
                 (long long)json_integer_value(json_object_get(edges, "decided")));
    for (size_t k = 0; k < sizeof verdicts / sizeof verdicts[0]; k++) {
        long long count = (long long)json_integer_value(json_object_get(edges, verdicts[k][0]));
        if (count > 0) {
            (void)printf("%s (%lld %s):\n", verdicts[k][0], count, verdicts[k][1]);
            print_pairs(json_object_get(edges, "list"), verdicts[k][0]);
        }
    }
}

static void print_text(const lscm_diagnostics *d, const json_t *edges)
{
    print_verdicts(d);
    print_findings(d);
    print_edges(edges);
    if (d->findings == 0) {
        (void)printf("\nnothing was checked: only fits by the method anchored are\n");
    } else if (d->found == 0) {
        (void)printf("\nno problems detected\n");
    } else {
        (void)printf("\n%zu problem%s found\n", d->found, d->found == 1 ? "" : "s");
    }
}

static void print_json(const lscm_diagnostics *d, json_t *summary, const char *note)
{
    json_t *checks = json_object_get(summary, "checks");
    json_t *all = json_pack("{s:I, s:O?, s:O?, s:s*}", "found", (json_int_t)d->found, "checks",
                            checks, "pairs", json_object_get(summary, "pairs"), "note", note);
    char *text = json_dumps(all, JSON_REAL_PRECISION(12));
    (void)printf("%s\n", text != NULL ? text : "{}");
    free(text);
    json_decref(all);
}

static lscm_status check_data(const file_arguments *a, lscm_dataset **data, lscm_posterior **out,
                              lscm_error *why)
{
    progress_bar bar;
    lscm_progress progress = progress_begin(&bar, a->common.quiet || a->common.json);
    lscm_status status = lscm_dataset_open(data, a->in, &a->open, why);
    if (status == LSCM_OK) {
        print_note(*data, &a->common);
        status = lscm_check(out, *data, &progress, why);
    }
    progress_end(&bar);
    return status;
}

int check_run(int argc, char **argv)
{
    file_arguments a = {
        .common = {.word = {&a.in}, .missing = "name the data or the run to check"}};
    lscm_error why = {0};
    lscm_posterior *run = NULL;
    lscm_dataset *data = NULL; /* where that is no run */
    cli_parse("check", check_argp(), argc, argv, &a);
    lscm_status status =
        is_run(a.in) ? lscm_posterior_open(&run, a.in, &why) : check_data(&a, &data, &run, &why);
    if (status != LSCM_OK) {
        lscm_dataset_free(data);
        return cli_fail(&why);
    }
    const lscm_diagnostics *d = lscm_posterior_diagnostics(run);
    json_t *summary = json_loads(lscm_posterior_summary(run), 0, NULL);
    if (a.common.json) {
        print_json(d, summary, data != NULL ? lscm_dataset_note(data) : NULL);
    } else if (!a.common.quiet) {
        print_text(d, json_object_get(summary, "pairs"));
    }
    int code = d->found > 0 ? EXIT_FOUND : EXIT_DONE;
    json_decref(summary);
    lscm_posterior_free(run);
    lscm_dataset_free(data);
    return code;
}
