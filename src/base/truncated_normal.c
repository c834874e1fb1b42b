#include "base/truncated_normal.h"

#include <math.h>

double truncated_normal_above(double mean, double sd, double bound, rng r, uint64_t index)
{
    if (!(sd > 0)) {
        return fmax(mean, bound);
    }
    double alpha = (bound - mean) / sd;
    double rate = (alpha + hypot(alpha, 2)) / 2;
    uint64_t first = index * TRUNCATED_NORMAL_SPAN;
    for (uint64_t k = first; k < first + TRUNCATED_NORMAL_SPAN; k += 2) {
        if (alpha > 0) {
            double e = -log(rng_uniform(r, k)) / rate;
            double off = e - 1 / rate;
            if (rng_uniform(r, k + 1) <= exp(-off * off / 2)) {
                return bound + sd * e;
            }
        } else {
            double normal = rng_normal(r, k);
            normal = normal >= alpha ? normal : rng_normal(r, k + 1);
            if (normal >= alpha) {
                return fmax(mean + sd * normal, bound); /* rounding may cross the bound */
            }
        }
    }
    return bound;
}

double truncated_normal_below(double mean, double sd, double bound, rng r, uint64_t index)
{
    return -truncated_normal_above(-mean, sd, -bound, r, index);
}
