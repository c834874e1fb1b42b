/* The grid of hyper.h where there are too many nodes to sum over all its points. Graphs G_k drawn
 * at one point g tell of all,
 *
 *     r_k(h) = p(z, G_k, h)/p(z, G_k, g),   p(z, h)/p(z, g) = mean_k r_k(h):
 *
 * g moves to a better point until it stays there. Edges are the exact ones of g and those of the
 * draws with the weights sum_h r_k(h) over the other points; draws are taken again with the weights
 * of all, each with a point of its own. Points with and without a hole have too few graphs in
 * common for that: each kind has its own g, and a share of the draws by its evidence. Where graphs
 * are sampled there is no evidence, and no hole.
 */
#include "infer/graph/graph_parts.h"

#include "base/streams.h"
#include "base/tuned.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum { PILOT = 64, MOVES = 6 };
enum { RUN_FIRST, RUN_OTHERS, RUNS };

/* log r_k(h) of the first draws, (count, points), all drawn at point `at`. */
static void compare(const graph_posterior *g, size_t at, size_t count, graph_scratch *t)
{
    size_t points = hyper_points(&g->grid);
    hyper_scores_all(&g->grid, &g->mechanisms, g->parents, count, t->first, t->score, t->ratio);
    for (size_t k = 0; k < count; k++) {
        double *own = t->ratio + k * points;
        double here = own[at];
        for (size_t h = 0; h < points; h++) {
            own[h] -= here;
        }
    }
}

/* log mean_k r_k(h) */
static double log_mean(const double *ratio, size_t points, size_t h, size_t count)
{
    double column[PILOT];
    for (size_t k = 0; k < count; k++) {
        column[k] = ratio[k * points + h];
    }
    return hyper_log_sum(column, count) - log((double)count);
}

/* A point that is clearly better than `at`, where the ratio is 1, or that. */
static size_t best_point(const graph_posterior *g, size_t at, size_t count, const double *ratio)
{
    size_t points = hyper_points(&g->grid);
    size_t best = at;
    double most = tuned_hyper_better();
    for (size_t h = 0; h < points; h++) {
        double own = log_mean(ratio, points, h, count);
        best = own > most ? h : best;
        most = fmax(most, own);
    }
    return best;
}

/* Edges and draws of point `at` become those of all points. */
static void take_all_points(graph_posterior *g, const anchored_input *in, size_t at,
                            graph_scratch *t)
{
    size_t d = g->mechanisms.d;
    size_t points = hyper_points(&g->grid);
    rng r = stream_of((uint64_t)in->settings->seed, STREAM_HYPER);
    double total = (double)g->draws;
    compare(g, at, g->draws, t);
    for (size_t k = 0; k < g->draws; k++) {
        const double *ratio = t->ratio + k * points;
        t->weight[k] = hyper_log_sum(ratio, points);
        hyper_take(&g->grid, hyper_pick(ratio, points, rng_uniform(r, k + 1)), &g->prior[k]);
    }
    /* an edge that all draws have has the same sum as all draws, and so probability 1 */
    cblas_dscal((int)(d * d), total, g->edge_prob, 1);
    for (size_t k = 0; k < g->draws; k++) {
        graph_add_edges(g, g->parents + k * d, expm1(t->weight[k]));
        total += expm1(t->weight[k]);
    }
    for (size_t e = 0; e < d * d; e++) {
        g->edge_prob[e] /= total;
    }
    g->result.log_evidence +=
        log(total / (double)g->draws) + hyper_shared(&g->grid, at) - log((double)points);
    graph_draw_again(g, t->weight, t, r);
}

/* The point at which the draws stay, from `best` on. Where graphs are exact, edges and all draws
 * are asked for only there: the sums that the first draws were of are kept. */
