/* Graphs given z. To DAG_EXACT_MOST nodes all other nodes are candidate parents and the posterior
 * is exact; beyond, candidates are screened, orders sampled, and graphs from there
 * (graph_search.c). */
#include "infer/graph/graph_posterior.h"
#include "base/tuned.h"
#include "infer/graph/graph_parts.h"
#include "infer/screen/screen.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Beyond exact graphs what was asked for, or what is usual and more for nodes that need them. */
static size_t most_candidates(const anchored_input *in)
{
    size_t d = in->view->d;
    size_t chosen = (size_t)in->settings->candidates;
    size_t most = d <= DAG_EXACT_MOST ? d - 1 : chosen > 0 ? chosen : tuned_candidates_most();
    most = most < FAMILY_MOST ? most : FAMILY_MOST;
    return most < d ? most : d - 1;
}

static size_t usual_candidates(const anchored_input *in)
{
    size_t d = in->view->d;
    size_t usual =
        d <= tuned_candidates_nodes() ? tuned_candidates_more() : tuned_candidates_fewer();
    return in->settings->candidates > 0 ? 0 : usual;
}

/* Where nothing was ever set and no order is given, graphs that say the same of the data are to
 * score the same. */
static bool is_alike(const anchored_input *in)
{
    return in->order == NULL && design_observational(&in->view->design);
}

static void lay_out(graph_posterior *g, const anchored_input *in, arena *a)
{
    size_t d = in->view->d;
    g->lists.count = arena_take(a, d, sizeof *g->lists.count);
    g->lists.candidate = arena_take(a, d * g->lists.most, sizeof *g->lists.candidate);
    g->parents = arena_take(a, in->draws * d, sizeof *g->parents);
    g->order = arena_take(a, in->draws * d, sizeof *g->order);
    g->guess = arena_take(a, d, sizeof *g->guess);
    g->leak_sd = arena_take(a, d * d, sizeof(double));
    g->row_weight = in->size != NULL ? arena_take(a, in->view->rows, sizeof(double)) : NULL;
    g->edge_prob = arena_take(a, d * d, sizeof(double));
    g->prior = arena_take(a, in->draws, sizeof *g->prior);
    g->conditional = is_alike(in) ? arena_take(a, d, sizeof(double)) : NULL;
    g->may = arena_take(a, d, sizeof *g->may);
    g->must = arena_take(a, d, sizeof *g->must);
}

/* Edges that may not be: forbidden ones, and those against a given order. */
static void forbid(const anchored_input *in, uint8_t *out)
{
    size_t d = in->view->d;
    if (in->forbidden != NULL) {
        memcpy(out, in->forbidden, d * d);
    }
    for (size_t k = 0; k < d && in->order != NULL; k++) {
        for (size_t before = 0; before < k; before++) {
            out[in->order[k] * d + in->order[before]] = 1;
        }
    }
}

static lscm_status find_candidates(graph_posterior *g, const anchored_input *in, const double *z,
                                   const uint8_t *forbidden, lscm_error *why)
{
    if (!g->exact) { /* rows held out must not choose the candidates they judge */
        latent_rows rows = {&in->view->design, z, in->brief ? in->keep : NULL, false};
        screen_terms terms = {.usual = usual_candidates(in), .order = g->guess};
        lscm_status status =
            screen_candidates(&rows, forbidden, &g->lists, &terms, in->progress, why);
        g->crowded = terms.crowded;
        g->hub = terms.hub;
        return status;
    }
    candidate_lists_all(&g->lists, in->view->d, forbidden);
    return LSCM_OK;
}

/* ---- All together ---- */

/* Beyond exact graphs chains see to it that every graph counts once. */
static bool is_uniform(const anchored_input *in)
{
    return in->settings->graph_prior == LSCM_GRAPH_PRIOR_UNIFORM && in->order == NULL &&
           in->view->d <= DAG_EXACT_MOST;
}

static void lay_out_scratch(graph_scratch *s, const anchored_input *in, arena *a)
{
    size_t d = in->view->d;
    double **squares[] = {&s->w, &s->edge_prob};
    double **vectors[] = {&s->intercept, &s->slopes, &s->variance, &s->leak};
    s->forbidden = arena_take(a, d * d, 1);
    for (size_t k = 0; k < sizeof squares / sizeof squares[0]; k++) {
        *squares[k] = arena_take(a, d * d, sizeof(double));
    }
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = arena_take(a, d, sizeof(double));
    }
    s->weight = arena_take(a, in->draws, sizeof(double));
    s->ratio = arena_take(a, in->draws * HYPER_MOST, sizeof(double));
    s->series = arena_take(a, 3 * in->draws, sizeof(double));
    s->first = arena_take(a, in->draws, sizeof *s->first);
    s->score = arena_take(a, in->draws * HYPER_SLABS, sizeof(double));
    s->parents = arena_take(a, in->draws * d, sizeof *s->parents);
    s->order = arena_take(a, in->draws * d, sizeof *s->order);
    s->prior = arena_take(a, in->draws, sizeof *s->prior);
    s->other.edge_prob = arena_take(a, d * d, sizeof(double));
    s->other.parents = arena_take(a, in->draws * d, sizeof *s->other.parents);
    s->other.order = arena_take(a, in->draws * d, sizeof *s->other.order);
    s->other.prior = arena_take(a, in->draws, sizeof *s->other.prior);
    if (is_uniform(in)) {
        dag_extensions_lay_out(&s->extensions, a, d);
    }
}

