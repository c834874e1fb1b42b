/* Graphs given z. To DAG_EXACT_MOST nodes all other nodes are candidate parents and the posterior
 * is exact; beyond, candidates are screened and orders sampled. With one variance for all nodes
 *
 *     p(G | z) = sum over s^2 of p(G | z, s^2) p(z | s^2) p(s^2),
 *
 * on a grid of five points, two posterior sds to either side of the best. */
#include "infer/graph/graph_posterior.h"
#include "base/streams.h"
#include "base/tuned.h"
#include "infer/evidence/evidence.h"
#include "infer/graph/dag_extensions.h"
#include "infer/screen/screen.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 5, HALF = 2 };

static size_t most_candidates(const anchored_input *in)
{
    size_t d = in->view->d;
    size_t chosen = (size_t)in->settings->candidates;
    size_t usual =
        d <= tuned_candidates_nodes() ? tuned_candidates_more() : tuned_candidates_fewer();
    size_t most = d <= DAG_EXACT_MOST ? d - 1 : chosen > 0 ? chosen : usual;
    most = most < FAMILY_MOST ? most : FAMILY_MOST;
    return most < d ? most : d - 1;
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
    g->variance = arena_take(a, in->draws, sizeof(double));
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
        latent_rows rows = {&in->view->design, z, in->brief ? in->keep : NULL};
        return screen_candidates(&rows, forbidden, &g->lists, g->guess, in->progress, why);
    }
    candidate_lists_all(&g->lists, in->view->d, forbidden);
    return LSCM_OK;
}

/* log p/(1 - p) of an edge between a node and one before it, from the expected edges per node. */
static double log_odds_of(const lscm_fit_settings *s, size_t d)
{
    double chosen = d > 1 ? 2 * s->degree / ((double)d - 1) : 0.5;
    double p = s->degree > 0
                   ? fmin(chosen, 0.95)
                   : fmin(tuned_prior_edge(), tuned_prior_neighbours() / fmax((double)d - 1, 1));
    return log(p / (1 - p));
}

static lscm_status run(graph_posterior *g, const anchored_input *in, size_t first, size_t count,
                       lscm_error *why)
{
    size_t d = in->view->d;
    rng r = stream_part(stream_of((uint64_t)in->settings->seed, STREAM_GRAPHS), first);
    dag_draws draws = {count, d, g->parents + first * d, g->order + first * d};
    dag_problem problem = {&g->mechanisms, in->order, r, in->progress};
    dag_mcmc_settings chains = {.chains = (size_t)in->settings->chains,
                                .steps = in->steps,
                                .start = g->guess,
                                .brief = in->brief};
    for (size_t k = 0; k < count; k++) {
        g->variance[first + k] = g->mechanisms.prior.variance;
    }
    return g->exact ? dag_exact(&problem, &draws, &g->result, why)
                    : dag_mcmc(&problem, &chains, &draws, &g->result, why);
}

/* ---- One variance for all nodes ---- */

/* log p(s^2): t u^2/s^2 is chi2 with dof degrees of freedom; a density in log s^2. */
static double log_prior_variance(const dag_prior *p, size_t d, double variance)
{
    double u = p->ridge * dag_mean_unit(p, d) / variance;
    return p->dof / 2 * log(u / 2) - u / 2 - lgamma(p->dof / 2);
}

/* The mean residual variance of graphs drawn with variances of their own; rows: of all nodes. */
static double pooled_variance(const graph_posterior *g, const anchored_input *in, size_t draws,
                              double *w, double *rows)
{
    size_t d = in->view->d;
    rng r = stream_of((uint64_t)in->settings->seed, STREAM_POOLED);
    double sum = 0;
    double used = 0;
    *rows = 0;
    for (size_t i = 0; i < d; i++) {
        const family *f = &g->families.list[i];
        *rows += f->rows;
        for (size_t k = 0; k < draws; k++) {
            mechanism m =
                mechanisms_draw(&g->mechanisms, i, g->parents[k * d + i], r, k * d + i, w);
            sum += f->rows * m.sigma * m.sigma;
            used += f->rows;
        }
    }
    return used > 0 ? sum / used : 1;
}

