#include "infer/evidence/noise_law.h"

#include "base/streams.h"

#include <math.h>
#include <string.h>

static const double LOG_TWO_PI = 1.8378770664093454836;
static const double DOF[] = {2.2, 2.6, 3, 4, 5.5, 8, 12, 20};
static const double SHARE[] = {0.02, 0.1, 0.3};
static const double RATIO[] = {3, 10};

enum {
    DOFS = sizeof DOF / sizeof DOF[0],
    SHARES = sizeof SHARE / sizeof SHARE[0],
    RATIOS = sizeof RATIO / sizeof RATIO[0],
    MIXTURES = SHARES * RATIOS,
    SCALES = 12 /* steps to the scale that a law likes best */
};
_Static_assert(1 + DOFS + MIXTURES <= NOISE_POINTS, "there is a place for every law");

noise_grid noise_grid_of(lscm_noise_kind kind)
{
    noise_grid g = {0};
    bool student = kind == LSCM_NOISE_KIND_STUDENT || kind == LSCM_NOISE_KIND_AUTO;
    bool mixture = kind == LSCM_NOISE_KIND_MIXTURE || kind == LSCM_NOISE_KIND_AUTO;
    double kinds = student && mixture ? 2 : 1;
    g.point[g.count++] =
        (noise_point){.dof = INFINITY, .ratio = 1, .log_prior = student || mixture ? log(0.5) : 0};
    for (size_t k = 0; k < DOFS && student; k++) {
        g.point[g.count++] =
            (noise_point){.dof = DOF[k], .ratio = 1, .log_prior = log(0.5 / kinds / (double)DOFS)};
    }
    for (size_t k = 0; k < MIXTURES && mixture; k++) {
        g.point[g.count++] = (noise_point){.dof = INFINITY,
                                           .share = SHARE[k / RATIOS],
                                           .ratio = RATIO[k % RATIOS],
                                           .log_prior = log(0.5 / kinds / (double)MIXTURES)};
    }
    return g;
}

/* log of how much likelier x is of the wider part of a mixture than of the other. */
static double log_wider(const noise_point *p, double x)
{
    double k = p->ratio;
    return log(p->share / (1 - p->share) / k) + x * x / 2 * (1 - 1 / (k * k));
}

/* A mean over rows costs no logarithm of the law itself: what does not depend on x. */
static double log_constant(const noise_point *p)
{
    double nu = p->dof;
    if (isfinite(nu)) {
        return lgamma((nu + 1) / 2) - lgamma(nu / 2) - 0.5 * log(nu) - 0.57236494292470008707;
    }
    return -0.5 * LOG_TWO_PI + log1p(-p->share);
}

static double log_shape(const noise_point *p, double x)
{
    if (isfinite(p->dof)) {
        return -(p->dof + 1) / 2 * log1p(x * x / p->dof);
    }
    double wider = p->share > 0 ? log_wider(p, x) : -INFINITY;
    double more = wider > 0 ? wider + log1p(exp(-wider)) : log1p(exp(wider));
    return -x * x / 2 + more;
}

double noise_log_density(const noise_point *p, double x)
{
    return log_constant(p) + log_shape(p, x);
}

double noise_variance(const noise_point *p)
{
    double mixed = 1 + p->share * (p->ratio * p->ratio - 1);
    return isfinite(p->dof) ? p->dof / (p->dof - 2) : mixed;
}

static double log_likelihood(const noise_point *p, const double *x, size_t n, double scale)
{
    double sum = (double)n * (log_constant(p) - log(scale));
    for (size_t k = 0; k < n; k++) {
        sum += log_shape(p, x[k] / scale);
    }
    return sum;
}

double noise_mean_weight(const noise_point *p, double x)
{
    if (isfinite(p->dof)) {
        return (p->dof + 1) / (p->dof + x * x);
    }
    double wider = p->share > 0 ? 1 / (1 + exp(-log_wider(p, x))) : 0;
    return 1 - wider * (1 - 1 / (p->ratio * p->ratio));
}

/* ---- What batches have of their own ---- */

/* own (batches) from residuals, as rows of weight l have it: the mean, or a draw; x without it. */
static void take_own(const noise_rows *rows, const noise_state *s, const double *weight, double *x,
                     double *own, const rng *r)
{
    double *heft = own + rows->batches;
    memcpy(x, rows->e, rows->count * sizeof *x);
    memset(own, 0, 2 * rows->batches * sizeof *own);
    if (!(s->effect > 0)) {
        return;
    }
    for (size_t k = 0; k < rows->count; k++) {
        own[rows->batch[k]] += weight[k] * rows->e[k];
        heft[rows->batch[k]] += weight[k];
    }
    double shrink = s->sigma * s->sigma / (s->effect * s->effect);
    for (size_t b = 0; b < rows->batches; b++) {
        double sd = s->sigma / sqrt(heft[b] + shrink);
        own[b] = own[b] / (heft[b] + shrink) + (r != NULL ? sd * rng_normal(*r, b) : 0);
    }
    for (size_t k = 0; k < rows->count; k++) {
        x[k] -= own[rows->batch[k]];
    }
}

/* ---- Draws ---- */

