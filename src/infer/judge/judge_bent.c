/* Draws in which a node bends: see judge_score.h. Two paths of z, with noise e and -e, make what is
 * straight in a mean exact; of each only the mean of a node given its causes, and its chance to lie
 * below what is seen, are averaged. */
#include "infer/judge/judge_law.h"

#include "base/streams.h"

#include <math.h>

static const double LOG_SQRT_2_PI = 0.91893853320467274;

enum { PATHS = 2 };

double judge_bent_middle(const judge_work *w, size_t set, size_t k, size_t i)
{
    const anchored *a = w->a;
    double mean = 0;
    double kept = 0;
    for (size_t at = w->s->first[set]; at < w->s->first[set + 1]; at++) {
        size_t row = w->s->row[at];
        if (row_counts(w->rows->keep, row)) {
            kept += 1;
            mean += (bent_effect(&a->bent, k, i, a->z + row * a->d) - mean) / kept;
        }
    }
    return mean;
}

bool judge_draw_bends(const judge_work *w, size_t k)
{
    const bent_mechanisms *b = &w->a->bent;
    return w->a->bends && b->first[(k + 1) * b->d] > b->first[k * b->d];
}

static mechanism_model model_of(const judge_work *w, const judge_scratch *t, size_t k)
{
    size_t d = w->a->d;
    return (mechanism_model){.d = d,
                             .w = w->a->w + k * d * d,
                             .intercept = t->base + k * d,
                             .bent = &w->a->bent,
                             .draw = k};
}

/* Variance of the error of z_i as it is seen. */
static double error_of(const judge_work *w, const judge_scratch *t, size_t i)
{
    double actuator = w->a->anchor.actuator_noise;
    return t->target[i] != 0 ? actuator * actuator
                             : t->doubt[i] + (w->f->blur != NULL ? w->f->blur[i * w->a->d + i] : 0);
}

/* sds of what is seen of a node given its causes, and given those seen. */
static void find_spreads(const judge_work *w, judge_scratch *t, size_t k)
{
    size_t d = w->a->d;
    for (size_t at = 0; at < d; at++) {
        size_t i = w->a->order[k * d + at];
        double own = t->own[k * d + i];
        double seen = own * own + error_of(w, t, i);
        double given = seen;
        for (size_t e = w->edges.first[k * d + at]; e < w->edges.first[k * d + at + 1]; e++) {
            double weight = w->edges.weight[e];
            given += weight * weight * error_of(w, t, w->edges.parent[e]);
        }
        t->sd[k * d + i] = sqrt(seen);
        t->given[i] = sqrt(given);
    }
}

static void walk(const judge_work *w, judge_scratch *t, size_t k, size_t lane, size_t number)
{
    size_t d = w->a->d;
    const size_t *order = w->a->order + k * d;
    const mechanism_model model = model_of(w, t, k);
    const rng r = stream_of(w->rows->seed, STREAM_JUDGE);
    const double share = 1 / (double)(PATHS * w->a->draws);
    for (size_t at = 0; at < d; at++) {
        size_t i = order[at];
        double noise = rng_normal(r, (number * w->a->draws + k) * d + at);
        for (size_t path = 0; path < PATHS; path++) {
            double *z = t->path + path * d;
            double e = path == 0 ? noise : -noise;
            if (t->target[i] != 0) {
                z[i] = t->seen[i][lane] + w->a->anchor.actuator_noise * e;
                continue;
            }
            double mean = mechanism_simulate(&model, i, order, at, z, 0);
            z[i] = mean + t->own[k * d + i] * e;
            t->mean[i][lane] += share * mean;
            if (!w->rows->mean_alone) {
                double u = (t->seen[i][lane] - mean) / t->sd[k * d + i];
                t->below[i][lane] += share * 0.5 * erfc(-u / sqrt(2));
            }
        }
    }
}

static double log_density(const judge_work *w, const judge_scratch *t, size_t k, const double *seen)
{
    size_t d = w->a->d;
    const size_t *order = w->a->order + k * d;
    const mechanism_model model = model_of(w, t, k);
    double sum = 0;
    for (size_t at = 0; at < d; at++) {
        size_t i = order[at];
        if (t->target[i] == 0) {
            double u = (seen[i] - mechanism_simulate(&model, i, order, at, seen, 0)) / t->given[i];
            sum -= u * u / 2 + log(t->given[i]) + LOG_SQRT_2_PI;
        }
    }
    return sum;
}

void judge_bent_predict(const judge_work *w, judge_scratch *t, const row_group *g, size_t k)
{
    size_t d = w->a->d;
    double *seen = t->path;
    if (!w->rows->mean_alone) {
        find_spreads(w, t, k);
    }
    for (size_t lane = 0; lane < g->count; lane++) {
        for (size_t i = 0; i < d; i++) {
            seen[i] = t->seen[i][lane];
        }
        if (!w->rows->mean_alone) {
            t->log_p[k][lane] = log_density(w, t, k, seen);
        }
        walk(w, t, k, lane, g->number[lane]);
    }
}
