#include "infer/anchored/judge.h"

#include "base/tuned.h"
#include "infer/anchored/judge_score.h"

#include <math.h>
#include <string.h>

/* Sums of one node over the rows fitted, then over those held out. */
typedef struct judge_sums {
    double mean, variance; /* free, fitted */
    double rows, missed, spread, inside;
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

/* Row n of the predictions is row `row` of the design. */
static void score_row(const anchored *a, const design *s, size_t row, const predictions *p,
                      size_t n, judge_sums *sum, judgement *out)
{
    const uint8_t *target = design_targets(s, row);
    double empty = 0;
    for (size_t i = 0; i < s->d; i++) {
        double z = a->z[row * s->d + i];
        double mean = p->mean[n * s->d + i];
        double below = p->below[n * s->d + i];
        if (target[i] != 0) {
            continue;
        }
        sum[i].rows += 1;
        sum[i].missed += (z - mean) * (z - mean);
        sum[i].spread += (z - sum[i].mean) * (z - sum[i].mean);
        sum[i].inside += below >= 0.05 && below <= 0.95 ? 1 : 0;
        empty += log_normal(z, sum[i].mean, sqrt(sum[i].variance) + 1e-6 * a->unit[i]);
    }
    out->log_likelihood += p->log_p[n];
    out->log_likelihood_empty += empty;
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
    t->keep = arena_take(a, s->rows, 1);
    t->sum = arena_take(a, d, sizeof *t->sum);
    t->row = arena_take(a, tuned_judge_rows(), sizeof *t->row);
    out->r2 = arena_take(&out->memory, d, sizeof(double));
    out->coverage = arena_take(&out->memory, d, sizeof(double));
}

bool can_judge(const anchored *a)
{
    bool all = a->draws > 0;
    for (size_t i = 0; i < a->d; i++) {
        all = all && a->anchor.kind[i] != ANCHOR_NONE;
    }
    return all;
}

static lscm_status score(judgement *out, const design *s, const anchored *a, const scratch *t,
                         lscm_error *why)
{
    lscm_status status = LSCM_OK;
    predictions p = {0};
    size_t stride = (out->rows + tuned_judge_rows() - 1) / tuned_judge_rows();
    size_t met = 0;
    size_t used = 0;
    for (size_t k = 0; k < s->rows; k++) {
        if (t->keep[k] == 0 && met++ % stride == 0) {
            t->row[used++] = k;
        }
    }
    take_marginals(s, a, t->keep, t->sum);
    TRY(predictions_of(&p, a, s, t->row, used, why));
    for (size_t n = 0; n < used; n++) {
        score_row(a, s, t->row[n], &p, n, t->sum, out);
    }
    out->log_likelihood /= (double)used;
    out->log_likelihood_empty /= (double)used;
    for (size_t i = 0; i < s->d; i++) {
        const judge_sums *n = &t->sum[i];
        out->r2[i] = n->spread > 0 ? 1 - n->missed / n->spread : NAN;
        out->coverage[i] = n->rows > 0 ? n->inside / n->rows : NAN;
    }
done:
    predictions_close(&p);
    return status;
}

void judged_fit_close(judged_fit *f)
{
    anchored_close(&f->a);
    arena_close(&f->memory);
}

static lscm_status fit_view(const void *self, const uint8_t *keep, judged_fit *out, lscm_error *why)
{
    const anchored_input *in = self;
    anchored_input part = *in;
    part.keep = keep;
    part.draws = tuned_judge_draws();
    part.brief = true;
    return anchored_infer(&out->a, &part, why);
}

judged judged_view(const anchored_input *in)
{
    return (judged){&in->view->design, (uint64_t)in->settings->seed, fit_view, in};
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
    TRY(hold_out_rows(s, of->seed, share, t.keep, &held, why));
    j.sets = held.sets;
    j.rows = held.rows;
    if (j.rows >= tuned_judge_least()) {
        TRY(of->fit(of->self, t.keep, &f, why));
    }
    if (j.rows >= tuned_judge_least() && can_judge(&f.a)) {
        TRY(score(&j, s, &f.a, &t, why));
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
