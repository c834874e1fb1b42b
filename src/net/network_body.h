/* See network_real.h. In a chunk, X of a layer is needed for the last time when dW is found, so its
 * gradient takes its place and a chunk needs no memory but values and slopes. */
#include <string.h>

enum {
    SLOTS = 32,
    SLOT_BYTES = 32 << 20,  /* of all partial gradients together, or two of them */
    SMALL_BYTES = 1 << 20,  /* a network whose gradient is cheap to keep several times */
    PIECES = 8,             /* a batch is cut into so many chunks if they stay large enough */
    REDUCE_PIECE = 1 << 13, /* parameters */
    ALONE = 1 << 18,        /* rows times parameters: below, waking threads takes longer */
    TILE = 64,              /* rows of a product where a layer has all rows */
    TILE_ALONE = 1 << 24    /* multiplications: below, waking threads takes longer */
};

/* A batch on its way. */
typedef struct passage {
    const NETWORK *net;
    const NETWORK_BATCH *b;
    size_t chunk, chunks, slots;
    bool forward, back, kept; /* kept: chunk k has its own rows of the scratch, not its worker's */
    NAMED(network, loss) loss;
    void *self;
    size_t layer, tile; /* where all rows go layer by layer; rows of a product */
    double part[SLOTS]; /* of the loss */
} passage;

static void lay_out_partials(NETWORK *net, arena *a)
{
    const device *on = net->device;
    size_t count = network_count(&net->shape);
    size_t fit = SLOT_BYTES / sizeof(REAL) / count;
    net->chunk_least = count <= SMALL_BYTES / sizeof(REAL) ? on->rows_least : on->rows_most;
    net->slots = fit < 2 ? 2 : fit < SLOTS ? fit : SLOTS;
    net->partial = arena_take(a, (net->slots - 1) * count, sizeof(REAL));
}

void NAMED(network, lay_out)(NETWORK *net, arena *a, const network_shape *shape, size_t rows,
                             const device *on)
{
    *net = (NETWORK){.shape = *shape, .device = on, .rows = rows, .workers = on->workers(on)};
    for (size_t l = 0; l < shape->layers; l++) {
        net->whole = net->whole || NAMED(layer, steps)(&shape->layer[l])->whole;
    }
    size_t held = net->whole ? 0 : net->workers * on->rows_most;
    held = held > rows ? held : rows;
    for (size_t l = 0; l < shape->layers; l++) {
        const layer *at = &shape->layer[l];
        size_t size = held * at->out;
        /* side by side, the products of the next layer must not write over what they read */
        bool apart = net->whole && l + 1 < shape->layers && !NAMED(layer, steps)(at + 1)->whole;
        net->value[l] = arena_take(a, size, sizeof(REAL));
        net->back[l] = apart ? arena_take(a, size, sizeof(REAL)) : net->value[l];
        net->slope[l] = at->f != ACTIVATION_IDENTITY ? arena_take(a, size, sizeof(REAL)) : NULL;
        if (at->kind == LAYER_NORM) {
            NAMED(batch_norm, lay_out)(&net->norm[l], a, at->out);
        }
    }
    if (!net->whole) {
        lay_out_partials(net, a);
    }
}

void NAMED(network, draw)(const network_shape *shape, rng r, REAL *parameters, REAL *running)
{
    size_t count = network_count(shape);
    for (size_t l = 0; l < shape->layers; l++) {
        size_t first = network_offset(shape, l);
        NAMED(layer, steps)
        (&shape->layer[l])
            ->draw(&shape->layer[l], r, first, count, parameters + first,
                   running != NULL ? running + network_running_offset(shape, l) : NULL);
    }
}

void NAMED(network, draw_apart)(const network_shape *shape, rng r, REAL *parameters, REAL *running)
{
    uint64_t matrices = 0;
    for (size_t l = 0; l < shape->layers; l++) {
        const layer *at = &shape->layer[l];
        rng own = {r.seed, r.stream + (matrices << 32)};
        NAMED(layer, steps)
        (at)->draw(at, own, 0, (at->in + 1) * at->out, parameters + network_offset(shape, l),
                   running != NULL ? running + network_running_offset(shape, l) : NULL);
        matrices += layer_matrix(at) > 0 ? 1 : 0;
    }
}

/* Rows first .. of the batch at layer l; `at` is where they begin in the scratch. */
static LAYER_RUN run_of(const passage *p, size_t l, size_t first, size_t rows, size_t at)
{
    const NETWORK *net = p->net;
    const NETWORK_BATCH *b = p->b;
    const layer *own = &net->shape.layer[l];
    size_t here = at * own->out;
    size_t before = at * own->in;
    LAYER_RUN r = {.on = net->device,
                   .at = own,
                   .rows = rows,
                   .parameters = b->parameters + network_offset(&net->shape, l),
                   .x = l > 0 ? net->value[l - 1] + before : b->input + first * own->in,
                   .u = l > 0 ? net->value[l - 1] + before : NULL,
                   .y = net->value[l] + here,
                   .slope = net->slope[l] != NULL ? net->slope[l] + here : NULL,
                   .d = net->back[l] + here,
                   .norm = &net->norm[l]};
    r.dx = l > 0                       ? net->back[l - 1] + before
           : b->input_gradient != NULL ? b->input_gradient + first * own->in
                                       : NULL;
    r.running = b->running != NULL ? b->running + network_running_offset(&net->shape, l) : NULL;
    return r;
}

