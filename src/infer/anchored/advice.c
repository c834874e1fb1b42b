#include "infer/anchored/advice.h"

#include "base/tuned.h"
#include "infer/check/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void warn(json_t *warnings, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void warn(json_t *warnings, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)json_array_append_new(warnings, json_string(text));
}

static void advise_on_design(const linear_view *s, const anchored *a, char *const *names,
                             json_t *warnings)
{
    node_list never = {.count = 0};
    node_list rare = {.count = 0};
    node_list collinear = {.count = 0};
    node_list constant = {.count = 0};
    node_list always = {.count = 0};
    for (size_t j = 0; j < a->d; j++) {
        bool none = a->anchor.kind[j] == ANCHOR_NONE;
        size_t samples = a->anchor.samples[j];
        if (samples == 0 && s->kind == VIEW_LINEAR) {
            list_add(&never, names, j);
        } else if (none && samples < a->rank + 2) {
            list_add(&rare, names, j);
        } else if (none) {
            list_add(&collinear, names, j);
        } else if (a->anchor.kind[j] == ANCHOR_DIRECTION) {
            list_add(&constant, names, j);
        }
        if (samples == s->rows) {
            list_add(&always, names, j);
        }
    }
    if (never.count > 0) {
        warn(warnings,
             "never intervened on: %s. Nothing labels these nodes: their edges, signs and units, "
             "and "
             "which of them is which, are only as certain as the draws say",
             never.text);
    }
    if (rare.count > 0) {
        warn(warnings, "intervened on in fewer than %zu rows, too few to anchor: %s", a->rank + 2,
             rare.text);
    }
    if (collinear.count > 0) {
        warn(
            warnings,
            "not to be told from other nodes: %s. Where they are targets, other directions of x do "
            "not vary, or others are always set to the same values; more varied target sets would "
            "help",
            collinear.text);
    }
    if (a->anchor.rough) {
        warn(warnings,
             "no node could be anchored in all directions of x, where it is a target: z is rough, "
             "and all that follows from it; more rows, more values or less noise of x would help");
    }
    if (constant.count > 0) {
        warn(warnings,
             "do() always set the same value: %s. Its direction in x is known, its scale and sign "
             "are a convention (sd 1 where free)",
             constant.text);
    }
    if (always.count > 0) {
        warn(warnings, "intervened on in every row: %s. Nothing is known of what causes it",
             always.text);
    }
}

/* Whether noise of x, column by column, matters and is more than D (D + 1)/2 covariances tell:
 * Ledermann's bound. Columns of one unit have one noise. */
static bool noise_is_guessed(const linear_view *s, const anchored *a)
{
    bool matters = a->sampler == SAMPLER_LATENT || a->sampler == SAMPLER_LIKELIHOOD;
    bool alike = true;
    for (size_t c = 1; c < s->D && s->scale != NULL; c++) {
        alike = alike && !(s->scale[c] != s->scale[0]);
    }
    return matters && !alike && s->D >= s->d && (s->D - s->d) * (s->D - s->d) < s->D + s->d;
}

/* How much of z a linear decoder tells. */
static void advise_on_decoder(const linear_view *s, const anchored *a, char *const *names,
                              json_t *warnings)
{
    node_list poor = {.count = 0};
    if (s->rank < s->d) {
        warn(warnings,
             "x varies in only %zu direction%s, fewer than the %zu causal variables: some of them "
             "do not show in x, or only together",
             s->rank, s->rank == 1 ? "" : "s", s->d);
    }
    if (noise_is_guessed(s, a)) {
        warn(warnings,
             "%zu columns of x are too few to tell how noisy each is beside %zu causal variables, "
             "and x is noisy enough to matter: edges may be false however certain they look. "
             "--x-noise says how noisy all are; more columns would tell",
             s->D, s->d);
    }
    for (size_t j = 0; j < a->d; j++) {
        if (a->anchor.kind[j] == ANCHOR_VALUES && a->anchor.r2[j] < tuned_warn_r2()) {
            list_add(&poor, names, j);
        }
    }
    if (poor.count > 0) {
        warn(warnings,
             "values set by do() are badly predicted from x in sets left out (R2 below 0.5): %s. "
             "Noisy x, too few rows, or a decoder that is not linear",
             poor.text);
    }
}

