/* What the graph found says of every possible parent. Against an edge between i and j, in nats and
 * the same for both directions: what the graph would lose without it, negative; where it has none,
 * the least of what is lost by
 *
 *     putting it in, at the later of the two, beside the parents found or in the place of one;
 *     putting it in where all that is near to i, or to j, explains it: its Markov blanket.
 *
 * And what do() has against j -> i: with S the parents of both, the two graphs S -> i -> j, S -> j
 * and S -> j -> i, S -> i fit rows in which neither is set to the bit alike, so
 *
 *     [score_j(S, i) - score_j(S)] - [score_i(S, j) - score_i(S)]
 *
 * is what rows in which one of them is set say of the direction, and 0 where there are none.
 */
#include "infer/screen/screen_parts.h"

#include "base/tuned.h"

#include <math.h>

static screen_cost *cost_of(const screen_work *w, size_t i, size_t k)
{
    return &w->cost[i * w->s.near_most + k];
}

static void lower(screen_cost *cost, double gain)
{
    cost->edge = fmin(cost->edge, -gain);
}

/* The edge from near node k into i is this node's to judge. */
static bool is_own(const screen_work *w, size_t i, size_t k)
{
    size_t j = screen_near_of(w, i, k);
    return w->slot[j * w->s.d + i] == NOT_NEAR || w->position[j] < w->position[i];
}

/* By the parents found: what is there, and what is put in beside them. */
static void price_found(const screen_work *w, size_t i)
{
    const sweep *s = &w->sweeps[i];
    for (size_t k = 0; k < s->m; k++) {
        double change = sweep_change(s, k);
        *cost_of(w, i, k) = (screen_cost){INFINITY, 0, s->in[k] != 0};
        if (s->in[k] != 0) {
            cost_of(w, i, k)->edge = change;
        } else if (is_own(w, i, k)) {
            lower(cost_of(w, i, k), change);
        }
    }
}

/* In the place of parent p. */
static void price_in_place(screen_work *w, size_t i, size_t p)
{
    const sweep *s = &w->sweeps[i];
    double now = sweep_now(s);
    sweep_copy(&w->spare, s);
    sweep_toggle(&w->spare, p);
    double without = sweep_now(&w->spare) - now;
    for (size_t k = 0; k < s->m; k++) {
        if (s->in[k] == 0 && is_own(w, i, k)) {
            lower(cost_of(w, i, k), without + sweep_change(&w->spare, k));
        }
    }
}

/* Among all that is near. */
static void price_blanket(screen_work *w, size_t i)
{
    sweep *all = &w->spare;
    sweep_begin(all, &w->f.list[i]);
    if (all->n < (double)tuned_screen_rows() * (double)all->m) {
        return; /* too few rows to tell them apart */
    }
    for (size_t k = 0; k < all->m; k++) {
        sweep_toggle(all, k);
    }
    for (size_t k = 0; k < all->m; k++) {
        if (w->sweeps[i].in[k] == 0) {
            lower(cost_of(w, i, k), -sweep_change(all, k));
        }
    }
}

/* The same for both directions. */
static void make_alike(const screen_work *w, size_t i)
{
    for (size_t k = 0; k < w->sweeps[i].m; k++) {
        size_t j = screen_near_of(w, i, k);
        size_t its = w->slot[j * w->s.d + i];
        if (its != NOT_NEAR && j < i) {
            screen_cost *one = cost_of(w, i, k);
            screen_cost *other = cost_of(w, j, its);
            one->edge = other->edge = fmin(one->edge, other->edge);
            one->found = other->found = one->found || other->found;
        }
    }
}

/* What node i wins by near node k given those of S, the parents of both, that are near to both. */
static double gain_given(screen_work *w, size_t i, size_t k)
{
    size_t j = screen_near_of(w, i, k);
    sweep *s = &w->spare;
    sweep_begin(s, &w->f.list[i]);
    for (size_t p = 0; p < s->m; p++) {
        size_t its = w->slot[j * w->s.d + screen_near_of(w, i, p)];
        if (p != k && its != NOT_NEAR && (w->sweeps[i].in[p] != 0 || w->sweeps[j].in[its] != 0)) {
            sweep_toggle(s, p);
        }
    }
    return sweep_change(s, k);
}

/* Where do() set either, of edges that there may be. */
static void price_directions(screen_work *w, size_t i)
{
    double rows = (double)w->s.rows;
    for (size_t k = 0; k < w->sweeps[i].m; k++) {
        size_t j = screen_near_of(w, i, k);
        size_t its = w->slot[j * w->s.d + i];
        bool set = w->s.free[i] < rows || w->s.free[j] < rows;
        if (its != NOT_NEAR && j < i && set && cost_of(w, i, k)->edge < tuned_screen_sure()) {
            double into_i = gain_given(w, i, k);
            double into_j = gain_given(w, j, its);
            cost_of(w, i, k)->against = fmax(into_j - into_i, 0);
            cost_of(w, j, its)->against = fmax(into_i - into_j, 0);
        }
    }
}

void screen_price(screen_work *w)
{
    size_t d = w->s.d;
    for (size_t i = 0; i < d; i++) {
        price_found(w, i);
        for (size_t p = 0; p < w->sweeps[i].m; p++) {
            if (w->sweeps[i].in[p] != 0) {
                price_in_place(w, i, p);
            }
        }
        price_blanket(w, i);
    }
    for (size_t i = 0; i < d; i++) {
        make_alike(w, i);
    }
    for (size_t i = 0; i < d; i++) {
        price_directions(w, i);
    }
}