/* Without draws only the evidence is wanted. */
static lscm_status evidence_at(graph_posterior *g, const anchored_input *in, double log_variance,
                               double *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double *edge_prob = g->result.edge_prob;
    g->mechanisms.prior.variance = exp(log_variance);
    g->result.edge_prob = NULL;
    status = run(g, in, 0, 0, why);
    g->result.edge_prob = edge_prob;
    TRY(status);
    *out = g->result.log_evidence +
           log_prior_variance(&g->mechanisms.prior, in->view->d, g->mechanisms.prior.variance);
done:
    return status;
}

/* The grid: (GRID) points, draws and edge probabilities at each, mixed by their weight. */
static lscm_status mix_grid(graph_posterior *g, const anchored_input *in, double centre,
                            double width, double *mixed, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = in->view->d;
    double log_weight[GRID];
    double most = -INFINITY;
    double total = 0;
    memset(mixed, 0, d * d * sizeof(double));
    for (size_t k = 0; k < GRID; k++) {
        double at = centre + ((double)k - HALF) * width;
        TRY(evidence_at(g, in, at, &log_weight[k], why));
        most = fmax(most, log_weight[k]);
    }
    for (size_t k = 0; k < GRID; k++) {
        total += exp(log_weight[k] - most);
    }
    double sum = 0;
    for (size_t k = 0, first = 0; k < GRID; k++) {
        double share = exp(log_weight[k] - most) / total;
        sum += share;
        size_t last = k + 1 == GRID ? in->draws : (size_t)(sum * (double)in->draws + 0.5);
        last = last < in->draws ? last : in->draws;
        g->mechanisms.prior.variance = exp(centre + ((double)k - HALF) * width);
        TRY(run(g, in, first, last - first, why));
        for (size_t i = 0; i < d * d; i++) {
            mixed[i] += share * g->edge_prob[i];
        }
        first = last;
    }
    memcpy(g->edge_prob, mixed, d * d * sizeof(double));
    g->result.log_evidence = most + log(total * width);
done:
    return status;
}

static lscm_status run_equal(graph_posterior *g, const anchored_input *in, double *w, double *mixed,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t pilot = in->draws < 16 ? in->draws : 16;
    double rows = 0;
    TRY(run(g, in, 0, pilot, why));
    double centre = log(pooled_variance(g, in, pilot, w, &rows));
    double width = sqrt(2 / fmax(rows, 2));
    if (!g->exact) {
        g->mechanisms.prior.variance = exp(centre); /* known to a share of 1/sqrt(2 rows) */
        TRY(run(g, in, 0, in->draws, why));
        goto done;
    }
    for (int step = 0; step < 3; step++) { /* Newton: the curvature is about rows/2 */
        double below = 0;
        double above = 0;
        TRY(evidence_at(g, in, centre - width, &below, why));
        TRY(evidence_at(g, in, centre + width, &above, why));
        double move = (above - below) / (2 * width) / (rows / 2);
        centre += fmax(fmin(move, 1), -1);
        if (fabs(move) < width / 2) {
            break;
        }
    }
    TRY(mix_grid(g, in, centre, width, mixed, why));
done:
    return status;
}

typedef struct graph_scratch {
    uint8_t *forbidden;
    double *w, *edge_prob, *weight, *intercept, *slopes, *variance, *spread;
    uint32_t *parents;
    size_t *order;
    dag_extensions extensions;
} graph_scratch;

/* ---- Rows that are not independent ---- */

