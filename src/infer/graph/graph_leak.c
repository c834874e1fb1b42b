#include "infer/graph/graph_leak.h"

#include <math.h>

bool graph_leak_hides(const graph_posterior *g, size_t edge, double w)
{
    double d = (double)g->families.d;
    double told = sqrt(2 * log(d * d - d));
    return fabs(w) < told * g->leak_sd[edge];
}

uint32_t graph_leak_told(const graph_posterior *g, size_t i, uint32_t parents, const double *w)
{
    size_t d = g->families.d;
    const family *f = &g->families.list[i];
    uint32_t told = parents;
    for (size_t k = 0; k < f->count; k++) {
        size_t edge = f->candidate[k] * d + i;
        uint32_t bit = (uint32_t)1 << k;
        told &= (parents & bit) != 0 && graph_leak_hides(g, edge, w[edge]) ? ~bit : ~(uint32_t)0;
    }
    return told;
}
