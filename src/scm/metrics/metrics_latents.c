/* Correlations of the estimated z with the true z, in [0, 1]; node i is column i.
 *
 *   r[i][j] = |Pearson(estimate i, truth j)| over all rows; a constant column correlates 0
 *   mcc        max over permutations p of mean_i r[i][p(i)]
 *   mcc_named  mean_i r[i][i]
 *   mcc_free   mean_i of r[i][i] over the rows in which i was not intervened on, over the nodes
 *              with at least two such rows
 *   mcc_drawn  mcc of z + sd e, e ~ N(0, 1) for every entry, in the limit of many rows: the noise
 *              correlates with nothing, so
 *
 *                  r[i][j] sqrt(V_i / (V_i + S_i)),   V_i the variance of column i over the rows,
 *                                                     S_i the mean of its sd^2
 *
 * Two passes: means, then products of centred blocks of rows (BLAS). Values are first shifted by
 * their first row, so that a constant column is exactly 0, and scaled, so that nothing overflows.
 */
#include "scm/metrics/metrics_parts.h"

#include <cblas.h>
#include <float.h>
#include <math.h>

static void lay_out_centres(column_centres *c, arena *a, size_t d)
{
    c->count = arena_take(a, d, sizeof *c->count);
    c->origin = arena_take(a, d, sizeof *c->origin);
    c->mean = arena_take(a, d, sizeof *c->mean);
    c->scale = arena_take(a, d, sizeof *c->scale);
}

void latents_lay_out(latents_work *work, arena *a, size_t d)
{
    /* about 4 MB, and not so few rows that adding to `cross` costs more than multiplying */
    size_t block = ((size_t)1 << 19) / d;
    work->block = block < 64 ? 64 : block > 4096 ? 4096 : block;
    lay_out_centres(&work->estimate, a, d);
    lay_out_centres(&work->truth, a, d);
    work->left = arena_take(a, work->block * d, sizeof *work->left);
    work->right = arena_take(a, work->block * d, sizeof *work->right);
    work->cross = arena_take(a, d * d, sizeof *work->cross);
    work->ss_e = arena_take(a, d, sizeof *work->ss_e);
    work->ss_t = arena_take(a, d, sizeof *work->ss_t);
    work->dot = arena_take(a, d, sizeof *work->dot);
    work->match = arena_take(a, d, sizeof *work->match);
    assignment_lay_out(&work->assign, a, d);
}

/* Over the rows whose target is 0; all rows when targets is NULL. */
static void find_centres(const double *z, const uint8_t *targets, size_t rows, size_t d,
                         const column_centres *c)
{
    for (size_t i = 0; i < d; i++) {
        c->count[i] = 0;
        c->mean[i] = 0;
        c->scale[i] = 0;
    }
    for (size_t r = 0; r < rows; r++) {
        for (size_t i = 0; i < d; i++) {
            if (targets != NULL && targets[r * d + i] != 0) {
                continue;
            }
            double value = z[r * d + i];
            c->origin[i] = c->count[i] == 0 ? value : c->origin[i];
            c->count[i]++;
            double shifted = value - c->origin[i];
            c->mean[i] += shifted;
            c->scale[i] = fabs(shifted) > c->scale[i] ? fabs(shifted) : c->scale[i];
        }
    }
    for (size_t i = 0; i < d; i++) {
        c->mean[i] = c->count[i] > 0 ? c->mean[i] / (double)c->count[i] : 0;
        c->scale[i] = c->scale[i] >= DBL_MIN ? 1 / c->scale[i] : 0;
    }
}

static double centred(const column_centres *c, size_t i, double value)
{
    return (value - c->origin[i] - c->mean[i]) * c->scale[i];
}

/* Rows [first, first + count) of z, centred, to out; their squares are added to ss. */
static void centre_block(const double *z, size_t first, size_t count, size_t d,
                         const column_centres *c, double *out, double *ss)
{
    for (size_t r = 0; r < count; r++) {
        for (size_t i = 0; i < d; i++) {
            double value = centred(c, i, z[(first + r) * d + i]);
            out[r * d + i] = value;
            ss[i] += value * value;
        }
    }
}

static double correlation(double product, double left, double right)
{
    if (left == 0 || right == 0) {
        return 0;
    }
    double r = fabs(product) / (sqrt(left) * sqrt(right));
    return r > 1 ? 1 : r; /* rounding only */
}

