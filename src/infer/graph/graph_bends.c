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
    return in->mechanism == LSCM_MECHANISM_LINEAR     ? BEND_NONE
           : in->mechanism == LSCM_MECHANISM_ADDITIVE ? BEND_CURVED
                                                      : BEND_JOINT;
}

/* One variance for all nodes is a property of straight mechanisms here; z with errors that all rows
 * share has slopes that are not those of its mechanisms. */
bool graph_may_bend(const anchored_input *in)
{
    return reach_of(in) != BEND_NONE && in->settings->noise != LSCM_NOISE_EQUAL &&
           in->view->kind != VIEW_READ_OFF && in->reach == NULL;
}

/* Sums of their own: those of graphs that do not bend have lost what sets have of their own. */
static lscm_status try_bends(graph_posterior *g, const anchored_input *in, const double *z,
                             families *f, bends *b, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    latent_rows rows = {&in->view->design, z, in->keep, true};
    const bend_asking drawn = {g->parents, g->draws, tuned_bends_least()};
    TRY(g->mechanisms.law->gather(f, &rows, &g->lists, why));
    if (in->weight != NULL) {
        f->node_weight = in->weight;
        TRY(g->mechanisms.law->update(f, z, why));
    }
    TRY(bends_of(b, f, &rows, reach_of(in), &g->mechanisms.prior,
                 in->mechanism == LSCM_MECHANISM_AUTO ? &drawn : NULL, why));
done:
    return status;
}

lscm_status graph_bend(graph_posterior *g, const anchored_input *in, const double *z,
                       const double *psi, size_t step, graph_scratch *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    families f = {0};
    bends b = {0};
    TRY(try_bends(g, in, z, &f, &b, why));
    if (!b.told || (in->mechanism == LSCM_MECHANISM_AUTO &&
                    !(bends_evidence(&f, g->parents, g->draws) > tuned_bends_least()))) {
        goto done;
    }
    if (psi != NULL) {
        g->mechanisms.law->correct(&f, psi, step, 1);
    }
    families_close(&g->families);
    g->families = f;
    g->bends = b;
    g->bent = true;
    f = (families){0};
    b = (bends){0};
    g->mechanisms.family = g->families.list;
    TRY(graph_search(g, in, t, why));
done:
    bends_close(&b);
    families_close(&f);
    return status;
}
