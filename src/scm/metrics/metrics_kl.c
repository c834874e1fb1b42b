/* KL(N(0, P) || N(0, Q)) between the observational z of the truth and of a draw, averaged over
 * draws. With P = R' S R, R = (I - W)^-1, S = diag s^2, and Q^-1 = (I - V) T^-1 (I - V)' for the
 * weights V and noise T = diag t^2 of the draw, and det(I - W) = det(I - V) = 1 (both are DAGs):
 *
 *   2 KL = sum_i ( sum_k s_k^2 (R (I - V))[k][i]^2 / t_i^2 - 1 + log t_i^2 - log s_i^2 )
 *
 * A sum of squares: no covariance is formed or inverted. NaN where either side has no noise scale
 * or one of 0, or where the weights of a draw, threshold or not, have a cycle. O(d^3) per draw.
 */
#include "scm/metrics/metrics_parts.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

void kl_lay_out(kl_work *work, arena *a, size_t d)
{
    work->reach = arena_take(a, d * d, sizeof *work->reach);
    work->gap = arena_take(a, d * d, sizeof *work->gap);
    work->graph = arena_take(a, d * d, 1);
    work->order = arena_take(a, d, sizeof *work->order);
    work->waiting = arena_take(a, d, sizeof *work->waiting);
}

static bool acyclic(const double *w, size_t d, const kl_work *work)
{
    (void)graph_from_weights(w, d, 0, work->graph);
    return graph_order(work->graph, d, work->order, work->waiting);
}

/* Column i of R is e_i + sum_j W[j][i] (column j of R): parents before children. `reach` holds the
 * columns as rows, entry k times s_k. */
static void reach_of_truth(const lscm_truth *truth, size_t d, const kl_work *work)
{
    memset(work->reach, 0, d * d * sizeof *work->reach);
    for (size_t place = 0; place < d; place++) {
        size_t i = work->order[place];
        double *row = work->reach + i * d;
        row[i] = truth->sigma[i];
        for (size_t j = 0; j < d; j++) {
            double w = truth->w[j * d + i];
            if (w != 0) {
                cblas_daxpy((int)d, w, work->reach + j * d, 1, row, 1);
            }
        }
    }
}

static double kl_of_draw(const double *w, const double *sigma, const double *truth_sigma, size_t d,
                         const kl_work *work)
{
    double sum = 0;
    int n = (int)d;
    memcpy(work->gap, work->reach, d * d * sizeof *work->gap);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, n, n, -1, w, n, work->reach, n, 1,
                work->gap, n);
    for (size_t i = 0; i < d; i++) {
        double norm = cblas_dnrm2(n, work->gap + i * d, 1) / sigma[i];
        sum += norm * norm - 1 + 2 * log(sigma[i] / truth_sigma[i]);
    }
    /* rounding only: the divergence is never negative */
    return sum < 0 ? 0 : sum / 2;
}

static bool all_positive(const double *sigma, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        if (!(sigma[k] > 0)) {
            return false;
        }
    }
    return true;
}

void kl_scores(lscm_scores *out, const lscm_estimate *estimate, const lscm_truth *truth,
               const kl_work *work)
{
    size_t d = estimate->nodes;
    double sum = 0;
    if (estimate->sigma == NULL || truth->sigma == NULL || !all_positive(truth->sigma, d) ||
        !all_positive(estimate->sigma, estimate->draws * d) || !acyclic(truth->w, d, work)) {
        return;
    }
    reach_of_truth(truth, d, work);
    for (size_t s = 0; s < estimate->draws; s++) {
        const double *w = estimate->w + s * d * d;
        if (!acyclic(w, d, work)) {
            return;
        }
        sum += kl_of_draw(w, estimate->sigma + s * d, truth->sigma, d, work);
    }
    out->kl_z = sum / (double)estimate->draws;
}
