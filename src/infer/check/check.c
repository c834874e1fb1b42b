#include "infer/check/check.h"

#include "base/tuned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const finding TESTS[] = {
    [TEST_BENT] =
        {"bent", "effects bend no more than the model has them, as far as curves show",
         "not linear in their causes: %s. The model does not have them bend so, and edges "
         "about them may be false, or missing, however certain they look",
         "let effects bend (--mechanism auto); take logarithms or another transform that "
         "makes effects straight; or keep values nearer together",
         WEIGHT_BREAKS},
    [TEST_JOINT] = {"joint",
                    "causes do together what the model has them do, as far as products "
                    "show",
                    "moved by causes that act together: %s. The model adds up what each does by "
                    "itself, and edges about them may be false, or missing, however certain they "
                    "look",
                    "let causes act together (--mechanism auto or joint); or take logarithms, "
                    "which make products sums",
                    WEIGHT_BREAKS},
    [TEST_SPREAD] = {"spread", "noise is as large wherever causes are",
                     "noise whose size goes with another node: %s. Probabilities and intervals "
                     "assume that it does not, and edges about these nodes may be false",
                     "take logarithms or another transform that makes noise alike; --noise-law "
                     "auto bears with some of it",
                     WEIGHT_BREAKS},
    [TEST_SLOPES] = {"slopes", "causes have the effect that they have where do() set them",
                     "moved otherwise by their causes where do() set those than where it did not: "
                     "%s. Something that nobody measured moves both, or do() did more than it says",
                     "believe edges into them only where do() set the cause; measure what may move "
                     "both",
                     WEIGHT_BREAKS},
    [TEST_NOISE] =
        {"noise", "the noise of a node varies alike in all sets",
         "noise that is larger in some sets than in others: %s. Weights are less certain "
         "than they look, and a cause may be missing",
         "look at these sets: other batches, instruments or hidden causes; leave out "
         "those that are not comparable",
         WEIGHT_BREAKS},
    [TEST_TAILS] = {"tails", "noise is normal, as far as its skewness and tails show",
                    "noise that is not normal (skewed, or with heavy tails): %s. Probabilities and "
                    "intervals assume that it is",
                    "look for outliers, or transform these variables (logarithms, ranks)",
                    WEIGHT_BREAKS},
    [TEST_KEPT] = {"cut", "nodes no longer follow their causes where do() set them",
                   "still moved by their causes where do() should have set them: %s. Such an "
                   "intervention shifts a node and does not set it",
                   "list as targets only what an intervention really sets; take others as sets of "
                   "their own without this target",
                   WEIGHT_BREAKS},
    [TEST_RESPONSE] =
        {"response", "nodes do not move merely because something is set",
         "moved whenever anything is set by do(), whatever it is: %s. The model takes "
         "that for a peculiarity of the rows without intervention: effects of do() "
         "against these leave it out",
         "handle control rows as all others are (a mock intervention)", WEIGHT_BREAKS},
    [TEST_DRIFT] =
        {"drift", "rows that follow one another are no more alike than others",
         "alike in rows that follow one another in the data: %s. Instruments that drift, "
         "and batches that are not told apart, make them so, and edges about these nodes "
         "may be false however certain they look; so does sorting rows by such a variable",
         "take off what drifts, leave out batches that differ, or shuffle rows that were "
         "sorted",
         WEIGHT_BREAKS},
};
static const finding HIDDEN = {
    "hidden", "no hidden cause of two nodes explains the rows better",
    "a cause that nobody measured, of two of these nodes, explains the rows better than edges "
    "alone: "
    "%s. Edges into them may be false however certain they look",
    "measure what may move both; believe edges into them only where do() set the cause",
    WEIGHT_BREAKS};
static const finding VALUES = {
    "values", "do() brought nodes to the values that it names",
    "not at the values that do() names: %s. What is read off x differs from them as much as the "
    "nodes' own noise; so it is where an intervention shifts a node and does not set it, and then "
    "z "
    "and its edges are wrong",
    "values must be what the node was set to, not by how much it was moved", WEIGHT_BREAKS};
static const finding SETS = {
    "sets", "sets differ by no more than do() and the noise of nodes explain",
    "batch effects: intervention sets differ by more than the noise for reasons of their own: %s. "
    "What a set that was never seen will have of its own is in every prediction",
    "measure sets side by side, or repeat them, so that what differs is do() alone", WEIGHT_BORNE};

