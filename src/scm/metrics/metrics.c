/* lscm_evaluate: checks every number that comes in, lays out the scratch of all parts in one
 * allocation, and lets each part fill its scores. What cannot be computed stays NaN.
 */
#include "scm/metrics/metrics_parts.h"

#include "base/threads.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const lscm_scores NOTHING = {
#define NOT_COMPUTED(name, help) .name = NAN,
    LSCM_SCORES_TABLE(NOT_COMPUTED)
#undef NOT_COMPUTED
};

/* The first of n numbers that is NaN or Inf, or n. */
static size_t first_not_finite(const double *x, size_t n)
{
    size_t broken = 0;
    for (size_t k = 0; k < n; k++) {
        broken += !(fabs(x[k]) <= DBL_MAX) ? 1 : 0;
    }
    size_t k = broken > 0 ? 0 : n;
    while (k < n && fabs(x[k]) <= DBL_MAX) {
        k++;
    }
    return k;
}

lscm_status metrics_check_finite(const char *who, const char *name, const double *x, size_t first,
                                 size_t rows, size_t columns, lscm_error *why)
{
    size_t n = x != NULL ? rows * columns : 0;
    size_t k = first_not_finite(x, n);
    if (k < n) {
        return fail(why, LSCM_VALUE,
                    "%s: '%s' is %g in row %zu, column %zu (0-based); it must be finite", who, name,
                    x[k], first + k / columns, k % columns);
    }
    return LSCM_OK;
}

static lscm_status check_weights(const char *who, const lscm_estimate *estimate, lscm_error *why)
{
    size_t d = estimate->nodes;
    for (size_t s = 0; s < estimate->draws; s++) {
        const double *w = estimate->w + s * d * d;
        size_t k = first_not_finite(w, d * d);
        if (k < d * d) {
            return fail(
                why, LSCM_VALUE,
                "%s: 'w' is %g in draw %zu, row %zu, column %zu (0-based); it must be finite", who,
                w[k], s, k / d, k % d);
        }
    }
    return LSCM_OK;
}

static lscm_status check_sigma(const char *who, const double *sigma, size_t draws, size_t d,
                               lscm_error *why)
{
    for (size_t k = 0; sigma != NULL && k < draws * d; k++) {
        if (!(sigma[k] >= 0 && sigma[k] <= DBL_MAX)) {
            return fail(why, LSCM_VALUE,
                        "%s: 'sigma' is %g in row %zu, node %zu (0-based); it must be finite and "
                        "not negative",
                        who, sigma[k], k / d, k % d);
        }
    }
    return LSCM_OK;
}

static lscm_status check_edge_prob(const char *who, const double *prob, size_t d, lscm_error *why)
{
    const double slack = 1e-6; /* means of float32 numbers end a little over 1 */
    for (size_t k = 0; prob != NULL && k < d * d; k++) {
        if (!(prob[k] >= -slack && prob[k] <= 1 + slack)) {
            return fail(why, LSCM_VALUE,
                        "%s: 'edge_prob' is %g in row %zu, column %zu (0-based); it must lie "
                        "between 0 and 1",
                        who, prob[k], k / d, k % d);
        }
    }
    return LSCM_OK;
}

static lscm_status check_all(const lscm_estimate *estimate, const lscm_truth *truth,
                             const char *estimate_name, const char *truth_name, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = estimate->nodes;
    if (estimate->w == NULL || estimate->draws == 0 || d == 0) {
        return fail(why, LSCM_USAGE, "%s: there is no draw of 'w' to score", estimate_name);
    }
    if (truth->w == NULL) {
        return fail(why, LSCM_MISSING, "%s: the true graph 'w' is missing", truth_name);
    }
    if (!(estimate->threshold >= 0 && estimate->threshold <= DBL_MAX)) {
        return fail(why, LSCM_USAGE, "the edge threshold is %g; it must be finite and not negative",
                    estimate->threshold);
    }
    TRY(check_weights(estimate_name, estimate, why));
    TRY(metrics_check_finite(truth_name, "w", truth->w, 0, d, d, why));
    TRY(check_sigma(estimate_name, estimate->sigma, estimate->draws, d, why));
    TRY(check_sigma(truth_name, truth->sigma, 1, d, why));
    TRY(check_edge_prob(estimate_name, estimate->edge_prob, d, why));
    TRY(metrics_check_finite(estimate_name, "z", estimate->z, 0, estimate->rows, d, why));
    TRY(metrics_check_finite(estimate_name, "z_sd", estimate->z_sd, 0, estimate->rows, d, why));
    TRY(metrics_check_finite(truth_name, "z", truth->z, 0, estimate->rows, d, why));
done:
    return status;
}

typedef struct metrics_work {
    structure_work structure;
    edges_work edges;
    calibration_work calibration;
    latents_work latents;
    kl_work kl;
} metrics_work;

static void lay_out(metrics_work *work, arena *a, size_t d)
{
    structure_lay_out(&work->structure, a, d);
    edges_lay_out(&work->edges, a, d);
    calibration_lay_out(&work->calibration, a, d);
    latents_lay_out(&work->latents, a, d);
    kl_lay_out(&work->kl, a, d);
}

lscm_status metrics_evaluate(lscm_scores *out, const lscm_estimate *estimate,
                             const lscm_truth *truth, const char *estimate_name,
                             const char *truth_name, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena memory = {0};
    metrics_work work = {0};
    *out = NOTHING;
    threads_blas_single();
    TRY(check_all(estimate, truth, estimate_name, truth_name, why));
    lay_out(&work, &memory, estimate->nodes);
    TRY(arena_open(&memory, why));
    lay_out(&work, &memory, estimate->nodes);

    TRY(structure_scores(out, estimate, truth, estimate_name, truth_name, &work.structure, why));
    edges_scores(out, estimate, truth, &work.edges);
    const double *prob = estimate->edge_prob != NULL ? estimate->edge_prob : work.edges.share;
    calibration_scores(out, estimate, truth, prob, &work.calibration);
    if (estimate->z != NULL && truth->z != NULL && estimate->rows >= 2) {
        TRY(latents_scores(out, estimate, truth, &work.latents, why));
    }
    kl_scores(out, estimate, truth, &work.kl);
done:
    threads_blas_restore();
    arena_close(&memory);
    return status;
}

lscm_status lscm_evaluate(lscm_scores *out, const lscm_estimate *estimate, const lscm_truth *truth,
                          lscm_error *why)
{
    return metrics_evaluate(out, estimate, truth, "estimate", "truth", why);
}

lscm_scores *lscm_scores_new(void)
{
    lscm_scores *scores = malloc(sizeof *scores);
    if (scores != NULL) {
        *scores = NOTHING;
    }
    return scores;
}

void lscm_scores_free(lscm_scores *scores)
{
    free(scores);
}
