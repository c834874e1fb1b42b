/* The exact posterior: every node's parent sets (parent_sets.h), then all orders (order_sums.h),
 * then draws: an order, and each node's parents among its predecessors. With an order given only
 * the parent sets among the predecessors are left, node by node.
 *
 * Edges that are known, to be there or not, halve the table of their child each; those that are
 * there leave few sets of nodes that can come first.
 *
 * Memory: 8 (d 2^(d-1) + 2 2^d) bytes, 100 MB for 20 nodes, 12 MB for each thread, and, for draws,
 * 16 2^u for the u candidates of each node of which nothing is known; with an order given 4 tables
 * of 8 2^count bytes.
 */
#include "base/node_name.h"
#include "infer/graph/dag.h"
#include "infer/graph/order_sums.h"
#include "infer/graph/parent_sets.h"
#include "infer/graph/subset_sums.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* Below so many nodes or candidates one thread is done before others have woken up. */
enum { WORTH_THREADS = 10 };

typedef struct exact {
    const dag_problem *p;
    const family *families; /* (d) */
    size_t d;
    const dag_draws *draws;
    dag_result *out;
    lscm_error *why;
} exact;

static lscm_status report(const exact *e, uint64_t done, uint64_t total)
{
    const lscm_progress *progress = e->p->progress;
    if (progress != NULL && progress->report != NULL &&
        !progress->report(progress->self, "graphs", done, total)) {
        return fail(e->why, LSCM_STOPPED, "graphs: stopped on request");
    }
    return LSCM_OK;
}

/* ---- All orders --------------------------------------------------------------------------------
 */

static void lay_out(dag_tables *t, const exact *e)
{
    arena *a = &t->memory;
    bool kept = e->draws->count > 0 || e->p->tables != NULL;
    t->sets = arena_take(a, e->d, sizeof *t->sets);
    t->scratch = arena_take(a, (size_t)t->threads, sizeof *t->scratch);
    for (int k = 0; k < t->threads; k++) {
        double *scratch = arena_take(a, (kept ? 1 : 2) * subset_entries(e->d - 1), sizeof *scratch);
        if (t->scratch != NULL) {
            t->scratch[k] = scratch;
        }
    }
    for (size_t i = 0; i < e->d; i++) {
        parent_sets unplaced = {0};
        parent_sets *sets = t->sets != NULL ? &t->sets[i] : &unplaced;
        *sets = (parent_sets){0};
        if (kept) {
            parent_sets_lay_out(sets, a, family_free(&e->families[i]));
        }
    }
    order_sums_lay_out(&t->sums, a, e->d);
}

static lscm_status open_tables(dag_tables *t, const exact *e)
{
    lscm_status status = LSCM_OK;
    if (t->threads == 0) {
        int most = omp_get_max_threads();
        t->threads = e->d < WORTH_THREADS ? 1 : most < DAG_EXACT_MOST ? most : DAG_EXACT_MOST;
        lay_out(t, e);
        TRY(arena_open(&t->memory, e->why));
        lay_out(t, e);
    }
done:
    return status;
}

void dag_tables_close(dag_tables *t)
{
    arena_close(&t->memory);
    *t = (dag_tables){0};
}

/* Those of the candidates as a mask over the nodes other than the family's own. */
static uint32_t other_nodes(const family *f, uint32_t candidates)
{
    uint32_t mask = 0;
    for (size_t k = 0; k < f->count; k++) {
        mask |= (candidates >> k & 1) << (f->candidate[k] - (f->candidate[k] > f->node ? 1 : 0));
    }
    return mask;
}

/* Totals of node i among all sets of others, from scores that are there but for `odds` of each
 * parent, or are not (again). */
static void fill_table(const exact *e, const dag_tables *t, size_t i, bool again, double odds,
                       double *scratch)
{
    const family *f = &e->families[i];
    uint32_t must = other_nodes(f, f->required);
    parent_sets *sets = &t->sets[i];
    double *total = t->sums.total[i];
    if (again) {
        parent_sets_shift(sets, odds, total, scratch);
        sets->offset += odds * (double)__builtin_popcount(f->required);
    } else if (sets->score == NULL) {
        parent_sets passing = {.score = scratch + subset_entries(e->d - 1)};
        parent_sets_fill_free(&passing, e->p->mechanisms, f, total, scratch);
        sets->offset = passing.offset;
    } else {
        parent_sets_fill_free(sets, e->p->mechanisms, f, total, scratch);
    }
    subset_spread(total, e->d - 1, other_nodes(f, ~f->required), must);
    t->sums.before[i] = (uint32_t)mask_with(must, i);
}

static bool is_same_slab(const dag_prior *a, const dag_prior *b)
{
    return a->ridge == b->ridge && a->dof == b->dof && a->variance == b->variance &&
           a->unit == b->unit && a->spread == b->spread && a->hole == b->hole;
}

