/* See judge_score.h. Eight rows of one set go side by side; edges of a draw are listed once, for
 * most weights are 0. */
#include "infer/anchored/judge_score.h"

#include "base/lanes_math.h"
#include "base/simd.h"

#include <omp.h>
#include <string.h>

/* The draws' graphs: edges into the node at place `at` of draw k's order, parents in that order,
 * are numbers first[k d + at] .. first[k d + at + 1] - 1. */
typedef struct edge_list {
    size_t count;
    size_t *first;  /* (draws d + 1) */
    size_t *parent; /* (count) */
    double *weight; /* (count) */
} edge_list;

/* Up to eight rows of one set: numbers among those asked for. */
typedef struct row_group {
    size_t count;
    size_t number[LANES];
} row_group;

/* What a thread works in. */
typedef struct judge_scratch {
    const uint8_t *target; /* those that `sd` is for; NULL: none yet */
    double *sd;            /* (draws, d) */
    double *loading;       /* (d, d): L_i, by the parents' places in the order */
    size_t *place;         /* (d) */
    lanes *seen, *set;     /* (d): z, and what do() set */
    lanes *z;              /* (d): E z of a draw */
    lanes *mean, *below;   /* (d) */
    lanes *log_p;          /* (draws) */
} judge_scratch;

typedef struct judge_work {
    const anchored *a;
    const design *s;
    const size_t *row;
    size_t count;
    edge_list edges;
    double *own;      /* (draws, d): sd of the noise in a set that was never seen */
    double *log_own;  /* (draws, d): its logarithm */
    size_t *head;     /* (sets): 1 + the first of the rows asked for that are in it; 0: none */
    size_t *next;     /* (count): the same of the next one in the set */
    row_group *group; /* (groups) */
    size_t groups, threads;
    judge_scratch *scratch; /* (threads) */
    arena memory;
} judge_work;

