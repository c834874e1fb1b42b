/* Graphs with all that is not known of the prior summed over: the grid of hyper.h, or, with one
 * variance for all nodes, that variance at the best point of the grid,
 *
 *     p(G | z) = sum over s^2 of p(G | z, s^2) p(z | s^2) p(s^2),
 *
 * on five points, two posterior sds to either side of the best.
 *
 * To HYPER_EXACT nodes every point of the grid is summed over; beyond, graph_kinds.c.
 */
#include "infer/graph/graph_parts.h"

#include "base/streams.h"

#include <math.h>
#include <string.h>

enum { HYPER_EXACT = 8, GRID = 5, HALF = 2 };

lscm_status graph_run(graph_posterior *g, const anchored_input *in, size_t first, size_t count,
                      lscm_error *why)
{
    size_t d = in->view->d;
    rng r = stream_part(stream_of((uint64_t)in->settings->seed, STREAM_GRAPHS), first);
    dag_draws draws = {count, d, g->parents + first * d, g->order + first * d};
    dag_known known = {g->may, g->must};
    dag_problem problem = {&g->mechanisms, in->order, r, in->progress, g->tables};
    dag_mcmc_settings chains = {.chains = (size_t)in->settings->chains,
                                .steps = in->steps,
                                .start = g->guess,
                                .uniform = true,
                                .brief = in->brief};
    for (size_t k = 0; k < count; k++) {
        g->prior[first + k] = g->mechanisms.prior;
    }
    return g->known   ? dag_exact_known(&problem, &known, &draws, &g->result, why)
           : g->exact ? dag_exact(&problem, &draws, &g->result, why)
                      : dag_mcmc(&problem, &chains, &draws, &g->result, why);
}

/* ---- Several priors, each with its evidence ---- */

/* Without draws or edges. */
static lscm_status find_evidence(graph_posterior *g, const anchored_input *in, double *out,
                                 lscm_error *why)
{
    double *edge_prob = g->result.edge_prob;
    g->result.edge_prob = NULL;
    lscm_status status = graph_run(g, in, 0, 0, why);
    g->result.edge_prob = edge_prob;
    *out = g->result.log_evidence;
    return status;
}

/* Draws and edges of `count` priors in proportion to e^log_weight; mixed (d, d): scratch. */
static lscm_status mix(graph_posterior *g, const anchored_input *in, const dag_prior *prior,
                       const double *log_weight, size_t count, double *mixed, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = in->view->d;
    double total = hyper_log_sum(log_weight, count);
    double sum = 0;
    double used = 0;
    size_t first = 0;
    memset(mixed, 0, d * d * sizeof *mixed);
    for (size_t h = 0; h < count; h++) {
        double share = exp(log_weight[h] - total);
        sum += share;
        size_t last = h + 1 == count ? in->draws : (size_t)(sum * (double)in->draws + 0.5);
        last = last < in->draws ? last : in->draws;
        if (share < 1e-12 && last == first) {
            continue;
        }
        used += share;
        g->mechanisms.prior = prior[h];
        TRY(graph_run(g, in, first, last - first, why));
        for (size_t e = 0; e < d * d; e++) {
            mixed[e] += share * g->edge_prob[e];
        }
        first = last;
    }
    for (size_t e = 0; e < d * d; e++) {
        g->edge_prob[e] = mixed[e] / used;
    }
    g->result.log_evidence = total;
    g->result.ess = (double)in->draws;
done:
    return status;
}

/* ---- The grid ---- */

static lscm_status search_all(graph_posterior *g, const anchored_input *in, graph_scratch *t,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t points = hyper_points(&g->grid);
    dag_prior prior[HYPER_MOST];
    double log_weight[HYPER_MOST];
    for (size_t h = 0; h < points; h++) {
        hyper_take(&g->grid, h, &g->mechanisms.prior);
        prior[h] = g->mechanisms.prior;
        TRY(find_evidence(g, in, &log_weight[h], why));
        log_weight[h] += hyper_shared(&g->grid, h);
    }
    TRY(mix(g, in, prior, log_weight, points, t->edge_prob, why));
    g->result.log_evidence -= log((double)points);
done:
    return status;
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

static lscm_status evidence_at(graph_posterior *g, const anchored_input *in, double log_variance,
                               double *out, lscm_error *why)
{
    g->mechanisms.prior.variance = exp(log_variance);
    lscm_status status = find_evidence(g, in, out, why);
    *out += log_prior_variance(&g->mechanisms.prior, in->view->d, g->mechanisms.prior.variance);
    return status;
}

static lscm_status mix_variances(graph_posterior *g, const anchored_input *in, double centre,
                                 double width, double *mixed, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    dag_prior prior[GRID];
    double log_weight[GRID];
    for (size_t k = 0; k < GRID; k++) {
        TRY(evidence_at(g, in, centre + ((double)k - HALF) * width, &log_weight[k], why));
        prior[k] = g->mechanisms.prior;
    }
    TRY(mix(g, in, prior, log_weight, GRID, mixed, why));
    g->result.log_evidence += log(width);
done:
    return status;
}

/* At the point of the grid that a draw in the middle has. */
static lscm_status search_equal(graph_posterior *g, const anchored_input *in, graph_scratch *t,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t pilot = in->draws < 16 ? in->draws : 16;
    double rows = 0;
    g->mechanisms.prior = g->prior[g->draws / 2];
    double centre = log(pooled_variance(g, in, pilot, t->w, &rows));
    double width = sqrt(2 / fmax(rows, 2));
    if (!g->exact) {
        g->mechanisms.prior.variance = exp(centre); /* known to a share of 1/sqrt(2 rows) */
        TRY(graph_run(g, in, 0, in->draws, why));
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
    TRY(mix_variances(g, in, centre, width, t->edge_prob, why));
    g->result.log_evidence += hyper_log_prior(&g->grid, &g->mechanisms.prior);
done:
    return status;
}

lscm_status graph_search(graph_posterior *g, const anchored_input *in, graph_scratch *t,
                         lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const hyper_scale scale = {g->unit, g->conditional};
    hyper_grid_of(&g->grid, in->settings, &g->families, in->order != NULL, &scale);
    if (in->ridge > 0) {
        bool conditional = in->conditional && g->conditional != NULL;
        hyper_fix(&g->grid, in->ridge, in->hole, in->log_odds,
                  conditional ? g->conditional : g->unit);
    }
    hyper_take(&g->grid, 0, &g->mechanisms.prior);
    g->mechanisms.prior.variance = 0;
    if (hyper_points(&g->grid) == 1) {
        TRY(graph_run(g, in, 0, in->draws, why));
        g->result.log_evidence += hyper_shared(&g->grid, 0);
    } else if (g->exact && in->view->d <= HYPER_EXACT) {
        TRY(search_all(g, in, t, why));
    } else {
        TRY(graph_search_kinds(g, in, t, why));
    }
    if (in->settings->noise == LSCM_NOISE_EQUAL) {
        TRY(search_equal(g, in, t, why));
    }
done:
    return status;
}