/* The mean of w (d, d) and intercept (d) over the first draws; one (d, d) is scratch. */
static void mean_mechanisms(const graph_posterior *g, size_t d, size_t draws, rng r, double *w,
                            double *intercept, double *one)
{
    double share = 1 / (double)draws;
    memset(w, 0, d * d * sizeof *w);
    memset(intercept, 0, d * sizeof *intercept);
    for (size_t k = 0; k < draws; k++) {
        memset(one, 0, d * d * sizeof *one);
        for (size_t i = 0; i < d; i++) {
            mechanism m =
                mechanisms_draw(&g->mechanisms, i, g->parents[k * d + i], r, k * d + i, one + i);
            intercept[i] += share * m.intercept;
        }
        cblas_daxpy((int)(d * d), share, one, 1, w, 1);
    }
}

/* Draws whose mean model tells F. */
static size_t few_draws(const anchored_input *in)
{
    return in->draws < tuned_dispersion_draws() ? in->draws : tuned_dispersion_draws();
}

/* F depends on the graph, and the graph on how much a row counts: a fixed point, in logarithms.
 * Only where F is clearly not 1. */
static lscm_status weigh_evidence(graph_posterior *g, const anchored_input *in, const double *z,
                                  double *w, double *intercept, double *one, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = in->view->d;
    rng r = stream_of((uint64_t)in->settings->seed, STREAM_GRAPH_MODELS);
    for (size_t round = 0; round < tuned_dispersion_rounds(); round++) {
        double f = 1;
        double dof = 0;
        mean_mechanisms(g, d, few_draws(in), r, w, intercept, one);
        TRY(dispersion_of(&f, &dof, in, z, &(mechanism_model){d, w, intercept, NULL}, why));
        f = fmax(f, 1);
        double clearly =
            fmax(tuned_dispersion_clear(), 1 + tuned_dispersion_errors() * sqrt(2 / fmax(dof, 1)));
        if ((round == 0 && f < clearly) ||
            fabs(log(f / g->dispersion)) < tuned_dispersion_still()) {
            break;
        }
        double next = round == 0 ? f : sqrt(f * g->dispersion);
        g->mechanisms.law->weigh(&g->families, g->dispersion / next);
        g->dispersion = next;
        TRY(run(g, in, 0, in->draws, why));
    }
done:
    return status;
}

/* What leaks into the residual of node i, through itself and its parents w (d, d). */
static double leak_into(size_t i, size_t d, const double *w, const double *leak)
{
    double sum = leak[i];
    for (size_t j = 0; j < d; j++) {
        sum += w[j * d + i] * w[j * d + i] * leak[j];
    }
    return sum;
}

/* A parent p whose weight is w gives z_i the variance w^2 var z_p. What leaks is as much per
 * direction, or, from those that vary more than the mean, in proportion: spread (d, d), 0 where p
 * is no candidate. */
static void find_spread(const families *all, double *spread)
{
    for (size_t i = 0; i < all->d; i++) {
        const family *f = &all->list[i];
        size_t m = f->count + 1;
        double rows = fmax(f->rows, 1);
        double mean = 0;
        for (size_t p = 0; p < f->count; p++) {
            mean += f->scatter[p * m + p] / rows / (double)f->count;
        }
        for (size_t p = 0; p < f->count; p++) {
            spread[f->candidate[p] * all->d + i] = fmin(f->scatter[p * m + p] / rows, mean);
        }
    }
}

/* Rows that are read off worse count less, if errors are said to go with the size of a row. */
static lscm_status weigh_rows(graph_posterior *g, const anchored_input *in, const double *z,
                              double *share, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (in->size != NULL) {
        TRY(row_weights(g->row_weight, share, &g->families, z, in->size, why));
        g->families.weight = g->row_weight;
        TRY(g->mechanisms.law->update(&g->families, z, why));
    }
done:
    return status;
}

/* The same for variables that were read off x, F the mean of what each node asks for, found with
 * the graph that independent rows would ask for. What leaks into z_i in every set alike makes
 * n leak / s^2 of n rows count as one, but no fewer than 8 d rows are left: a graph needs them
 * where leaks are large, and edges that are real stand out of those. Where z is not known beyond
 * its reach, slopes are uneven for that reason alone, and do not count.
 *
 * One F for all nodes: if a node's rows counted less than those of its causes, turning its edges
 * around would cost less than it wins, however wrong. */