/* Scores at the prior, unless they are there; returns whether they are others than before. */
static bool fill_tables(const exact *e, dag_tables *t)
{
    const dag_prior *prior = &e->p->mechanisms->prior;
    bool again = t->scored && is_same_slab(prior, &t->prior);
    double odds = prior->log_odds - t->prior.log_odds;
    bool fresh = !(again && odds == 0);
#pragma omp parallel for schedule(dynamic) num_threads(t->threads)
    for (size_t i = 0; i < (fresh ? e->d : 0); i++) {
        fill_table(e, t, i, again, odds, t->scratch[omp_get_thread_num()]);
    }
    t->prior = *prior;
    t->scored = !fresh; /* until their orders are summed over */
    t->backward = t->backward && !fresh;
    return fresh;
}

static void sum_orders(const exact *e, dag_tables *t, bool fresh)
{
    bool backward = e->out->edge_prob != NULL && !t->backward;
    order_sums_run(&t->sums, fresh, backward, t->threads);
    t->backward = t->backward || backward;
    t->scored = true;
}

/* Bits of `set` among those of `whole`, by their order there: spread_bits undone. */
static uint32_t gather_bits(uint32_t set, uint32_t whole)
{
    uint32_t out = 0;
    for (uint32_t bit = 1; whole != 0; whole &= whole - 1, bit <<= 1) {
        out |= (set & whole & -whole) != 0 ? bit : 0;
    }
    return out;
}

static void draw_graph(const exact *e, const dag_tables *work, size_t draw)
{
    size_t d = e->d;
    size_t *order = e->draws->order + draw * d;
    uint64_t first = (uint64_t)draw * 3 * d;
    order_sums_draw(&work->sums, e->p->r, first, order);
    size_t before = 0;
    for (size_t k = 0; k < d; k++) {
        size_t i = order[k];
        const family *f = &e->families[i];
        uint32_t open = (((uint32_t)1 << f->count) - 1) & ~f->required;
        uint32_t within = 0;
        for (size_t c = 0; c < f->count; c++) {
            within |= (uint32_t)(before >> f->candidate[c] & 1) << c;
        }
        uint32_t chosen = parent_sets_draw(
            &work->sets[i], gather_bits(within, open), work->sums.total[i][mask_without(before, i)],
            rng_uniform(e->p->r, first + d + 2 * i), rng_uniform(e->p->r, first + d + 2 * i + 1));
        e->draws->parents[draw * d + i] = spread_bits(chosen, open) | f->required;
        before |= (size_t)1 << i;
    }
}

static lscm_status all_orders(const exact *e)
{
    lscm_status status = LSCM_OK;
    dag_tables own = {0};
    dag_tables *t = e->p->tables != NULL ? e->p->tables : &own;
    TRY(open_tables(t, e));
    TRY(report(e, 0, 4));
    bool fresh = fill_tables(e, t);
    TRY(report(e, 1, 4));
    sum_orders(e, t, fresh);
    double sum = t->sums.forward[((size_t)1 << e->d) - 1];
    if (!(sum > -INFINITY)) {
        status = fail(e->why, LSCM_VALUE,
                      "the required edges go round in a circle, so no graph has them all; take one "
                      "of them back");
        goto done;
    }
    e->out->log_evidence = sum - lgamma((double)e->d + 1);
    for (size_t i = 0; i < e->d; i++) {
        e->out->log_evidence += t->sets[i].offset;
    }
    TRY(report(e, 2, 4));
#pragma omp parallel for schedule(dynamic) num_threads(t->threads)
    for (size_t i = 0; i < (e->out->edge_prob != NULL ? e->d : 0); i++) {
        order_sums_edges(&t->sums, i, e->out->edge_prob);
    }
    TRY(report(e, 3, 4));
#pragma omp parallel for schedule(static) num_threads(t->threads)
    for (size_t draw = 0; draw < e->draws->count; draw++) {
        draw_graph(e, t, draw);
    }
    TRY(report(e, 4, 4));
done:
    arena_close(&own.memory);
    return status;
}

/* ---- One order ---------------------------------------------------------------------------------
 */

typedef struct given_work {
    parent_sets sets;
    double *total, *scratch; /* (subset_entries) of the largest family */
    size_t *position;        /* (d) */
    arena memory;
} given_work;

static void given_lay_out(given_work *work, size_t d, size_t most)
{
    arena *a = &work->memory;
    parent_sets_lay_out(&work->sets, a, most);
    work->total = arena_take(a, subset_entries(most), sizeof *work->total);
    work->scratch = arena_take(a, subset_entries(most), sizeof *work->scratch);
    work->position = arena_take(a, d, sizeof *work->position);
}

/* The candidates that stand before the node, as a mask; fails where a required one does not. */
static lscm_status find_before(uint32_t *out, const family *f, const size_t *position,
                               lscm_error *why)
{
    *out = 0;
    for (size_t c = 0; c < f->count; c++) {
        if (position[f->candidate[c]] < position[f->node]) {
            *out |= (uint32_t)1 << c;
        } else if ((f->required >> c & 1) != 0) {
            char rooms[2][NODE_NAME_ROOM];
            const char *parent = name_of(f->names, f->candidate[c], rooms[0], NODE_NAME_ROOM);
            const char *node = name_of(f->names, f->node, rooms[1], NODE_NAME_ROOM);
            return fail(why, LSCM_VALUE,
                        "the edge %s -> %s is required, but the given order has %s after %s; "
                        "change one of the two",
                        parent, node, parent, node);
        }
    }
    return LSCM_OK;
}

