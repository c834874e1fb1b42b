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

/* Of edge e the weights, or whether it is there, chain by chain. */
static void take_series(const anchored *a, size_t e, size_t chains, bool there, double *series)
{
    size_t n = a->draws / chains;
    size_t dd = a->d * a->d;
    for (size_t c = 0; c < chains; c++) {
        for (size_t k = 0; k < n; k++) {
            double w = a->w[(c * a->draws / chains + k) * dd + e];
            series[c * n + k] = there ? (w != 0 ? 1 : 0) : w;
        }
    }
}

void anchored_take_edges(anchored *a, const mechanisms *m, size_t chains, size_t replaced,
                         double *series)
{
    size_t dd = a->d * a->d;
    size_t n = a->draws / chains;
    a->r_hat = 1;
    a->ess = (double)a->draws;
    a->edge_ess = (double)(replaced > 0 ? chains - replaced : a->draws);
    for (size_t e = 0; e < dd; e++) {
        double present = 0;
        for (size_t k = 0; k < a->draws; k++) {
            present += a->w[k * dd + e] != 0 ? 1 : 0;
        }
        double p = present / (double)a->draws;
        a->edge_prob[e] = p;
        if (p * (1 - p) > tuned_order_doubt()) {
            take_series(a, e, chains, true, series);
            a->edge_ess = fmin(a->edge_ess, effective_samples(series, chains, n));
        }
        if (present * (double)tuned_sample_rare() < (double)a->draws) {
            continue; /* hardly ever there */
        }
        take_series(a, e, chains, false, series);
        a->r_hat = fmax(a->r_hat, split_r_hat(series, chains, n));
        a->ess = fmin(a->ess, effective_samples(series, chains, n));
    }
    edges_told(a->edge_prob, m, a->edge_ess);
    a->r_hat_kept = a->r_hat;
    a->replaced = replaced;
}
