/* From regressions to anchors. At the targets the residual v - a - y b has variance
 *
 *     lambda s_I^2 + s_x^2 |b|^2,   lambda = Var v / (Var v + s_I^2) = 1 - u,  u = what is left of
 *
 * Var v after the noise of x. u is shared between nodes as far as one of them has few rows, and 0
 * when all of them together show none (but not for the standard errors: it may be there, unseen).
 * Where a direction of y is lost in the noise, u also holds what z_j has there: the node is on its
 * own, and what s_I of the others leaves is noise of z_j. Then b / lambda, and to first order
 *
 *     cov b = (sigma^2 P G P + (n - 1) s_x^4 (P b)(P b)') / lambda^2,   sigma^2 the variance above.
 */
#include "base/tuned.h"
#include "infer/anchor/anchor_work.h"

#include <cblas.h>
#include <math.h>

/* Degrees of freedom of the residual. */
static double freedom(const node_fit *fit)
{
    return fmax(fit->n - 1 - fit->trace, 1);
}

/* u of one node by itself; may be negative. `by_x`: what the noise of x has, over Var v. */
static double own_share(const anchor_fits *f, size_t j, double *by_x)
{
    const node_fit *fit = f->fit + j;
    const double *b = f->slope + j * f->r;
    double variance = fit->vv / (fit->n - 1);
    double x = fit->share * f->x_noise * f->x_noise;
    *by_x = x * cblas_ddot((int)f->r, b, 1, b, 1) / variance;
    return fit->rest / freedom(fit) / variance - *by_x;
}

/* A share that the noise of x alone would hardly show, by its standard error. */
static bool is_seen(double share, double squares, double weight)
{
    return share > tuned_anchor_seen() * sqrt(2 * squares) / weight;
}

static double within(double share)
{
    return fmin(fmax(share, 0), tuned_anchor_left());
}

double anchor_shares(const anchor_fits *f, const anchor_kind *kind, double *share, double *doubt)
{
    double weight = 0;
    double sum = 0;
    double squares = 0;
    for (size_t j = 0; j < f->d; j++) {
        double by_x = 0;
        if (kind[j] != ANCHOR_VALUES) {
            continue;
        }
        double w = freedom(f->fit + j);
        double own = own_share(f, j, &by_x);
        doubt[j] = own;
        if (f->fit[j].lost || f->fit[j].shrunk) {
            bool seen = !f->fit[j].shrunk && is_seen(own, w * by_x * by_x, w);
            doubt[j] = within(own);
            share[j] = seen ? doubt[j] : 0;
        } else {
            weight += w;
            sum += w * own;
            squares += w * by_x * by_x;
        }
    }
    const double shared = tuned_anchor_freedom();
    double pooled = weight > 0 ? sum / weight : 0;
    bool shown = weight > 0 && is_seen(pooled, squares, weight);
    double variance = 0;
    for (size_t j = 0; j < f->d; j++) {
        if (kind[j] != ANCHOR_VALUES || f->fit[j].lost || f->fit[j].shrunk) {
            continue;
        }
        double w = freedom(f->fit + j);
        doubt[j] = within((w * doubt[j] + shared * pooled) / (w + shared));
        share[j] = shown ? doubt[j] : 0;
        variance += w / weight * f->fit[j].vv / (f->fit[j].n - 1) * share[j] / (1 - share[j]);
    }
    return sqrt(variance);
}

/* The covariance of (a, b) from that of b, which is in rows and columns 1 .. r; mean (r) is
 * scratch. */
static void finish_covariance(const anchor_fits *f, size_t j, double intercept_variance,
                              double across, double along, double *cov, double *mean)
{
    size_t r = f->r;
    size_t m = r + 1;
    const double *tilt = f->tilt + j * r;
    cov[0] = intercept_variance;
    for (size_t c = 0; c < r; c++) {
        mean[c] = f->mean[j * r + c] + f->centre[c];
    }
    for (size_t i = 0; i < r; i++) {
        double sum = 0;
        for (size_t c = 0; c < r; c++) {
            double *at = cov + (i + 1) * m + c + 1;
            *at = across * *at + along * tilt[i] * tilt[c];
            sum += *at * mean[c];
        }
        cov[(i + 1) * m] = -sum;
        cov[i + 1] = -sum;
        cov[0] += mean[i] * sum;
    }
}

void anchor_finish(anchor *out, const anchor_fits *f, size_t j, double share, double doubt,
                   double *mean)
{
    size_t r = f->r;
    const node_fit *fit = f->fit + j;
    const double *b = f->slope + j * r;
    double lambda = 1 - share;
    double x = fit->share * f->x_noise * f->x_noise;
    double squares = cblas_ddot((int)r, b, 1, b, 1);
    double variance = fit->vv / (fit->n - 1);
    bool direction = out->kind[j] == ANCHOR_DIRECTION;
    double across = direction ? 1 : (doubt * variance + x * squares) / (lambda * lambda);
    double along = direction ? 0 : (fit->n - 1) * x * x / (lambda * lambda);
    double at_mean = direction ? fit->rest / fit->n
                               : doubt * variance / lambda + x * squares / (lambda * lambda);
    double stretch = 1 / lambda - 1; /* the residual with b / lambda in the place of b */
    double fitted = fit->vv - fit->rest + 2 * fit->ridge * squares;
    double rest = fit->rest + 2 * stretch * fit->ridge * squares + stretch * stretch * fitted;

    out->intercept[j] = f->v_centre[j];
    for (size_t c = 0; c < r; c++) {
        double slope = b[c] / lambda;
        out->slope[c * out->d + j] = slope;
        out->intercept[j] -= (f->mean[j * r + c] + f->centre[c]) * slope;
    }
    out->label_noise[j] = sqrt(share * variance / lambda);
    double lost = share * variance / lambda - out->actuator_noise * out->actuator_noise;
    out->noise[j] = sqrt(x * squares / (lambda * lambda) + (fit->lost ? fmax(lost, 0) : 0));
    if (fit->shrunk) { /* a regression's error is what it leaves */
        out->noise[j] = sqrt(fmax(rest, 0) / freedom(fit));
    }
    out->residual[j] = sqrt(fmax(direction ? fit->rest : rest, 0) / freedom(fit));
    out->standard_error[j] =
        sqrt(fmax(at_mean / fit->n + across * fit->spread + along * fit->tilt, 0));
    if (out->covariance != NULL) {
        finish_covariance(f, j, at_mean / fit->n, across, along,
                          out->covariance + j * (r + 1) * (r + 1), mean);
    }
}
