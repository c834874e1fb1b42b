/* Graphs that no set tells apart count alike. Exact draws count a graph as often as it has orders
 * (dag.h), and that alone decides between graphs of which the rows say the same: of a path of 20
 * nodes without do(), the root would be in the middle. Such graphs turn into each other by turning
 * covered edges i -> j, pa_j = pa_i + i (Chickering 1995), where do() treats i and j alike: both or
 * neither are set, in every set. So every draw walks on among them: of its n edges that can be
 * turned one is, and that is kept with the probability min(1, n/n'), n' those that can be then; in
 * the end each of them is as likely.
 *
 * P(i - j) stays as exact as it was, and is shared between i -> j and j -> i as the draws after
 * the walk share it, with 1/2 of a draw each for what they have not seen.
 *
 * Where noise is heavy-tailed and gains by that are known (noise_gain.h), a turn that gains g is
 * kept with the probability min(1, n/n' e^g), the first half of the walk with less and less of that
 * left out. Beyond the nodes that have gains what noise says of directions is not asked.
 *
 * With one variance for all nodes the rows tell such graphs apart, and nothing is done.
 */
#include "infer/graph/graph_parts.h"

#include "base/streams.h"
#include "base/tuned.h"

#include <math.h>
#include <string.h>

enum { CLASS_MOST = DAG_EXACT_MOST };

/* Masks over nodes. */
typedef struct walk {
    size_t d;
    uint32_t turnable[CLASS_MOST]; /* j of i: the edge between them may point either way */
    uint32_t parents[CLASS_MOST];
    const double *gain; /* (d, 2^d): by which graphs are not alike after all; or NULL */
    rng r;
    uint64_t next;
} walk;

static bool is_candidate(const candidate_lists *lists, size_t parent, size_t child)
{
    bool found = false;
    for (size_t c = 0; c < lists->count[child]; c++) {
        found = found || lists->candidate[child * lists->most + c] == parent;
    }
    return found;
}

static bool is_required(const candidate_lists *lists, size_t d, size_t parent, size_t child)
{
    return lists->required != NULL && lists->required[parent * d + child] != 0;
}

/* Whether any can be. */
static bool find_turnable(walk *w, const graph_posterior *g, const anchored_input *in)
{
    bool any = false;
    for (size_t i = 0; i < w->d; i++) {
        w->turnable[i] = 0;
        for (size_t j = 0; j < w->d; j++) {
            bool free = i != j && is_candidate(&g->lists, i, j) && is_candidate(&g->lists, j, i) &&
                        !is_required(&g->lists, w->d, i, j) && !is_required(&g->lists, w->d, j, i);
            if (free && design_alike(&in->view->design, i, j)) {
                w->turnable[i] |= (uint32_t)1 << j;
                any = true;
            }
        }
    }
    return any;
}

/* Candidates of a family to nodes, or back. */
static uint32_t to_nodes(const family *f, uint32_t parents)
{
    uint32_t out = 0;
    for (size_t c = 0; c < f->count; c++) {
        out |= (parents >> c & 1) << f->candidate[c];
    }
    return out;
}

static uint32_t to_candidates(const family *f, uint32_t nodes)
{
    uint32_t out = 0;
    for (size_t c = 0; c < f->count; c++) {
        out |= (nodes >> f->candidate[c] & 1) << c;
    }
    return out;
}

static bool can_turn(const walk *w, size_t i, size_t j)
{
    uint32_t with = w->parents[i] | (uint32_t)1 << i;
    return (w->turnable[i] >> j & 1) != 0 && w->parents[j] == with;
}

/* How many edges can be turned; the one of number `which` into from, to. */
static size_t count_turns(const walk *w, size_t which, size_t *from, size_t *to)
{
    size_t count = 0;
    for (size_t j = 0; j < w->d; j++) {
        for (size_t i = 0; i < w->d; i++) {
            if (can_turn(w, i, j)) {
                *from = count == which ? i : *from;
                *to = count == which ? j : *to;
                count++;
            }
        }
    }
    return count;
}

