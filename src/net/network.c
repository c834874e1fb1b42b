#include "net/network.h"

#include <limits.h>

network_shape network_dense(const network_stack *s)
{
    network_shape shape = {.layers = s->layers};
    for (size_t l = 0; l < s->layers && l < NETWORK_LAYERS; l++) {
        shape.layer[l] = (layer){.kind = LAYER_DENSE,
                                 .in = s->width[l],
                                 .out = s->width[l + 1],
                                 .f = l + 1 < s->layers ? s->between : s->last,
                                 .bias = s->bias};
    }
    return shape;
}

network_shape network_normed(const network_stack *s)
{
    const network_shape plain = network_dense(s);
    network_shape shape = {0};
    for (size_t l = 0; l < plain.layers; l++) {
        layer *dense = &shape.layer[shape.layers++];
        *dense = plain.layer[l];
        if (l + 1 < plain.layers) {
            dense->f = ACTIVATION_IDENTITY;
            dense->bias = false;
            shape.layer[shape.layers++] = (layer){
                .kind = LAYER_NORM, .in = dense->out, .out = dense->out, .f = plain.layer[l].f};
        }
    }
    return shape;
}

network_shape network_plain(const network_shape *shape)
{
    network_shape plain = {0};
    for (size_t l = 0; l < shape->layers; l++) {
        const layer *at = &shape->layer[l];
        if (at->kind == LAYER_NORM) {
            layer *before = &plain.layer[plain.layers - 1];
            before->f = at->f;
            before->bias = true;
        } else {
            plain.layer[plain.layers++] = *at;
        }
    }
    return plain;
}

static lscm_status check_layer(const network_shape *shape, size_t l, lscm_error *why)
{
    const layer *at = &shape->layer[l];
    /* BLAS counts in int, and the products of two sizes must too */
    if (at->in < 1 || at->out < 1 || at->in > INT_MAX || at->out > INT_MAX / at->in) {
        return fail(why, LSCM_USAGE,
                    "layer %zu of a network has width %zu; it must be at least 1, and a layer "
                    "have at most %d weights",
                    l + 1, at->out, INT_MAX);
    }
    if ((unsigned)at->f >= ACTIVATION_COUNT || (unsigned)at->kind >= LAYER_COUNT) {
        return fail(why, LSCM_USAGE, "layer %zu of a network has an unknown activation or kind",
                    l + 1);
    }
    if ((l > 0 && at->in != shape->layer[l - 1].out) ||
        (at->kind == LAYER_NORM && (l == 0 || at->in != at->out))) {
        return fail(why, LSCM_USAGE, "layer %zu of a network does not go with what is before it",
                    l + 1);
    }
    return LSCM_OK;
}

lscm_status network_check(const network_shape *shape, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (shape->layers < 1 || shape->layers > NETWORK_LAYERS) {
        return fail(why, LSCM_USAGE, "a network of %zu layers was asked for; 1 to %d are possible",
                    shape->layers, NETWORK_LAYERS);
    }
    for (size_t l = 0; l < shape->layers; l++) {
        TRY(check_layer(shape, l, why));
    }
done:
    return status;
}

size_t network_offset(const network_shape *shape, size_t last)
{
    size_t at = 0;
    for (size_t l = 0; l < last; l++) {
        at += layer_count(&shape->layer[l]);
    }
    return at;
}

size_t network_running_offset(const network_shape *shape, size_t last)
{
    size_t at = 0;
    for (size_t l = 0; l < last; l++) {
        at += layer_running(&shape->layer[l]);
    }
    return at;
}

size_t network_count(const network_shape *shape)
{
    return network_offset(shape, shape->layers);
}

size_t network_running(const network_shape *shape)
{
    return network_running_offset(shape, shape->layers);
}

size_t network_in(const network_shape *shape)
{
    return shape->layer[0].in;
}

size_t network_out(const network_shape *shape)
{
    return shape->layer[shape->layers - 1].out;
}
