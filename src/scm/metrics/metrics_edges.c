/* Entries of w over the draws s, row by row so that the scratch is O(d) beyond the results:
 *
 *   w_mse          mean over s and all d^2 entries of (w_s - w)^2
 *   auroc, auprc   of edge_prob (given, or the share of draws with |w_s| > threshold) and of
 *                  mean_s |w_s|, over the d(d-1) off-diagonal entries; true where w is not 0
 */
#include "scm/metrics/metrics_parts.h"

#include <math.h>

void edges_lay_out(edges_work *work, arena *a, size_t d)
{
    work->share = arena_take(a, d * d, sizeof *work->share);
    work->mean_abs = arena_take(a, d * d, sizeof *work->mean_abs);
    work->error = arena_take(a, d, sizeof *work->error);
    work->items = arena_take(a, d * (d - 1), sizeof *work->items);
}

/* Fills one row of share and mean_abs; returns its squared error summed over draws and columns. */
static double pass_over_row(const lscm_estimate *estimate, const double *truth, size_t row,
                            const edges_work *work)
{
    size_t d = estimate->nodes;
    double *share = work->share + row * d;
    double *mean_abs = work->mean_abs + row * d;
    for (size_t i = 0; i < d; i++) {
        share[i] = 0;
        mean_abs[i] = 0;
        work->error[i] = 0;
    }
    for (size_t s = 0; s < estimate->draws; s++) {
        const double *w = estimate->w + (s * d + row) * d;
        for (size_t i = 0; i < d; i++) {
            double size = fabs(w[i]);
            double off = w[i] - truth[i];
            share[i] += size > estimate->threshold ? 1 : 0;
            mean_abs[i] += size;
            work->error[i] += off * off;
        }
    }
    double error = 0;
    for (size_t i = 0; i < d; i++) {
        share[i] /= (double)estimate->draws;
        mean_abs[i] /= (double)estimate->draws;
        error += work->error[i];
    }
    return error;
}

/* The off-diagonal entries of score (d, d), sorted. */
static size_t rank_entries(const double *score, const double *truth, size_t d, scored *items)
{
    size_t n = 0;
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) {
            if (i != j) {
                items[n++] = (scored){score[j * d + i], truth[j * d + i] != 0};
            }
        }
    }
    ranking_sort(items, n);
    return n;
}

void edges_scores(lscm_scores *out, const lscm_estimate *estimate, const lscm_truth *truth,
                  const edges_work *work)
{
    size_t d = estimate->nodes;
    double error = 0;
    for (size_t j = 0; j < d; j++) {
        error += pass_over_row(estimate, truth->w + j * d, j, work);
    }
    out->w_mse = error / (double)estimate->draws / (double)(d * d);
    const double *prob = estimate->edge_prob != NULL ? estimate->edge_prob : work->share;
    size_t n = rank_entries(prob, truth->w, d, work->items);
    out->auroc = ranking_auroc(work->items, n);
    out->auprc_graph = ranking_average_precision(work->items, n);
    n = rank_entries(work->mean_abs, truth->w, d, work->items);
    out->auprc_weights = ranking_average_precision(work->items, n);
}
