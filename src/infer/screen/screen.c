#include "infer/screen/screen.h"
#include "base/streams.h"

#include "base/tuned.h"
#include "infer/screen/screen_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct screen_work {
    screen_data s;
    sweep *sweeps, spare;            /* (d) */
    uint8_t *slot;                   /* (d, d) */
    size_t *order, *best, *position; /* (d) */
    /* (d, near_most): the least cost of a parent in any graph found, less that graph's score; what
     * the best graph would lose without it, negative, 0 when it is no parent there */
    double *cost, *need;
    arena lists, matrices;
} screen_work;

static bool has(const uint8_t *edges, size_t d, size_t j, size_t i)
{
    return edges != NULL && edges[j * d + i] != 0;
}

static lscm_status check(size_t d, const uint8_t *forbidden, const candidate_lists *lists,
                         lscm_error *why)
{
    const uint8_t *required = lists->required;
    for (size_t i = 0; i < d; i++) {
        size_t parents = 0;
        for (size_t j = 0; j < d; j++) {
            parents += has(required, d, j, i) ? 1 : 0;
            if (has(required, d, j, i) && (j == i || has(forbidden, d, j, i))) {
                return fail(why, LSCM_VALUE,
                            j == i ? "the edge %zu -> %zu is required, but a node cannot cause "
                                     "itself"
                                   : "the edge %zu -> %zu is both required and forbidden",
                            j, i);
            }
        }
        if (parents > lists->most) {
            return fail(why, LSCM_VALUE,
                        "node %zu has %zu required parents, but at most %zu candidates; require "
                        "fewer edges",
                        i, parents, lists->most);
        }
    }
    return LSCM_OK;
}

static void lay_out_lists(screen_work *w, arena *a)
{
    size_t d = w->s.d;
    w->s.row = arena_take(a, w->s.design->rows, sizeof *w->s.row);
    w->s.free = arena_take(a, d, sizeof(double));
    w->s.count = arena_take(a, d, sizeof(size_t));
    w->s.near = arena_take(a, d * w->s.near_most, sizeof(size_t));
    w->slot = arena_take(a, d * d, 1);
    w->order = arena_take(a, d, sizeof(size_t));
    w->best = arena_take(a, d, sizeof(size_t));
    w->cost = arena_take(a, d * w->s.near_most, sizeof(double));
    w->need = arena_take(a, d * w->s.near_most, sizeof(double));
    w->position = arena_take(a, d, sizeof(size_t));
    w->sweeps = arena_take(a, d, sizeof *w->sweeps);
}

static void lay_out_matrices(screen_work *w, arena *a)
{
    size_t widest = 0;
    for (size_t i = 0; i < w->s.d; i++) {
        size_t m = w->s.count[i];
        widest = m > widest ? m : widest;
        w->sweeps[i].m = m;
        w->sweeps[i].a = arena_take(a, (m + 1) * (m + 1), sizeof(double));
        w->sweeps[i].in = arena_take(a, m, 1);
    }
    w->spare.a = arena_take(a, (widest + 1) * (widest + 1), sizeof(double));
    w->spare.in = arena_take(a, widest, 1);
}

/* No parents yet; in units in which every diagonal is 1, so that a pivot tells collinearity. */
static void sweep_empty(sweep *s, const family *f)
{
    size_t m = f->count + 1;
    s->m = f->count;
    s->n = f->rows;
    s->inside = 0;
    memset(s->in, 0, s->m);
    for (size_t a = 0; a < m; a++) {
        for (size_t b = 0; b < m; b++) {
            double size = sqrt(f->scatter[a * m + a]) * sqrt(f->scatter[b * m + b]);
            s->a[a * m + b] = size > 0 ? f->scatter[a * m + b] / size : 0;
        }
    }
}

/* What near node k of i costs as one more parent, in nats: what its own regression loses without i,
 * less what that of i gains, with k beside the parents found or in their place. */
static double cost_of(const screen_work *w, const sweep *alone, size_t i, size_t k)
{
    size_t d = w->s.d;
    size_t j = w->s.near[i * w->s.near_most + k];
    const sweep *s = &w->sweeps[i];
    const sweep *other = &w->sweeps[j];
    size_t its = w->slot[j * d + i];
    double loss = its != 255 && other->in[its] != 0 ? -sweep_change(other, its) : 0;
    double gain = sweep_change(s, k);
    if (loss > 0) {
        gain = fmax(gain, sweep_now(alone) + sweep_change(alone, k) - sweep_now(s));
    }
    return loss - gain;
}

/* One local search from w->order; returns the score of the graph found. */
static double search(screen_work *w, const families *f)
{
    double score = 0;
    for (size_t i = 0; i < w->s.d; i++) {
        sweep_empty(&w->sweeps[i], &f->list[i]);
    }
    screen_order(w->sweeps, &w->spare, &w->s, w->slot, w->order, w->position);
    for (size_t i = 0; i < w->s.d; i++) {
        sweep_eliminate(&w->sweeps[i]);
        score += sweep_now(&w->sweeps[i]);
    }
    return score;
}

/* Notes what the graph just found says of every possible parent. */
static void note(screen_work *w, const families *f, double score, bool best)
{
    for (size_t i = 0; i < w->s.d; i++) {
        const sweep *s = &w->sweeps[i];
        double *cost = w->cost + i * w->s.near_most;
        double *need = w->need + i * w->s.near_most;
        sweep_empty(&w->spare, &f->list[i]);
        for (size_t k = 0; k < s->m; k++) {
            double own = s->in[k] != 0 ? 0 : fmax(cost_of(w, &w->spare, i, k), 0);
            cost[k] = fmin(cost[k], own - score);
            if (best) {
                need[k] = s->in[k] != 0 ? sweep_change(s, k) : 0;
            }
        }
    }
}

