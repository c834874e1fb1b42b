#include "infer/check/check_design.h"

#include "base/quantile.h"
#include "base/tuned.h"
#include "infer/check/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const finding CONSTANT = {"constant", "every column varies",
                                 "constant: %s. Nothing can be said of its edges",
                                 "leave it out, or measure it where it varies", WEIGHT_LIMITS};
static const finding COPIES = {
    "copies", "no column copies another",
    "the same as an earlier column, up to a factor and an offset: %s. Which of the two an edge "
    "belongs to means nothing",
    "keep one column of each", WEIGHT_BREAKS};
static const finding UNITS = {
    "units", "units do not matter: columns may span any number of decades", "%s", "", WEIGHT_BORNE};
static const finding DIGITS = {
    "digits", "numbers have digits enough",
    "written with too few digits, or of few values: %s. Rounding is as large as half of what their "
    "causes leave of them, and no noise that is normal",
    "write more digits (subtract a large offset before storing); few values are no linear variable",
    WEIGHT_BREAKS};
static const finding LABELS = {
    "labels", "values of do() reach as far as the variables do by themselves",
    "vary by themselves beyond the values that do() set: %s. There the encoder extrapolates",
    "set them to values farther apart", WEIGHT_LIMITS};
static const finding TOGETHER = {
    "together", "nodes were set together with different others, or x does not ask for it",
    "set together with no or always the same others: %s. Nothing checks how they are read off "
    "where "
    "others are set, and their weights are less certain than they look",
    "sets of several targets would tell", WEIGHT_LIMITS};
static const finding LEVELS = {
    "levels", "nodes were set to values enough, or x does not ask for many",
    "set to few different values: %s. Nothing checks how they are read off in between, and their "
    "weights are less certain than they look",
    "set them to more values", WEIGHT_LIMITS};
static const finding DECODER = {
    "decoder", "what a linear decoder leaves of x looks like noise",
    "a linear decoder does not explain x, and the rest is not noise: x bends%s", "--decoder mlp",
    WEIGHT_BREAKS};

typedef struct scratch {
    uint8_t *which; /* (columns or d) */
    size_t *sets;   /* (d) */
    size_t *levels; /* (d): different values that do() set */
    double *sorted; /* (rows) */
    arena memory;
} scratch;

static size_t wider(const check_input *in)
{
    size_t d = in->view->d;
    return in->columns != NULL && in->columns->count > d ? in->columns->count : d;
}

static void lay_out(scratch *q, const check_input *in)
{
    q->which = arena_take(&q->memory, wider(in), 1);
    q->sets = arena_take(&q->memory, in->view->d, sizeof *q->sets);
    q->levels = arena_take(&q->memory, in->view->d, sizeof *q->levels);
    q->sorted = arena_take(&q->memory, in->view->rows, sizeof *q->sorted);
}

/* Columns of x that are no variables themselves: the model bears with them. */
static finding borne(const finding *f, bool is)
{
    finding out = *f;
    out.weight = is ? WEIGHT_BORNE : f->weight;
    return out;
}

static void look_at_columns(json_t *checks, const check_input *in, const scratch *q,
                            const double *left, uint8_t *doubted)
{
    const check_columns *c = in->columns;
    bool observed = in->view->kind == VIEW_OBSERVED;
    char *const *names = observed ? in->names : in->column_names;
    const finding constant = borne(&CONSTANT, !observed);
    const finding copies = borne(&COPIES, !observed);
    const finding digits = borne(&DIGITS, !observed);
    double count = 0;
    double worst = 0;
    for (size_t i = 0; i < c->count; i++) {
        q->which[i] = c->sd[i] > 0 ? 0 : 1;
        count += q->which[i];
    }
    find_listed(checks, &constant, count, 0, q->which, c->count, names);
    count = 0;
    for (size_t i = 0; i < c->count; i++) {
        q->which[i] = c->copied[i] != i ? 1 : 0;
        count += q->which[i];
        if (observed && q->which[i] != 0) {
            doubted[i] = doubted[c->copied[i]] = 1;
        }
    }
    find_listed(checks, &copies, count, 0, q->which, c->count, names);
    memset(q->which, 0, c->count);
    find_listed(checks, &UNITS, c->decades, INFINITY, q->which, c->count, names);
    for (size_t i = 0; i < c->count; i++) {
        double varies = observed ? left[i] : c->sd[i] * c->sd[i];
        double share = varies > 0 && c->copied[i] == i ? c->coarse[i] / varies : 0;
        q->which[i] = share > tuned_check_coarse() ? 1 : 0;
        worst = fmax(worst, share);
        if (observed && q->which[i] != 0) {
            doubted[i] = 1;
        }
    }
    find_listed(checks, &digits, worst, tuned_check_coarse(), q->which, c->count, names);
}