static size_t draw_point(const noise_grid *g, const double *x, size_t n, double scale, double u)
{
    double log_weight[NOISE_POINTS];
    double top = -INFINITY;
    double total = 0;
    double sum = 0;
    size_t at = 0;
    for (size_t p = 0; p < g->count; p++) {
        log_weight[p] = g->point[p].log_prior + log_likelihood(&g->point[p], x, n, scale);
        top = fmax(top, log_weight[p]);
    }
    for (size_t p = 0; p < g->count; p++) {
        total += exp(log_weight[p] - top);
    }
    for (size_t p = 0; p < g->count && !(u * total < sum); p++) {
        double own = exp(log_weight[p] - top);
        at = own > 0 ? p : at;
        sum += own;
    }
    return at;
}

static void draw_weights(const noise_point *p, const double *x, size_t n, double scale, rng r,
                         double *weight)
{
    for (size_t k = 0; k < n; k++) {
        double y = x[k] / scale;
        weight[k] = 1;
        if (isfinite(p->dof)) {
            weight[k] = 2 * rng_gamma(r, k * RNG_GAMMA, (p->dof + 1) / 2) / (p->dof + y * y);
        } else if (p->share > 0) {
            bool wider = rng_uniform(r, k) * (1 + exp(-log_wider(p, y))) < 1;
            weight[k] = wider ? 1 / (p->ratio * p->ratio) : 1;
        }
    }
}

void noise_draw(const noise_grid *grid, const noise_rows *rows, noise_state *state, double *weight,
                double *x, double *own, rng r, uint64_t part)
{
    size_t n = rows->count;
    for (size_t k = 0; k < n; k++) {
        weight[k] = 1;
    }
    for (size_t turn = 0; turn < NOISE_TURNS && n > 0; turn++, part += 5) {
        const rng batches = stream_part(r, part);
        double tau = state->effect / state->sigma;
        double squares = 0;
        double counted = (double)n;
        take_own(rows, state, weight, x, own, &batches);
        state->point =
            draw_point(grid, x, n, state->sigma, rng_uniform(stream_part(r, part + 1), 0));
        draw_weights(&grid->point[state->point], x, n, state->sigma, stream_part(r, part + 2),
                     weight);
        for (size_t k = 0; k < n; k++) {
            squares += weight[k] * x[k] * x[k];
        }
        for (size_t b = 0; b < rows->batches && tau > 0; b++) {
            squares += own[b] * own[b] / (tau * tau);
            counted += 1;
        }
        double chi2 = 2 * rng_gamma(stream_part(r, part + 3), 0, fmax(counted / 2, 1));
        state->sigma = squares > 0 ? sqrt(squares / chi2) : state->sigma;
        state->effect = tau * state->sigma;
    }
    draw_weights(&grid->point[state->point], x, n, state->sigma, stream_part(r, part - 1), weight);
}

/* ---- Whether noise is normal ---- */

static double mean_square(const double *x, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        sum += x[k] * x[k] / (double)n;
    }
    return sum;
}

/* Fourth moments beyond what normal ones are by chance, within two standard errors. */
static bool has_tails(const double *x, size_t n, double square)
{
    double fourth = 0;
    for (size_t k = 0; k < n; k++) {
        double own = x[k] * x[k] / square;
        fourth += own * own / (double)n;
    }
    return fourth > 3 + 2 * sqrt(24 / (double)n);
}

/* log likelihood at the scale that is likeliest (EM, which for a Student law divides by the sum of
 * weights and so takes few steps); one that it has not reached yet makes it no likelier. */
static double best_likelihood(const noise_point *p, const double *x, size_t n, double square)
{
    double scale = sqrt(square);
    for (size_t step = 0; step < SCALES; step++) {
        double sum = 0;
        double total = 0;
        for (size_t k = 0; k < n; k++) {
            double weight = noise_mean_weight(p, x[k] / scale);
            sum += weight * x[k] * x[k];
            total += isfinite(p->dof) ? weight : 1;
        }
        scale = sqrt(sum / total);
    }
    return log_likelihood(p, x, n, scale);
}

double noise_normal_likelihood(const double *x, size_t n)
{
    return -(double)n / 2 * (LOG_TWO_PI + log(mean_square(x, n)) + 1);
}

double noise_likelier(const noise_grid *grid, const double *x, size_t n, double normal)
{
    double square = n > 0 ? mean_square(x, n) : 0;
    double log_ratio[NOISE_POINTS];
    double top = -INFINITY;
    double sum = 0;
    if (!(square > 0) || !has_tails(x, n, square)) {
        return grid->point[0].log_prior;
    }
    for (size_t p = 0; p < grid->count; p++) {
        const noise_point *at = &grid->point[p];
        double own = p == 0 ? normal : best_likelihood(at, x, n, square);
        log_ratio[p] = at->log_prior + own - normal;
        top = fmax(top, log_ratio[p]);
    }
    for (size_t p = 0; p < grid->count; p++) {
        sum += exp(log_ratio[p] - top);
    }
    return top + log(sum);
}

double noise_evidence(const noise_grid *grid, const noise_rows *rows, const noise_state *state,
                      double *weight, double *x, double *own)
{
    for (size_t k = 0; k < rows->count; k++) {
        weight[k] = 1;
    }
    take_own(rows, state, weight, x, own, NULL);
    return noise_likelier(grid, x, rows->count, noise_normal_likelihood(x, rows->count));
}
