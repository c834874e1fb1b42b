#include "infer/biols/tile_net.h"

#include <string.h>

static void error_of(const tile_net *t, size_t slot, sampled_tile *tile, bool slopes)
{
    size_t n = tile->rows;
    size_t d = network_in(&t->shape);
    size_t D = network_out(&t->shape);
    float *input = t->input + slot * SAMPLED_TILE * d;
    float *back = t->back + slot * SAMPLED_TILE * d;
    for (size_t i = 0; i < n * d; i++) {
        input[i] = (float)tile->z[i];
    }
    const network_batch_f32 batch = {.parameters = t->parameter,
                                     .n = n,
                                     .input = input,
                                     .gradient = t->gradient + slot * network_count(&t->shape),
                                     .add = t->begun[slot],
                                     .input_gradient = back};
    float *y = network_f32_forward(&t->net[slot], &batch);
    tile->error = t->device->backend_f32->residual(t->device, n * D, 2, t->x + tile->first * D, y);
    if (slopes) {
        network_f32_backward(&t->net[slot], &batch);
        t->begun[slot] = true;
        for (size_t i = 0; i < n * d; i++) {
            tile->slope[i] = (double)back[i];
        }
    }
}

static void errors(tile_decoder *self, size_t slot, size_t count, sampled_tile *tile, bool slopes)
{
    for (size_t k = 0; k < count; k++) {
        error_of((const tile_net *)(const void *)self, slot, &tile[k], slopes);
    }
}

static void lay_out(tile_net *t, const network_shape *shape, arena *a)
{
    t->net = arena_take(a, SAMPLED_SLOTS, sizeof *t->net);
    t->gradient = arena_take(a, SAMPLED_SLOTS * network_count(shape), sizeof(float));
    t->input =
        arena_take(a, (size_t)SAMPLED_SLOTS * SAMPLED_TILE * network_in(shape), sizeof(float));
    t->back =
        arena_take(a, (size_t)SAMPLED_SLOTS * SAMPLED_TILE * network_in(shape), sizeof(float));
    t->begun = arena_take(a, SAMPLED_SLOTS, sizeof(bool));
    for (size_t k = 0; k < SAMPLED_SLOTS; k++) {
        network_f32 net;
        network_f32_lay_out(&net, a, shape, SAMPLED_TILE, t->device);
        if (t->net != NULL) {
            t->net[k] = net;
        }
    }
}

lscm_status tile_net_open(tile_net *out, const device *on, const network_shape *shape,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    tile_net t = {.decode = {SAMPLED_SLOTS, 1, errors}, .device = on, .shape = *shape};
    lay_out(&t, shape, &t.memory);
    TRY(on->claim(on, &t.memory, why));
    lay_out(&t, shape, &t.memory);
    *out = t;
done:
    return status;
}

void tile_net_close(tile_net *t)
{
    if (t->device != NULL) {
        t->device->release(t->device, &t->memory);
    }
}

void tile_net_begin(tile_net *t, const float *x, const float *parameter)
{
    t->x = x;
    t->parameter = parameter;
    memset(t->begun, 0, SAMPLED_SLOTS * sizeof(bool));
}

float *tile_net_gradient(tile_net *t)
{
    size_t n = network_count(&t->shape);
    for (size_t k = 0; k < SAMPLED_SLOTS; k++) {
        float *part = t->gradient + k * n;
        if (!t->begun[k]) {
            memset(part, 0, n * sizeof *part);
        }
        for (size_t i = 0; i < n && k > 0; i++) {
            t->gradient[i] += part[i];
        }
    }
    return t->gradient;
}
