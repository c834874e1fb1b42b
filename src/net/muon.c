#include "net/muon.h"

#include <math.h>

muon_plan muon_plan_of(const network_shape *shape)
{
    muon_plan p = {.count = network_count(shape)};
    for (size_t l = 0; l < shape->layers; l++) {
        const layer *at = &shape->layer[l];
        if (layer_matrix(at) > 0) {
            p.matrix[p.matrices++] = (muon_matrix){network_offset(shape, l), at->in, at->out,
                                                   sqrt((l > 0 ? 2.0 : 1.0) / (double)at->in)};
        }
    }
    return p;
}
