#include "infer/judge/judge_targets.h"

#include "base/quantile.h"
#include "base/streams.h"
#include "base/tuned.h"
#include "infer/judge/judge_score.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a pair (t, i) is seen to do, and what it is expected to. */
typedef enum way { SEEN, BY_MODEL, BY_OTHERS, BY_CORRELATION, WAYS } way;

/* A node in the rows kept. */
typedef struct node_seen {
    double rows, mean, squares; /* where nothing is set, or all where it is free */
    double others;              /* shift of its mean in the other sets, and how many */
    double sets;
} node_seen;

typedef struct scratch {
    size_t count;    /* targets */
    size_t *target;  /* (count): in the order in which they are left out */
    uint8_t *keep;   /* (rows) */
    uint8_t *out;    /* (d): left out now */
    size_t *row;     /* (most): those asked about */
    node_seen *node; /* (d) */
    double *middle;  /* (d): mean of a set */
    double *effect;  /* (WAYS, count d) */
    double *error;   /* (count d): variance of what is seen */
    double *rank;    /* (3, count d): and scratch */
    size_t pairs;
    arena memory;
} scratch;

static void lay_out(scratch *t, const design *s)
{
    arena *a = &t->memory;
    size_t pairs = s->d * s->d;
    t->target = arena_take(a, s->d, sizeof *t->target);
    t->keep = arena_take(a, s->rows, 1);
    t->out = arena_take(a, s->d, 1);
    t->row = arena_take(a, tuned_judge_rows(), sizeof *t->row);
    t->node = arena_take(a, s->d, sizeof *t->node);
    t->middle = arena_take(a, s->d, sizeof *t->middle);
    t->effect = arena_take(a, WAYS * pairs, sizeof *t->effect);
    t->error = arena_take(a, pairs, sizeof *t->error);
    t->rank = arena_take(a, 3 * pairs, sizeof *t->rank);
}

/* ---- Who is left out ---- */

static bool is_single(const design *s)
{
    bool single = true;
    for (size_t k = 0; k < s->sets; k++) {
        size_t targets = 0;
        for (size_t j = 0; j < s->d; j++) {
            targets += s->target[k * s->d + j] != 0 ? 1 : 0;
        }
        single = single && targets <= 1;
    }
    return single;
}

/* Nodes that do() sets in some rows, not in all, in an order that the seed says. */
static void list_targets(scratch *t, const judged *of)
{
    const design *s = of->design;
    for (size_t j = 0; j < s->d; j++) {
        size_t rows = 0;
        for (size_t k = 0; k < s->sets; k++) {
            rows += s->target[k * s->d + j] != 0 ? design_set_rows(s, k) : 0;
        }
        if (rows >= tuned_judge_least() && s->rows - rows >= 2 * s->d + tuned_judge_least()) {
            t->target[t->count++] = j;
        }
    }
    for (size_t k = t->count; k > 1; k--) { /* Fisher and Yates */
        size_t other = rng_below(stream_of(of->seed, STREAM_LEFT_OUT), k, k);
        size_t last = t->target[k - 1];
        t->target[k - 1] = t->target[other];
        t->target[other] = last;
    }
}

/* Leaves these targets out; returns how many rows are asked about. */
static size_t leave_out(scratch *t, const design *s, const size_t *target, size_t count)
{
    size_t held = 0;
    size_t met = 0;
    size_t used = 0;
    memset(t->out, 0, s->d);
    memset(t->keep, 1, s->rows);
    for (size_t k = 0; k < count; k++) {
        t->out[target[k]] = 1;
    }
    for (size_t at = 0; at < s->rows; at++) {
        const uint8_t *set = design_targets(s, s->row[at]);
        for (size_t j = 0; j < s->d; j++) {
            t->keep[s->row[at]] = set[j] != 0 && t->out[j] != 0 ? 0 : t->keep[s->row[at]];
        }
        held += t->keep[s->row[at]] == 0 ? 1 : 0;
    }
    size_t stride = held / tuned_judge_rows() + 1;
    for (size_t at = 0; at < s->rows; at++) {
        if (t->keep[s->row[at]] == 0 && met++ % stride == 0) {
            t->row[used++] = s->row[at];
        }
    }
    return used;
}

/* ---- What is known of the rows kept ---- */

static bool has_observational(const design *s)
{
    return s->sets > 0 && design_untouched(s, 0);
}

