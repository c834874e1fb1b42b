/* Every pair of nodes as the draws have it. */
#include "result/ask/export_edges.h"

#include "base/quantile.h"

#include <math.h>
#include <stdlib.h>

/* The likeliest first, then the strongest, then by number. */
static int by_probability(const void *left, const void *right)
{
    const lscm_edge *a = left;
    const lscm_edge *b = right;
    double strong_a = fabs(a->mean);
    double strong_b = fabs(b->mean);
    if (a->probability != b->probability) {
        return a->probability > b->probability ? -1 : 1;
    }
    if (strong_a != strong_b) {
        return strong_a > strong_b ? -1 : 1;
    }
    if (a->from != b->from) {
        return a->from < b->from ? -1 : 1;
    }
    return a->to < b->to ? -1 : a->to > b->to ? 1 : 0;
}

/* `values` (draws) is scratch. */
static lscm_edge describe(const lscm_posterior *p, size_t from, size_t to, double *values)
{
    size_t d = p->d;
    double n = (double)p->draws;
    lscm_edge e = {.from = from,
                   .to = to,
                   .probability = p->edge_prob[from * d + to],
                   .undirected = p->undirected[from * d + to] != 0};
    double square = 0;
    for (size_t s = 0; s < p->draws; s++) {
        values[s] = p->w[s * d * d + from * d + to];
        e.mean += values[s];
    }
    e.mean /= n;
    for (size_t s = 0; s < p->draws; s++) {
        square += (values[s] - e.mean) * (values[s] - e.mean);
    }
    qsort(values, p->draws, sizeof *values, quantile_compare);
    e.sd = sqrt(square / n);
    e.q05 = quantile_of_sorted(values, p->draws, 0.05);
    e.q95 = quantile_of_sorted(values, p->draws, 0.95);
    return e;
}

lscm_status lscm_posterior_edges(lscm_edge **out, size_t *count, const lscm_posterior *posterior,
                                 lscm_error *why)
{
    const lscm_posterior *p = posterior;
    size_t d = p->d;
    double *values = malloc(p->draws * sizeof *values);
    *count = 0;
    *out = malloc((d * (d - 1) + 1) * sizeof **out);
    if (values == NULL || *out == NULL) {
        free(values);
        free(*out);
        *out = NULL;
        return fail_memory(why, d * d * sizeof **out + p->draws * sizeof *values);
    }
    for (size_t from = 0; from < d; from++) {
        for (size_t to = 0; to < d; to++) {
            if (from != to) {
                (*out)[(*count)++] = describe(p, from, to, values);
            }
        }
    }
    qsort(*out, *count, sizeof **out, by_probability);
    free(values);
    return LSCM_OK;
}

void lscm_edges_free(lscm_edge *edges)
{
    free(edges);
}

size_t export_edges_over(const lscm_edge *edges, size_t count, double least)
{
    size_t over = 0;
    while (over < count && edges[over].probability > least) {
        over++;
    }
    return over;
}

size_t export_edges_shown(const lscm_posterior *p, lscm_edge *edges, size_t count)
{
    size_t kept = 0;
    for (size_t k = 0; k < count; k++) {
        if (posterior_shown(p, edges[k].from, edges[k].to) > 0.5) {
            edges[kept++] = edges[k];
        }
    }
    return kept;
}
