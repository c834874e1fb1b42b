/* The top of the page: what was found and how sure that is, in words; what the fit warns of. */
#include "result/report/report_state.h"

#include <math.h>
#include <string.h>

static double number_at(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_at(const json_t *object, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : otherwise;
}

static const char *verb(size_t count)
{
    return count <= 1 ? "is" : "are";
}

/* Of those with a direction; NULL: there is none. */
static const report_edge *strongest_certain(const report *r)
{
    const report_edge *best = NULL;
    for (size_t k = 0; k < r->certain; k++) {
        const report_edge *e = &r->edges[k];
        bool more = best == NULL || fabs(e->mean) > fabs(best->mean);
        best = !e->undirected && more ? e : best;
    }
    return best;
}

/* "Of 20 possible edges between 5 causal variables, seven are nearly certain, ..." */
static void put_found(const report *r)
{
    size_t possible = r->d * (r->d - 1);
    size_t out = possible - r->count - r->undirected; /* which stand for two each */
    if (r->d == 1) {
        (void)fputs("<p class=\"lead\">There is one causal variable, so there are no edges to "
                    "find.</p>\n",
                    r->out);
        return;
    }
    (void)fprintf(r->out,
                  "<p class=\"lead\">Of the %zu possible edges between %zu causal variables, "
                  "<b>%s %s nearly certain</b>, ",
                  possible, r->d, counted(r->certain).text, verb(r->certain));
    (void)fprintf(r->out, "%s %s doubtful and %s %s ruled out.", counted(r->doubtful).text,
                  verb(r->doubtful), counted(out).text, verb(out));
    const report_edge *e = strongest_certain(r);
    if (e != NULL) {
        (void)fputs(" The strongest of the certain effects is ", r->out);
        put_edge_name(r, e->from, e->to);
        (void)fprintf(r->out, ": one unit more of the cause makes %s units %s of the effect.",
                      few_digits(fabs(e->mean)).text, e->mean < 0 ? "less" : "more");
    }
    if (r->undirected > 0) {
        (void)fprintf(
            r->out,
            " <b>%zu of these %s no direction</b>: only the equivalence class of the graph "
            "is known there.",
            r->undirected, r->undirected == 1 ? "has" : "have");
    }
    (void)fputs("</p>\n", r->out);
}

/* What held-out interventions say, as far as the fit looked. */
static void put_judgement(const report *r)
{
    const json_t *held_out = json_object_get(r->summary, "held_out");
    double with = number_at(held_out, "log_likelihood");
    double without = number_at(held_out, "log_likelihood_without_edges");
    double sets = number_at(held_out, "sets");
    if (!(fabs(with - without) <= INFINITY)) {
        return;
    }
    const char *how = with > without + 1     ? "far better than"
                      : with > without + 0.1 ? "better than"
                      : with > without - 0.1 ? "no better than"
                                             : "<b>worse than</b>";
    (void)fprintf(r->out, "<p>Asked about %s that the fit had not seen, the graph predicts %s ",
                  sets > 0 ? "interventions" : "rows", how);
    (void)fprintf(
        r->out,
        "having no edges at all (log likelihood %s a row against %s, over %.0f rows).</p>\n",
        decimals(with, 2).text, decimals(without, 2).text, number_at(held_out, "rows"));
}

/* Effects of targets that were left out whole, beside those who know no graph. */
static void put_left_out(const report *r)
{
    static const struct {
        const char *key, *title;
    } ways[] = {{"model", "this fit"},
                {"no_edges", "no edges: nothing else moves"},
                {"mean_of_others", "mean of the other interventions"},
                {"correlation", "correlation without intervention"}};
    const json_t *left_out = json_object_get(r->summary, "left_out_targets");
    if (!(number_at(left_out, "pairs") > 0)) {
        return;
    }
    const char *reading = json_string_value(json_object_get(left_out, "reading"));
    bool beaten = json_is_true(json_object_get(left_out, "beaten"));
    const char *how = beaten ? "<b>does not beat</b>"
                      : json_is_true(json_object_get(left_out, "telling"))
                          ? "beats"
                          : "has too little to tell it from";
    (void)fprintf(r->out,
                  "<p>Asked what setting a variable that was never set does to the others, the fit "
                  "%s those who know no graph (%.0f of %.0f targets left out whole, %.0f pairs of "
                  "a target and another variable)%s:</p>\n",
                  how, number_at(left_out, "targets"), number_at(left_out, "of"),
                  number_at(left_out, "pairs"),
                  reading != NULL && strcmp(reading, "all rows") == 0
                      ? "; how variables are read off x is kept from all rows, so that this judges "
                        "the graph alone"
                      : "");
    (void)fputs(
        "<div class=\"wide\"><table>\n<thead><tr><th class=\"t\" scope=\"col\">predicted by</th>"
        "<th scope=\"col\">R2</th><th scope=\"col\">rank correlation</th></tr></thead>\n<tbody>\n",
        r->out);
    for (size_t k = 0; k < sizeof ways / sizeof ways[0]; k++) {
        const json_t *own = json_object_get(left_out, ways[k].key);
        const json_t *rank = json_object_get(own, "spearman");
        (void)fprintf(
            r->out, "<tr><th class=\"t\" scope=\"row\">%s</th><td>%s</td><td>%s</td></tr>\n",
            ways[k].title, decimals(number_at(own, "r2"), 2).text,
            json_is_number(rank) ? decimals(json_number_value(rank), 2).text : "\xe2\x80\x93");
    }
    (void)fputs("</tbody>\n</table>\n</div>\n", r->out);
}

/* Edges over 1/2 against the true ones. */
static void put_against_truth(const report *r)
{
    size_t found = 0;
    size_t turned = 0;
    size_t wrong = 0;
    size_t real = 0;
    for (size_t k = 0; k < r->d * r->d && r->true_w != NULL; k++) {
        bool drawn = posterior_shown(r->p, k / r->d, k % r->d) > 0.5;
        bool there = r->true_w[k] != 0;
        bool other_way = true_weight(r, k % r->d, k / r->d) != 0;
        bool told = r->p->undirected[k] == 0; /* else once for both, and never turned */
        real += there ? 1 : 0;
        found += drawn && there ? 1 : 0;
        turned += drawn && told && !there && other_way ? 1 : 0;
        wrong += drawn && (told || k / r->d < k % r->d) && !there && !other_way ? 1 : 0;
    }
    if (r->true_w == NULL) {
        return;
    }
    (void)fprintf(r->out, "<p>The truth is known here: taken at a probability above one half, ");
    if (found == real && turned + wrong == 0) {
        (void)fprintf(r->out, "<b>the graph is exactly right</b> (%zu %s).</p>\n", real,
                      real == 1 ? "edge" : "edges");
        return;
    }
    (void)fprintf(r->out, "the graph has <b>%zu of the %zu true edges</b>, ", found, real);
    (void)fprintf(r->out, "%s turned around and %s that %s not there.</p>\n", counted(turned).text,
                  counted(wrong).text, verb(wrong));
}

/* Methods that give a graph and no posterior. */
static void put_one_answer(const report *r)
{
    if (r->one_answer && r->d > 1) {
        (void)fputs("<p>All draws are the same: this method gives one answer and does not say how "
                    "sure it is. <b>Nearly certain means no more than answered here.</b></p>\n",
                    r->out);
    }
}

static void put_fact(const report *r, const char *name, const char *value)
{
    (void)fprintf(r->out, "<div><dt>%s</dt><dd>", name);
    put_text(r->out, value);
    (void)fputs("</dd></div>\n", r->out);
}

static void put_facts(const report *r)
{
    char text[64];
    double seconds = number_at(json_object_get(r->summary, "seconds"), "total");
    (void)fputs("<dl class=\"facts\">\n", r->out);
    (void)snprintf(text, sizeof text, "%zu", r->d);
    put_fact(r, "causal variables", text);
    (void)snprintf(text, sizeof text, "%zu", r->p->rows);
    put_fact(r, "rows of data", text);
    put_fact(r, "method", text_at(r->summary, "method", "\xe2\x80\x93"));
    put_fact(r, "decoder", text_at(r->summary, "decoder", "\xe2\x80\x93"));
    (void)snprintf(text, sizeof text, "%zu", r->p->draws);
    put_fact(r, "posterior draws", text);
    if (seconds >= 0) {
        (void)snprintf(text, sizeof text, "%s s", few_digits(seconds).text);
        put_fact(r, "time to fit", text);
    }
    (void)fputs("</dl>\n", r->out);
}

static void put_warnings(const report *r)
{
    const json_t *warnings = json_object_get(r->summary, "warnings");
    if (json_array_size(warnings) == 0) {
        (void)fputs("<p class=\"soft\">The fit has no warnings.</p>\n", r->out);
        return;
    }
    (void)fputs("<div class=\"warn\" role=\"note\">\n<h2>What to keep in mind</h2>\n<ul>\n",
                r->out);
    for (size_t k = 0; k < json_array_size(warnings); k++) {
        const char *text = json_string_value(json_array_get(warnings, k));
        (void)fputs("<li>", r->out);
        put_text(r->out, text != NULL ? text : "");
        (void)fputs("</li>\n", r->out);
    }
    (void)fputs("</ul>\n</div>\n", r->out);
}

static void put_contents(const report *r)
{
    const struct {
        const char *id, *title;
        bool there;
    } parts[] = {{"graph", "Graph", true},
                 {"checks", "Checks", has_checks(r)},
                 {"weights", "Weights", true},
                 {"posteriors", "How sure each weight is", r->count > 0},
                 {"curves", "Response curves", has_curves(r)},
                 {"order", "Order", true},
                 {"nodes", "Variables", true},
                 {"latents", "Variables against the truth", has_latents(r)},
                 {"pictures", "What would be seen", has_pictures(r)},
                 {"training", "Training", has_training(r)},
                 {"scores", "Scores", r->true_w != NULL},
                 {"repeat", "Settings", true}};
    (void)fputs("<nav aria-label=\"Contents\">\n<ul>\n", r->out);
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        if (parts[k].there) {
            (void)fprintf(r->out, "<li><a href=\"#%s\">%s</a></li>\n", parts[k].id, parts[k].title);
        }
    }
    (void)fputs("</ul>\n</nav>\n", r->out);
}

void report_headline(const report *r)
{
    (void)fputs("<header id=\"found\">\n<p class=\"kicker\">lscm, latent structural causal models: "
                "report of a run</p>\n<h1>",
                r->out);
    put_text(r->out, r->title);
    (void)fputs("</h1>\n", r->out);
    put_found(r);
    put_one_answer(r);
    put_against_truth(r);
    put_judgement(r);
    put_left_out(r);
    put_warnings(r);
    put_facts(r);
    put_contents(r);
    (void)fputs("</header>\n", r->out);
}
