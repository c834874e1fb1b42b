/* The exact posterior: every node's parent sets (parent_sets.h), then all orders (order_sums.h),
 * then draws: an order, and each node's parents among its predecessors. With an order given only
 * the parent sets among the predecessors are left, node by node.
 *
 * Memory: 8 (3 d 2^(d-1) + 2 2^d) bytes, 268 MB for 20 nodes, and 4 MB for each thread; with an
 * order given 4 tables of 8 2^count bytes.
 */
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
    const family *families;
    size_t d;
    const dag_prior *prior;
    rng r;
    const dag_draws *draws;
    dag_result *out;
    const lscm_progress *progress;
    lscm_error *why;
} exact;

static lscm_status report(const exact *e, uint64_t done, uint64_t total)
{
    if (e->progress != NULL && e->progress->report != NULL &&
        !e->progress->report(e->progress->self, "graphs", done, total)) {
        return fail(e->why, LSCM_STOPPED, "graphs: stopped on request");
    }
    return LSCM_OK;
}

static lscm_status check(const exact *e, bool order_given)
{
    if (e->d == 0 || (!order_given && e->d > DAG_EXACT_MOST)) {
        return fail(e->why, LSCM_VALUE,
                    "the exact posterior over graphs takes 1 to %d nodes, not %zu; sample orders "
                    "instead",
                    DAG_EXACT_MOST, e->d);
    }
    for (size_t i = 0; i < e->d; i++) {
        const family *f = &e->families[i];
        if (f->count > FAMILY_MOST) {
            return fail(e->why, LSCM_VALUE,
                        "node %zu has %zu candidate parents; at most %d can be weighed against "
                        "each other",
                        i, f->count, FAMILY_MOST);
        }
        size_t side = f->count + 1;
        for (size_t k = 0; k < side * side + side; k++) {
            double x = k < side * side ? f->scatter[k] : f->mean[k - side * side];
            if (!isfinite(x)) {
                return fail(e->why, LSCM_VALUE,
                            "the moments of node %zu are not finite numbers; look for values that "
                            "are out of all proportion",
                            i);
            }
        }
    }
    return LSCM_OK;
}

/* ---- All orders --------------------------------------------------------------------------------
 */

typedef struct exact_work {
    parent_sets *sets; /* (d) */
    double **scratch;  /* (threads, subset_entries(d - 1)) */
    order_sums sums;
    arena memory;
} exact_work;

static void lay_out(exact_work *work, const exact *e, int threads)
{
    arena *a = &work->memory;
    work->sets = arena_take(a, e->d, sizeof *work->sets);
    work->scratch = arena_take(a, (size_t)threads, sizeof *work->scratch);
    for (int t = 0; t < threads; t++) {
        double *scratch = arena_take(a, subset_entries(e->d - 1), sizeof *scratch);
        if (work->scratch != NULL) {
            work->scratch[t] = scratch;
        }
    }
    for (size_t i = 0; i < e->d; i++) {
        parent_sets unplaced;
        parent_sets_lay_out(work->sets != NULL ? &work->sets[i] : &unplaced, a,
                            e->families[i].count);
    }
    order_sums_lay_out(&work->sums, a, e->d);
}

/* The candidates as a mask over the nodes other than the family's own. */
static uint32_t candidate_mask(const family *f)
{
    uint32_t mask = 0;
    for (size_t k = 0; k < f->count; k++) {
        mask |= (uint32_t)1 << (f->candidate[k] - (f->candidate[k] > f->node ? 1 : 0));
    }
    return mask;
}

static void fill_tables(const exact *e, const exact_work *work, int threads)
{
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (size_t i = 0; i < e->d; i++) {
        const family *f = &e->families[i];
        parent_sets_fill(&work->sets[i], f, e->prior, work->sums.total[i],
                         work->scratch[omp_get_thread_num()]);
        order_sums_spread(&work->sums, i, candidate_mask(f));
    }
}

static void draw_graph(const exact *e, const exact_work *work, size_t draw)
{
    size_t d = e->d;
    size_t *order = e->draws->order + draw * d;
    uint64_t first = (uint64_t)draw * 3 * d;
    order_sums_draw(&work->sums, e->r, first, order);
    size_t before = 0;
    for (size_t k = 0; k < d; k++) {
        size_t i = order[k];
        const family *f = &e->families[i];
        uint32_t within = 0;
        for (size_t c = 0; c < f->count; c++) {
            within |= (uint32_t)(before >> f->candidate[c] & 1) << c;
        }
        e->draws->parents[draw * d + i] = parent_sets_draw(
            &work->sets[i], within, work->sums.total[i][mask_without(before, i)],
            rng_uniform(e->r, first + d + 2 * i), rng_uniform(e->r, first + d + 2 * i + 1));
        before |= (size_t)1 << i;
    }
}

