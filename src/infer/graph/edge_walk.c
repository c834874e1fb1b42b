#include "infer/graph/edge_walk.h"

#include "base/arena.h"
#include "base/streams.h"
#include "base/tuned.h"
#include "infer/graph/convergence.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { NO_SLOT = 255 };
static const double HALF = 0.69314718055994531; /* log 2 */

typedef struct edge_walk {
    size_t d;
    const family *families;  /* (d) */
    const parent_sets *sets; /* (d) */
    const uint8_t *back;     /* (d, FAMILY_MOST): number of i among the candidates of its k-th */
    uint32_t *parents;       /* (d): the graph, the caller's */
    rng r;
    uint64_t next;         /* number of the next random number */
    uint32_t *stack, *met; /* (d): scratch of paths; met is `stamp` where one has been */
    uint32_t *turned;      /* (d): parents along a path, once it is turned */
    uint32_t stamp;
} edge_walk;

static void find_back(const family *list, size_t d, uint8_t *back)
{
    for (size_t i = 0; i < d; i++) {
        for (size_t k = 0; k < list[i].count; k++) {
            const family *other = &list[list[i].candidate[k]];
            back[i * FAMILY_MOST + k] = NO_SLOT;
            for (size_t c = 0; c < other->count; c++) {
                if (other->candidate[c] == i) {
                    back[i * FAMILY_MOST + k] = (uint8_t)c;
                }
            }
        }
    }
}

static size_t below(edge_walk *w, size_t bound)
{
    return (size_t)rng_below(w->r, w->next++, bound);
}

static bool is_taken(edge_walk *w, double log_ratio)
{
    return log(rng_uniform(w->r, w->next++)) < log_ratio;
}

static double change(const edge_walk *w, size_t i, uint32_t parents)
{
    return w->sets[i].score[parents] - w->sets[i].score[w->parents[i]];
}

/* Whether a path leads from `from` to `to`, other than an edge. */
static bool leads(edge_walk *w, size_t from, size_t to)
{
    size_t depth = 0;
    w->stamp++;
    w->stack[depth++] = (uint32_t)to;
    while (depth > 0) {
        size_t i = w->stack[--depth];
        for (uint32_t left = w->parents[i]; left != 0; left &= left - 1) {
            size_t j = w->families[i].candidate[__builtin_ctz(left)];
            if (j == from && i != to) {
                return true;
            }
            if (j != from && w->met[j] != w->stamp) {
                w->met[j] = w->stamp;
                w->stack[depth++] = (uint32_t)j;
            }
        }
    }
    return false;
}

static void come_or_go(edge_walk *w, size_t i)
{
    const family *f = &w->families[i];
    if (f->count == 0) {
        return;
    }
    size_t k = below(w, f->count);
    size_t j = f->candidate[k];
    uint32_t other = w->parents[i] ^ (uint32_t)1 << k;
    uint8_t its = w->back[i * FAMILY_MOST + k];
    bool comes = other > w->parents[i];
    bool turned = its != NO_SLOT && (w->parents[j] >> its & 1) != 0;
    double halves = comes ? -HALF : HALF;
    if (is_taken(w, change(w, i, other) + halves) && !(comes && (turned || leads(w, i, j)))) {
        w->parents[i] = other;
    }
}

/* The number of the n-th parent among the candidates. */
static size_t nth(uint32_t parents, size_t n)
{
    for (; n > 0; n--) {
        parents &= parents - 1;
    }
    return (size_t)__builtin_ctz(parents);
}

static void turn(edge_walk *w, size_t i)
{
    if (w->parents[i] == 0) {
        return;
    }
    size_t count = (size_t)__builtin_popcount(w->parents[i]);
    size_t k = nth(w->parents[i], below(w, count));
    size_t j = w->families[i].candidate[k];
    uint8_t its = w->back[i * FAMILY_MOST + k];
    if (its == NO_SLOT) {
        return;
    }
    uint32_t without = w->parents[i] & ~((uint32_t)1 << k);
    uint32_t with = w->parents[j] | (uint32_t)1 << its;
    double ratio = change(w, i, without) + change(w, j, with) +
                   log((double)count / (double)__builtin_popcount(with));
    if (is_taken(w, ratio) && !leads(w, j, i)) {
        w->parents[i] = without;
        w->parents[j] = with;
    }
}