static void one_node(const exact *e, given_work *work, size_t i, uint32_t before)
{
    const mechanisms *m = e->p->mechanisms;
    size_t d = e->d;
    family_room narrowed;
    m->law->narrow(&narrowed, &e->families[i], before);
    const family *f = &narrowed.f;
    uint32_t full = ((uint32_t)1 << f->count) - 1;
    parent_sets_fill(&work->sets, m, f, work->total, work->scratch);
    double all = work->total[full];
    e->out->log_evidence += work->sets.offset + all;
    for (size_t c = 0; c < f->count && e->out->edge_prob != NULL; c++) {
        double p = -expm1(work->total[full ^ (uint32_t)1 << c] - all);
        e->out->edge_prob[f->candidate[c] * d + i] = p > 0 ? p : 0;
    }
#pragma omp parallel for schedule(static) if (f->count >= WORTH_THREADS)
    for (size_t draw = 0; draw < e->draws->count; draw++) {
        uint64_t first = (uint64_t)draw * 3 * d + d + 2 * i;
        uint32_t chosen = parent_sets_draw(&work->sets, full, all, rng_uniform(e->p->r, first),
                                           rng_uniform(e->p->r, first + 1));
        e->draws->parents[draw * d + i] = spread_bits(chosen, before);
    }
}

static lscm_status one_order(const exact *e, const size_t *order)
{
    lscm_status status = LSCM_OK;
    given_work work = {0};
    size_t most = 0;
    for (size_t i = 0; i < e->d; i++) {
        most = e->families[i].count > most ? e->families[i].count : most;
    }
    given_lay_out(&work, e->d, most);
    TRY(arena_open(&work.memory, e->why));
    given_lay_out(&work, e->d, most);
    for (size_t k = 0; k < e->d; k++) {
        work.position[order[k]] = k;
    }
    e->out->log_evidence = 0;
    if (e->out->edge_prob != NULL) {
        memset(e->out->edge_prob, 0, e->d * e->d * sizeof *e->out->edge_prob);
    }
    for (size_t i = 0; i < e->d; i++) {
        TRY(report(e, i, e->d));
        uint32_t before = 0;
        TRY(find_before(&before, &e->families[i], work.position, e->why));
        one_node(e, &work, i, before);
    }
    for (size_t draw = 0; draw < e->draws->count; draw++) {
        memcpy(e->draws->order + draw * e->d, order, e->d * sizeof *order);
    }
    TRY(report(e, e->d, e->d));
done:
    arena_close(&work.memory);
    return status;
}

lscm_status dag_exact(const dag_problem *problem, const dag_draws *draws, dag_result *out,
                      lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const mechanisms *m = problem->mechanisms;
    const exact e = {problem, m->family, m->d, draws, out, why};
    if (m->d == 0 || (problem->order == NULL && m->d > DAG_EXACT_MOST)) {
        return fail(why, LSCM_VALUE,
                    "the exact posterior over graphs takes 1 to %d nodes, not %zu; sample orders "
                    "instead",
                    DAG_EXACT_MOST, m->d);
    }
    TRY(mechanisms_check(m, why));
    TRY(problem->order == NULL ? all_orders(&e) : one_order(&e, problem->order));
    out->r_hat = out->r_hat_kept = 1;
    out->replaced = 0;
    out->ess = (double)draws->count;
done:
    return status;
}

/* ---- What is known beforehand ------------------------------------------------------------------
 */

/* Families of what is not known alone. */
lscm_status dag_exact_known(const dag_problem *problem, const dag_known *known,
                            const dag_draws *draws, dag_result *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    mechanisms m = *problem->mechanisms;
    dag_problem left = *problem;
    family_room *room = NULL;
    family *list = NULL;
    arena memory = {0};
    for (int pass = 0; pass < 2; pass++) {
        room = arena_take(&memory, m.d, sizeof *room);
        list = arena_take(&memory, m.d, sizeof *list);
        if (pass == 0) {
            TRY(arena_open(&memory, why));
        }
    }
    for (size_t i = 0; i < m.d; i++) {
        family f = m.family[i];
        f.required |= known->must[i];
        m.law->narrow(&room[i], &f, known->may[i] | f.required);
        list[i] = room[i].f;
    }
    m.family = list;
    left.mechanisms = &m;
    TRY(dag_exact(&left, draws, out, why));
    for (size_t k = 0; k < draws->count * m.d; k++) {
        size_t i = k % m.d;
        uint32_t among = known->may[i] | known->must[i] | problem->mechanisms->family[i].required;
        draws->parents[k] = spread_bits(draws->parents[k], among);
    }
done:
    arena_close(&memory);
    return status;
}
