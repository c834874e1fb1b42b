/* Draws taken again with other weights, by systematic resampling; their worth is that of the
 * weights, (sum w)^2 / sum w^2. */
#include "infer/graph/graph_parts.h"

#include "base/streams.h"
#include "infer/graph/hyper.h"

#include <math.h>
#include <string.h>

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
    g->result.ess *= total * total / squares / (double)g->draws;
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