/* Whether the graph has no circle. */
static bool is_acyclic(edge_walk *w)
{
    size_t placed = 0;
    bool any = true;
    w->stamp++;
    while (any && placed < w->d) { /* again and again: a node is met after its parents */
        any = false;
        for (size_t i = 0; i < w->d; i++) {
            bool next = w->met[i] != w->stamp;
            for (uint32_t left = w->parents[i]; left != 0 && next; left &= left - 1) {
                next = w->met[w->families[i].candidate[__builtin_ctz(left)]] == w->stamp;
            }
            if (next) {
                w->met[i] = w->stamp;
                placed++;
                any = true;
            }
        }
    }
    return placed == w->d;
}

/* The path from v up to a root, a parent of each node drawn alike: its nodes in w->stack, in
 * w->turned what their parents would be; returns how many there are, or 0 where one cannot be
 * turned. *plain: only the first and last matter, as all have one parent. */
static size_t climb(edge_walk *w, size_t v, double *ratio, bool *plain)
{
    uint32_t above = 0; /* the parent that the next node on the path gets: none of v */
    size_t length = 0;
    size_t i = v;
    *ratio = 0;
    *plain = true;
    for (;;) {
        uint32_t own = w->parents[i];
        size_t count = (size_t)__builtin_popcount(own);
        size_t k = count > 1   ? nth(own, below(w, count))
                   : count > 0 ? (size_t)__builtin_ctz(own)
                               : 0;
        uint32_t without = count > 0 ? own & ~((uint32_t)1 << k) : 0;
        *plain = *plain && count < 2;
        *ratio += change(w, i, without | above);
        w->stack[length] = (uint32_t)i;
        w->turned[length++] = without | above;
        if (count == 0) {
            return length;
        }
        uint8_t its = w->back[i * FAMILY_MOST + k];
        if (its == NO_SLOT || (i == v && count > 1)) {
            return 0;
        }
        above = (uint32_t)1 << its;
        i = w->families[i].candidate[k];
    }
}

static void exchange_parents(edge_walk *w, size_t length)
{
    for (size_t p = 0; p < length; p++) {
        uint32_t own = w->parents[w->stack[p]];
        w->parents[w->stack[p]] = w->turned[p];
        w->turned[p] = own;
    }
}

static void take_root(edge_walk *w, size_t v)
{
    double ratio = 0;
    bool plain = true;
    size_t length = climb(w, v, &ratio, &plain);
    if (length < 2 || !is_taken(w, ratio)) {
        return;
    }
    exchange_parents(w, length);
    if (!plain && !is_acyclic(w)) {
        exchange_parents(w, length);
    }
}

/* So many moves of each kind, drawn alike. */
static void run(edge_walk *w, size_t moves)
{
    memset(w->met, 0, w->d * sizeof *w->met);
    w->stamp = 0;
    for (size_t m = 0; m < moves; m++) {
        size_t kind = below(w, 3);
        size_t i = below(w, w->d);
        if (kind == 0) {
            come_or_go(w, i);
        } else if (kind == 1) {
            turn(w, i);
        } else {
            take_root(w, i);
        }
    }
}

/* order (d) becomes one of the graph, as near to that before as it allows. */
static void find_order(edge_walk *w, size_t *order)
{
    memset(w->met, 0, w->d * sizeof *w->met);
    for (size_t p = 0; p < w->d; p++) {
        w->stack[p] = (uint32_t)order[p];
    }
    for (size_t placed = 0; placed < w->d;) {
        for (size_t p = 0; p < w->d; p++) { /* again and again: a node is met after its parents */
            size_t i = w->stack[p];
            bool next = w->met[i] == 0;
            for (uint32_t left = w->parents[i]; left != 0 && next; left &= left - 1) {
                next = w->met[w->families[i].candidate[__builtin_ctz(left)]] != 0;
            }
            if (next) {
                w->met[i] = 1;
                order[placed++] = i;
            }
        }
    }
}