static void advise_on_rows(const linear_view *s, json_t *warnings)
{
    if (s->rows < 2 * s->d) {
        warn(warnings, "%zu rows for %zu nodes: too few to believe any edge", s->rows, s->d);
    }
}

void advise_on_chains(const anchored *a, char *const *names, json_t *warnings)
{
    if (a->crowded > 0) {
        node_list hub = {.count = 0};
        list_add(&hub, names, a->hub);
        warn(warnings,
             "%zu edges could be tried in one direction only, as %s has more neighbours than "
             "candidate parents fit: which way they point is less certain than it looks; "
             "--candidates 23 or interventions on them may help",
             a->crowded, hub.text);
    }
    if (a->replaced > 0) {
        warn(warnings,
             "the chains have not mixed: %zu of them fitted far worse than the best and went on "
             "from its place (R-hat %.2f before, %.2f after); a mode that none of them met is not "
             "in the draws; more --chains may help",
             a->replaced, a->r_hat, a->r_hat_kept);
    } else if (a->sampler != SAMPLER_EXACT && !(a->r_hat < tuned_warn_r_hat())) {
        warn(
            warnings,
            "the chains have not mixed (R-hat %.2f): they are worth %.0f independent draws, and no "
            "edge is said to be surer than those allow; more --draws or --chains may help",
            a->r_hat, a->edge_ess);
    }
}

/* Draws in which sets have an intercept of node i of their own; *sd: the mean of its sd. */
static size_t effects_of(const anchored *a, size_t i, double *sd)
{
    size_t count = 0;
    *sd = 0;
    for (size_t k = 0; k < a->draws; k++) {
        double own = a->effect[k * a->d + i];
        count += own > 0 ? 1 : 0;
        *sd += own / (double)a->draws;
    }
    return count;
}

/* One chance in a thousand for all nodes together, u as set_ratio.h has it. */
static bool beyond_chance(double u, size_t of)
{
    return erfc(fabs(u) / sqrt(2)) < tuned_warn_chance() / (double)of;
}

/* Far off is said whatever chance says: so the figures stand in the table, and nobody would know.
 */
static void advise_on_coverage(const judgement *j, char *const *names, json_t *warnings)
{
    node_list narrow = {.count = 0};
    node_list wide = {.count = 0};
    for (size_t i = 0; i < j->d; i++) {
        if (j->coverage[i] < 0.9 - tuned_warn_coverage()) {
            list_add(&narrow, names, i);
        } else if (beyond_chance(j->wider[i], j->d)) {
            list_add(j->wider[i] < 0 ? &narrow : &wide, names, i);
        }
    }
    if (narrow.count > 0) {
        warn(warnings,
             "what do() gives is outside of its 90%% interval too often in sets held out: %s. "
             "Noise or intervals are too small there, or the graph is wrong",
             narrow.text);
    }
    if (wide.count > 0) {
        warn(warnings, "90%% intervals are too wide for what do() gives in sets held out: %s",
             wide.text);
    }
}

/* Worse than the mean: by any causes that it has; without them by more than chance, or by much. */
static bool is_worse(const judgement *j, const anchored *a, size_t i)
{
    bool causes = false;
    for (size_t p = 0; p < a->d; p++) {
        causes = causes || a->edge_prob[p * a->d + i] > 0.5;
    }
    bool shown = j->r2[i] < -0.005; /* below 0 as the two digits of the table have it */
    return j->r2[i] < 0 && ((causes && shown) || j->r2[i] < -tuned_warn_r2_below() ||
                            beyond_chance(fmin(j->closer[i], 0), j->d));
}

void advise_on_judgement(const judgement *j, const anchored *a, char *const *names,
                         json_t *warnings)
{
    node_list worse = {.count = 0};
    bool any = false;
    if (j->rows == 0) {
        return;
    }
    for (size_t k = 0; k < a->d * a->d; k++) {
        any = any || a->edge_prob[k] > 0.5;
    }
    for (size_t i = 0; i < j->d; i++) {
        if (is_worse(j, a, i)) {
            list_add(&worse, names, i);
        }
    }
    if (any && !(j->log_likelihood > j->log_likelihood_empty)) {
        warn(warnings,
             "interventions that were held out are predicted no better than without any edge (log "
             "likelihood %.2f a row against %.2f): do not use this graph to predict",
             j->log_likelihood, j->log_likelihood_empty);
    }
    if (worse.count > 0) {
        warn(warnings,
             "what do() gives in sets held out is predicted worse than by the mean (R2 below 0): "
             "%s",
             worse.text);
    }
    advise_on_coverage(j, names, warnings);
}

