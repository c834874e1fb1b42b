#include "infer/judge/judge_sets.h"

#include "base/tuned.h"
#include "infer/judge/judge_score.h"
#include "infer/judge/set_ratio.h"

#include <math.h>
#include <string.h>

/* Sums of one node over the rows fitted, then over those held out. */
typedef struct judge_sums {
    double mean, variance; /* free, fitted */
    double missed, spread;
    set_ratio closer, inside;
} judge_sums;

static void take_marginals(const design *s, const anchored *a, const uint8_t *keep, judge_sums *sum)
{
    const latent_rows z = {s, a->z, keep, false};
#pragma omp parallel for schedule(static) if (spread_shared(&z))
    for (size_t first = 0; first < s->d; first += SPREAD_BLOCK) {
        column_spread own[SPREAD_BLOCK];
        spread_columns(&z, first, SPREAD_FREE, own);
        for (size_t i = first; i < s->d && i < first + SPREAD_BLOCK; i++) {
            const column_spread *from = &own[i - first];
            sum[i].mean = from->mean;
            sum[i].variance = from->n > 0 ? from->squares / from->n : 0;
        }
    }
}

static double log_normal(double z, double mean, double sd)
{
    double u = (z - mean) / sd;
    return -u * u / 2 - log(sd) - 0.91893853320467274;
}

/* Sums over all nodes. */
typedef struct judge_all {
    double log_p, empty;
    set_ratio better, inside;
} judge_all;

/* Row n of the predictions is row `row` of the design. */
static void score_row(const judged_rows *by, const anchored *a, const predictions *p, size_t n,
                      judge_sums *sum, judge_all *all)
{
    size_t d = a->d;
    const uint8_t *target = design_targets(by->design, by->row[n]);
    double empty = 0;
    for (size_t i = 0; i < d; i++) {
        double z = a->z[by->row[n] * d + i];
        double below = p->below[n * d + i];
        double inside = below >= 0.05 && below <= 0.95 ? 1 : 0;
        double missed = z - p->mean[n * d + i];
        double away = z - sum[i].mean;
        if (target[i] != 0) {
            continue;
        }
        sum[i].missed += missed * missed;
        sum[i].spread += away * away;
        set_ratio_add(&sum[i].closer, away * away - missed * missed, 1);
        set_ratio_add(&sum[i].inside, inside, 1);
        set_ratio_add(&all->inside, inside, 1);
        empty += log_normal(z, sum[i].mean, sqrt(sum[i].variance) + 1e-6 * a->unit[i]);
    }
    set_ratio_add(&all->better, p->log_p[n] - empty, 1);
    all->log_p += p->log_p[n];
    all->empty += empty;
}

/* 90% of independent rows are inside, with the variance that this has at least. */
static double wider(const set_ratio *inside)
{
    return set_ratio_beyond(inside, 0.9, 0.9 * 0.1 / inside->b);
}

typedef struct scratch {
    uint8_t *keep;
    size_t *row; /* (most): those judged by */
    judge_sums *sum;
    arena memory;
} scratch;

static void lay_out(scratch *t, judgement *out, const design *s)
{
    arena *a = &t->memory;
    size_t d = s->d;
    double **nodes[] = {&out->r2, &out->coverage, &out->closer, &out->wider};
    t->keep = arena_take(a, s->rows, 1);
    t->sum = arena_take(a, d, sizeof *t->sum);
    t->row = arena_take(a, tuned_judge_rows(), sizeof *t->row);
    for (size_t k = 0; k < sizeof nodes / sizeof nodes[0]; k++) {
        *nodes[k] = arena_take(&out->memory, d, sizeof(double));
    }
}

bool can_judge(const anchored *a)
{
    bool all = a->draws > 0;
    for (size_t i = 0; i < a->d; i++) {
        all = all && a->anchor.kind[i] != ANCHOR_NONE;
    }
    return all;
}

/* Every so many of the rows held out, set by set; returns how many. */
static size_t choose_rows(const design *s, const scratch *t, size_t held)
{
    size_t stride = (held + tuned_judge_rows() - 1) / tuned_judge_rows();
    size_t met = 0;
    size_t used = 0;
    for (size_t at = 0; at < s->rows; at++) {
        if (t->keep[s->row[at]] == 0 && met++ % stride == 0) {
            t->row[used++] = s->row[at];
        }
    }
    return used;
}

static void conclude(judgement *out, const scratch *t, const judge_all *all, double rows)
{
    out->log_likelihood = all->log_p / rows;
    out->log_likelihood_empty = all->empty / rows;
    out->better = set_ratio_beyond(&all->better, 0, 0);
    out->wider_all = wider(&all->inside);
    for (size_t i = 0; i < out->d; i++) {
        const judge_sums *n = &t->sum[i];
        out->r2[i] = n->spread > 0 ? 1 - n->missed / n->spread : NAN;
        out->coverage[i] = set_ratio_of(&n->inside);
        out->closer[i] = set_ratio_beyond(&n->closer, 0, 0);
        out->wider[i] = wider(&n->inside);
    }
}

static lscm_status score(judgement *out, const judged *of, const judged_fit *f, const scratch *t,
                         lscm_error *why)
{
    const design *s = of->design;
    lscm_status status = LSCM_OK;
    predictions p = {0};
    judge_all all = {0};
    judged_rows by = {s, t->keep, t->row, choose_rows(s, t, out->rows), false, of->seed};
    take_marginals(s, &f->a, t->keep, t->sum);
    TRY(predictions_of(&p, f, &by, why));
    for (size_t n = 0; n < by.count; n++) {
        score_row(&by, &f->a, &p, n, t->sum, &all);
        if (n + 1 == by.count || s->set[by.row[n]] != s->set[by.row[n + 1]]) {
            set_ratio_next(&all.better);
            set_ratio_next(&all.inside);
            for (size_t i = 0; i < s->d; i++) {
                set_ratio_next(&t->sum[i].closer);
                set_ratio_next(&t->sum[i].inside);
            }
        }
    }
    conclude(out, t, &all, (double)by.count);
done:
    predictions_close(&p);
    return status;
}

lscm_status judge(judgement *out, const judged *of, double share, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const design *s = of->design;
    held_rows held;
    judgement j = {.d = s->d};
    judged_fit f = {0};
    scratch t = {0};
    lay_out(&t, &j, s);
    TRY(arena_open(&t.memory, why));
    TRY(arena_open(&j.memory, why));
    lay_out(&t, &j, s);
    TRY(hold_out_rows(s, of->seed, share, of->labels, t.keep, &held, why));
    j.sets = held.sets;
    j.rows = held.rows;
    if (j.rows >= tuned_judge_least()) {
        TRY(of->fit(of->self, t.keep, &f, why));
    }
    if (j.rows >= tuned_judge_least() && can_judge(&f.a)) {
        TRY(score(&j, of, &f, &t, why));
    } else {
        j.rows = j.sets = 0;
    }
    *out = j;
    j.memory = (arena){0};
done:
    judged_fit_close(&f);
    arena_close(&t.memory);
    arena_close(&j.memory);
    return status;
}

void judgement_close(judgement *j)
{
    arena_close(&j->memory);
}