static void lay_out_scratch(judge_scratch *t, arena *a, size_t d, size_t draws)
{
    t->sd = arena_take(a, draws * d, sizeof(double));
    t->loading = arena_take(a, d * d, sizeof(double));
    t->place = arena_take(a, d, sizeof *t->place);
    lanes **vectors[] = {&t->seen, &t->set, &t->z, &t->mean, &t->below};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = arena_take(a, d, sizeof(lanes));
    }
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
    w->own = arena_take(a, draws * d, sizeof *w->own);
    w->log_own = arena_take(a, draws * d, sizeof *w->log_own);
    w->head = arena_take(a, w->s->sets, sizeof *w->head);
    w->next = arena_take(a, w->count, sizeof *w->next);
    w->group = arena_take(a, w->count, sizeof *w->group);
    w->scratch = arena_take(a, w->threads, sizeof *w->scratch);
    for (size_t t = 0; t < w->threads; t++) {
        lay_out_scratch(w->scratch != NULL ? &w->scratch[t] : &unplaced, a, d, draws);
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
            w->own[k * d + i] = hypot(a->sigma[k * d + i], a->effect[k * d + i]);
            w->log_own[k * d + i] = log(w->own[k * d + i]);
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
    for (size_t n = w->count; n-- > 0;) { /* so that the first comes first */
        w->next[n] = w->head[s->set[w->row[n]]];
        w->head[s->set[w->row[n]]] = n + 1;
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

/* sd (d) of the free z of draw k. */
static void find_sd(const judge_work *w, judge_scratch *t, size_t k)
{
    size_t d = w->a->d;
    const size_t *order = w->a->order + k * d;
    const size_t *first = w->edges.first + k * d;
    for (size_t at = 0; at < d; at++) {
        size_t i = order[at];
        double *own = t->loading + i * d;
        double variance = 0;
        t->place[i] = at;
        memset(own, 0, (at + 1) * sizeof *own);
        if (t->target[i] != 0) {
            continue;
        }
        for (size_t e = first[at]; e < first[at + 1]; e++) {
            size_t p = w->edges.parent[e];
            const double *from = t->loading + p * d;
            for (size_t b = 0; b <= t->place[p]; b++) {
                own[b] += w->edges.weight[e] * from[b];
            }
        }
        own[at] = w->own[k * d + i];
        for (size_t b = 0; b <= at; b++) {
            variance += own[b] * own[b];
        }
        t->sd[k * d + i] = sqrt(variance);
    }
}

static void gather(const judge_work *w, judge_scratch *t, const row_group *g)
{
    size_t d = w->a->d;
    for (size_t lane = 0; lane < LANES; lane++) {
        size_t number = g->number[lane < g->count ? lane : g->count - 1];
        const double *z = w->a->z + w->row[number] * d;
        const double *values = design_values(w->s, w->row[number]);
        for (size_t i = 0; i < d; i++) {
            t->seen[i][lane] = z[i];
            t->set[i][lane] = values[i];
        }
    }
    memset(t->mean, 0, d * sizeof *t->mean);
    memset(t->below, 0, d * sizeof *t->below);
}

/* All draws on eight rows: sums of mean and below over draws, log_p of each draw. */
CLONED static void predict(const judge_work *w, judge_scratch *t)
{
    size_t d = w->a->d;
    double draws = (double)w->a->draws;
    for (size_t k = 0; k < w->a->draws; k++) {
        const size_t *first = w->edges.first + k * d;
        lanes log_p = lanes_of(0);
        for (size_t at = 0; at < d; at++) {
            size_t i = w->a->order[k * d + at];
            lanes mean = lanes_of(w->a->intercept[k * d + i]);
            lanes given = mean;
            if (t->target[i] != 0) {
                t->z[i] = t->set[i];
                continue;
            }
            for (size_t e = first[at]; e < first[at + 1]; e++) {
                mean += w->edges.weight[e] * t->z[w->edges.parent[e]];
                given += w->edges.weight[e] * t->seen[w->edges.parent[e]];
            }
            lanes u = (t->seen[i] - given) / w->own[k * d + i];
            log_p += -u * u / 2.0 - w->log_own[k * d + i] - 0.91893853320467274;
            t->z[i] = mean;
            t->mean[i] += mean / draws;
            t->below[i] += lanes_normal_below((t->seen[i] - mean) / t->sd[k * d + i]) / draws;
        }
        t->log_p[k] = log_p;
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
    const uint8_t *target = design_targets(w->s, w->row[g->number[0]]);
    if (t->target != target) {
        t->target = target;
        for (size_t k = 0; k < w->a->draws; k++) {
            find_sd(w, t, k);
        }
    }
    gather(w, t, g);
    predict(w, t);
    for (size_t lane = 0; lane < g->count; lane++) {
        size_t n = g->number[lane];
        for (size_t i = 0; i < d; i++) {
            out->mean[n * d + i] = t->mean[i][lane];
            out->below[n * d + i] = t->below[i][lane];
        }
        out->log_p[n] = log_mean(t->log_p, w->a->draws, lane);
    }
}

static void lay_out_predictions(predictions *p)
{
    p->mean = arena_take(&p->memory, p->count * p->d, sizeof(double));
    p->below = arena_take(&p->memory, p->count * p->d, sizeof(double));
    p->log_p = arena_take(&p->memory, p->count, sizeof(double));
}

lscm_status predictions_of(predictions *out, const anchored *a, const design *s, const size_t *row,
                           size_t count, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    predictions p = {.count = count, .d = a->d};
    judge_work w = {.a = a, .s = s, .row = row, .count = count};
    w.edges.count = count_edges(a);
    w.threads = (size_t)omp_get_max_threads();
    lay_out(&w);
    TRY(arena_open(&w.memory, why));
    lay_out(&w);
    lay_out_predictions(&p);
    TRY(arena_open(&p.memory, why));
    lay_out_predictions(&p);
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