/* ---- By chunks --------------------------------------------------------------------------------*/

static void chunk_forward(const passage *p, size_t first, size_t rows, size_t at)
{
    for (size_t l = 0; l < p->net->shape.layers; l++) {
        LAYER_RUN r = run_of(p, l, first, rows, at);
        NAMED(layer, steps)(r.at)->forward(&r);
    }
}

/* gradient (parameters) <- beta gradient + the chunk's */
static void chunk_backward(const passage *p, size_t first, size_t rows, size_t at, REAL beta,
                           REAL *gradient)
{
    for (size_t l = p->net->shape.layers; l-- > 0;) {
        LAYER_RUN r = run_of(p, l, first, rows, at);
        const LAYER_STEPS *steps = NAMED(layer, steps)(r.at);
        r.beta = beta;
        r.gradient = gradient + network_offset(&p->net->shape, l);
        steps->back(&r);
        steps->by_parameters(&r);
        if (r.dx != NULL) {
            steps->by_input(&r);
        }
    }
}

/* The chunks of one partial gradient, in order. */
static void run_slot(void *self, size_t slot, size_t worker)
{
    passage *p = self;
    const NETWORK *net = p->net;
    const network_shape *shape = &net->shape;
    size_t n = p->b->n;
    size_t out = network_out(shape);
    size_t begin = slot * p->chunks / p->slots;
    size_t end = (slot + 1) * p->chunks / p->slots;
    REAL *gradient = slot == 0 ? p->b->gradient : net->partial + (slot - 1) * network_count(shape);
    REAL beta = slot == 0 && p->b->add ? 1 : 0;
    double loss = 0;
    for (size_t k = begin; k < end; k++) {
        size_t first = k * p->chunk;
        size_t rows = n - first < p->chunk ? n - first : p->chunk;
        size_t at = p->kept ? first : worker * net->device->rows_most;
        if (p->forward) {
            chunk_forward(p, first, rows, at);
        }
        if (p->loss != NULL) {
            loss += p->loss(p->self, first, rows, net->value[shape->layers - 1] + at * out);
        }
        if (p->back) {
            chunk_backward(p, first, rows, at, beta, gradient);
            beta = 1;
        }
    }
    p->part[slot] = loss;
}

/* A range of parameters: the partial gradients are added to the first, in order. */
static void reduce_piece(void *self, size_t piece, size_t worker)
{
    const passage *p = self;
    const device *on = p->net->device;
    (void)worker;
    size_t count = network_count(&p->net->shape);
    size_t first = piece * REDUCE_PIECE;
    size_t n = count - first < REDUCE_PIECE ? count - first : REDUCE_PIECE;
    for (size_t slot = 1; slot < p->slots; slot++) {
        on->BACKEND->axpy(on, n, 1, p->net->partial + (slot - 1) * count + first,
                          p->b->gradient + first);
    }
}

static double run_chunks(passage *p)
{
    const NETWORK *net = p->net;
    const device *on = net->device;
    size_t n = p->b->n;
    size_t count = network_count(&net->shape);
    double loss = 0;
    if (n == 0) {
        if (p->back && !p->b->add) {
            on->BACKEND->fill(on, count, 0, p->b->gradient);
        }
        return 0;
    }
    p->chunk = (n / PIECES + 15) / 16 * 16;
    p->chunk = p->chunk < net->chunk_least ? net->chunk_least : p->chunk;
    p->chunk = p->chunk > on->rows_most ? on->rows_most : p->chunk;
    p->chunks = (n + p->chunk - 1) / p->chunk;
    p->slots = p->chunks < net->slots ? p->chunks : net->slots;
    size_t workers = n > ALONE / count ? net->workers : 1;
    on->each(on, workers, p->slots, run_slot, p);
    if (p->back && p->slots > 1) {
        on->each(on, workers, (count + REDUCE_PIECE - 1) / REDUCE_PIECE, reduce_piece, p);
    }
    for (size_t slot = 0; slot < p->slots; slot++) {
        loss += p->part[slot];
    }
    return loss;
}

/* ---- All rows, layer by layer -----------------------------------------------------------------*/

static size_t team(const passage *p)
{
    const layer *at = &p->net->shape.layer[p->layer];
    return p->b->n * at->in * at->out < TILE_ALONE ? 1 : p->net->workers;
}