static lscm_status weigh_slopes(graph_posterior *g, const anchored_input *in, const double *z,
                                graph_scratch *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = in->view->d;
    rng r = stream_of((uint64_t)in->settings->seed, STREAM_GRAPH_MODELS);
    mean_mechanisms(g, d, few_draws(in), r, t->w, t->intercept, t->edge_prob);
    mechanism_model mean = {d, t->w, t->intercept, NULL};
    TRY(dispersion_slopes(t->slopes, t->variance, in, g->row_weight, z, &mean, why));
    g->dispersion = 0;
    for (size_t i = 0; i < d; i++) {
        double leak = in->leak != NULL ? leak_into(i, d, t->w, in->leak) : 0;
        double rows = g->families.list[i].rows;
        double common = t->variance[i] > 0 ? 1 + rows * leak / t->variance[i] : 1;
        double uneven = in->reach != NULL ? 1 : t->slopes[i];
        double f = fmax(uneven, fmin(common, rows / (double)(tuned_slope_rows() * d)));
        for (size_t p = 0; p < d; p++) {
            double spread = t->spread[p * d + i];
            g->leak_sd[p * d + i] = spread > 0 ? sqrt(leak / spread) : 0;
        }
        g->dispersion += f / (double)d;
    }
    g->mechanisms.law->weigh(&g->families, 1 / g->dispersion);
    TRY(run(g, in, 0, in->draws, why));
done:
    return status;
}

/* ---- A uniform prior over graphs ---- */

/* The order-modular prior counts a graph once for each of its orders; draws are taken again with
 * weights 1/orders, and the edges' probabilities follow from them. */
static void make_uniform(graph_posterior *g, const anchored_input *in,
                         const dag_extensions *extensions, double *weight, uint32_t *parents,
                         size_t *order)
{
    size_t d = in->view->d;
    rng r = stream_of((uint64_t)in->settings->seed, STREAM_GRAPH_AGAIN);
    dag_draws draws = {in->draws, d, g->parents, g->order};
    double least = INFINITY;
    double total = 0;
    for (size_t k = 0; k < in->draws; k++) {
        weight[k] = dag_log_extensions(extensions, g->families.list, &draws, k);
        least = fmin(least, weight[k]);
    }
    for (size_t k = 0; k < in->draws; k++) {
        weight[k] = exp(least - weight[k]);
        total += weight[k];
    }
    memcpy(parents, g->parents, in->draws * d * sizeof *parents);
    memcpy(order, g->order, in->draws * d * sizeof *order);
    memset(g->edge_prob, 0, d * d * sizeof(double));
    double start = rng_uniform(r, 0); /* systematic resampling */
    double sum = 0;
    size_t from = 0;
    for (size_t k = 0; k < in->draws; k++) {
        double at = ((double)k + start) / (double)in->draws * total;
        while (from + 1 < in->draws && sum + weight[from] < at) {
            sum += weight[from++];
        }
        memcpy(g->parents + k * d, parents + from * d, d * sizeof *parents);
        memcpy(g->order + k * d, order + from * d, d * sizeof *order);
    }
    for (size_t k = 0; k < in->draws; k++) {
        for (size_t i = 0; i < d; i++) {
            const family *f = &g->families.list[i];
            for (size_t c = 0; c < f->count; c++) {
                if ((parents[k * d + i] >> c & 1) != 0) {
                    g->edge_prob[f->candidate[c] * d + i] += weight[k] / total;
                }
            }
        }
    }
}

/* ---- All together ---- */

static bool is_uniform(const anchored_input *in)
{
    return in->settings->graph_prior == LSCM_GRAPH_PRIOR_UNIFORM && in->order == NULL;
}

