#include "net/mlp.h"

#include <limits.h>

lscm_status mlp_check(const mlp_shape *shape, lscm_error *why)
{
    size_t total = 0;
    if (shape->layers < 1 || shape->layers > MLP_LAYERS) {
        return fail(why, LSCM_USAGE, "a network of %zu layers was asked for; 1 to %d are possible",
                    shape->layers, MLP_LAYERS);
    }
    for (size_t l = 0; l <= shape->layers; l++) {
        /* BLAS counts in int, and the products of two sizes must too */
        if (shape->width[l] < 1 || shape->width[l] > INT_MAX ||
            (l > 0 && shape->width[l - 1] > INT_MAX / shape->width[l])) {
            return fail(why, LSCM_USAGE,
                        "layer %zu of a network has width %zu; it must be at least 1, and a layer "
                        "have at most %d weights",
                        l, shape->width[l], INT_MAX);
        }
        total += shape->width[l];
    }
    if ((unsigned)shape->between >= ACTIVATION_COUNT || (unsigned)shape->last >= ACTIVATION_COUNT) {
        return fail(why, LSCM_USAGE, "a network of width %zu has an unknown activation", total);
    }
    return LSCM_OK;
}

size_t mlp_offset(const mlp_shape *shape, size_t layer)
{
    size_t at = 0;
    for (size_t l = 0; l < layer; l++) {
        at += (shape->width[l] + (shape->bias ? 1 : 0)) * shape->width[l + 1];
    }
    return at;
}

size_t mlp_count(const mlp_shape *shape)
{
    return mlp_offset(shape, shape->layers);
}
