/* The entire part of the exponential integrals: sum_{k >= 1} z^k / (k k!), so that
 *   E1(u) = -(euler + log u + series(-u)),   Ei(v) = euler + log v + series(v).
 * To be used where it does not cancel: z > -1 or so. */
#ifndef LSCM_INFER_WEIGHTS_EXPONENTIAL_INTEGRAL_H
#define LSCM_INFER_WEIGHTS_EXPONENTIAL_INTEGRAL_H

#include <math.h>

#define EULER_GAMMA 0.57721566490153286061

static inline double exponential_series(double z)
{
    double power = z; /* z^k / k! */
    double sum = z;

    for (int k = 2; fabs(power) > 1e-18 * fabs(sum); k++) {
        power *= z / k;
        sum += power / k;
    }
    return sum;
}

#endif
