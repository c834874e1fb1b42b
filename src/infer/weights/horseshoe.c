/* The horseshoe density by a scaled exponential integral f(u) = exp(u) E1(u), for all u > 0:
 *
 *   u < 1:   E1(u) = -euler - log u - sum_k (-u)^k / (k k!)
 *   u >= 1:  f(u) = 1 / (u + 1 - q),  q = 1/(u + 3 - 4/(u + 5 - 9/(u + 7 - ...)))
 *
 * and h(u) = log f(u) has h'(u) = 1 - 1/(u f(u)) = -(1 - q)/u: the last form has no cancellation.
 */
#define _DEFAULT_SOURCE /* M_LN2 */
#include "infer/weights/horseshoe.h"

#include <math.h>

#include "infer/weights/exponential_integral.h"

double horseshoe_scale(size_t n_rows, size_t d, double degree)
{
    double room = (double)d - 1 - 2 * degree;

    if (!(room > 0)) {
        return 1 / (2 * (double)d);
    }
    return 2 * degree / room / sqrt((double)n_rows);
}

/* q for u >= 1. After n levels the fraction errs by about exp(-4 sqrt(n u)), here below 1e-16. */
static double fraction_tail(double u)
{
    double q = 0;

    for (int k = 8 + (int)fmin(90 / u, 90); k >= 1; k--) {
        q = k * k / (u + 2 * k + 1 - q);
    }
    return q;
}

double horseshoe_log_density(const horseshoe *prior, double w, double *slope)
{
    double x = fabs(w) / prior->tau;
    double u = x * x / 2;
    double value, by_x;

    if (u < 1) {
        /* log u from log x: u itself is 0 long before x is */
        double f = -exp(u) * (EULER_GAMMA + 2 * log(x) - M_LN2 + exponential_series(-u));
        value = log(f);
        by_x = x - 2 / (x * f);
    } else {
        double q = fraction_tail(u);
        value = -log(u + 1 - q);
        by_x = -2 * (1 - q) / x;
    }
    if (slope != NULL) {
        *slope = copysign(1 / prior->tau, w) * by_x;
    }
    return value - prior->log_scale;
}
