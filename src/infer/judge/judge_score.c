/* See judge_score.h. Eight rows of one set go side by side; edges of a draw are listed once, for
 * most weights are 0. What all rows of a set share is judge_law.c's. */
#include "infer/judge/judge_score.h"

#include "base/simd.h"
#include "infer/judge/judge_law.h"

#include <omp.h>
#include <string.h>

static const double LOG_SQRT_2_PI = 0.91893853320467274;

static void lay_out_scratch(judge_scratch *t, arena *a, const judge_work *w)
{
    size_t d = w->a->d;
    size_t draws = w->a->draws;
    double **nodes[] = {&t->middle, &t->doubt, &t->given};
    double **of_draws[] = {&t->base, &t->own, &t->sd};
    lanes **vectors[] = {&t->seen, &t->z, &t->away, &t->mean, &t->below};
    for (size_t k = 0; k < sizeof nodes / sizeof nodes[0]; k++) {
        *nodes[k] = arena_take(a, d, sizeof(double));
    }
    for (size_t k = 0; k < sizeof of_draws / sizeof of_draws[0]; k++) {
        *of_draws[k] = arena_take(a, draws * d, sizeof(double));
    }
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = arena_take(a, d, sizeof(lanes));
    }
    t->factor = w->errors ? arena_take(a, draws * d * d, sizeof(double)) : NULL;
    t->log_det = arena_take(a, draws, sizeof(double));
    t->loading = arena_take(a, d * d, sizeof(double));
    t->place = arena_take(a, d, sizeof *t->place);
    t->path = arena_take(a, 2 * d, sizeof(double));
    t->log_p = arena_take(a, draws, sizeof(lanes));
}

static void lay_out(judge_work *w)
{
    arena *a = &w->memory;
    size_t d = w->a->d;
    size_t draws = w->a->draws;
    judge_scratch unplaced;
    w->edges.first = arena_take(a, draws * d + 1, sizeof *w->edges.first);
    w->edges.parent = arena_take(a, w->edges.count, sizeof *w->edges.parent);
    w->edges.weight = arena_take(a, w->edges.count, sizeof *w->edges.weight);
    w->head = arena_take(a, w->s->sets, sizeof *w->head);
    w->next = arena_take(a, w->rows->count, sizeof *w->next);
    w->group = arena_take(a, w->rows->count, sizeof *w->group);
    w->scratch = arena_take(a, w->threads, sizeof *w->scratch);
    for (size_t t = 0; t < w->threads; t++) {
        lay_out_scratch(w->scratch != NULL ? &w->scratch[t] : &unplaced, a, w);
    }
}

static size_t count_edges(const anchored *a)
{
    size_t count = 0;
    for (size_t e = 0; e < a->draws * a->d * a->d; e++) {
        count += a->w[e] != 0 ? 1 : 0;
    }
    return count;
}

static void list_edges(judge_work *w)
{
    const anchored *a = w->a;
    size_t d = a->d;
    size_t at = 0;
    for (size_t k = 0; k < a->draws; k++) {
        const size_t *order = a->order + k * d;
        for (size_t i = 0; i < d; i++) {
            w->edges.first[k * d + i] = at;
            for (size_t before = 0; before < i; before++) {
                double weight = a->w[(k * d + order[before]) * d + order[i]];
                if (weight != 0) {
                    w->edges.parent[at] = order[before];
                    w->edges.weight[at++] = weight;
                }
            }
        }
    }
    w->edges.first[a->draws * d] = at;
}

/* Set by set, in eights. */
static void group_rows(judge_work *w)
{
    const design *s = w->s;
    const size_t *row = w->rows->row;
    for (size_t n = w->rows->count; n-- > 0;) { /* so that the first comes first */
        w->next[n] = w->head[s->set[row[n]]];
        w->head[s->set[row[n]]] = n + 1;
    }
    for (size_t k = 0; k < s->sets; k++) {
        size_t in_set = 0;
        for (size_t at = w->head[k]; at != 0; at = w->next[at - 1], in_set++) {
            w->groups += in_set % LANES == 0 ? 1 : 0;
            row_group *last = &w->group[w->groups - 1];
            last->number[last->count++] = at - 1;
        }
    }
}

/* ---- Rows ---- */

static void gather(const judge_work *w, judge_scratch *t, const row_group *g)
{
    size_t d = w->a->d;
    for (size_t lane = 0; lane < LANES; lane++) {
        size_t row = w->rows->row[g->number[lane < g->count ? lane : g->count - 1]];
        const double *z = w->a->z + row * d;
        const double *values = design_values(w->s, row);
        for (size_t i = 0; i < d; i++) {
            t->seen[i][lane] = t->target[i] != 0 ? values[i] : z[i];
        }
    }
    memset(t->mean, 0, d * sizeof *t->mean);
    memset(t->below, 0, d * sizeof *t->below);
}