/* What the noise of x, where it is known by itself, gives z. */
static double explained(const check_rows *t, size_t i)
{
    return t->in->view->kind == VIEW_LINEAR ? t->in->blur[i * t->d + i] : 0;
}

/* Are nodes off the values of do() by half of all that z varies about its parents where it is free?
 * The noise of x is in both: with o its part, log(off / (o + (left - o)/2)), of each node and of
 * all together, is above 0 there. The figure is their mean, 1/2 where it is 0. */
static void check_values(json_t *checks, const check_rows *t, const check_tests *c, uint8_t *which)
{
    const check_input *in = t->in;
    double sum = 0;
    double variance = 0;
    double nodes = 0;
    if (in->amiss == NULL) {
        return;
    }
    for (size_t i = 0; i < t->d; i++) {
        double samples = (double)in->a->anchor.samples[i];
        double noise = explained(t, i);
        double ratio = in->amiss[i] / (c->left[i] + noise);
        double unsure = t->unsure[i] * t->unit[i] * t->unit[i];
        if (!(ratio > 0) || !isfinite(ratio) || !(samples > 2) || !(c->count[i] > 2) ||
            unsure > (c->left[i] + noise) / 4) { /* the encoder's error is amiss, too */
            continue;
        }
        double spread = 2 / samples + 2 / c->count[i];
        double off = log(2 * ratio);
        double limit = tuned_check_chance() / (double)t->d;
        which[i] = off > 0 && chance_of_normal(off / sqrt(spread)) < limit ? 1 : 0;
        sum += off;
        variance += spread;
        nodes++;
    }
    bool all = sum > 0 && chance_of_normal(sum / sqrt(variance)) < tuned_check_chance();
    for (size_t i = 0; i < t->d && all; i++) {
        which[i] = 2 * in->amiss[i] > c->left[i] + explained(t, i) ? 1 : which[i];
    }
    find_listed(checks, &VALUES, nodes > 0 ? exp(sum / nodes) / 2 : (double)NAN, 0.5, which, t->d,
                in->names);
}

/* Pairs that explain the rows nearly as well as the best one does. */
static void check_hidden_pairs(json_t *checks, const check_rows *t, const check_tests *c,
                               uint8_t *which, uint8_t *doubted)
{
    const check_hidden *h = &c->hidden;
    size_t d = t->d;
    const double sure = tuned_check_decided();
    double none = check_hidden_none(h, d) + c->unmet;
    none = none > 1 ? 1 : none; /* NaN stays */
    double best = -INFINITY;
    for (size_t k = 0; k < d * d; k++) {
        best = fmax(best, h->gain[k]);
    }
    memset(which, 0, d);
    for (size_t k = 0; k < d * d && none < 1 - sure; k++) {
        if (h->gain[k] > best - log(sure / (1 - sure))) {
            which[k / d] = which[k % d] = doubted[k / d] = doubted[k % d] = 1;
        }
    }
    find_listed(checks, &HIDDEN, none, 1 - sure, which, d, t->in->names);
}

static void check_sets(json_t *checks, const check_rows *t, uint8_t *which)
{
    double most = 0;
    for (size_t i = 0; i < t->d; i++) {
        which[i] = t->tau[i] > 1 ? 1 : 0;
        most = fmax(most, t->tau[i]);
    }
    find_listed(checks, &SETS, t->sets > 1 ? most : (double)NAN, 1, which, t->d, t->in->names);
}

lscm_status check_fit(json_t *checks, json_t **edges, const check_input *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    check_rows t = {0};
    check_tests c = {0};
    uint8_t *which = calloc(2, in->a->d);
    if (which == NULL) {
        return fail_memory(why, 2 * in->a->d);
    }
    TRY(check_rows_of(&t, in, why));
    TRY(check_tests_of(&c, &t, why));
    uint8_t *doubted = which; /* tails, sets and responses leave edges as they are */
    TRY(check_design(checks, in, c.left, doubted, why));
    check_values(checks, &t, &c, doubted);
    check_sets(checks, &t, which + t.d);
    for (size_t k = 0; k < FAMILY_TESTS; k++) {
        if (k != TEST_KEPT || in->amiss == NULL) {
            find_nodes(checks, &TESTS[k], c.chance[k], t.d, in->names, c.by[k],
                       k != TEST_TAILS && k != TEST_RESPONSE ? doubted : NULL);
        }
    }
    check_hidden_pairs(checks, &t, &c, which + t.d, doubted);
    TRY(check_edges(edges, &t, &c, doubted, why));
done:
    check_tests_close(&c);
    check_rows_close(&t);
    free(which);
    return status;
}
