/* Gaussian x given its mean y, n rows of D numbers, in nats per row:
 *
 *   -log p = |x - y|^2/(2 n s^2) + (D/2) log(2 pi s^2)
 *
 * s is given, or the best for these rows, |x - y|/sqrt(n D), but never below a floor; the slope in
 * y is that at fixed s either way, as the best s has no slope of its own. Included by what is
 * written once for both precisions. */
#include <math.h>

/* y becomes the gradient; terms get error, x_noise and this part of the loss. */
static void gaussian_x(const device *on, size_t n, size_t D, const REAL *x, REAL *y,
                       const x_noise_rule *rule, training_terms *terms)
{
    const double two_pi = 6.283185307179586;
    double error = on->BACKEND->residual(on, n * D, 1, x, y) / ((double)n * (double)D);
    double s = rule->given > 0 ? rule->given : sqrt(error);
    s = s < rule->floor ? rule->floor : s; /* NaN stays */
    on->BACKEND->scale(on, n * D, (REAL)(1 / ((double)n * s * s)), y);
    terms->error = error;
    terms->x_noise = s;
    terms->loss = (double)D / 2 * (error / (s * s) + log(two_pi * s * s));
}
