#include "net/normed.h"

size_t normed_offset(const mlp_shape *shape, size_t layer)
{
    size_t at = 0;
    for (size_t l = 0; l < layer; l++) {
        bool last = l + 1 == shape->layers;
        at += (shape->width[l] + (last ? 1 : 2)) * shape->width[l + 1];
    }
    return at;
}

size_t normed_running_offset(const mlp_shape *shape, size_t layer)
{
    size_t at = 0;
    for (size_t l = 0; l < layer; l++) {
        at += 2 * shape->width[l + 1];
    }
    return at;
}

size_t normed_count(const mlp_shape *shape)
{
    return normed_offset(shape, shape->layers);
}

size_t normed_running(const mlp_shape *shape)
{
    return normed_running_offset(shape, shape->layers - 1);
}