static void turn(walk *w, size_t from, size_t to)
{
    w->parents[to] &= ~((uint32_t)1 << from);
    w->parents[from] |= (uint32_t)1 << to;
}

/* What the graph gains where from -> to is turned: all other parents of `to` are those of `from`.
 */
static double gain_of_turn(const walk *w, size_t from, size_t to)
{
    double gained = 0;
    if (w->gain != NULL) {
        const double *by_from = w->gain + (from << w->d);
        const double *by_to = w->gain + (to << w->d);
        uint32_t shared = w->parents[from];
        gained = by_to[shared] + by_from[shared | (uint32_t)1 << to] - by_from[shared] -
                 by_to[shared | (uint32_t)1 << from];
    }
    return gained;
}

static void take_walk(walk *w)
{
    size_t from = 0;
    size_t to = 0;
    size_t now = count_turns(w, 0, &from, &to);
    size_t steps = tuned_class_turns() * w->d * w->d;
    for (size_t step = 0; step < steps && now > 0; step++) {
        double heat = fmin(1, 2 * (double)step / (double)steps); /* to find the way */
        size_t which = (size_t)rng_below(w->r, w->next++, now);
        (void)count_turns(w, which, &from, &to);
        double gain = gain_of_turn(w, from, to);
        turn(w, from, to);
        size_t then = count_turns(w, 0, &(size_t){0}, &(size_t){0});
        if (rng_uniform(w->r, w->next++) * (double)then < (double)now * exp(heat * gain)) {
            now = then;
        } else {
            turn(w, to, from);
        }
    }
}

/* An order (d) of the graph, the smallest node first where several may be. */
static void put_order(const walk *w, size_t *order)
{
    uint32_t done = 0;
    for (size_t at = 0; at < w->d; at++) {
        size_t i = 0;
        while ((done >> i & 1) != 0 || (w->parents[i] & ~done) != 0) {
            i++;
        }
        order[at] = i;
        done |= (uint32_t)1 << i;
    }
}

static void share_edges(const graph_posterior *g, const walk *w, const double *count)
{
    size_t d = w->d;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < i; j++) {
            double *one = &g->edge_prob[i * d + j];
            double *other = &g->edge_prob[j * d + i];
            double all = *one + *other;
            double share = (count[i * d + j] + 0.5) / (count[i * d + j] + count[j * d + i] + 1);
            if ((w->turnable[i] >> j & 1) != 0) {
                *one = all * share;
                *other = all * (1 - share);
            }
        }
    }
}

void graph_share_classes(graph_posterior *g, const anchored_input *in, graph_scratch *t)
{
    size_t d = in->view->d;
    walk all = {
        .d = d, .gain = in->gains, .r = stream_of((uint64_t)in->settings->seed, STREAM_CLASSES)};
    if (!g->exact || in->order != NULL || in->settings->noise == LSCM_NOISE_EQUAL ||
        !find_turnable(&all, g, in)) {
        return;
    }
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < g->draws; k++) {
        walk w = all;
        w.next = (uint64_t)k << 32;
        for (size_t i = 0; i < d; i++) {
            w.parents[i] = to_nodes(&g->families.list[i], g->parents[k * d + i]);
        }
        take_walk(&w);
        put_order(&w, g->order + k * d);
        for (size_t i = 0; i < d; i++) {
            g->parents[k * d + i] = to_candidates(&g->families.list[i], w.parents[i]);
        }
    }
    memset(t->edge_prob, 0, d * d * sizeof *t->edge_prob);
    for (size_t k = 0; k < g->draws * d; k++) {
        uint32_t parents = to_nodes(&g->families.list[k % d], g->parents[k]);
        for (size_t p = 0; p < d; p++) {
            t->edge_prob[p * d + k % d] += (double)(parents >> p & 1);
        }
    }
    share_edges(g, &all, t->edge_prob);
}
