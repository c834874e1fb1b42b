/* How far to trust a run: the figures of its summary as numbers (lscm.h), read when the summary
 * comes to the posterior, so that threads that ask for them share what never changes. What the
 * summary does not say, or says in another way than numbers and texts, is NaN, 0 or left out. */
#include "data/text/text.h"
#include "result/store/finding_store.h"
#include "scm/posterior/posterior.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double number(const json_t *value)
{
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static double number_at(const json_t *object, const char *key)
{
    return number(json_object_get(object, key));
}

static size_t count_at(const json_t *object, const char *key)
{
    double count = number_at(object, key);
    return count >= 0 && count < 0x1p53 ? (size_t)count : 0;
}

/* Objects by node have the names as their keys, or the numbers where there are no names. */
static const json_t *of_node(const lscm_posterior *p, const json_t *by_node, size_t node)
{
    char key[32];
    (void)snprintf(key, sizeof key, "%zu", node);
    return json_object_get(by_node, p->node_names != NULL ? p->node_names[node] : key);
}

static lscm_status take_warnings(lscm_posterior *p, const json_t *list, lscm_error *why)
{
    size_t most = json_array_size(list);
    names_free(p->warnings, p->diagnostics.warnings);
    p->diagnostics.warnings = 0;
    p->warnings = calloc(most + 1, sizeof *p->warnings);
    for (size_t k = 0; p->warnings != NULL && k < most; k++) {
        const char *text = json_string_value(json_array_get(list, k));
        char *copy = text != NULL ? strdup(text) : NULL;
        if (text != NULL && copy == NULL) {
            return fail_memory(why, strlen(text));
        }
        if (copy != NULL) {
            p->warnings[p->diagnostics.warnings++] = copy;
        }
    }
    return p->warnings != NULL ? LSCM_OK : fail_memory(why, (most + 1) * sizeof *p->warnings);
}

/* Pairs [a, b] of node numbers. */
static void take_undirected(lscm_posterior *p, const json_t *list)
{
    memset(p->undirected, 0, p->d * p->d);
    for (size_t k = 0; k < json_array_size(list); k++) {
        const json_t *pair = json_array_get(list, k);
        const json_t *ends[] = {json_array_get(pair, 0), json_array_get(pair, 1)};
        json_int_t a = json_is_integer(ends[0]) ? json_integer_value(ends[0]) : -1;
        json_int_t b = json_is_integer(ends[1]) ? json_integer_value(ends[1]) : -1;
        if (a >= 0 && b >= 0 && a != b && (size_t)a < p->d && (size_t)b < p->d) {
            p->undirected[(size_t)a * p->d + (size_t)b] = 1;
            p->undirected[(size_t)b * p->d + (size_t)a] = 1;
        }
    }
}

lscm_status posterior_diagnose(lscm_posterior *p, lscm_error *why)
{
    json_t *summary = p->summary != NULL ? json_loads(p->summary, 0, NULL) : NULL;
    const json_t *held_out = json_object_get(summary, "held_out");
    const json_t *left_out = json_object_get(summary, "left_out_targets");
    const json_t *anchors = json_object_get(summary, "anchors");
    double *r2 = p->figures;
    double *coverage = r2 + p->d;
    double *anchor = coverage + p->d;
    for (size_t i = 0; i < p->d; i++) {
        r2[i] = number(of_node(p, json_object_get(held_out, "r2"), i));
        coverage[i] = number(of_node(p, json_object_get(held_out, "coverage_90"), i));
        anchor[i] = number_at(of_node(p, anchors, i), "r2");
    }
    lscm_status status = take_warnings(p, json_object_get(summary, "warnings"), why);
    take_undirected(p, json_object_get(json_object_get(summary, "pairs"), "undirected"));
    finding_store_free(p->findings);
    p->findings = NULL;
    if (status == LSCM_OK) {
        status = finding_store_of(&p->findings, json_object_get(summary, "checks"), why);
    }
    p->diagnostics = (lscm_diagnostics){
        .r_hat = number_at(summary, "r_hat"),
        .ess = number_at(summary, "ess"),
        .bound = number_at(summary, "bound"),
        .warnings = p->diagnostics.warnings,
        .warning = (const char *const *)p->warnings,
        .held_out_sets = count_at(held_out, "sets"),
        .held_out_rows = count_at(held_out, "rows"),
        .held_out_log_likelihood = number_at(held_out, "log_likelihood"),
        .held_out_log_likelihood_without_edges =
            number_at(held_out, "log_likelihood_without_edges"),
        .held_out_r2 = r2,
        .held_out_coverage_90 = coverage,
        .anchor_r2 = anchor,
        .left_out_targets = count_at(left_out, "targets"),
        .left_out_r2 = number_at(json_object_get(left_out, "model"), "r2"),
        .left_out_spearman = number_at(json_object_get(left_out, "model"), "spearman"),
        .left_out_r2_others = number_at(json_object_get(left_out, "mean_of_others"), "r2"),
        .left_out_r2_correlation = number_at(json_object_get(left_out, "correlation"), "r2"),
    };
    if (p->findings != NULL) {
        p->diagnostics.findings = p->findings->count;
        p->diagnostics.found = p->findings->found;
        p->diagnostics.finding = p->findings->each;
    }
    json_decref(summary);
    return status;
}

const lscm_diagnostics *lscm_posterior_diagnostics(const lscm_posterior *posterior)
{
    return &posterior->diagnostics;
}
