/* The yardstick for posteriors over DAGs: every DAG of d <= 5 nodes (29 281) by trying all parent
 * sets, its orders counted one node at a time, its weight P(G) ~ orders(G) prod_i score_i(pa_i)
 * from family_score. With an order given, DAGs that fit it count once and the others not at all.
 *
 *     dag_yardstick truth;
 *     enumerate_dags(&truth, families, d, &prior, NULL, NULL, NULL);
 */
#ifndef LSCM_TESTS_ENUMERATE_DAGS_H
#define LSCM_TESTS_ENUMERATE_DAGS_H

#include "infer/mechanism/mechanism.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { YARDSTICK_MOST = 5, YARDSTICK_SETS = 1 << (YARDSTICK_MOST - 1) };

typedef struct dag_yardstick {
    size_t dags;                                          /* with a weight above 0 */
    double log_evidence;                                  /* as dag_result: minus log d! */
    double edge_prob[YARDSTICK_MOST * YARDSTICK_MOST];    /* (d, d): j -> i, uniform order */
    double uniform_prob[YARDSTICK_MOST * YARDSTICK_MOST]; /* (d, d): j -> i, uniform DAG */
} dag_yardstick;

/* Sees each DAG with its parent sets (d), masks over candidates; log_weight is log(orders) + sum of
 * scores. */
typedef void (*dag_visit)(void *self, const uint32_t *parents, double log_weight, double orders);

/* Numbers e^log, added up without overflow: e^top sum. */
typedef struct log_total {
    double top, sum, edges[YARDSTICK_MOST * YARDSTICK_MOST];
} log_total;

typedef struct dag_walk {
    const family *families;
    size_t d;
    const size_t *order;
    double score[YARDSTICK_MOST][YARDSTICK_SETS];
    uint32_t nodes[YARDSTICK_MOST];   /* parents as masks over nodes */
    uint32_t parents[YARDSTICK_MOST]; /* the same over candidates */
    dag_visit visit;
    void *self;
    size_t dags;
    log_total by_order, uniform;
} dag_walk;

/* Orders with parents first, by the node that comes last; `parents` (d) are masks over nodes. */
static inline double count_orders(const uint32_t *parents, size_t d)
{
    double orders[1 << YARDSTICK_MOST] = {1};
    for (uint32_t set = 1; set < (uint32_t)1 << d; set++) {
        for (size_t i = 0; i < d; i++) {
            uint32_t rest = set & ~((uint32_t)1 << i);
            orders[set] += rest != set && (parents[i] & ~rest) == 0 ? orders[rest] : 0;
        }
    }
    return orders[((size_t)1 << d) - 1];
}

static inline bool has_cycle(const uint32_t *parents, size_t d)
{
    uint32_t left = ((uint32_t)1 << d) - 1;
    uint32_t before = 0;
    while (left != before) {
        before = left;
        for (size_t i = 0; i < d; i++) {
            left = (parents[i] & left) == 0 ? left & ~((uint32_t)1 << i) : left;
        }
    }
    return left != 0;
}

static inline bool fits_order(const uint32_t *parents, size_t d, const size_t *order)
{
    uint32_t before = 0;
    for (size_t k = 0; k < d; k++) {
        if ((parents[order[k]] & ~before) != 0) {
            return false;
        }
        before |= (uint32_t)1 << order[k];
    }
    return true;
}

static inline void add_dag(log_total *total, const dag_walk *walk, double log_weight)
{
    size_t d = walk->d;
    if (log_weight > total->top) {
        double shrink = exp(total->top - log_weight);
        total->top = log_weight;
        total->sum *= shrink;
        for (size_t k = 0; k < d * d; k++) {
            total->edges[k] *= shrink;
        }
    }
    double weight = exp(log_weight - total->top);
    total->sum += weight;
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            total->edges[j * d + i] += (walk->nodes[i] >> j & 1) != 0 ? weight : 0;
        }
    }
}

/* Gives node i every parent set; nodes from i + 1 on have none yet, so a cycle is final. Not
 * inlined into itself, or GCC sees indices beyond YARDSTICK_MOST. */
__attribute__((noinline, unused)) static void walk_dags(dag_walk *walk, size_t i, double score)
{
    if (i == walk->d || i == YARDSTICK_MOST) { /* the second for compilers that count */
        double orders = walk->order == NULL ? count_orders(walk->nodes, walk->d)
                                            : (double)fits_order(walk->nodes, walk->d, walk->order);
        if (orders > 0 && score > -INFINITY) {
            walk->dags++;
            add_dag(&walk->by_order, walk, score + log(orders));
            add_dag(&walk->uniform, walk, score);
            if (walk->visit != NULL) {
                walk->visit(walk->self, walk->parents, score + log(orders), orders);
            }
        }
        return;
    }
    const family *f = &walk->families[i];
    for (uint32_t set = 0; set < (uint32_t)1 << f->count; set++) {
        walk->parents[i] = set;
        walk->nodes[i] = 0;
        for (size_t k = 0; k < f->count; k++) {
            walk->nodes[i] |= (set >> k & 1) << f->candidate[k];
        }
        if (!has_cycle(walk->nodes, walk->d)) {
            walk_dags(walk, i + 1, score + walk->score[i][set]);
        }
    }
    walk->nodes[i] = 0;
}

/* list (d), one for each node in turn, every candidate list shorter than d. `order` and `visit`
 * may be NULL. */
static inline void enumerate_dags(dag_yardstick *out, const family *list, size_t d,
                                  const dag_prior *prior, const size_t *order, dag_visit visit,
                                  void *self)
{
    dag_walk walk = {.families = list, .d = d, .order = order, .visit = visit, .self = self};
    walk.by_order.top = walk.uniform.top = -INFINITY;
    for (size_t i = 0; i < d; i++) {
        for (uint32_t set = 0; set < (uint32_t)1 << list[i].count; set++) {
            walk.score[i][set] = (set & list[i].required) == list[i].required
                                     ? family_score(&list[i], prior, set)
                                     : -INFINITY;
        }
    }
    walk_dags(&walk, 0, 0);
    out->dags = walk.dags;
    out->log_evidence =
        walk.by_order.top + log(walk.by_order.sum) - (order == NULL ? lgamma((double)d + 1) : 0);
    for (size_t k = 0; k < d * d; k++) {
        out->edge_prob[k] = walk.by_order.edges[k] / walk.by_order.sum;
        out->uniform_prob[k] = walk.uniform.edges[k] / walk.uniform.sum;
    }
}

#endif