/* Means of all nodes over the rows of a set that are kept; returns how many. */
static double middle_of(scratch *t, const design *s, const double *z, size_t set)
{
    double rows = 0;
    memset(t->middle, 0, s->d * sizeof *t->middle);
    for (size_t at = s->first[set]; at < s->first[set + 1]; at++) {
        size_t row = s->row[at];
        rows += t->keep[row];
        for (size_t i = 0; i < s->d && t->keep[row] != 0; i++) {
            t->middle[i] += (z[row * s->d + i] - t->middle[i]) / rows;
        }
    }
    return rows;
}

static void take_nodes(scratch *t, const design *s, const double *z)
{
    bool observational = has_observational(s);
    memset(t->node, 0, s->d * sizeof *t->node);
    for (size_t at = 0; at < s->rows; at++) {
        size_t row = s->row[at];
        const uint8_t *set = design_targets(s, row);
        bool used = t->keep[row] != 0 && (!observational || s->set[row] == 0);
        for (size_t i = 0; i < s->d && used; i++) {
            node_seen *n = &t->node[i];
            double away = z[row * s->d + i] - n->mean;
            if (set[i] == 0) {
                n->rows += 1;
                n->mean += away / n->rows;
                n->squares += away * (z[row * s->d + i] - n->mean);
            }
        }
    }
    for (size_t k = 0; k < s->sets; k++) {
        double rows = design_untouched(s, k) ? 0 : middle_of(t, s, z, k);
        for (size_t i = 0; i < s->d && rows > 0; i++) {
            node_seen *n = &t->node[i];
            if (s->target[k * s->d + i] == 0) {
                n->sets += 1;
                n->others += (t->middle[i] - n->mean - n->others) / n->sets;
            }
        }
    }
}

/* Slope of i on t where nothing is set, or both are free. */
static double slope_of(const scratch *t, const design *s, const double *z, size_t target, size_t i)
{
    size_t end = has_observational(s) ? s->first[1] : s->rows;
    double cross = 0;
    double squares = 0;
    for (size_t at = 0; at < end; at++) {
        size_t row = s->row[at];
        const uint8_t *set = design_targets(s, row);
        if (t->keep[row] != 0 && set[i] == 0 && set[target] == 0) {
            double away = z[row * s->d + target] - t->node[target].mean;
            cross += away * (z[row * s->d + i] - t->node[i].mean);
            squares += away * away;
        }
    }
    return squares > 0 ? cross / squares : 0;
}

/* ---- Pairs ---- */

typedef struct pair_sums {
    double rows, shift, shifts; /* sum of u, of u^2 */
    double seen, expected;      /* of u (z - m), u (E z - m) */
    double mean, squares;       /* of z */
} pair_sums;

static pair_sums sum_pair(const scratch *t, const judged_rows *by, const double *z,
                          const predictions *p, size_t target, size_t i)
{
    const design *s = by->design;
    const node_seen *n = &t->node[i];
    pair_sums sum = {0};
    for (size_t k = 0; k < by->count; k++) {
        const uint8_t *set = design_targets(s, by->row[k]);
        if (set[target] == 0 || set[i] != 0) {
            continue;
        }
        double u = design_value(s, by->row[k], target) - t->node[target].mean;
        double seen = z[by->row[k] * s->d + i];
        double away = seen - sum.mean;
        sum.rows += 1;
        sum.shift += u;
        sum.shifts += u * u;
        sum.seen += u * (seen - n->mean);
        sum.expected += u * (p->mean[k * s->d + i] - n->mean);
        sum.mean += away / sum.rows;
        sum.squares += away * (seen - sum.mean);
    }
    return sum;
}

/* Without the last digits: effects that differ by rounding alone have one rank. */
static double rounded(double effect)
{
    return nearbyint(effect * 1e9) / 1e9;
}

static void take_pairs(scratch *t, const judged_rows *by, const double *z, const predictions *p,
                       size_t target)
{
    const design *s = by->design;
    size_t all = s->d * s->d;
    for (size_t i = 0; i < s->d; i++) {
        const node_seen *n = &t->node[i];
        pair_sums sum = sum_pair(t, by, z, p, target, i);
        double sd = sqrt(n->squares / n->rows);
        double scale = sd * sqrt(sum.rows * sum.shifts);
        if (i == target || !(scale > 0) || !(n->rows >= 2) || sum.rows < 2) {
            continue;
        }
        size_t at = t->pairs++;
        t->effect[SEEN * all + at] = sum.seen / scale;
        t->effect[BY_MODEL * all + at] = rounded(sum.expected / scale);
        t->effect[BY_OTHERS * all + at] = n->others * sum.shift / scale;
        t->effect[BY_CORRELATION * all + at] = slope_of(t, s, z, target, i) * sum.shifts / scale;
        t->error[at] = sum.squares / (sum.rows - 1) / (sd * sd) / sum.rows + 1 / n->rows;
    }
}