static lscm_status all_orders(const exact *e)
{
    lscm_status status = LSCM_OK;
    exact_work work = {0};
    int most = omp_get_max_threads();
    int threads = e->d < WORTH_THREADS ? 1 : most < DAG_EXACT_MOST ? most : DAG_EXACT_MOST;
    lay_out(&work, e, threads);
    TRY(arena_open(&work.memory, e->why));
    lay_out(&work, e, threads);
    TRY(report(e, 0, 4));
    fill_tables(e, &work, threads);
    TRY(report(e, 1, 4));
    order_sums_run(&work.sums, threads);
    double sum = work.sums.forward[((size_t)1 << e->d) - 1];
    if (!(sum > -INFINITY)) {
        status = fail(e->why, LSCM_VALUE,
                      "the required edges go round in a circle, so no graph has them all; take one "
                      "of them back");
        goto done;
    }
    e->out->log_evidence = sum - lgamma((double)e->d + 1);
    for (size_t i = 0; i < e->d; i++) {
        e->out->log_evidence += work.sets[i].offset;
    }
    TRY(report(e, 2, 4));
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (size_t i = 0; i < e->d; i++) {
        order_sums_edges(&work.sums, i, e->out->edge_prob);
    }
    TRY(report(e, 3, 4));
#pragma omp parallel for schedule(static) num_threads(threads)
    for (size_t draw = 0; draw < e->draws->count; draw++) {
        draw_graph(e, &work, draw);
    }
    TRY(report(e, 4, 4));
done:
    arena_close(&work.memory);
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

/* The family with those candidates only that stand before the node. */
typedef struct narrowed {
    family f;
    size_t place[FAMILY_MOST]; /* in the family it was made of */
    size_t candidate[FAMILY_MOST];
    double scatter[(FAMILY_MOST + 1) * (FAMILY_MOST + 1)], mean[FAMILY_MOST + 1];
} narrowed;

static lscm_status narrow(narrowed *out, const family *f, const size_t *position, lscm_error *why)
{
    size_t count = 0;
    uint32_t required = 0;
    for (size_t c = 0; c < f->count; c++) {
        uint32_t needed = f->required >> c & 1;
        if (position[f->candidate[c]] < position[f->node]) {
            out->place[count] = c;
            out->candidate[count] = f->candidate[c];
            required |= needed << count;
            count++;
        } else if (needed != 0) {
            return fail(why, LSCM_VALUE,
                        "the edge %zu -> %zu is required, but the given order has %zu after %zu; "
                        "change one of the two",
                        f->candidate[c], f->node, f->candidate[c], f->node);
        }
    }
    for (size_t a = 0; a <= count; a++) {
        size_t from = a < count ? out->place[a] : f->count;
        for (size_t b = 0; b <= count; b++) {
            size_t to = b < count ? out->place[b] : f->count;
            out->scatter[a * (count + 1) + b] = f->scatter[from * (f->count + 1) + to];
        }
        out->mean[a] = f->mean[from];
    }
    out->f = (family){.node = f->node,
                      .count = count,
                      .candidate = out->candidate,
                      .required = required,
                      .rows = f->rows,
                      .scatter = out->scatter,
                      .mean = out->mean};
    return LSCM_OK;
}

static void one_node(const exact *e, given_work *work, const narrowed *n)
{
    size_t d = e->d;
    size_t i = n->f.node;
    uint32_t full = ((uint32_t)1 << n->f.count) - 1;
    parent_sets_fill(&work->sets, &n->f, e->prior, work->total, work->scratch);
    double all = work->total[full];
    e->out->log_evidence += work->sets.offset + all;
    for (size_t c = 0; c < n->f.count; c++) {
        double p = -expm1(work->total[full ^ (uint32_t)1 << c] - all);
        e->out->edge_prob[n->candidate[c] * d + i] = p > 0 ? p : 0;
    }
#pragma omp parallel for schedule(static) if (n->f.count >= WORTH_THREADS)
    for (size_t draw = 0; draw < e->draws->count; draw++) {
        uint64_t first = (uint64_t)draw * 3 * d + d + 2 * i;
        uint32_t narrow_set = parent_sets_draw(&work->sets, full, all, rng_uniform(e->r, first),
                                               rng_uniform(e->r, first + 1));
        uint32_t parents = 0;
        for (size_t c = 0; c < n->f.count; c++) {
            parents |= (narrow_set >> c & 1) << n->place[c];
        }
        e->draws->parents[draw * d + i] = parents;
    }
}

static lscm_status one_order(const exact *e, const size_t *order)
{
    lscm_status status = LSCM_OK;
    given_work work = {0};
    narrowed n;
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
    memset(e->out->edge_prob, 0, e->d * e->d * sizeof *e->out->edge_prob);
    for (size_t i = 0; i < e->d; i++) {
        TRY(report(e, i, e->d));
        TRY(narrow(&n, &e->families[i], work.position, e->why));
        one_node(e, &work, &n);
    }
    for (size_t draw = 0; draw < e->draws->count; draw++) {
        memcpy(e->draws->order + draw * e->d, order, e->d * sizeof *order);
    }
    TRY(report(e, e->d, e->d));
done:
    arena_close(&work.memory);
    return status;
}

lscm_status dag_exact(const family *list, size_t d, const dag_prior *prior, const size_t *order,
                      rng r, const dag_draws *draws, dag_result *out, const lscm_progress *progress,
                      lscm_error *why)
{
    lscm_status status = LSCM_OK;
    exact e = {list, d, prior, r, draws, out, progress, why};
    TRY(check(&e, order != NULL));
    TRY(order == NULL ? all_orders(&e) : one_order(&e, order));
    out->r_hat = out->r_hat_kept = 1;
    out->replaced = 0;
    out->ess = (double)draws->count;
done:
    return status;
}
