/* What a fit assumes, check by check, and which pairs of nodes the design decides (infer/check). */
#include "result/report/report_state.h"

#include <math.h>
#include <string.h>

enum { MOST_PAIRS = 30 };

bool has_checks(const report *r)
{
    return r->p->diagnostics.findings > 0;
}

/* Words, unlike figures, begin at the left and may take several lines. */
static void put_cell(const report *r, const char *text)
{
    (void)fputs("<td class=\"w\">", r->out);
    put_text(r->out, text);
    (void)fputs("</td>", r->out);
}

static void put_findings(const report *r)
{
    const lscm_diagnostics *d = &r->p->diagnostics;
    (void)fputs("<div class=\"wide\">\n<table>\n<thead><tr><th class=\"t\">check</th>"
                "<th class=\"t\">verdict</th><th>figure</th>"
                "<th class=\"t\">what it says</th></tr></thead>\n<tbody>\n",
                r->out);
    for (size_t k = 0; k < d->findings; k++) {
        const lscm_finding *f = d->finding[k];
        (void)fputs("<tr>", r->out);
        put_cell(r, f->check);
        put_cell(r, f->verdict);
        (void)fprintf(r->out, "<td>%s</td><td class=\"t\">", few_digits(f->figure).text);
        put_text(r->out, f->says);
        if (f->remedy[0] != '\0') {
            (void)fputs(". <i>", r->out);
            put_text(r->out, f->remedy);
            (void)fputs("</i>", r->out);
        }
        (void)fputs("</td></tr>\n", r->out);
    }
    (void)fputs("</tbody>\n</table>\n</div>\n", r->out);
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static const char *node_of(const json_t *pair, size_t which)
{
    const json_t *nodes = json_object_get(pair, "nodes");
    const char *name = json_string_value(json_array_get(nodes, which));
    return name != NULL ? name : "";
}

static void put_pair(const report *r, const json_t *pair)
{
    char both[256];
    const char *edge = json_string_value(json_object_get(pair, "edge"));
    (void)snprintf(both, sizeof both, "%.100s, %.100s", node_of(pair, 0), node_of(pair, 1));
    (void)fputs("<tr>", r->out);
    put_cell(r, edge != NULL ? edge : both);
    put_cell(r, text_at(pair, "verdict"));
    put_cell(r, text_at(pair, "why"));
    put_cell(r, text_at(pair, "remedy"));
    (void)fputs("</tr>\n", r->out);
}

/* Pairs that are not decided. */
static void put_pairs(const report *r, const json_t *pairs)
{
    const json_t *list = json_object_get(pairs, "list");
    size_t open = 0;
    for (size_t k = 0; k < json_array_size(list); k++) {
        const json_t *pair = json_array_get(list, k);
        if (strcmp(text_at(pair, "verdict"), "decided") == 0 || open++ >= MOST_PAIRS) {
            continue;
        }
        if (open == 1) {
            (void)fputs("<div class=\"wide\">\n<table>\n<thead><tr><th class=\"t\">pair</th>"
                        "<th class=\"t\">verdict</th><th class=\"t\">why</th>"
                        "<th class=\"t\">what would tell</th></tr></thead>\n<tbody>\n",
                        r->out);
        }
        put_pair(r, pair);
    }
    if (open > 0) {
        (void)fputs("</tbody>\n</table>\n</div>\n", r->out);
    }
    if (open > MOST_PAIRS) {
        (void)fprintf(r->out, "<p class=\"soft\">%zu more pairs are not decided.</p>\n",
                      open - MOST_PAIRS);
    }
}

void report_checks(const report *r)
{
    const json_t *pairs = json_object_get(r->summary, "pairs");
    if (!has_checks(r)) {
        return;
    }
    section_open(r->out, "checks", "What was checked");
    (void)fprintf(
        r->out,
        "<p>%s. Where all is well, fewer than 3 of 100 data sets have a false alarm. What "
        "is only noted breaks nothing that the fit assumes.</p>\n",
        r->p->diagnostics.found == 0 ? "No problems were detected" : "<b>Something was found</b>");
    put_findings(r);
    if (pairs != NULL) {
        long long decided = json_integer_value(json_object_get(pairs, "decided"));
        (void)fprintf(r->out, "<p>%lld pair%s of variables %s decided.</p>\n", decided,
                      decided == 1 ? "" : "s", decided == 1 ? "is" : "are");
        put_pairs(r, pairs);
    }
    section_close(r->out);
}