static lscm_status settle(graph_posterior *g, const anchored_input *in, bool brief, size_t *best,
                          graph_scratch *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t pilot = g->draws < PILOT ? g->draws : PILOT;
    double *wanted = g->result.edge_prob;
    size_t at = *best;
    g->result.edge_prob = brief ? NULL : wanted;
    for (size_t move = 0; move < MOVES; move++) {
        at = *best;
        hyper_take(&g->grid, at, &g->mechanisms.prior);
        if (move == 1 && !brief) {
            stages_enter(t->runs, RUN_OTHERS);
        }
        TRY(graph_run(g, in, 0, brief ? pilot : g->draws, why));
        compare(g, at, pilot, t);
        *best = best_point(g, at, pilot, t->ratio);
        if (*best == at) {
            break;
        }
    }
    *best = at;
    g->result.edge_prob = wanted;
    if (brief) {
        TRY(graph_run(g, in, 0, g->draws, why));
    }
done:
    g->result.edge_prob = wanted;
    return status;
}

/* Of the points of g->grid, which are of one kind; `best`: to begin with. */
static lscm_status search_kind(graph_posterior *g, const anchored_input *in, size_t best,
                               graph_scratch *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(settle(g, in, g->exact && in->order == NULL, &best, t, why));
    take_all_points(g, in, best, t);
done:
    return status;
}

/* Draws and edges of g and of the other kind, each with its share by evidence, as those of g. */
static void join_kinds(graph_posterior *g, const graph_other *other)
{
    size_t d = g->mechanisms.d;
    const double evidence[2] = {g->result.log_evidence, other->log_evidence};
    double total = hyper_log_sum(evidence, 2);
    double share = exp(other->log_evidence - total);
    for (size_t e = 0; e < d * d; e++) {
        g->edge_prob[e] += share * (other->edge_prob[e] - g->edge_prob[e]);
    }
    for (size_t k = 0; k < g->draws; k++) {
        if (floor((double)(k + 1) * share + 0.5) > floor((double)k * share + 0.5)) {
            memcpy(g->parents + k * d, other->parents + k * d, d * sizeof *g->parents);
            memcpy(g->order + k * d, other->order + k * d, d * sizeof *g->order);
            g->prior[k] = other->prior[k];
        }
    }
    g->result.ess += share * (other->ess - g->result.ess);
    g->result.log_evidence = total - log(2);
}

static void keep_kind(const graph_posterior *g, const graph_other *other)
{
    size_t d = g->mechanisms.d;
    memcpy(other->edge_prob, g->edge_prob, d * d * sizeof(double));
    memcpy(other->parents, g->parents, g->draws * d * sizeof *g->parents);
    memcpy(other->order, g->order, g->draws * d * sizeof *g->order);
    memcpy(other->prior, g->prior, g->draws * sizeof *g->prior);
}

/* log p(z | other kind)/p(z | this one), by the first draws of this one; *best: the other's point
 * with the largest part in it. */
static double compare_kinds(const graph_posterior *g, const hyper_grid *part,
                            const hyper_grid *other, graph_scratch *t, size_t *best)
{
    double ratio[HYPER_MOST][PILOT];
    double all[PILOT];
    size_t count = g->draws < PILOT ? g->draws : PILOT;
    double most = -INFINITY;
    hyper_scores_all(part, &g->mechanisms, g->parents, count, t->first, t->score, t->ratio);
    for (size_t k = 0; k < count; k++) {
        all[k] = -hyper_log_sum(t->ratio + k * hyper_points(part), hyper_points(part));
    }
    hyper_scores_all(other, &g->mechanisms, g->parents, count, t->first, t->score, t->ratio);
    for (size_t k = 0; k < count; k++) {
        const double *score = t->ratio + k * hyper_points(other);
        for (size_t h = 0; h < hyper_points(other); h++) {
            ratio[h][k] = score[h] + all[k];
        }
        all[k] += hyper_log_sum(score, hyper_points(other));
    }
    for (size_t h = 0; h < hyper_points(other); h++) {
        double own = hyper_log_sum(ratio[h], count);
        *best = own > most ? h : *best;
        most = fmax(most, own);
    }
    return hyper_log_sum(all, count) - log((double)count);
}