/* Nodes may have a scale of their own where the scale is learned. */
static double spread_of(const anchored_input *in)
{
    return in->settings->ridge > 0 || in->ridge > 0 || is_alike(in) ? 0 : HYPER_STEP;
}

/* Candidates, and what the rows say of them; psi, step: what noise of z adds. */
static lscm_status gather(graph_posterior *g, const anchored_input *in, const double *z,
                          const double *psi, size_t step, const graph_scratch *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    latent_rows rows = {&in->view->design, z, in->keep, true};
    bool known = false;
    g->share = 1;
    if (g->conditional != NULL) {
        TRY(hyper_units(&rows, g->conditional, &known, why));
        g->conditional = known ? g->conditional : NULL;
    }
    forbid(in, t->forbidden);
    TRY(find_candidates(g, in, z, t->forbidden, why));
    TRY(g->mechanisms.law->gather(&g->families, &rows, &g->lists, why));
    g->mechanisms.family = g->families.list;
    TRY(graph_weigh_rows(g, in, z, why));
    if (psi != NULL) {
        g->mechanisms.law->correct(&g->families, psi, step, g->share);
    }
done:
    return status;
}

/* Graphs, again with rows counting for what they are worth, under the prior that was asked for. */
static lscm_status find_graphs(graph_posterior *g, const anchored_input *in, const double *z,
                               const double *psi, size_t step, graph_scratch *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bool may_bend = graph_may_bend(in);
    bool read_off = in->view->kind == VIEW_READ_OFF;
    if (!may_bend || in->mechanism == LSCM_MECHANISM_AUTO) {
        TRY(graph_search(g, in, t, why));
    }
    if (may_bend && !read_off) {
        TRY(graph_bend(g, in, z, psi, step, t, why));
    } else if (may_bend) {
        TRY(graph_bend_read_off(g, in, z, psi, step, t, why));
    }
    if (read_off && !g->bent) {
        TRY(graph_weigh_slopes(g, in, z, t, why));
    }
    if (is_uniform(in)) {
        graph_make_uniform(g, in, t);
    }
    if (!g->bent) { /* graphs that straight mechanisms do not tell apart, bent ones do */
        graph_share_classes(g, in, t);
    }
    if (g->chains > 0 && g->result.edge_prob != NULL) {
        edges_told(g->edge_prob, &g->mechanisms, g->result.ess);
    }
done:
    return status;
}

lscm_status graph_posterior_of(graph_posterior *out, const anchored_input *in, const double *z,
                               const double *unit, const double *psi, size_t step, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = in->view->d;
    graph_posterior g = {
        .lists = {.most = most_candidates(in), .required = in->required},
        .draws = in->draws,
        .unit = unit,
        .dispersion = 1,
        .exact = d <= DAG_EXACT_MOST,
        .chains = d > DAG_EXACT_MOST && in->order == NULL ? dag_chains(in->settings->chains) : 0,
        .mechanisms = {&linear_gaussian,
                       d,
                       NULL,
                       {.dof = tuned_prior_dof(), .unit = unit, .spread = spread_of(in)}}};
    graph_scratch scratch;
    arena memory = {0};
    lay_out(&g, in, &g.memory);
    TRY(arena_open(&g.memory, why));
    lay_out(&g, in, &g.memory);
    lay_out_scratch(&scratch, in, &memory);
    TRY(arena_open(&memory, why));
    lay_out_scratch(&scratch, in, &memory);
    g.result.edge_prob = in->brief ? NULL : g.edge_prob;
    TRY(gather(&g, in, z, psi, step, &scratch, why));
    TRY(find_graphs(&g, in, z, psi, step, &scratch, why));
    *out = g;
    out->result.edge_prob = out->edge_prob;
    g = (graph_posterior){0};
done:
    arena_close(&memory);
    graph_posterior_close(&g);
    return status;
}

void graph_posterior_close(graph_posterior *g)
{
    bends_close(&g->bends);
    families_close(&g->families);
    arena_close(&g->memory);
}
