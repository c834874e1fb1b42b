/* Graphs where mechanisms may bend (bends.h). Unless that was asked for, two hypotheses: none
 * does, or each may. Graphs G_k drawn under the first tell how they compare,
 *
 *     p(z | may)/p(z | none) = mean_k e^(sum of gains of G_k),
 *
 * and no more than that where the first is far off: graphs that need bends are not among its
 * draws, but those that are gain by them, too. Nothing changes where the rows do not clearly ask
 * for bends: samplers that draw the encoder with the graph take mechanisms to be straight.
 */
#include "base/tuned.h"
#include "infer/graph/graph_parts.h"

#include <math.h>

static bend_reach reach_of(const anchored_input *in)
{
    bool found = in->mechanism == LSCM_MECHANISM_AUTO;
    return in->mechanism == LSCM_MECHANISM_LINEAR                              ? BEND_NONE
           : in->mechanism == LSCM_MECHANISM_ADDITIVE || (found && in->curves) ? BEND_CURVED
                                                                               : BEND_JOINT;
}

/* One variance for all nodes is a property of straight mechanisms here. Where x may say nothing of
 * z beyond its reach, z is drawn with the graph, by mechanisms that are straight. */
bool graph_may_bend(const anchored_input *in)
{
    return reach_of(in) != BEND_NONE && in->settings->noise != LSCM_NOISE_EQUAL &&
           (in->reach == NULL || !in->saturated);
}

/* Sums of their own: those of graphs that do not bend have lost what sets have of their own. */
lscm_status graph_bent_of(graph_bent *out, const graph_posterior *g, const anchored_input *in,
                          const double *z, const double *psi, size_t step, double worth,
                          const bend_asking *asking, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const mechanism_law *law = g->mechanisms.law;
    latent_rows rows = {&in->view->design, z, in->keep, true};
    families *f = &out->families;
    TRY(law->gather(f, &rows, &g->lists, why));
    if (in->weight != NULL || g->row_weight != NULL) {
        f->node_weight = in->weight;
        f->weight = g->row_weight;
        TRY(law->update(f, z, why));
    }
    if (worth < 1) {
        law->weigh(f, worth);
    }
    TRY(bends_of(&out->bends, f, &rows, reach_of(in), &g->mechanisms.prior, asking, why));
    if (psi != NULL) {
        law->correct(f, psi, step, g->share);
    }
done:
    return status;
}

lscm_status graph_bend(graph_posterior *g, const anchored_input *in, const double *z,
                       const double *psi, size_t step, graph_scratch *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    graph_bent b = {.bends = {0}};
    const bend_asking drawn = {g->parents, g->draws, tuned_bends_least()};
    TRY(graph_bent_of(&b, g, in, z, psi, step, 1,
                      in->mechanism == LSCM_MECHANISM_AUTO ? &drawn : NULL, why));
    if (!b.bends.told || (in->mechanism == LSCM_MECHANISM_AUTO &&
                          !(bends_evidence(&b.families, g->parents, g->draws) > drawn.least))) {
        goto done;
    }
    families_close(&g->families);
    g->families = b.families;
    g->bends = b.bends;
    g->bent = true;
    b = (graph_bent){.bends = {0}};
    g->mechanisms.family = g->families.list;
    TRY(graph_search(g, in, t, why));
done:
    bends_close(&b.bends);
    families_close(&b.families);
    return status;
}

lscm_status graph_draw_bends(const graph_posterior *g, rng of, rng by, bend_draws *draws,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = draws->d;
    arena memory = {0};
    uint8_t *place = NULL;
    for (int pass = 0; pass < 2; pass++) {
        place = arena_take(&memory, draws->count, d);
        if (pass == 0) {
            TRY(arena_open(&memory, why));
        }
    }
    for (size_t k = 0; k < draws->count * d; k++) {
        const family *f = &g->families.list[k % d];
        size_t level = family_drawn_level(f, &g->prior[k / d], g->parents[k], of, k);
        place[k] = (uint8_t)f->level[level].place;
    }
    draws->parents = g->parents;
    draws->place = place;
    TRY(bends_draw(&g->bends, &g->families, &g->prior[g->draws / 2], by, draws, why));
done:
    draws->place = NULL;
    arena_close(&memory);
    return status;
}