/* cross <- -|correlation|, a cost. */
static void correlate_all(const lscm_estimate *estimate, const lscm_truth *truth,
                          const latents_work *work)
{
    size_t d = estimate->nodes;
    int n = (int)d;
    find_centres(estimate->z, NULL, estimate->rows, d, &work->estimate);
    find_centres(truth->z, NULL, estimate->rows, d, &work->truth);
    for (size_t i = 0; i < d; i++) {
        work->ss_e[i] = 0;
        work->ss_t[i] = 0;
    }
    for (size_t first = 0; first < estimate->rows; first += work->block) {
        size_t left = estimate->rows - first;
        size_t count = left < work->block ? left : work->block;
        centre_block(estimate->z, first, count, d, &work->estimate, work->left, work->ss_e);
        centre_block(truth->z, first, count, d, &work->truth, work->right, work->ss_t);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, n, (int)count, 1, work->left, n,
                    work->right, n, first == 0 ? 0 : 1, work->cross, n);
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t j = 0; j < d; j++) {
            double *entry = &work->cross[i * d + j];
            *entry = -correlation(*entry, work->ss_e[i], work->ss_t[j]);
        }
    }
}

static double mean_free_correlation(const lscm_estimate *estimate, const lscm_truth *truth,
                                    const latents_work *work)
{
    size_t d = estimate->nodes;
    find_centres(estimate->z, truth->targets, estimate->rows, d, &work->estimate);
    find_centres(truth->z, truth->targets, estimate->rows, d, &work->truth);
    for (size_t i = 0; i < d; i++) {
        work->ss_e[i] = 0;
        work->ss_t[i] = 0;
        work->dot[i] = 0;
    }
    for (size_t r = 0; r < estimate->rows; r++) {
        for (size_t i = 0; i < d; i++) {
            if (truth->targets != NULL && truth->targets[r * d + i] != 0) {
                continue;
            }
            double e = centred(&work->estimate, i, estimate->z[r * d + i]);
            double t = centred(&work->truth, i, truth->z[r * d + i]);
            work->ss_e[i] += e * e;
            work->ss_t[i] += t * t;
            work->dot[i] += e * t;
        }
    }
    double sum = 0;
    size_t nodes = 0;
    for (size_t i = 0; i < d; i++) {
        if (work->truth.count[i] >= 2) {
            sum += correlation(work->dot[i], work->ss_e[i], work->ss_t[i]);
            nodes++;
        }
    }
    return nodes > 0 ? sum / (double)nodes : NAN;
}

/* From the correlations of z to those of drawn z, in the scales of correlate_all. */
static void attenuate(const lscm_estimate *estimate, const latents_work *work)
{
    size_t d = estimate->nodes;
    for (size_t i = 0; i < d; i++) {
        double noise = 0;
        for (size_t r = 0; r < estimate->rows; r++) {
            double sd = estimate->z_sd[r * d + i] * work->estimate.scale[i];
            noise += sd * sd;
        }
        double share = work->ss_e[i] > 0 ? sqrt(work->ss_e[i] / (work->ss_e[i] + noise)) : 0;
        for (size_t j = 0; j < d; j++) {
            work->cross[i * d + j] *= share;
        }
    }
}

static double mean_matched(const latents_work *work, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        sum -= work->cross[i * d + work->match[i]];
    }
    return sum / (double)d;
}

lscm_status latents_scores(lscm_scores *out, const lscm_estimate *estimate, const lscm_truth *truth,
                           const latents_work *work, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = estimate->nodes;
    double named = 0;
    correlate_all(estimate, truth, work);
    TRY(assignment_solve(work->cross, d, work->match, &work->assign, why));
    for (size_t i = 0; i < d; i++) {
        named -= work->cross[i * d + i];
    }
    out->mcc = mean_matched(work, d);
    out->mcc_named = named / (double)d;
    if (estimate->z_sd != NULL) {
        attenuate(estimate, work);
        TRY(assignment_solve(work->cross, d, work->match, &work->assign, why));
        out->mcc_drawn = mean_matched(work, d);
    }
    out->mcc_free = mean_free_correlation(estimate, truth, work);
done:
    return status;
}
