/* What z has wrong alike in all rows does not average out, and widens the draws in the end.
 *
 * Leaks: the others leak into z_j, which moves weights into j by as much. Edges that cannot be told
 * from it (graph_leak.h) are left out; log p and log q are already those of the graphs without
 * them.
 *
 * Gains: the scale of z_j itself is known to a factor of 1 + g_j only, log(1 + g_j) ~ N(0, gain^2).
 * In the units of the truth,
 *
 *     w_pj (1 + g_p)/(1 + g_j),    s_j/(1 + g_j),    c_j/(1 + g_j).
 */
#include "infer/anchored/anchored_errors.h"
#include "base/streams.h"

#include <math.h>

static void take_leaks(anchored *a, const graph_posterior *g, rng r)
{
    size_t n = a->d * a->d;
    for (size_t e = 0; e < n; e++) {
        double there = 0;
        double dropped = 0;
        for (size_t k = 0; k < a->draws; k++) {
            double *w = a->w + k * n + e;
            bool small = *w != 0 && graph_leak_hides(g, e, *w);
            *w = small ? 0 : *w;
            dropped += small ? 1 : 0;
            there += *w != 0 ? 1 : 0;
            *w += *w != 0 ? g->leak_sd[e] * rng_normal(r, 2 * (k * n + e)) : 0;
        }
        if (dropped > 0) {
            a->edge_prob[e] = there / (double)a->draws;
        }
    }
}

static void take_gains(anchored *a, double gain, rng r)
{
    size_t d = a->d;
    for (size_t k = 0; k < a->draws; k++) {
        for (size_t j = 0; j < d; j++) {
            double factor = exp(gain * rng_normal(r, 2 * (k * d + j)));
            for (size_t i = 0; i < d; i++) {
                a->w[(k * d + j) * d + i] *= factor;
                a->w[(k * d + i) * d + j] /= factor;
            }
            a->sigma[k * d + j] /= factor;
            a->intercept[k * d + j] /= factor;
        }
    }
}

void anchored_take_errors(anchored *a, const graph_posterior *g, const anchored_input *in)
{
    uint64_t seed = (uint64_t)in->settings->seed;
    take_leaks(a, g, stream_of(seed, STREAM_LEAKS));
    take_gains(a, in->gain, stream_of(seed, STREAM_GAINS));
}
