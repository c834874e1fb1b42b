#include "infer/anchored/judge.h"

#include "base/quantile.h"
#include "base/rng.h"
#include "base/tuned.h"
#include "data/design/design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STREAM = 9000 };

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
    double n, mean, variance; /* free, fitted */
    double rows, missed, spread, inside;
} judge_sums;

static void take_marginals(const linear_view *s, const anchored *a, const uint8_t *keep,
                           judge_sums *sum)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < s->rows; k++) {
            for (size_t i = 0; i < s->d && keep[k] != 0; i++) {
                double z = a->z[k * s->d + i];
                if (s->mask[k * s->d + i] == 0 && pass == 0) {
                    sum[i].n += 1;
                    sum[i].mean += (z - sum[i].mean) / sum[i].n;
                } else if (s->mask[k * s->d + i] == 0) {
                    sum[i].variance += (z - sum[i].mean) * (z - sum[i].mean) / sum[i].n;
                }
            }
        }
    }
}

typedef struct prediction {
    double *mean, *sample; /* (d), (draws, d): of z under do */
    double *z;             /* (d) */
    double *log_p;         /* (draws) */
    double *sorted;        /* (draws) */
} prediction;

static double log_normal(double z, double mean, double sd)
{
    double u = (z - mean) / sd;
    return -u * u / 2 - log(sd) - 0.91893853320467274;
}

/* All draws on one row: mean and samples of z under do, and the log density of the z seen. */
static void predict(const anchored *a, const linear_view *s, size_t row, rng r, const prediction *p)
{
    size_t d = s->d;
    const uint8_t *mask = s->mask + row * d;
    const double *seen = a->z + row * d;
    memset(p->mean, 0, d * sizeof(double));
    for (size_t k = 0; k < a->draws; k++) {
        const double *w = a->w + k * d * d;
        double *sample = p->sample + k * d;
        p->log_p[k] = 0;
        for (size_t at = 0; at < d; at++) {
            size_t i = a->order[k * d + at];
            double mean = a->intercept[k * d + i];
            double noisy = mean;
            double given = mean;
            for (size_t before = 0; before < at; before++) {
                size_t j = a->order[k * d + before];
                mean += w[j * d + i] * p->z[j];
                noisy += w[j * d + i] * sample[j];
                given += w[j * d + i] * seen[j];
            }
            if (mask[i] != 0) {
                p->z[i] = sample[i] = s->values[row * d + i];
                continue;
            }
            double sd = a->sigma[k * d + i];
            p->z[i] = mean;
            p->mean[i] += mean / (double)a->draws;
            sample[i] = noisy + sd * rng_normal(r, (row * tuned_judge_draws() + k) * d + i);
            p->log_p[k] += log_normal(seen[i], given, sd);
        }
    }
}

static bool is_inside(const prediction *p, size_t draws, size_t d, size_t i, double z)
{
    for (size_t k = 0; k < draws; k++) {
        p->sorted[k] = p->sample[k * d + i];
    }
    qsort(p->sorted, draws, sizeof *p->sorted, quantile_compare);
    size_t cut = draws / 20;
    return z >= p->sorted[cut] && z <= p->sorted[draws - 1 - cut];
}

static void score_row(const anchored *a, const linear_view *s, size_t row, const prediction *p,
                      judge_sums *sum, judgement *out)
{
    double most = -INFINITY;
    double total = 0;
    double empty = 0;
    for (size_t k = 0; k < a->draws; k++) {
        most = fmax(most, p->log_p[k]);
    }
    for (size_t k = 0; k < a->draws; k++) {
        total += exp(p->log_p[k] - most);
    }
    for (size_t i = 0; i < s->d; i++) {
        double z = a->z[row * s->d + i];
        if (s->mask[row * s->d + i] != 0) {
            continue;
        }
        sum[i].rows += 1;
        sum[i].missed += (z - p->mean[i]) * (z - p->mean[i]);
        sum[i].spread += (z - sum[i].mean) * (z - sum[i].mean);
        sum[i].inside += is_inside(p, a->draws, s->d, i, z) ? 1 : 0;
        empty += log_normal(z, sum[i].mean, sqrt(sum[i].variance) + 1e-6 * a->unit[i]);
    }
    out->log_likelihood += most + log(total / (double)a->draws);
    out->log_likelihood_empty += empty;
}

typedef struct scratch {
    mask_row *key;
    uint8_t *keep;
    size_t *total, *left;
    judge_sums *sum;
    prediction p;
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
    t->p = (prediction){.mean = arena_take(a, d, sizeof(double)),
                        .sample = arena_take(a, tuned_judge_draws() * d, sizeof(double)),
                        .z = arena_take(a, d, sizeof(double)),
                        .log_p = arena_take(a, tuned_judge_draws(), sizeof(double)),
                        .sorted = arena_take(a, tuned_judge_draws(), sizeof(double))};
    out->r2 = arena_take(&out->memory, d, sizeof(double));
    out->coverage = arena_take(&out->memory, d, sizeof(double));
}

/* Draws give nodes without an anchor other signs and names each time: no mean encoder, no z. */
static bool all_anchored(const anchored *a)
{
    bool all = true;
    for (size_t i = 0; i < a->d; i++) {
        all = all && a->anchor.kind[i] != ANCHOR_NONE;
    }
    return all;
}

static void score(judgement *out, const linear_view *s, const anchored *a, const scratch *t, rng r)
{
    size_t stride = (out->rows + tuned_judge_rows() - 1) / tuned_judge_rows();
    size_t met = 0;
    double used = 0;
    take_marginals(s, a, t->keep, t->sum);
    for (size_t k = 0; k < s->rows; k++) {
        if (t->keep[k] == 0 && met++ % stride == 0) {
            predict(a, s, k, r, &t->p);
            score_row(a, s, k, &t->p, t->sum, out);
            used += 1;
        }
    }
    out->log_likelihood /= used;
    out->log_likelihood_empty /= used;
    for (size_t i = 0; i < s->d; i++) {
        const judge_sums *n = &t->sum[i];
        out->r2[i] = n->spread > 0 ? 1 - n->missed / n->spread : NAN;
        out->coverage[i] = n->rows > 0 ? n->inside / n->rows : NAN;
    }
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
        TRY(anchored_infer(&a, &part, why));
    }
    if (j.rows >= tuned_judge_least() && all_anchored(&a)) {
        score(&j, s, &a, &t, (rng){seed, STREAM});
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
