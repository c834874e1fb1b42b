/* The curves of all edges that a graph has, for exports. */
#include "result/ask/export_edges.h"

#include <stdlib.h>

static void lay_out(export_curves *c)
{
    arena *a = &c->memory;
    c->from = arena_take(a, c->count, sizeof *c->from);
    c->to = arena_take(a, c->count, sizeof *c->to);
    c->at = arena_take(a, c->count, EXPORT_PLACES * sizeof *c->at);
    c->low = arena_take(a, c->count, EXPORT_PLACES * sizeof *c->low);
    c->mean = arena_take(a, c->count, EXPORT_PLACES * sizeof *c->mean);
    c->high = arena_take(a, c->count, EXPORT_PLACES * sizeof *c->high);
    c->seen = arena_take(a, c->count, 2 * sizeof *c->seen);
    c->bends = arena_take(a, c->count, sizeof *c->bends);
}

static lscm_status take(export_curves *c, const lscm_posterior *p, size_t k, const lscm_edge *edge,
                        lscm_error *why)
{
    size_t first = k * EXPORT_PLACES;
    lscm_curve curve = {.count = EXPORT_PLACES,
                        .at = c->at + first,
                        .low = c->low + first,
                        .mean = c->mean + first,
                        .high = c->high + first};
    c->from[k] = (int64_t)edge->from;
    c->to[k] = (int64_t)edge->to;
    c->bends[k] = lscm_posterior_bends(p, edge->from, edge->to);
    lscm_posterior_places(p, edge->from, EXPORT_PLACES, c->at + first);
    lscm_status status = lscm_posterior_curve(&curve, p, edge->from, edge->to, why);
    c->seen[2 * k] = curve.seen[0];
    c->seen[2 * k + 1] = curve.seen[1];
    return status;
}

lscm_status export_curves_open(export_curves *out, const lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_edge *edges = NULL;
    *out = (export_curves){0};
    if (!lscm_posterior_any_bends(p) || p->rows == 0) {
        return LSCM_OK;
    }
    TRY(lscm_posterior_edges(&edges, &out->count, p, why));
    out->count = export_edges_shown(p, edges, out->count);
    lay_out(out);
    TRY(arena_open(&out->memory, why));
    lay_out(out);
    for (size_t k = 0; k < out->count; k++) {
        TRY(take(out, p, k, &edges[k], why));
    }
done:
    free(edges);
    return status;
}

void export_curves_close(export_curves *c)
{
    arena_close(&c->memory);
}
