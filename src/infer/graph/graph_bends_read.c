/* Bends of variables that were read off x (graph_bends.c). An encoder errs by functions of z, alike
 * in all rows, and these bend: rows are no independent evidence of curves, and count 1/F. F is that
 * of the bent model itself, what its curves leave (graph_weigh.c): slopes of mechanisms that do
 * bend are uneven without any error. Both hypotheses are compared at this one F,
 *
 *     p(z | may)/p(z | none) = sum over G of p(z | G, may) p(G) / sum over G of p(z | G, none)
 * p(G),
 *
 * or, where chains know no such sums, as graph_bends.c has it, by graphs drawn under the second.
 * Where labels do not reach, what bends may be the reading alone: rows that lie within reach, with
 * all their nodes, must ask for bends by themselves, too.
 *
 * Where nothing bends straight mechanisms stay what they are, with the F that they ask for.
 */
#include "base/tuned.h"
#include "infer/graph/graph_parts.h"

#include <math.h>
#include <stdlib.h>

/* These families, bent or not, in the place of what is there, which is not closed. */
static void take(graph_posterior *g, const graph_bent *from, bool bent)
{
    g->families = from->families;
    g->bends = from->bends;
    g->bent = bent;
    g->mechanisms.family = g->families.list;
}

static void discard(graph_bent *b)
{
    bends_close(&b->bends);
    families_close(&b->families);
}

/* What evidence is to exceed: curves of an encoder's errors, small as they are beside noise, are
 * seen by as much in every row. */
static double least_evidence(const graph_posterior *g)
{
    double rows = 0;
    for (size_t i = 0; i < g->families.d; i++) {
        rows += g->families.list[i].rows;
    }
    return fmax(tuned_bends_least(), tuned_bends_read() * rows);
}

/* Whether rows (in->keep) ask for bends, both hypotheses at F; g bends then, or not, by these. */
static lscm_status compare(graph_posterior *g, const anchored_input *in, const graph_bent *b,
                           graph_scratch *t, bool *ask, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    take(g, b, false);
    bends_lend(&g->bends, &g->families, false);
    TRY(graph_search(g, in, t, why));
    double none = g->result.log_evidence;
    bends_lend(&g->bends, &g->families, true);
    double by_draws = bends_evidence(&g->families, g->parents, g->draws);
    g->bent = true;
    TRY(graph_search(g, in, t, why));
    double may = g->result.log_evidence;
    *ask = (isfinite(none) && isfinite(may) ? may - none : by_draws) > least_evidence(g);
done:
    return status;
}

/* keep (rows): 1 where all nodes of a row are within reach, of those kept. */
static void list_within(const anchored_input *in, const double *z, uint8_t *keep)
{
    const design *by = &in->view->design;
    for (size_t r = 0; r < by->rows; r++) {
        keep[r] = row_counts(in->keep, r) ? 1 : 0;
        for (size_t j = 0; j < by->d; j++) {
            bool known = design_is_set(by, r, j) || fabs(z[r * by->d + j]) < in->reach[j];
            keep[r] = known ? keep[r] : 0;
        }
    }
}

static lscm_status ask_within(graph_posterior *g, const anchored_input *in, const double *z,
                              const double *psi, size_t step, graph_scratch *t, bool *ask,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    graph_bent some = {.bends = {0}};
    anchored_input part = *in;
    uint8_t *keep = malloc(in->view->rows);
    if (keep == NULL) {
        return fail_memory(why, in->view->rows);
    }
    list_within(in, z, keep);
    part.keep = keep;
    TRY(graph_bent_of(&some, g, &part, z, psi, step, 1 / g->dispersion, NULL, why));
    TRY(compare(g, &part, &some, t, ask, why));
done:
    discard(&some);
    free(keep);
    return status;
}

lscm_status graph_bend_read_off(graph_posterior *g, const anchored_input *in, const double *z,
                                const double *psi, size_t step, graph_scratch *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const graph_bent straight = {g->families, g->bends};
    graph_bent all = {.bends = {0}}; /* rows as if they were independent */
    graph_bent some = {.bends = {0}};
    const bend_asking drawn = {g->parents, g->draws, tuned_bends_least()};
    bool asked = in->mechanism != LSCM_MECHANISM_AUTO;
    bool bent = asked;
    TRY(graph_bent_of(&all, g, in, z, psi, step, 1, asked ? NULL : &drawn, why));
    if (!all.bends.told ||
        (!asked && !(bends_evidence(&all.families, g->parents, g->draws) > drawn.least))) {
        goto done;
    }
    take(g, &all, true);
    TRY(graph_search(g, in, t, why));
    TRY(graph_find_dispersion(g, in, z, t, why));
    TRY(graph_bent_of(&some, g, in, z, psi, step, 1 / g->dispersion, NULL, why));
    if (asked) {
        take(g, &some, true);
        TRY(graph_search(g, in, t, why));
        goto done;
    }
    bent = true;
    if (in->reach != NULL) {
        TRY(ask_within(g, in, z, psi, step, t, &bent, why));
    }
    if (bent) {
        TRY(compare(g, in, &some, t, &bent, why));
    }
    if (!bent) {
        take(g, &straight, false);
        TRY(graph_search(g, in, t, why));
    }
done:
    if (status == LSCM_OK && bent) {
        some = straight; /* what is not wanted any more */
    } else {
        take(g, &straight, false);
    }
    discard(&all);
    discard(&some);
    return status;
}
