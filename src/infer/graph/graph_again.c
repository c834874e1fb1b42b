/* Draws taken again with other weights, by systematic resampling. Their worth is that of the draws
 * before, weighted: of independent ones (sum w)^2 / sum w^2, of those of chains the least over
 * edges in doubt (convergence.h); those drawn again are no more than these. */
#include "infer/graph/graph_parts.h"

#include "base/streams.h"
#include "base/tuned.h"
#include "infer/graph/convergence.h"
#include "infer/graph/hyper.h"

#include <math.h>
#include <string.h>

/* Whether a draw has the edge `candidate` of family i. */
static double has(const graph_posterior *g, size_t k, size_t i, size_t candidate)
{
    return (double)(g->parents[k * g->mechanisms.d + i] >> candidate & 1);
}

/* Of draws that stand chain by chain in turn, draw k of chain k mod chains. */
static double chains_worth(const graph_posterior *g, const double *weight, graph_scratch *t)
{
    size_t n = g->draws / g->chains;
    double worth = g->result.ess;
    double *w = t->series;
    double *x = w + g->draws;
    for (size_t c = 0; c < g->chains; c++) {
        for (size_t k = 0; k < n; k++) {
            w[c * n + k] = weight[k * g->chains + c];
        }
    }
    for (size_t i = 0; i < g->mechanisms.d; i++) {
        for (size_t e = 0; e < g->families.list[i].count; e++) {
            double present = 0;
            for (size_t k = 0; k < n * g->chains; k++) {
                x[k % g->chains * n + k / g->chains] = has(g, k, i, e);
                present += has(g, k, i, e);
            }
            double p = present / (double)(n * g->chains);
            if (p * (1 - p) > tuned_order_doubt()) {
                worth = fmin(worth, weighted_samples(x, w, g->chains, n, x + g->draws));
            }
        }
    }
    return worth;
}

void graph_draw_again(graph_posterior *g, double *log_weight, graph_scratch *t, rng r)
{
    size_t d = g->mechanisms.d;
    double top = -INFINITY;
    double total = 0;
    double squares = 0;
    for (size_t k = 0; k < g->draws; k++) {
        top = fmax(top, log_weight[k]);
    }
    for (size_t k = 0; k < g->draws; k++) {
        log_weight[k] = exp(log_weight[k] - top);
        total += log_weight[k];
        squares += log_weight[k] * log_weight[k];
    }
    g->result.ess = g->chains > 0 ? chains_worth(g, log_weight, t)
                                  : g->result.ess * total * total / squares / (double)g->draws;
    memcpy(t->parents, g->parents, g->draws * d * sizeof *t->parents);
    memcpy(t->order, g->order, g->draws * d * sizeof *t->order);
    memcpy(t->prior, g->prior, g->draws * sizeof *t->prior);
    double start = rng_uniform(r, 0);
    double sum = 0;
    size_t from = 0;
    for (size_t k = 0; k < g->draws; k++) {
        double at = ((double)k + start) / (double)g->draws * total;
        while (from + 1 < g->draws && sum + log_weight[from] < at) {
            sum += log_weight[from++];
        }
        memcpy(g->parents + k * d, t->parents + from * d, d * sizeof *t->parents);
        memcpy(g->order + k * d, t->order + from * d, d * sizeof *t->order);
        g->prior[k] = t->prior[from];
    }
}

void graph_add_edges(const graph_posterior *g, const uint32_t *parents, double weight)
{
    size_t d = g->mechanisms.d;
    for (size_t i = 0; i < d; i++) {
        const family *f = &g->families.list[i];
        for (size_t c = 0; c < f->count; c++) {
            if ((parents[i] >> c & 1) != 0) {
                g->edge_prob[f->candidate[c] * d + i] += weight;
            }
        }
    }
}

/* The order-modular prior counts a graph once for each of its orders: weights 1/orders. */
void graph_make_uniform(graph_posterior *g, const anchored_input *in, graph_scratch *t)
{
    size_t d = g->mechanisms.d;
    dag_draws draws = {g->draws, d, g->parents, g->order};
    double total = 0;
    for (size_t k = 0; k < g->draws; k++) {
        t->weight[k] = -dag_log_extensions(&t->extensions, g->families.list, &draws, k);
    }
    graph_draw_again(g, t->weight, t, stream_of((uint64_t)in->settings->seed, STREAM_GRAPH_AGAIN));
    for (size_t k = 0; k < g->draws; k++) {
        total += t->weight[k];
    }
    memset(g->edge_prob, 0, d * d * sizeof(double));
    for (size_t k = 0; k < g->draws; k++) {
        graph_add_edges(g, t->parents + k * d, t->weight[k] / total);
    }
}

/* Of candidates that are not required, how many are edges: Jeffreys' posterior mean. */
static double share_of_edges(const double *edge_prob, const mechanisms *m)
{
    double sum = 0.5;
    double count = 1;
    for (size_t i = 0; i < m->d; i++) {
        const family *f = &m->family[i];
        for (size_t c = 0; c < f->count; c++) {
            bool open = (f->required >> c & 1) == 0;
            sum += open ? edge_prob[f->candidate[c] * m->d + i] : 0;
            count += open ? 1 : 0;
        }
    }
    return sum / count;
}

void edges_told(double *edge_prob, const mechanisms *m, double ess)
{
    double share = share_of_edges(edge_prob, m);
    for (size_t i = 0; i < m->d; i++) {
        const family *f = &m->family[i];
        for (size_t c = 0; c < f->count; c++) {
            double *p = &edge_prob[f->candidate[c] * m->d + i];
            *p = (f->required >> c & 1) != 0 ? *p : chains_told(*p, ess, share);
        }
    }
}