/* Squares of z - E z of draw k by its factor, summed over the free nodes. */
LANES_INLINE lanes squares_of(const judge_scratch *t, size_t d, size_t k)
{
    const double *factor = t->factor + k * d * d;
    lanes sum = lanes_of(0);
    size_t n = 0;
    for (size_t i = 0; i < d; i++) {
        if (t->target[i] != 0) {
            continue;
        }
        lanes u = t->seen[i] - t->z[i];
        for (size_t m = 0; m < n; m++) {
            u -= factor[n * d + m] * t->away[m];
        }
        t->away[n] = u / factor[n * d + n];
        sum += t->away[n] * t->away[n];
        n++;
    }
    return sum;
}

/* All draws on eight rows: sums of mean and below over draws, log_p of each draw. */
CLONED static void predict(const judge_work *w, judge_scratch *t, const row_group *g)
{
    size_t d = w->a->d;
    double draws = (double)w->a->draws;
    for (size_t k = 0; k < w->a->draws; k++) {
        const size_t *first = w->edges.first + k * d;
        lanes squares = lanes_of(0);
        double constant = t->log_det[k];
        if (judge_draw_bends(w, k)) {
            judge_bent_predict(w, t, g, k);
            continue;
        }
        for (size_t at = 0; at < d; at++) {
            size_t i = w->a->order[k * d + at];
            if (t->target[i] != 0) {
                t->z[i] = t->seen[i];
                continue;
            }
            lanes mean = lanes_of(t->base[k * d + i]);
            lanes given = mean;
            for (size_t e = first[at]; e < first[at + 1]; e++) {
                mean += w->edges.weight[e] * t->z[w->edges.parent[e]];
                given += w->edges.weight[e] * t->seen[w->edges.parent[e]];
            }
            t->z[i] = mean;
            t->mean[i] += mean / draws;
            if (w->rows->mean_alone) {
                continue;
            }
            lanes u = (t->seen[i] - given) / t->own[k * d + i];
            squares += u * u;
            constant += LOG_SQRT_2_PI;
            t->below[i] += lanes_normal_below((t->seen[i] - mean) / t->sd[k * d + i]) / draws;
        }
        squares = w->errors ? squares_of(t, d, k) : squares;
        t->log_p[k] = -squares / 2.0 - constant;
    }
}

/* log of the mean over draws of e^log_p. */
static double log_mean(const lanes *log_p, size_t draws, size_t lane)
{
    double most = -INFINITY;
    double total = 0;
    for (size_t k = 0; k < draws; k++) {
        most = fmax(most, log_p[k][lane]);
    }
    for (size_t k = 0; k < draws; k++) {
        total += exp(log_p[k][lane] - most);
    }
    return most + log(total / (double)draws);
}

static void predict_group(const judge_work *w, judge_scratch *t, const row_group *g,
                          predictions *out)
{
    size_t d = w->a->d;
    size_t set = w->s->set[w->rows->row[g->number[0]]];
    if (t->set != set + 1) {
        judge_take_set(w, t, set);
    }
    gather(w, t, g);
    predict(w, t, g);
    for (size_t lane = 0; lane < g->count; lane++) {
        size_t n = g->number[lane];
        for (size_t i = 0; i < d; i++) {
            out->mean[n * d + i] = t->mean[i][lane];
        }
        if (w->rows->mean_alone) {
            continue;
        }
        for (size_t i = 0; i < d; i++) {
            out->below[n * d + i] = t->below[i][lane];
        }
        out->log_p[n] = log_mean(t->log_p, w->a->draws, lane);
    }
}

static void lay_out_predictions(predictions *p, bool mean_alone)
{
    p->mean = arena_take(&p->memory, p->count * p->d, sizeof(double));
    if (!mean_alone) {
        p->below = arena_take(&p->memory, p->count * p->d, sizeof(double));
        p->log_p = arena_take(&p->memory, p->count, sizeof(double));
    }
}

lscm_status predictions_of(predictions *out, const judged_fit *f, const judged_rows *rows,
                           lscm_error *why)
{
    lscm_status status = LSCM_OK;
    predictions p = {.count = rows->count, .d = f->a.d};
    judge_work w = {.f = f, .a = &f->a, .s = rows->design, .rows = rows};
    w.errors = !rows->mean_alone &&
               (f->blur != NULL || f->doubt != NULL || f->a.anchor.actuator_noise > 0);
    w.edges.count = count_edges(w.a);
    w.threads = (size_t)omp_get_max_threads();
    lay_out(&w);
    TRY(arena_open(&w.memory, why));
    lay_out(&w);
    lay_out_predictions(&p, rows->mean_alone);
    TRY(arena_open(&p.memory, why));
    lay_out_predictions(&p, rows->mean_alone);
    list_edges(&w);
    group_rows(&w);
#pragma omp parallel for schedule(static)
    for (size_t g = 0; g < w.groups; g++) {
        predict_group(&w, &w.scratch[omp_get_thread_num()], &w.group[g], &p);
    }
    *out = p;
    p.memory = (arena){0};
done:
    arena_close(&w.memory);
    arena_close(&p.memory);
    return status;
}

void predictions_close(predictions *p)
{
    arena_close(&p->memory);
}
