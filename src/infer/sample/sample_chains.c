#include "infer/sample/sample_chains.h"
#include "base/tuned.h"
#include "infer/graph/graph.h"

#include <math.h>

size_t anchored_chains(const anchored_input *in)
{
    size_t chains = in->settings->chains > 0 ? (size_t)in->settings->chains : tuned_chains();
    return chains < in->draws ? chains : in->draws;
}

size_t anchored_sweeps(const anchored_input *in)
{
    size_t least = (in->draws / anchored_chains(in) + 1) * 3 / 2;
    size_t sweeps = in->steps > 0 ? in->steps : tuned_sample_sweeps();
    sweeps -= in->brief ? sweeps / 4 : 0;
    return sweeps > least ? sweeps : least;
}

void anchored_take_edges(anchored *a, size_t chains, double *series)
{
    size_t d = a->d;
    size_t n = a->draws / chains;
    a->r_hat = 1;
    a->ess = (double)a->draws;
    for (size_t e = 0; e < d * d; e++) {
        double present = 0;
        for (size_t k = 0; k < a->draws; k++) {
            present += a->w[k * d * d + e] != 0 ? 1 : 0;
        }
        a->edge_prob[e] = present / (double)a->draws;
        if (present * (double)tuned_sample_rare() < (double)a->draws) {
            continue; /* hardly ever there */
        }
        for (size_t c = 0; c < chains; c++) {
            for (size_t k = 0; k < n; k++) {
                series[c * n + k] = a->w[(c * a->draws / chains + k) * d * d + e];
            }
        }
        a->r_hat = fmax(a->r_hat, split_r_hat(series, chains, n));
        a->ess = fmin(a->ess, effective_samples(series, chains, n));
    }
    a->r_hat_kept = a->r_hat;
    a->replaced = 0;
}