static void tile_forward(void *self, size_t tile, size_t worker)
{
    const passage *p = self;
    (void)worker;
    size_t first = tile * p->tile;
    size_t rows = p->b->n - first < p->tile ? p->b->n - first : p->tile;
    LAYER_RUN r = run_of(p, p->layer, first, rows, first);
    NAMED(layer, steps)(r.at)->forward(&r);
}

static void layers_forward(passage *p)
{
    const device *on = p->net->device;
    p->tile = on->rows_least > TILE ? on->rows_least : TILE;
    for (p->layer = 0; p->layer < p->net->shape.layers; p->layer++) {
        LAYER_RUN r = run_of(p, p->layer, 0, p->b->n, 0);
        const LAYER_STEPS *steps = NAMED(layer, steps)(r.at);
        if (steps->whole) {
            steps->forward(&r);
        } else {
            on->each(on, team(p), (p->b->n + p->tile - 1) / p->tile, tile_forward, p);
        }
    }
}

/* The way back of a layer with all rows. */
static LAYER_RUN run_back(const passage *p)
{
    LAYER_RUN r = run_of(p, p->layer, 0, p->b->n, 0);
    r.gradient = p->b->gradient + network_offset(&p->net->shape, p->layer);
    return r;
}

/* Job 0: by the parameters; job 1: by the input. */
static void half_backward(void *self, size_t half, size_t worker)
{
    const LAYER_RUN r = run_back(self);
    const LAYER_STEPS *steps = NAMED(layer, steps)(r.at);
    (void)worker;
    if (half == 0) {
        steps->by_parameters(&r);
    } else {
        steps->by_input(&r);
    }
}

static void layers_backward(passage *p)
{
    const device *on = p->net->device;
    for (size_t l = p->net->shape.layers; l-- > 0;) {
        p->layer = l;
        const LAYER_RUN r = run_back(p);
        const LAYER_STEPS *steps = NAMED(layer, steps)(r.at);
        steps->back(&r);
        if (steps->by_parameters != NULL) {
            on->each(on, team(p), r.dx != NULL ? 2 : 1, half_backward, p);
        }
    }
}

static double run_layers(passage *p)
{
    const NETWORK *net = p->net;
    double loss = 0;
    if (p->forward) {
        layers_forward(p);
    }
    if (p->loss != NULL) {
        loss = p->loss(p->self, 0, p->b->n, net->value[net->shape.layers - 1]);
    }
    if (p->back) {
        layers_backward(p);
    }
    return loss;
}

/* ---- A batch ----------------------------------------------------------------------------------*/

static double run(passage *p)
{
    return p->net->whole ? run_layers(p) : run_chunks(p);
}

double NAMED(network, pass)(const NETWORK *net, const NETWORK_BATCH *b, NAMED(network, loss) loss,
                            void *self)
{
    passage p = {.net = net,
                 .b = b,
                 .forward = true,
                 .back = b->gradient != NULL,
                 .loss = loss,
                 .self = self};
    return run(&p);
}

REAL *NAMED(network, forward)(const NETWORK *net, const NETWORK_BATCH *b)
{
    passage p = {.net = net, .b = b, .forward = true, .kept = true};
    (void)run(&p);
    return net->value[net->shape.layers - 1];
}

void NAMED(network, backward)(const NETWORK *net, const NETWORK_BATCH *b)
{
    passage p = {.net = net, .b = b, .back = true, .kept = true};
    (void)run(&p);
}

/* ---- After training ---------------------------------------------------------------------------*/

/* W (in, out) and b (out), b not set before, take in the norm that follows them. */
static void fold_norm(const layer *norm, size_t in, const REAL *parameters, const REAL *running,
                      REAL *plain)
{
    size_t out = norm->out;
    for (size_t k = 0; k < out; k++) {
        double factor = 0;
        double offset = 0;
        batch_norm_linear((double)parameters[k], (double)parameters[out + k], (double)running[k],
                          (double)running[out + k], &factor, &offset);
        plain[in * out + k] = (REAL)offset;
        for (size_t i = 0; i < in; i++) {
            plain[i * out + k] *= (REAL)factor;
        }
    }
}

void NAMED(network, fold)(const network_shape *shape, const REAL *parameters, const REAL *running,
                          REAL *plain)
{
    REAL *dense = plain; /* the layer that a norm follows */
    for (size_t l = 0; l < shape->layers; l++) {
        const layer *at = &shape->layer[l];
        const REAL *from = parameters + network_offset(shape, l);
        if (at->kind == LAYER_NORM) {
            fold_norm(at, shape->layer[l - 1].in, from, running + network_running_offset(shape, l),
                      dense);
            plain = dense + (shape->layer[l - 1].in + 1) * at->out;
        } else {
            dense = plain;
            memcpy(dense, from, layer_count(at) * sizeof *dense);
            plain = dense + layer_count(at);
        }
    }
}
