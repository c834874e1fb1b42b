#include "net/layer.h"

static size_t dense_count(const layer *l)
{
    return (l->in + (l->bias ? 1 : 0)) * l->out;
}

static size_t dense_matrix(const layer *l)
{
    return l->in * l->out;
}

static size_t two_each(const layer *l)
{
    return 2 * l->out;
}

static size_t none(const layer *l)
{
    (void)l;
    return 0;
}

typedef struct layer_sizes {
    size_t (*count)(const layer *l);
    size_t (*matrix)(const layer *l);
    size_t (*running)(const layer *l);
} layer_sizes;

static const layer_sizes sizes[LAYER_COUNT] = {
    [LAYER_DENSE] = {dense_count, dense_matrix, none},
    [LAYER_NORM] = {two_each, none, two_each},
};

size_t layer_count(const layer *l)
{
    return sizes[l->kind].count(l);
}

size_t layer_matrix(const layer *l)
{
    return sizes[l->kind].matrix(l);
}

size_t layer_running(const layer *l)
{
    return sizes[l->kind].running(l);
}