static void lay_out_scratch(graph_scratch *s, const anchored_input *in, arena *a)
{
    size_t d = in->view->d;
    s->forbidden = arena_take(a, d * d, 1);
    s->w = arena_take(a, d * d, sizeof(double));
    s->edge_prob = arena_take(a, d * d, sizeof(double));
    s->weight = arena_take(a, in->draws, sizeof(double));
    s->intercept = arena_take(a, d, sizeof(double));
    s->slopes = arena_take(a, d, sizeof(double));
    s->variance = arena_take(a, d, sizeof(double));
    s->spread = in->view->kind == VIEW_READ_OFF ? arena_take(a, d * d, sizeof(double)) : NULL;
    s->parents = arena_take(a, in->draws * d, sizeof *s->parents);
    s->order = arena_take(a, in->draws * d, sizeof *s->order);
    if (is_uniform(in)) {
        dag_extensions_lay_out(&s->extensions, a, d);
    }
}

/* Candidates, and what the rows say of them; psi, step: what noise of z adds. */
static lscm_status gather(graph_posterior *g, const anchored_input *in, const double *z,
                          const double *psi, size_t step, const graph_scratch *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    latent_rows rows = {&in->view->design, z, in->keep};
    double share = 1;
    forbid(in, t->forbidden);
    TRY(find_candidates(g, in, z, t->forbidden, why));
    TRY(g->mechanisms.law->gather(&g->families, &rows, &g->lists, why));
    g->mechanisms.family = g->families.list;
    if (in->view->kind == VIEW_READ_OFF) {
        find_spread(&g->families, t->spread);
    }
    TRY(weigh_rows(g, in, z, &share, why));
    if (psi != NULL) {
        g->mechanisms.law->correct(&g->families, psi, step, share);
    }
done:
    return status;
}

/* Graphs, again with rows counting for what they are worth, under the prior that was asked for. */
static lscm_status find_graphs(graph_posterior *g, const anchored_input *in, const double *z,
                               graph_scratch *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (in->settings->noise == LSCM_NOISE_EQUAL) {
        TRY(run_equal(g, in, t->w, t->edge_prob, why));
    } else {
        TRY(run(g, in, 0, in->draws, why));
    }
    if (in->view->kind == VIEW_READ_OFF) {
        TRY(weigh_slopes(g, in, z, t, why));
    } else if (in->view->kind == VIEW_OBSERVED) {
        TRY(weigh_evidence(g, in, z, t->w, t->intercept, t->edge_prob, why));
    }
    if (is_uniform(in)) {
        make_uniform(g, in, &t->extensions, t->weight, t->parents, t->order);
    }
done:
    return status;
}

lscm_status graph_posterior_of(graph_posterior *out, const anchored_input *in, const double *z,
                               const double *unit, const double *psi, size_t step, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const lscm_fit_settings *s = in->settings;
    size_t d = in->view->d;
    graph_posterior g = {
        .lists = {.most = most_candidates(in), .required = in->required},
        .draws = in->draws,
        .dispersion = 1,
        .exact = d <= DAG_EXACT_MOST,
        .mechanisms = {
            &linear_gaussian, d, NULL, {s->ridge, tuned_prior_dof(), log_odds_of(s, d), 0, unit}}};
    graph_scratch scratch;
    arena memory = {0};
    if (is_uniform(in) && !g.exact) {
        return fail(why, LSCM_USAGE,
                    "a uniform prior over graphs needs at most %d nodes; "
                    "leave out --graph-prior",
                    (int)DAG_EXACT_MOST);
    }
    lay_out(&g, in, &g.memory);
    TRY(arena_open(&g.memory, why));
    lay_out(&g, in, &g.memory);
    lay_out_scratch(&scratch, in, &memory);
    TRY(arena_open(&memory, why));
    lay_out_scratch(&scratch, in, &memory);
    g.result.edge_prob = in->brief ? NULL : g.edge_prob;
    TRY(gather(&g, in, z, psi, step, &scratch, why));
    TRY(find_graphs(&g, in, z, &scratch, why));
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
    families_close(&g->families);
    arena_close(&g->memory);
}
