/* What all rows of a set share: its own intercepts, sds, and where z has errors the factor of cov z
 * + errors, once for each draw. Where z is seen as it is, the free z of a row are independent given
 * those before them, and no matrix is needed. */
#include "infer/judge/judge_law.h"

#include <lapacke.h>
#include <string.h>

static void find_middle(const judge_work *w, judge_scratch *t, size_t set)
{
    size_t d = w->a->d;
    t->kept = 0;
    memset(t->middle, 0, d * sizeof *t->middle);
    for (size_t at = w->s->first[set]; at < w->s->first[set + 1]; at++) {
        size_t row = w->s->row[at];
        t->kept += row_counts(w->rows->keep, row) ? 1 : 0;
        for (size_t i = 0; i < d && row_counts(w->rows->keep, row); i++) {
            t->middle[i] += (w->a->z[row * d + i] - t->middle[i]) / t->kept;
        }
    }
}

static void find_doubt(const judge_work *w, judge_scratch *t, size_t set)
{
    size_t d = w->a->d;
    double rows = 0;
    memset(t->doubt, 0, d * sizeof *t->doubt);
    for (size_t at = w->head[set]; at != 0 && w->f->doubt != NULL; at = w->next[at - 1]) {
        const double *doubt = w->f->doubt + w->rows->row[at - 1] * d;
        rows += 1;
        for (size_t i = 0; i < d; i++) {
            t->doubt[i] += (doubt[i] - t->doubt[i]) / rows;
        }
    }
}

/* What the causes of the node at this place of draw k do to it, mean over the rows kept. */
static double caused_middle(const judge_work *w, const judge_scratch *t, size_t k, size_t at)
{
    const anchored *a = w->a;
    size_t i = a->order[k * a->d + at];
    double sum = 0;
    if (a->bends && bent_bends(&a->bent, k, i)) {
        return judge_bent_middle(w, t->set - 1, k, i);
    }
    for (size_t e = w->edges.first[k * a->d + at]; e < w->edges.first[k * a->d + at + 1]; e++) {
        sum += w->edges.weight[e] * t->middle[w->edges.parent[e]];
    }
    return sum;
}

/* Base and own of the node at this place of draw k. */
static void find_own(const judge_work *w, judge_scratch *t, size_t k, size_t at)
{
    const anchored *a = w->a;
    size_t i = a->order[k * a->d + at];
    double base = a->intercept[k * a->d + i];
    double noise = a->sigma[k * a->d + i];
    double effect = a->effect[k * a->d + i];
    double variance = effect * effect;
    if (variance > 0 && t->kept > 0) {
        double residual = t->middle[i] - base;
        double share = t->kept * variance / (noise * noise + t->kept * variance);
        residual -= caused_middle(w, t, k, at);
        base += share * residual;
        variance *= 1 - share;
    }
    t->base[k * a->d + i] = base;
    t->own[k * a->d + i] = sqrt(noise * noise + variance);
}

/* L of draw k, sd of what is seen, and log_det as far as z has no errors. */
static void find_loadings(const judge_work *w, judge_scratch *t, size_t k)
{
    size_t d = w->a->d;
    const size_t *order = w->a->order + k * d;
    const size_t *first = w->edges.first + k * d;
    t->log_det[k] = 0;
    for (size_t at = 0; at < d; at++) {
        size_t i = order[at];
        double *own = t->loading + i * d;
        double variance = t->doubt[i] + (w->f->blur != NULL ? w->f->blur[i * d + i] : 0);
        t->place[i] = at;
        memset(own, 0, d * sizeof *own);
        if (t->target[i] != 0) {
            own[at] = w->a->anchor.actuator_noise;
            continue;
        }
        for (size_t e = first[at]; e < first[at + 1]; e++) {
            size_t p = w->edges.parent[e];
            const double *from = t->loading + p * d;
            for (size_t b = 0; b <= t->place[p]; b++) {
                own[b] += w->edges.weight[e] * from[b];
            }
        }
        find_own(w, t, k, at);
        own[at] = t->own[k * d + i];
        for (size_t b = 0; b <= at; b++) {
            variance += own[b] * own[b];
        }
        t->sd[k * d + i] = sqrt(variance);
        t->log_det[k] += log(own[at]);
    }
}

/* Cholesky of cov z + errors, over the free nodes one after the other. NaN where there is none. */
static void factorise(const judge_work *w, judge_scratch *t, size_t k)
{
    size_t d = w->a->d;
    double *factor = t->factor + k * d * d;
    size_t n = 0;
    for (size_t i = 0; i < d; i++) {
        const double *own = t->loading + i * d;
        size_t m = 0;
        for (size_t j = 0; j <= i && t->target[i] == 0; j++) {
            const double *other = t->loading + j * d;
            double sum = w->f->blur != NULL ? w->f->blur[i * d + j] : 0;
            if (t->target[j] != 0) {
                continue;
            }
            for (size_t b = 0; b < d; b++) {
                sum += own[b] * other[b];
            }
            factor[n * d + m++] = sum + (i == j ? t->doubt[i] : 0);
        }
        n += t->target[i] == 0 ? 1 : 0;
    }
    bool done = LAPACKE_dpotrf_work(LAPACK_ROW_MAJOR, 'L', (int)n, factor, (int)d) == 0;
    t->log_det[k] = done ? 0 : NAN;
    for (size_t i = 0; i < n; i++) {
        t->log_det[k] += log(factor[i * d + i]);
    }
}

void judge_take_set(const judge_work *w, judge_scratch *t, size_t set)
{
    t->set = set + 1;
    t->target = w->s->target + set * w->s->d;
    find_middle(w, t, set);
    if (w->rows->mean_alone) {
        for (size_t k = 0; k < w->a->draws * w->a->d; k++) {
            find_own(w, t, k / w->a->d, k % w->a->d);
        }
        return;
    }
    find_doubt(w, t, set);
    for (size_t k = 0; k < w->a->draws; k++) {
        find_loadings(w, t, k);
        if (w->errors) {
            factorise(w, t, k);
        }
    }
}