/* The kind of the better guess, and the other where there is anything to say of it; plain: that
 * without a hole, its score. */
static lscm_status search_both(graph_posterior *g, const anchored_input *in, size_t plain,
                               double plain_score, graph_scratch *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    hyper_grid part[2] = {hyper_part(&g->grid, false), hyper_part(&g->grid, true)};
    double score[2] = {plain_score};
    size_t best[2] = {plain};
    best[1] = hyper_guess(&part[1], &g->mechanisms, &score[1]);
    size_t first = score[1] > score[0] ? 1 : 0;
    size_t last = 1 - first;
    g->grid = part[first];
    TRY(search_kind(g, in, best[first], t, why));
    if (compare_kinds(g, &part[first], &part[last], t, &best[last]) > -tuned_hyper_hopeless()) {
        keep_kind(g, &t->other);
        t->other.log_evidence = g->result.log_evidence;
        t->other.ess = g->result.ess;
        g->grid = part[last];
        TRY(search_kind(g, in, best[last], t, why));
        join_kinds(g, &t->other);
    }
done:
    return status;
}

/* ---- What is sure at one point ---- */

/* A candidate that is sure to be a parent, or sure not to be, at the guessed point of those without
 * a hole is not in question at the others, which move its odds by far less. Only its edges are
 * asked for there, of one scale for all nodes. */
static lscm_status find_known(graph_posterior *g, const anchored_input *in, const hyper_grid *plain,
                              size_t guess, graph_scratch *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double *wanted = g->result.edge_prob;
    const dag_prior prior = g->mechanisms.prior;
    hyper_take(plain, guess, &g->mechanisms.prior);
    g->mechanisms.prior.spread = 0;
    g->result.edge_prob = t->edge_prob;
    TRY(graph_run(g, in, 0, 0, why));
    for (size_t i = 0; i < g->mechanisms.d; i++) {
        const family *f = &g->families.list[i];
        g->may[i] = g->must[i] = 0;
        for (size_t c = 0; c < f->count; c++) {
            double p = t->edge_prob[f->candidate[c] * g->mechanisms.d + i];
            g->may[i] |= (uint32_t)(p > tuned_hyper_known()) << c;
            g->must[i] |= (uint32_t)(p > 1 - tuned_hyper_known()) << c;
        }
    }
    g->known = true;
done:
    g->mechanisms.prior = prior;
    g->result.edge_prob = wanted;
    return status;
}

lscm_status graph_search_kinds(graph_posterior *g, const anchored_input *in, graph_scratch *t,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const hyper_grid all = g->grid;
    const hyper_grid plain = hyper_part(&all, false);
    dag_tables tables = {0};
    double score = 0;
    anchored_input with = *in;
    stages runs;
    stages_begin(&runs, RUNS, in->progress);
    stages_expect_like(&runs, RUN_OTHERS, RUN_FIRST, 1); /* the point moves once, mostly */
    with.progress = &runs.own;
    t->runs = &runs;
    hyper_thin(&all, &g->mechanisms, &g->families, tuned_effect_least());
    size_t guess = hyper_guess(&plain, &g->mechanisms, &score);
    if (g->exact && in->order == NULL) {
        TRY(find_known(g, &with, &plain, guess, t, why));
        stages_enter(&runs, RUN_OTHERS);
        with.progress = &runs.part; /* of several runs */
    }
    g->tables = &tables; /* from here on families stay as they are */
    if (g->exact && all.slabs > 1) {
        TRY(search_both(g, &with, guess, score, t, why));
    } else {
        g->grid = plain;
        TRY(search_kind(g, &with, guess, t, why));
    }
done:
    dag_tables_close(&tables);
    t->runs = NULL;
    g->tables = NULL;
    g->known = false;
    g->grid = g->exact && all.slabs > 1 ? all : g->grid;
    return status;
}