/* Several searches, each from the best order so far with some nodes put elsewhere. */
static void search_often(screen_work *w, const families *f)
{
    const rng r = stream_of(0, STREAM_SCREEN);
    size_t d = w->s.d;
    size_t shaken = d / tuned_screen_shaken() > 3 ? d / tuned_screen_shaken() : 3;
    double best = -INFINITY;
    for (size_t k = 0; k < d * w->s.near_most; k++) {
        w->cost[k] = INFINITY;
    }
    for (size_t n = 0; n < tuned_screen_searches(); n++) {
        for (size_t k = 0; n > 0 && k < shaken; k++) {
            uint64_t number = ((uint64_t)n * shaken + k) * 2;
            size_t from = (size_t)rng_below(r, number, d);
            size_t to = (size_t)rng_below(r, number + 1, d);
            size_t node = w->order[from];
            size_t low = from < to ? from : to;
            size_t high = from < to ? to : from;
            memmove(w->order + low + (to < from ? 1 : 0), w->order + low + (to < from ? 0 : 1),
                    (high - low) * sizeof *w->order);
            w->order[to] = node;
        }
        double score = search(w, f);
        note(w, f, score, score > best);
        if (score > best) {
            best = score;
            memcpy(w->best, w->order, d * sizeof *w->best);
        } else {
            memcpy(w->order, w->best, d * sizeof *w->best);
        }
    }
    for (size_t k = 0; k < d * w->s.near_most; k++) {
        w->cost[k] = w->need[k] < 0 ? w->need[k] : w->cost[k] + best;
    }
}

/* The required parents, then the cheapest of those near. */
static void choose(screen_work *w, size_t i, const candidate_lists *lists)
{
    const uint8_t *required = lists->required;
    size_t *candidate = lists->candidate + i * lists->most;
    size_t d = w->s.d;
    size_t found = 0;
    size_t m = w->sweeps[i].m;
    double *cost = w->cost + i * w->s.near_most;
    const size_t *near = w->s.near + i * w->s.near_most;
    for (size_t j = 0; j < d; j++) {
        if (has(required, d, j, i)) {
            candidate[found++] = j;
        }
    }
    for (size_t k = 0; k < m; k++) {
        cost[k] = has(required, d, near[k], i) ? INFINITY : cost[k];
    }
    while (found < lists->most) {
        size_t best = 0;
        for (size_t k = 1; k < m; k++) {
            best = cost[k] < cost[best] ? k : best;
        }
        if (m == 0 || !(cost[best] < INFINITY)) {
            break;
        }
        candidate[found++] = near[best];
        cost[best] = INFINITY;
    }
    screen_sort(candidate, found);
    lists->count[i] = found;
}

static lscm_status choose_all(screen_work *w, families *f, const candidate_lists *lists,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = w->s.d;
    lay_out_matrices(w, &w->matrices);
    TRY(arena_open(&w->matrices, why));
    lay_out_matrices(w, &w->matrices);
    memset(w->slot, 255, d * d);
    for (size_t i = 0; i < d; i++) {
        for (size_t k = 0; k < w->s.count[i]; k++) {
            w->slot[i * d + w->s.near[i * w->s.near_most + k]] = (uint8_t)k;
        }
    }
    TRY(screen_reach(&w->s, f, w->order, why));
    search_often(w, f);
    for (size_t i = 0; i < d; i++) {
        choose(w, i, lists);
    }
done:
    return status;
}

/* Rows that count, and in how many of them each node is free; set (d) is scratch. */
static void list_rows(screen_data *s, const latent_rows *rows, size_t *set)
{
    s->rows = design_list(s->design, rows->keep, false, s->row);
    design_count(s->design, rows->keep, set, NULL);
    for (size_t i = 0; i < s->d; i++) {
        s->free[i] = (double)(s->rows - set[i]);
    }
}

lscm_status screen_candidates(const latent_rows *rows, const uint8_t *forbidden,
                              const candidate_lists *lists, size_t *order,
                              const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = rows->design->d;
    screen_work w = {.s = {rows->design, rows->z, forbidden, 0, d, .near_most = GRAM_WIDEST}};
    families f = {0};
    TRY(check(d, forbidden, lists, why));
    if (d <= lists->most + 1) {
        candidate_lists_all(lists, d, forbidden);
        for (size_t i = 0; order != NULL && i < d; i++) {
            order[i] = i;
        }
        return LSCM_OK;
    }
    if (d > SCREEN_ALL) {
        size_t near = 2 * lists->most > tuned_screen_near() ? 2 * lists->most : tuned_screen_near();
        w.s.near_most = near < GRAM_WIDEST ? near : GRAM_WIDEST;
    }
    lay_out_lists(&w, &w.lists);
    TRY(arena_open(&w.lists, why));
    lay_out_lists(&w, &w.lists);
    list_rows(&w.s, rows, w.position);
    TRY(screen_near(&w.s, progress, why));
    candidate_lists near = {w.s.near_most, w.s.count, w.s.near, NULL};
    TRY(families_wide(&f, rows, &near, why));
    TRY(choose_all(&w, &f, lists, why));
    if (order != NULL) {
        memcpy(order, w.best, d * sizeof *order);
    }
done:
    families_close(&f);
    arena_close(&w.lists);
    arena_close(&w.matrices);
    return status;
}