/* Ends of the values that do() set node j to, and how many different ones there are. */
typedef struct label_range {
    double low, high;
    size_t levels;
} label_range;

static label_range range_of(const design *by, double *sorted, size_t j)
{
    label_range out = {INFINITY, -INFINITY, 0};
    size_t n = 0;
    for (size_t r = 0; r < by->rows; r++) {
        if (design_is_set(by, r, j)) {
            sorted[n++] = design_value(by, r, j);
        }
    }
    qsort(sorted, n, sizeof *sorted, quantile_compare);
    for (size_t k = 0; k < n; k++) {
        out.levels += k == 0 || sorted[k] > sorted[k - 1] ? 1 : 0;
    }
    if (n > 0) {
        out.low = sorted[0];
        out.high = sorted[n - 1];
    }
    return out;
}

/* Share of the free z of a node beyond its labels. */
static double beyond(const check_input *in, const label_range *range, size_t j)
{
    const design *by = &in->view->design;
    double free = 0;
    double out = 0;
    for (size_t r = 0; r < by->rows; r++) {
        double z = in->z[r * by->d + j];
        if (!design_is_set(by, r, j)) {
            free++;
            out += z < range->low || z > range->high ? 1 : 0;
        }
    }
    return free > 0 ? out / free : 0;
}

/* Labels, of causal variables that are read off x; where x is linear in them, a line goes on. */
static void look_at_labels(json_t *checks, const check_input *in, const scratch *q)
{
    const design *by = &in->view->design;
    size_t d = by->d;
    bool bends = in->view->kind == VIEW_READ_OFF;
    const finding labels = borne(&LABELS, !bends);
    double most = 0;
    double fewest = INFINITY;
    double alone = INFINITY;
    design_count(by, NULL, NULL, q->sets);
    memset(q->which, 0, d);
    for (size_t j = 0; j < d; j++) {
        label_range range = range_of(by, q->sorted, j);
        double share = range.levels > 1 ? beyond(in, &range, j) : 0;
        q->levels[j] = range.levels;
        q->which[j] = share > tuned_warn_outside() ? 1 : 0;
        most = fmax(most, share);
    }
    find_listed(checks, &labels, most, tuned_warn_outside(), q->which, d, in->names);
    for (size_t j = 0; j < d; j++) {
        q->which[j] = bends && q->sets[j] < tuned_warn_sets() ? 1 : 0;
        alone = q->sets[j] > 0 ? fmin(alone, (double)q->sets[j]) : alone;
    }
    find_listed(checks, &TOGETHER, alone, (double)tuned_warn_sets(), q->which, d, in->names);
    for (size_t j = 0; j < d; j++) {
        size_t levels = q->levels[j];
        q->which[j] = bends && levels < tuned_warn_levels() ? 1 : 0;
        fewest = levels > 0 ? fmin(fewest, (double)levels) : fewest;
    }
    find_listed(checks, &LEVELS, fewest, (double)tuned_warn_levels(), q->which, d, in->names);
}

static void look_at_decoder(json_t *checks, const check_input *in)
{
    const linear_view *s = in->view;
    double explained = linear_view_explained(s);
    bool poor = linear_view_bends(s) && explained < tuned_warn_explained();
    find_plain(checks, &DECODER, explained, tuned_warn_explained(), poor);
}

lscm_status check_design(json_t *checks, const check_input *in, const double *left,
                         uint8_t *doubted, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    scratch q = {.which = NULL};
    lay_out(&q, in);
    TRY(arena_open(&q.memory, why));
    lay_out(&q, in);
    if (in->columns != NULL) {
        look_at_columns(checks, in, &q, left, doubted);
    }
    if (in->view->kind == VIEW_LINEAR) {
        look_at_decoder(checks, in);
    }
    if (in->view->kind != VIEW_OBSERVED) {
        look_at_labels(checks, in, &q);
    }
done:
    arena_close(&q.memory);
    return status;
}
