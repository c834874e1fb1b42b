/* Calibration: are claimed uncertainties the real ones?
 *
 *   coverage_90   share of off-diagonal true weights in [q(5%), q(95%)] of their m draws; with
 *                 h = 0.05 (m-1), l = floor h, f = h - l and sorted draws x,
 *                 q(5%) = x[l] + f (x[l+1] - x[l]), and q(95%) the same from the top
 *   edge_ece      10 equal bins b of edge probability: sum_b n_b/n |mean p_b - share true_b|
 *
 * The intervals need no sorting: t >= q(5%) holds when at least l+2 draws are <= t, fails when at
 * most l are, and in between x[l] and x[l+1] are the neighbours of t among the draws.
 */
#include "scm/metrics/metrics_parts.h"

#include <math.h>

enum { FEWEST_DRAWS = 20, BINS = 10 };

void calibration_lay_out(calibration_work *work, arena *a, size_t d)
{
    work->not_above = arena_take(a, d, sizeof *work->not_above);
    work->not_below = arena_take(a, d, sizeof *work->not_below);
    work->last_at = arena_take(a, d, sizeof *work->last_at);
    work->first_over = arena_take(a, d, sizeof *work->first_over);
    work->first_at = arena_take(a, d, sizeof *work->first_at);
    work->last_under = arena_take(a, d, sizeof *work->last_under);
}

/* Counts and neighbours of the d true weights of one row among their draws. */
static void place_row(const lscm_estimate *estimate, const double *truth, size_t row,
                      const calibration_work *work)
{
    size_t d = estimate->nodes;
    for (size_t i = 0; i < d; i++) {
        work->not_above[i] = 0;
        work->not_below[i] = 0;
        work->last_at[i] = -INFINITY;
        work->last_under[i] = -INFINITY;
        work->first_at[i] = INFINITY;
        work->first_over[i] = INFINITY;
    }
    for (size_t s = 0; s < estimate->draws; s++) {
        const double *w = estimate->w + (s * d + row) * d;
        for (size_t i = 0; i < d; i++) {
            double x = w[i];
            double t = truth[i];
            double at_most = x <= t ? x : -INFINITY;
            double under = x < t ? x : -INFINITY;
            double at_least = x >= t ? x : INFINITY;
            double over = x > t ? x : INFINITY;
            work->not_above[i] += x <= t ? 1 : 0;
            work->not_below[i] += x >= t ? 1 : 0;
            work->last_at[i] = at_most > work->last_at[i] ? at_most : work->last_at[i];
            work->last_under[i] = under > work->last_under[i] ? under : work->last_under[i];
            work->first_at[i] = at_least < work->first_at[i] ? at_least : work->first_at[i];
            work->first_over[i] = over < work->first_over[i] ? over : work->first_over[i];
        }
    }
}

/* Is t on the inner side of its 5% quantile? `near` and `far` are x[l] and x[l+1] seen from that
 * tail where count = l+1; the other tail is the same with all signs changed. */
static bool inside(double t, double count, double near, double far, size_t draws)
{
    size_t l = (draws - 1) / 20; /* h = (draws - 1) / 20 in whole numbers: f is exact */
    double f = (double)((draws - 1) % 20) / 20;
    if (count != (double)(l + 1)) {
        return count > (double)(l + 1);
    }
    return t >= near + f * (far - near);
}

static void score_coverage(lscm_scores *out, const lscm_estimate *estimate, const double *truth,
                           const calibration_work *work)
{
    size_t d = estimate->nodes;
    size_t covered = 0;
    size_t edges = 0;
    size_t covered_edges = 0;
    for (size_t j = 0; j < d; j++) {
        place_row(estimate, truth + j * d, j, work);
        for (size_t i = 0; i < d; i++) {
            double t = truth[j * d + i];
            bool in = inside(t, work->not_above[i], work->last_at[i], work->first_over[i],
                             estimate->draws) &&
                      inside(-t, work->not_below[i], -work->first_at[i], -work->last_under[i],
                             estimate->draws);
            covered += in && i != j ? 1 : 0;
            edges += t != 0 ? 1 : 0;
            covered_edges += in && t != 0 ? 1 : 0;
        }
    }
    if (d > 1) {
        out->coverage_90 = (double)covered / (double)(d * (d - 1));
    }
    if (edges > 0) {
        out->coverage_90_edges = (double)covered_edges / (double)edges;
    }
}

static double expected_calibration_error(const double *prob, const double *truth, size_t d)
{
    double excess[BINS] = {0}; /* sum of p - truth in the bin: n_b (mean p_b - share true_b) */
    for (size_t j = 0; j < d; j++) {
        for (size_t i = 0; i < d; i++) {
            double p = prob[j * d + i];
            size_t bin = p >= 1 ? BINS - 1 : p <= 0 ? 0 : (size_t)(p * BINS);
            if (i != j) {
                excess[bin] += p - (truth[j * d + i] != 0 ? 1 : 0);
            }
        }
    }
    double sum = 0;
    for (size_t b = 0; b < BINS; b++) {
        sum += fabs(excess[b]);
    }
    return sum / (double)(d * (d - 1));
}

void calibration_scores(lscm_scores *out, const lscm_estimate *estimate, const lscm_truth *truth,
                        const double *edge_prob, const calibration_work *work)
{
    if (estimate->draws >= FEWEST_DRAWS) {
        score_coverage(out, estimate, truth->w, work);
    }
    if (estimate->nodes > 1) {
        out->edge_ece = expected_calibration_error(edge_prob, truth->w, estimate->nodes);
    }
}
