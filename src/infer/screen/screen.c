#include "infer/screen/screen.h"

#include "base/node_name.h"
#include "base/streams.h"
#include "base/tuned.h"
#include "infer/screen/screen_parts.h"

#include <math.h>
#include <string.h>

static bool has(const uint8_t *edges, size_t d, size_t j, size_t i)
{
    return edges != NULL && edges[j * d + i] != 0;
}

static lscm_status check(const design *s, const uint8_t *forbidden, const candidate_lists *lists,
                         lscm_error *why)
{
    const uint8_t *required = lists->required;
    size_t d = s->d;
    char rooms[2][NODE_NAME_ROOM];
    for (size_t i = 0; i < d; i++) {
        size_t parents = 0;
        for (size_t j = 0; j < d; j++) {
            parents += has(required, d, j, i) ? 1 : 0;
            if (has(required, d, j, i) && (j == i || has(forbidden, d, j, i))) {
                return fail(why, LSCM_VALUE,
                            j == i ? "the edge %s -> %s is required, but a node cannot cause "
                                     "itself"
                                   : "the edge %s -> %s is both required and forbidden",
                            name_of(s->names, j, rooms[0], NODE_NAME_ROOM),
                            name_of(s->names, i, rooms[1], NODE_NAME_ROOM));
            }
        }
        if (parents > lists->most) {
            return fail(why, LSCM_VALUE,
                        "node %s has %zu required parents, but at most %zu candidates; require "
                        "fewer edges",
                        name_of(s->names, i, rooms[0], NODE_NAME_ROOM), parents, lists->most);
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
    w->position = arena_take(a, d, sizeof(size_t));
    w->open = arena_take(a, d, 1);
    w->cost = arena_take(a, d * w->s.near_most, sizeof *w->cost);
    w->sweeps = arena_take(a, d, sizeof *w->sweeps);
    w->blank = arena_take(a, d, sizeof *w->blank);
    w->lacking = arena_take(a, d, sizeof *w->lacking);
    w->best = arena_take(a, d, sizeof *w->best);
    w->least = arena_take(a, d * w->s.near_most, sizeof *w->least);
}

static void take_sweep(sweep *s, arena *a, size_t m)
{
    s->m = m;
    s->a = arena_take(a, (m + 1) * (m + 1), sizeof(double));
    s->in = arena_take(a, m, 1);
}

static void lay_out_matrices(screen_work *w, arena *a)
{
    size_t widest = 0;
    for (size_t i = 0; i < w->s.d; i++) {
        size_t m = w->s.count[i];
        widest = m > widest ? m : widest;
        take_sweep(&w->sweeps[i], a, m);
        take_sweep(&w->blank[i], a, m);
    }
    take_sweep(&w->spare, a, widest);
}

/* ---- Candidates ---- */

/* Nats against near node k of i as a parent. */
static double total_cost(const screen_work *w, size_t i, size_t k)
{
    const screen_cost *c = &w->cost[i * w->s.near_most + k];
    return fmax(c->edge, 0) + c->against;
}

/* Whether near node a of i comes before b. */
static bool is_before(const screen_work *w, size_t i, size_t a, size_t b)
{
    const screen_cost *cost = w->cost + i * w->s.near_most;
    double one = total_cost(w, i, a);
    double other = total_cost(w, i, b);
    if (one != other) {
        return one < other;
    }
    return cost[a].found != cost[b].found ? cost[a].found : cost[a].edge < cost[b].edge;
}

/* Edges of the graph found whose direction do() has not decided. */
static bool is_needed(const screen_work *w, size_t i, size_t k)
{
    return w->cost[i * w->s.near_most + k].found && total_cost(w, i, k) < tuned_screen_sure();
}

/* They may take more room than is usual. */
static bool has_room(const screen_work *w, size_t i, size_t k, size_t found, size_t most)
{
    return found < most && (found < w->usual || is_needed(w, i, k));
}

/* The required parents, then the cheapest of those near. */
static void choose(screen_work *w, size_t i, const candidate_lists *lists)
{
    size_t d = w->s.d;
    size_t *candidate = lists->candidate + i * lists->most;
    size_t found = 0;
    size_t m = w->sweeps[i].m;
    uint8_t *left = w->open;
    for (size_t j = 0; j < d; j++) {
        if (has(lists->required, d, j, i)) {
            candidate[found++] = j;
        }
    }
    for (size_t k = 0; k < m; k++) {
        size_t j = screen_near_of(w, i, k);
        left[k] = has(lists->required, d, j, i) || has(lists->required, d, i, j) ? 0 : 1;
    }
    for (;;) {
        size_t best = m;
        for (size_t k = 0; k < m; k++) {
            best = left[k] != 0 && (best == m || is_before(w, i, k, best)) ? k : best;
        }
        if (best == m || !(total_cost(w, i, best) < INFINITY)) {
            break;
        }
        if (has_room(w, i, best, found, lists->most)) {
            candidate[found++] = screen_near_of(w, i, best);
        }
        left[best] = 0;
    }
    screen_sort(candidate, found);
    lists->count[i] = found;
}

static bool is_listed(const candidate_lists *lists, size_t j, size_t i)
{
    const size_t *candidate = lists->candidate + i * lists->most;
    bool listed = false;
    for (size_t k = 0; k < lists->count[i]; k++) {
        listed = listed || candidate[k] == j;
    }
    return listed;
}

/* Near node k of i, which has i for a candidate while i has not got it, and do() has not decided.
 */
static bool is_mate(const screen_work *w, const candidate_lists *lists, size_t i, size_t k)
{
    size_t j = screen_near_of(w, i, k);
    return total_cost(w, i, k) < tuned_screen_sure() && is_listed(lists, i, j) &&
           !is_listed(lists, j, i) && !has(lists->required, w->s.d, i, j);
}

/* What is in doubt may point either way: the cheapest of these first, as far as there is room. */
static void choose_mates(screen_work *w, size_t i, const candidate_lists *lists)
{
    size_t *candidate = lists->candidate + i * lists->most;
    while (lists->count[i] < lists->most) {
        size_t m = w->sweeps[i].m;
        size_t best = m;
        for (size_t k = 0; k < m; k++) {
            best = is_mate(w, lists, i, k) && (best == m || is_before(w, i, k, best)) ? k : best;
        }
        if (best == m) {
            break;
        }
        candidate[lists->count[i]++] = screen_near_of(w, i, best);
    }
    screen_sort(candidate, lists->count[i]);
}

/* Edges of the graph found that may point one way alone, for want of room at node j and although
 * do() has not decided. */
static void count_lacking(const screen_work *w, const candidate_lists *lists)
{
    size_t d = w->s.d;
    memset(w->lacking, 0, d * sizeof *w->lacking);
    for (size_t i = 0; i < d; i++) {
        for (size_t k = 0; k < lists->count[i]; k++) {
            size_t j = lists->candidate[i * lists->most + k];
            size_t its = w->slot[j * d + i];
            bool turns = its == NOT_NEAR || is_listed(lists, i, j) || !is_needed(w, j, its);
            w->lacking[j] += !turns && !has(lists->required, d, j, i) ? 1 : 0;
        }
    }
}

/* A search ends where no node wants to move, and what it has not found looks dear from there. So
 * with few nodes it begins again elsewhere, and what is cheap by any of the graphs found is cheap:
 * w->cost gets the least of all. w->order is that of the best. */
static void try_others(screen_work *w)
{
    size_t d = w->s.d;
    size_t starts = d <= tuned_candidates_nodes() ? tuned_screen_starts() : 0;
    double best = screen_fit(w);
    memcpy(w->best, w->order, d * sizeof *w->best);
    for (size_t start = 0; start < starts; start++) {
        memcpy(w->least, w->cost, d * w->s.near_most * sizeof *w->least);
        rng_permutation(stream_of(start, STREAM_GRAPHS), 0, d, w->order);
        screen_place(w);
        screen_price(w);
        for (size_t k = 0; k < d * w->s.near_most; k++) {
            w->cost[k].edge = fmin(w->cost[k].edge, w->least[k].edge);
            w->cost[k].against = fmin(w->cost[k].against, w->least[k].against);
            w->cost[k].found = w->cost[k].found || w->least[k].found;
        }
        if (screen_fit(w) > best) {
            best = screen_fit(w);
            memcpy(w->best, w->order, d * sizeof *w->best);
        }
    }
    memcpy(w->order, w->best, d * sizeof *w->order);
}

static lscm_status choose_all(screen_work *w, const candidate_lists *lists, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = w->s.d;
    lay_out_matrices(w, &w->matrices);
    TRY(arena_open(&w->matrices, why));
    lay_out_matrices(w, &w->matrices);
    memset(w->slot, NOT_NEAR, d * d);
    for (size_t i = 0; i < d; i++) {
        for (size_t k = 0; k < w->s.count[i]; k++) {
            w->slot[i * d + screen_near_of(w, i, k)] = (uint8_t)k;
        }
    }
    TRY(screen_reach(&w->s, &w->f, w->order, why));
    screen_order(w);
    screen_place(w);
    screen_price(w);
    try_others(w);
    for (size_t i = 0; i < d; i++) {
        choose(w, i, lists);
    }
    for (size_t i = 0; i < d; i++) {
        choose_mates(w, i, lists);
    }
    count_lacking(w, lists);
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

/* All others, in no order. */
static void take_all(size_t d, const uint8_t *forbidden, const candidate_lists *lists,
                     screen_terms *terms)
{
    candidate_lists_all(lists, d, forbidden);
    for (size_t i = 0; terms->order != NULL && i < d; i++) {
        terms->order[i] = i;
    }
}

static void tell(const screen_work *w, screen_terms *terms)
{
    for (size_t i = 0; i < w->s.d; i++) {
        terms->crowded += w->lacking[i];
        terms->hub = w->lacking[i] > w->lacking[terms->hub] ? i : terms->hub;
    }
    if (terms->order != NULL) {
        memcpy(terms->order, w->order, w->s.d * sizeof *terms->order);
    }
}

lscm_status screen_candidates(const latent_rows *rows, const uint8_t *forbidden,
                              const candidate_lists *lists, screen_terms *terms,
                              const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = rows->design->d;
    screen_terms none = {0};
    screen_work w = {.s = {rows->design, rows->z, forbidden, 0, d, .near_most = GRAM_WIDEST}};
    terms = terms != NULL ? terms : &none;
    terms->crowded = terms->hub = 0;
    w.usual = terms->usual > 0 ? terms->usual : lists->most;
    TRY(check(rows->design, forbidden, lists, why));
    if (d <= w.usual + 1) {
        take_all(d, forbidden, lists, terms);
        return LSCM_OK;
    }
    if (d > SCREEN_ALL) {
        size_t near = 2 * w.usual > tuned_screen_near() ? 2 * w.usual : tuned_screen_near();
        w.s.near_most = near < GRAM_WIDEST ? near : GRAM_WIDEST;
    }
    lay_out_lists(&w, &w.lists);
    TRY(arena_open(&w.lists, why));
    lay_out_lists(&w, &w.lists);
    list_rows(&w.s, rows, w.position);
    TRY(screen_near(&w.s, progress, why));
    candidate_lists near = {w.s.near_most, w.s.count, w.s.near, NULL};
    TRY(families_wide(&w.f, rows, &near, why));
    TRY(choose_all(&w, lists, why));
    tell(&w, terms);
done:
    families_close(&w.f);
    arena_close(&w.lists);
    arena_close(&w.matrices);
    return status;
}
