#include "infer/anchored/judge.h"

#include "base/tuned.h"
#include "data/design/design.h"
#include "infer/anchored/judge_score.h"

#include <math.h>
#include <string.h>

/* ---- What to hold out ---- */

/* Rows with a target, by mask, in an order that depends on the seed alone; returns their number. */
static size_t list_rows(const linear_view *s, uint64_t seed, mask_row *key)
{
    size_t count = 0;
    for (size_t k = 0; k < s->rows; k++) {
        const uint8_t *mask = s->mask + k * s->d;
        if (memchr(mask, 1, s->d) != NULL) {
            key[count++] = (mask_row){mask_hash(mask, s->d, seed), k};
        }
    }
    mask_rows_sort(key, count);
    return count;
}

/* Each target of the set keeps half of its rows, and enough for an anchor. */
static bool can_spare(const linear_view *s, const uint8_t *mask, size_t rows, const size_t *total,
                      const size_t *left)
{
    for (size_t i = 0; i < s->d; i++) {
        if (mask[i] != 0 && (2 * (left[i] - rows) < total[i] || left[i] - rows < 2 * (s->d + 2))) {
            return false;
        }
    }
    return true;
}

static void hold_out_sets(const linear_view *s, const mask_row *key, size_t count, double share,
                          size_t *total, size_t *left, uint8_t *keep, judgement *out)
{
    size_t wanted = (size_t)(share * (double)count);
    size_t to = 0;
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < s->d; i++) {
            total[i] += s->mask[key[k].row * s->d + i];
        }
    }
    memcpy(left, total, s->d * sizeof *left);
    for (size_t from = 0; from < count; from = to) {
        const uint8_t *mask = s->mask + key[from].row * s->d;
        for (to = from + 1; to < count && memcmp(mask, s->mask + key[to].row * s->d, s->d) == 0;) {
            to++;
        }
        if (out->rows + (to - from) > wanted || !can_spare(s, mask, to - from, total, left)) {
            continue;
        }
        out->sets++;
        out->rows += to - from;
        for (size_t k = from; k < to; k++) {
            keep[key[k].row] = 0;
        }
        for (size_t i = 0; i < s->d; i++) {
            left[i] -= mask[i] != 0 ? to - from : 0;
        }
    }
}

/* Every so many rows of those with a target, which stand by mask. */
static void hold_out_rows(const linear_view *s, const mask_row *key, size_t count, double share,
                          const size_t *total, size_t *left, uint8_t *keep, judgement *out)
{
    for (size_t k = 0; k < count; k++) {
        const uint8_t *mask = s->mask + key[k].row * s->d;
        bool due = (size_t)((double)(k + 1) * share) > (size_t)((double)k * share);
        if (!due || !can_spare(s, mask, 1, total, left)) {
            continue;
        }
        keep[key[k].row] = 0;
        out->rows++;
        for (size_t i = 0; i < s->d; i++) {
            left[i] -= mask[i] != 0 ? 1 : 0;
        }
    }
}

/* ---- What the model says there ---- */

/* Sums of one node over the rows fitted, then over those held out. */
typedef struct judge_sums {
    double mean, variance; /* free, fitted */
    double rows, missed, spread, inside;
} judge_sums;

static void take_marginals(const linear_view *s, const anchored *a, const uint8_t *keep,
                           judge_sums *sum)
{
    const latent_rows z = {&s->design, a->z, keep};
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

/* Row n of the predictions is row `row` of the view. */
static void score_row(const anchored *a, const linear_view *s, size_t row, const predictions *p,
                      size_t n, judge_sums *sum, judgement *out)
{
    double empty = 0;
    for (size_t i = 0; i < s->d; i++) {
        double z = a->z[row * s->d + i];
        double mean = p->mean[n * s->d + i];
        double below = p->below[n * s->d + i];
        if (s->mask[row * s->d + i] != 0) {
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
    mask_row *key;
    uint8_t *keep;
    size_t *total, *left;
    size_t *row; /* (most): those judged by */
    judge_sums *sum;
    arena memory;
} scratch;

static void lay_out(scratch *t, judgement *out, const linear_view *s)
{
    arena *a = &t->memory;
    size_t d = s->d;
    t->key = arena_take(a, s->rows, sizeof *t->key);
    t->keep = arena_take(a, s->rows, 1);
    t->total = arena_take(a, d, sizeof *t->total);
    t->left = arena_take(a, d, sizeof *t->left);
    t->sum = arena_take(a, d, sizeof *t->sum);
    t->row = arena_take(a, tuned_judge_rows(), sizeof *t->row);
    out->r2 = arena_take(&out->memory, d, sizeof(double));
    out->coverage = arena_take(&out->memory, d, sizeof(double));
}

bool can_judge(const anchored *a)
{
    bool all = true;
    for (size_t i = 0; i < a->d; i++) {
        all = all && a->anchor.kind[i] != ANCHOR_NONE;
    }
    return all;
}

static lscm_status score(judgement *out, const linear_view *s, const anchored *a, const scratch *t,
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

lscm_status judge(judgement *out, const anchored_input *in, double share, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const linear_view *s = in->view;
    uint64_t seed = (uint64_t)in->settings->seed;
    judgement j = {.d = s->d};
    anchored a = {0};
    scratch t = {0};
    lay_out(&t, &j, s);
    TRY(arena_open(&t.memory, why));
    TRY(arena_open(&j.memory, why));
    lay_out(&t, &j, s);
    memset(t.keep, 1, s->rows);
    size_t count = list_rows(s, seed, t.key);
    hold_out_sets(s, t.key, count, share, t.total, t.left, t.keep, &j);
    if (j.rows == 0) {
        hold_out_rows(s, t.key, count, share, t.total, t.left, t.keep, &j);
    }
    if (j.rows >= tuned_judge_least()) {
        anchored_input part = *in;
        part.keep = t.keep;
        part.draws = tuned_judge_draws();
        part.brief = true;
        TRY(anchored_infer(&a, &part, why));
    }
    if (j.rows >= tuned_judge_least() && can_judge(&a)) {
        TRY(score(&j, s, &a, &t, why));
    } else {
        j.rows = j.sets = 0;
    }
    *out = j;
    j.memory = (arena){0};
done:
    anchored_close(&a);
    arena_close(&t.memory);
    arena_close(&j.memory);
    return status;
}

void judgement_close(judgement *j)
{
    arena_close(&j->memory);
}