/* ---- Scores ---- */

/* How many of n sorted numbers are below x, or not above it. */
static size_t below(const double *sorted, size_t n, double x, bool or_equal)
{
    size_t low = 0;
    size_t high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        bool before = sorted[middle] < x || (or_equal && sorted[middle] == x);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

/* Ranks, alike where numbers are: sorted (n) is scratch. */
static void rank(const double *x, size_t n, double *sorted, double *out)
{
    memcpy(sorted, x, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, quantile_compare);
    for (size_t k = 0; k < n; k++) {
        out[k] = (double)(below(sorted, n, x[k], false) + below(sorted, n, x[k], true) - 1) / 2;
    }
}

static effect_score score(const scratch *t, const design *s, way by)
{
    size_t all = s->d * s->d;
    const double *seen = t->effect + SEEN * all;
    const double *expected = t->effect + by * all;
    double *left = t->rank;
    double *right = t->rank + all;
    double middle = ((double)t->pairs - 1) / 2;
    double missed = 0;
    double total = 0;
    double xx = 0;
    double yy = 0;
    double xy = 0;
    rank(seen, t->pairs, t->rank + 2 * all, left);
    rank(expected, t->pairs, t->rank + 2 * all, right);
    for (size_t k = 0; k < t->pairs; k++) {
        missed += (seen[k] - expected[k]) * (seen[k] - expected[k]);
        total += seen[k] * seen[k];
        xx += (left[k] - middle) * (left[k] - middle);
        yy += (right[k] - middle) * (right[k] - middle);
        xy += (left[k] - middle) * (right[k] - middle);
    }
    return (effect_score){xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN,
                          total > 0 ? 1 - missed / total : NAN};
}

/* Squares of what is seen beyond what their errors make of them, three sds of that: if they were
 * chi2. */
static bool is_telling(const scratch *t, const design *s)
{
    size_t all = s->d * s->d;
    double seen = 0;
    double expected = 0;
    double error = 0;
    double errors = 0;
    for (size_t k = 0; k < t->pairs; k++) {
        seen += t->effect[SEEN * all + k] * t->effect[SEEN * all + k];
        expected += t->effect[BY_MODEL * all + k] * t->effect[BY_MODEL * all + k];
        error += t->error[k];
        errors += t->error[k] * t->error[k];
    }
    return seen > error + 3 * sqrt(2 * errors) || expected > error;
}

bool left_out_beaten(const left_out *l)
{
    return l->targets > 0 && l->telling &&
           !(l->model.r2 > 0 && l->model.r2 >= l->others.r2 && l->model.r2 >= l->correlation.r2);
}

static lscm_status judge_fold(scratch *t, const judged *of, const size_t *target, size_t count,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const design *s = of->design;
    judged_fit f = {0};
    predictions p = {0};
    judged_rows by = {s, t->keep, t->row, leave_out(t, s, target, count), true, of->seed};
    TRY(of->fit(of->self, t->keep, &f, why));
    TRY(predictions_of(&p, &f, &by, why));
    take_nodes(t, s, f.a.z);
    for (size_t k = 0; k < count; k++) {
        take_pairs(t, &by, f.a.z, &p, target[k]);
    }
done:
    predictions_close(&p);
    judged_fit_close(&f);
    return status;
}

lscm_status judge_targets(left_out *out, const judged *of, size_t most, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const design *s = of->design;
    scratch t = {0};
    *out = (left_out){0};
    lay_out(&t, s);
    TRY(arena_open(&t.memory, why));
    lay_out(&t, s);
    list_targets(&t, of);
    if (of->labels > 0 || t.count < 2) {
        goto done;
    }
    size_t parts = is_single(s) && t.count > tuned_judge_parts() ? tuned_judge_parts() : t.count;
    size_t fits = parts < most ? parts : most;
    for (size_t k = 0; k < fits; k++) {
        size_t first = k * t.count / parts;
        TRY(judge_fold(&t, of, t.target + first, (k + 1) * t.count / parts - first, why));
    }
    if (t.pairs >= 2) {
        *out = (left_out){.of = t.count, .fits = fits, .pairs = t.pairs};
        out->targets = fits * t.count / parts;
        out->model = score(&t, s, BY_MODEL);
        out->others = score(&t, s, BY_OTHERS);
        out->correlation = score(&t, s, BY_CORRELATION);
        out->telling = is_telling(&t, s);
    }
done:
    arena_close(&t.memory);
    return status;
}