void advise_on_left_out(const left_out *l, json_t *warnings)
{
    bool others = l->others.r2 >= l->correlation.r2;
    double best = fmax(others ? l->others.r2 : l->correlation.r2, 0);
    const char *by = !(best > 0) ? "no effect at all"
                     : others    ? "the mean effect of the other interventions"
                                 : "correlation alone";
    if (left_out_beaten(l)) {
        warn(warnings,
             "effects of a target that was left out whole are predicted no better than by %s (R2 "
             "%.2f against %.2f over %zu pairs): do not use this fit for targets that were never "
             "set",
             by, l->model.r2, best, l->pairs);
    }
}

void advise(const linear_view *s, const anchored *a, char *const *names, json_t *warnings)
{
    advise_on_rows(s, warnings);
    advise_on_design(s, a, names, warnings);
    if (s->kind == VIEW_LINEAR) {
        advise_on_decoder(s, a, names, warnings);
    }
    advise_on_chains(a, names, warnings);
}

/* NaN has no place in JSON. */
static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *effects_json(const anchored *a, char *const *names)
{
    json_t *all = json_object();
    for (size_t i = 0; i < a->d; i++) {
        char room[32];
        double sd = 0;
        if (2 * effects_of(a, i, &sd) > a->draws) {
            (void)json_object_set_new(all, name_of(names, i, room, sizeof room), number(sd));
        }
    }
    if (json_object_size(all) == 0) {
        json_decref(all);
        return NULL;
    }
    return all;
}

json_t *anchors_json(const anchored *a, char *const *names)
{
    static const char *const kinds[] = {"values", "direction", "none"};
    json_t *all = json_object();
    for (size_t j = 0; j < a->d; j++) {
        char room[32];
        json_t *node = json_object();
        (void)json_object_set_new(node, "anchor", json_string(kinds[a->anchor.kind[j]]));
        (void)json_object_set_new(node, "samples", json_integer((json_int_t)a->anchor.samples[j]));
        (void)json_object_set_new(node, "standard_error", number(a->anchor.standard_error[j]));
        (void)json_object_set_new(node, "r2", number(a->anchor.r2[j]));
        (void)json_object_set_new(all, name_of(names, j, room, sizeof room), node);
    }
    return all;
}

json_t *judgement_json(const judgement *j, char *const *names)
{
    json_t *r2 = json_object();
    json_t *coverage = json_object();
    if (j->rows == 0) {
        json_decref(r2);
        json_decref(coverage);
        return NULL;
    }
    for (size_t i = 0; i < j->d; i++) {
        char room[32];
        const char *name = name_of(names, i, room, sizeof room);
        (void)json_object_set_new(r2, name, number(j->r2[i]));
        (void)json_object_set_new(coverage, name, number(j->coverage[i]));
    }
    return json_pack("{s:I, s:I, s:f, s:f, s:o, s:o}", "sets", (json_int_t)j->sets, "rows",
                     (json_int_t)j->rows, "log_likelihood", j->log_likelihood,
                     "log_likelihood_without_edges", j->log_likelihood_empty, "r2", r2,
                     "coverage_90", coverage);
}

static json_t *score_json(double spearman, double r2)
{
    json_t *score = json_object();
    (void)json_object_set_new(score, "spearman", number(spearman));
    (void)json_object_set_new(score, "r2", number(r2));
    return score;
}

json_t *left_out_json(const left_out *l)
{
    if (l->targets == 0) {
        return NULL;
    }
    return json_pack("{s:I, s:s, s:I, s:I, s:I, s:b, s:b, s:o, s:o, s:o, s:o}", "targets",
                     (json_int_t)l->targets, "reading", l->read ? "all rows" : "observed", "of",
                     (json_int_t)l->of, "fits", (json_int_t)l->fits, "pairs", (json_int_t)l->pairs,
                     "telling", l->telling, "beaten", left_out_beaten(l), "model",
                     score_json(l->model.spearman, l->model.r2), "no_edges", score_json(NAN, 0),
                     "mean_of_others", score_json(l->others.spearman, l->others.r2), "correlation",
                     score_json(l->correlation.spearman, l->correlation.r2));
}
