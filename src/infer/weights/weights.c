/* See weights.h. By log sd = r: dH/dr = 1, and d/dr = sd d/dsd for the expectations; the last
 * factor dr/draw = 1 - tanh^2(raw/m). */
#define _DEFAULT_SOURCE /* M_PI */
#include "infer/weights/weight_law.h"

#include <math.h>

double weights_log_sd(double raw, double *slope)
{
    double squashed = tanh(raw / WEIGHTS_LOG_SD_BOUND);

    *slope = 1 - squashed * squashed;
    return WEIGHTS_LOG_SD_BOUND * squashed;
}

double weights_kl(const weights *q, const horseshoe *prior, double *grad_mean, double *grad_raw)
{
    static const double variance = WEIGHTS_NOISE_PRIOR_SD * WEIGHTS_NOISE_PRIOR_SD;
    const double half_log_2_pi = log(2 * M_PI) / 2;
    size_t edges = weights_count(q->d, 0);
    size_t count = weights_count(q->d, q->k);
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        double slope;
        double log_sd = weights_log_sd(q->raw[i], &slope);
        double sd = exp(log_sd);
        double mean = q->mean[i];
        double expected, by_mean, by_sd; /* of log p */

        if (i < edges) {
            expected = horseshoe_expect(prior, mean, sd, &by_mean, &by_sd);
        } else {
            expected = -(mean * mean + sd * sd) / (2 * variance) - log(WEIGHTS_NOISE_PRIOR_SD) -
                       half_log_2_pi;
            by_mean = -mean / variance;
            by_sd = -sd / variance;
        }
        sum -= log_sd + half_log_2_pi + 0.5 + expected;
        grad_mean[i] = -by_mean;
        grad_raw[i] = -(1 + sd * by_sd) * slope;
    }
    return sum;
}
