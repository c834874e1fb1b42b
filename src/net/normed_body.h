/* See normed.h. */
#include <string.h>

enum {
    TILE = 64,      /* rows of a product */
    ALONE = 1 << 24 /* multiplications: below, waking threads takes longer */
};

/* One layer of a batch on its way. */
typedef struct layer_pass {
    const NORMED *net;
    size_t layer, n;
    const REAL *weights;  /* (in, out) */
    const REAL *x;        /* (n, in) */
    REAL *gradient;       /* (in, out) */
    REAL *input_gradient; /* (n, in), or NULL */
} layer_pass;

void NAMED(normed, lay_out)(NORMED *net, arena *a, const mlp_shape *shape, size_t rows,
                            const device *on)
{
    *net = (NORMED){.shape = *shape, .device = on, .rows = rows, .workers = on->workers(on)};
    for (size_t l = 0; l < shape->layers; l++) {
        size_t size = rows * shape->width[l + 1];
        net->value[l] = arena_take(a, size, sizeof(REAL));
        if (l + 1 < shape->layers) {
            net->out[l] = arena_take(a, size, sizeof(REAL));
            net->back[l] = arena_take(a, size, sizeof(REAL));
            net->slope[l] =
                shape->between != ACTIVATION_IDENTITY ? arena_take(a, size, sizeof(REAL)) : NULL;
            NAMED(batch_norm, lay_out)(&net->norm[l], a, shape->width[l + 1]);
        }
    }
}

void NAMED(normed, draw)(const mlp_shape *shape, rng r, REAL *parameters, REAL *running)
{
    for (size_t l = 0; l < shape->layers; l++) {
        size_t in = shape->width[l];
        size_t out = shape->width[l + 1];
        bool last = l + 1 == shape->layers;
        const mlp_shape one = {.layers = 1, .width = {in, out}, .bias = true};
        REAL *at = parameters + normed_offset(shape, l);
        NAMED(mlp, draw)(&one, (rng){r.seed, r.stream + ((uint64_t)l << 32)}, at);
        for (size_t c = 0; c < out && !last; c++) {
            at[(in + 1) * out + c] = 1;
            running[normed_running_offset(shape, l) + c] = 0;
            running[normed_running_offset(shape, l) + out + c] = 1;
        }
    }
}

static size_t team(const layer_pass *p)
{
    const size_t *width = p->net->shape.width + p->layer;
    return p->n * width[0] * width[1] < ALONE ? 1 : p->net->workers;
}

static void tile_forward(void *self, size_t tile, size_t worker)
{
    const layer_pass *p = self;
    (void)worker;
    size_t in = p->net->shape.width[p->layer];
    size_t out = p->net->shape.width[p->layer + 1];
    size_t first = tile * TILE;
    size_t rows = p->n - first < TILE ? p->n - first : TILE;
    const device *on = p->net->device;
    on->BACKEND->gemm(on, &(PRODUCT){.m = rows,
                                     .n = out,
                                     .k = in,
                                     .alpha = 1,
                                     .a = p->x + first * in,
                                     .b = p->weights,
                                     .c = p->net->value[p->layer] + first * out});
}

REAL *NAMED(normed, forward)(const NORMED *net, const REAL *parameters, size_t n, const REAL *input,
                             REAL *running)
{
    const mlp_shape *shape = &net->shape;
    const device *on = net->device;
    const BACKEND *backend = on->BACKEND;
    for (size_t l = 0; l < shape->layers; l++) {
        size_t out = shape->width[l + 1];
        const REAL *w = parameters + normed_offset(shape, l);
        const REAL *rest = w + shape->width[l] * out; /* shift and scale, or b */
        layer_pass p = {.net = net, .layer = l, .n = n, .weights = w};
        p.x = l > 0 ? net->out[l - 1] : input;
        on->each(on, team(&p), (n + TILE - 1) / TILE, tile_forward, &p);
        if (l + 1 == shape->layers) {
            backend->activate(on, ACTIVATION_IDENTITY, n, out, rest, net->value[l], NULL);
        } else {
            REAL *averages = running != NULL ? running + normed_running_offset(shape, l) : NULL;
            NAMED(batch_norm, forward)
            (&net->norm[l], n, rest, net->value[l], net->out[l], averages);
            backend->activate(on, shape->between, n, out, NULL, net->out[l], net->slope[l]);
        }
    }
    return net->value[shape->layers - 1];
}

/* Job 0: dW = x' d; job 1: dx = d W'. */
static void half_backward(void *self, size_t half, size_t worker)
{
    const layer_pass *p = self;
    (void)worker;
    size_t in = p->net->shape.width[p->layer];
    size_t out = p->net->shape.width[p->layer + 1];
    const REAL *d = p->net->value[p->layer];
    const device *on = p->net->device;
    PRODUCT back = {.flip_a = true,
                    .m = in,
                    .n = out,
                    .k = p->n,
                    .alpha = 1,
                    .a = p->x,
                    .b = d,
                    .c = p->gradient};
    if (half == 1) {
        back = (PRODUCT){.flip_b = true,
                         .m = p->n,
                         .n = in,
                         .k = out,
                         .alpha = 1,
                         .a = d,
                         .b = p->weights,
                         .c = p->input_gradient};
    }
    on->BACKEND->gemm(on, &back);
}

void NAMED(normed, backward)(const NORMED *net, const REAL *parameters, size_t n, const REAL *input,
                             REAL *gradient, REAL *input_gradient)
{
    const mlp_shape *shape = &net->shape;
    const device *on = net->device;
    const BACKEND *backend = on->BACKEND;
    for (size_t l = shape->layers; l-- > 0;) {
        size_t in = shape->width[l];
        size_t out = shape->width[l + 1];
        size_t at = normed_offset(shape, l);
        REAL *rest = gradient + at + in * out;
        if (l + 1 == shape->layers) {
            backend->activate_back(on, n, out, NULL, net->value[l], 0, rest);
        } else {
            backend->activate_back(on, n, out, net->slope[l], net->back[l], 0, NULL);
            NAMED(batch_norm, backward)
            (&net->norm[l], n, parameters + at + in * out, net->back[l], net->value[l], rest);
        }
        layer_pass p = {.net = net, .layer = l, .n = n, .weights = parameters + at};
        p.x = l > 0 ? net->out[l - 1] : input;
        p.gradient = gradient + at;
        p.input_gradient = l > 0 ? net->back[l - 1] : input_gradient;
        on->each(on, team(&p), p.input_gradient != NULL ? 2 : 1, half_backward, &p);
    }
}

void NAMED(normed, fold)(const mlp_shape *shape, const REAL *parameters, const REAL *running,
                         REAL *plain)
{
    for (size_t l = 0; l < shape->layers; l++) {
        size_t in = shape->width[l];
        size_t out = shape->width[l + 1];
        const REAL *from = parameters + normed_offset(shape, l);
        REAL *to = plain + mlp_offset(shape, l);
        memcpy(to, from, (in + 1) * out * sizeof *to);
        if (l + 1 == shape->layers) {
            break;
        }
        const REAL *rest = from + in * out;
        const REAL *averages = running + normed_running_offset(shape, l);
        for (size_t k = 0; k < out; k++) {
            double factor = 0;
            double offset = 0;
            batch_norm_linear((double)rest[k], (double)rest[out + k], (double)averages[k],
                              (double)averages[out + k], &factor, &offset);
            to[in * out + k] = (REAL)offset;
            for (size_t i = 0; i < in; i++) {
                to[i * out + k] *= (REAL)factor;
            }
        }
    }
}