/* Walk n, of chain n mod chains: from the first of its draws, a long way, and then from each to the
 * next. */
static void walk_on(edge_walk *w, const dag_draws *draws, size_t n, size_t chains)
{
    size_t d = w->d;
    size_t each = d * tuned_walk_moves();
    size_t longest = tuned_walk_first() > each ? tuned_walk_first() : each;
    size_t first = n / chains * tuned_walk_draws() * chains + n % chains;
    for (size_t m = 0; m < tuned_walk_draws(); m++) {
        size_t k = first + m * chains;
        if (k >= draws->count) {
            return;
        }
        if (m > 0) {
            memcpy(draws->parents + k * d, w->parents, d * sizeof *w->parents);
        }
        w->parents = draws->parents + k * d;
        run(w, m == 0 ? longest : each);
        find_order(w, draws->order + k * d);
    }
}

typedef struct walk_room {
    edge_walk *walk; /* (threads) */
    uint8_t *back;
    double *series; /* (draws) */
    arena memory;
} walk_room;

static void lay_out(walk_room *room, size_t d, size_t draws, size_t threads)
{
    arena *a = &room->memory;
    room->walk = arena_take(a, threads, sizeof *room->walk);
    room->back = arena_take(a, d * FAMILY_MOST, 1);
    room->series = arena_take(a, draws, sizeof(double));
    for (size_t t = 0; t < threads; t++) {
        uint32_t *stack = arena_take(a, d, sizeof *stack);
        uint32_t *met = arena_take(a, d, sizeof *met);
        uint32_t *turned = arena_take(a, d, sizeof *turned);
        if (room->walk != NULL) {
            room->walk[t] = (edge_walk){
                .d = d, .back = room->back, .stack = stack, .met = met, .turned = turned};
        }
    }
}

/* Edge c of family i in all draws. */
static void summarise(const dag_draws *draws, const family *f, size_t c, size_t chains,
                      double *series, dag_result *out)
{
    size_t n = draws->count / chains;
    double present = 0;
    for (size_t k = 0; k < draws->count; k++) {
        double there = (double)(draws->parents[k * draws->d + f->node] >> c & 1);
        present += there;
        if (k < n * chains) {
            series[k % chains * n + k / chains] = there;
        }
    }
    double p = present / (double)draws->count;
    out->edge_prob[f->candidate[c] * draws->d + f->node] = p;
    if (p * (1 - p) > tuned_order_doubt()) {
        out->r_hat_kept = fmax(out->r_hat_kept, split_r_hat(series, chains, n));
        out->ess = fmin(out->ess, effective_samples(series, chains, n));
    }
}

lscm_status edge_walk_draws(const dag_problem *problem, const parent_sets *sets,
                            const dag_draws *draws, size_t chains, dag_result *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const family *list = problem->mechanisms->family;
    size_t d = draws->d;
    size_t threads = (size_t)omp_get_max_threads();
    size_t each = (draws->count + chains - 1) / chains;
    size_t walks = (each + tuned_walk_draws() - 1) / tuned_walk_draws() * chains;
    walk_room room = {0};
    lay_out(&room, d, draws->count, threads);
    TRY(arena_open(&room.memory, why));
    lay_out(&room, d, draws->count, threads);
    find_back(list, d, room.back);
#pragma omp parallel for schedule(dynamic) num_threads((int)threads)
    for (size_t n = 0; n < walks; n++) {
        edge_walk *w = &room.walk[omp_get_thread_num()];
        w->families = list;
        w->sets = sets;
        w->r = stream_part(problem->r, n + 1);
        w->next = 0;
        walk_on(w, draws, n, chains);
    }
    if (out->edge_prob != NULL && draws->count >= chains) {
        out->r_hat_kept = 1;
        out->ess = (double)draws->count;
        for (size_t i = 0; i < d; i++) {
            for (size_t c = 0; c < list[i].count; c++) {
                summarise(draws, &list[i], c, chains, room.series, out);
            }
        }
    }
done:
    arena_close(&room.memory);
    return status;
}
