/* See mlp_real.h. With a chunk of rows X = h_{l-1}, A = X W + b, Y = f(A) and D = dloss/dY:
 *
 *   D <- D f'(A);   dW += X' D,   db += column sums of D,   dloss/dX = D W'
 *
 * f'(A) is found together with f(A) and kept. X is needed for the last time when dW is found, so
 * its gradient takes its place and a chunk needs no memory but values and slopes. */
#include <math.h>

enum {
    SLOTS = 32,
    SLOT_BYTES = 32 << 20,  /* of all partial gradients together, or two of them */
    SMALL_BYTES = 1 << 20,  /* a network whose gradient is cheap to keep several times */
    PIECES = 8,             /* a batch is cut into so many chunks if they stay large enough */
    REDUCE_PIECE = 1 << 13, /* parameters */
    ALONE = 1 << 18,        /* rows times parameters: below, waking threads takes longer */
};

/* A batch on its way. */
typedef struct batch {
    const MLP *net;
    const REAL *parameters;
    size_t n, chunk, chunks, slots;
    const REAL *input;  /* (n, width[0]) */
    bool forward, kept; /* chunk k lives at its own rows of the scratch, not at its worker's */
    bool add;
    NAMED(mlp, loss) loss;
    void *self;
    REAL *gradient;       /* (parameters), or NULL */
    REAL *input_gradient; /* (n, width[0]), or NULL */
} batch;

static activation activation_of(const mlp_shape *shape, size_t layer)
{
    return layer + 1 < shape->layers ? shape->between : shape->last;
}

void NAMED(mlp, lay_out)(MLP *net, arena *a, const mlp_shape *shape, size_t rows, const device *on)
{
    size_t count = mlp_count(shape);
    size_t fit = SLOT_BYTES / sizeof(REAL) / count;
    *net = (MLP){.shape = *shape, .device = on, .rows = rows, .workers = on->workers(on)};
    net->chunk_least = count <= SMALL_BYTES / sizeof(REAL) ? on->rows_least : on->rows_most;
    net->slots = fit < 2 ? 2 : fit < SLOTS ? fit : SLOTS;
    size_t held = net->workers * on->rows_most;
    held = held > rows ? held : rows;
    for (size_t l = 0; l < shape->layers; l++) {
        size_t size = held * shape->width[l + 1];
        net->value[l] = arena_take(a, size, sizeof(REAL));
        if (activation_of(shape, l) != ACTIVATION_IDENTITY) {
            net->slope[l] = arena_take(a, size, sizeof(REAL));
        }
    }
    net->partial = arena_take(a, (net->slots - 1) * count, sizeof(REAL));
    net->loss = arena_take(a, net->slots, sizeof(double));
}

void NAMED(mlp, draw)(const mlp_shape *shape, rng r, REAL *parameters)
{
    size_t count = mlp_count(shape);
    for (size_t l = 0; l < shape->layers; l++) {
        size_t first = mlp_offset(shape, l);
        size_t weights = shape->width[l] * shape->width[l + 1];
        double scale = 1 / sqrt((double)shape->width[l]);
        for (size_t i = first; i < first + weights; i++) {
            /* each parameter has its own arithmetic sequence of numbers to draw again from */
            uint64_t index = i;
            double value = rng_normal(r, index);
            while (fabs(value) > 2) {
                index += count;
                value = rng_normal(r, index);
            }
            parameters[i] = (REAL)(scale * value);
        }
        for (size_t i = first + weights; i < mlp_offset(shape, l + 1); i++) {
            parameters[i] = 0;
        }
    }
}

/* ---- A chunk of rows; `at` is its first row in the scratch ------------------------------------*/

static void chunk_forward(const batch *b, size_t rows, const REAL *input, size_t at)
{
    const MLP *net = b->net;
    const device *on = net->device;
    const BACKEND *backend = on->BACKEND;
    const mlp_shape *shape = &net->shape;
    const REAL *x = input; /* (rows, in) */
    for (size_t l = 0; l < shape->layers; l++) {
        size_t in = shape->width[l];
        size_t out = shape->width[l + 1];
        const REAL *w = b->parameters + mlp_offset(shape, l); /* (in, out) */
        const REAL *bias = shape->bias ? w + in * out : NULL; /* (out) */
        REAL *y = net->value[l] + at * out;                   /* (rows, out) */
        REAL *slope = net->slope[l] != NULL ? net->slope[l] + at * out : NULL;
        backend->gemm(on,
                      &(PRODUCT){.m = rows, .n = out, .k = in, .alpha = 1, .a = x, .b = w, .c = y});
        backend->activate(on, activation_of(shape, l), rows, out, bias, y, slope);
        x = y;
    }
}

/* gradient (parameters) <- beta gradient + the chunk's */
static void chunk_backward(const batch *b, size_t rows, const REAL *input, size_t at, REAL beta,
                           REAL *gradient, REAL *input_gradient)
{
    const MLP *net = b->net;
    const device *on = net->device;
    const BACKEND *backend = on->BACKEND;
    const mlp_shape *shape = &net->shape;
    for (size_t l = shape->layers; l-- > 0;) {
        size_t in = shape->width[l];
        size_t out = shape->width[l + 1];
        const REAL *w = b->parameters + mlp_offset(shape, l); /* (in, out) */
        REAL *dw = gradient + mlp_offset(shape, l);           /* (in, out) */
        REAL *dbias = shape->bias ? dw + in * out : NULL;     /* (out) */
        REAL *d = net->value[l] + at * out;                   /* (rows, out) */
        const REAL *slope = net->slope[l] != NULL ? net->slope[l] + at * out : NULL;
        REAL *hidden = l > 0 ? net->value[l - 1] + at * in : NULL; /* (rows, in) */
        const REAL *x = l > 0 ? hidden : input;
        REAL *dx = l > 0 ? hidden : input_gradient;
        backend->activate_back(on, rows, out, slope, d, beta, dbias);
        backend->gemm(on, &(PRODUCT){.flip_a = true,
                                     .m = in,
                                     .n = out,
                                     .k = rows,
                                     .alpha = 1,
                                     .beta = beta,
                                     .a = x,
                                     .b = d,
                                     .c = dw});
        if (dx != NULL) {
            backend->gemm(on, &(PRODUCT){.flip_b = true,
                                         .m = rows,
                                         .n = in,
                                         .k = out,
                                         .alpha = 1,
                                         .a = d,
                                         .b = w,
                                         .c = dx});
        }
    }
}

/* ---- A batch ----------------------------------------------------------------------------------*/

/* The chunks of one partial gradient, in order. */
static void run_slot(void *self, size_t slot, size_t worker)
{
    const batch *b = self;
    const MLP *net = b->net;
    const mlp_shape *shape = &net->shape;
    size_t in = shape->width[0];
    size_t out = shape->width[shape->layers];
    size_t begin = slot * b->chunks / b->slots;
    size_t end = (slot + 1) * b->chunks / b->slots;
    REAL *gradient = slot == 0 ? b->gradient : net->partial + (slot - 1) * mlp_count(shape);
    REAL beta = slot == 0 && b->add ? 1 : 0;
    double loss = 0;
    for (size_t k = begin; k < end; k++) {
        size_t first = k * b->chunk;
        size_t rows = b->n - first < b->chunk ? b->n - first : b->chunk;
        size_t at = b->kept ? first : worker * net->device->rows_most;
        const REAL *input = b->input + first * in;
        if (b->forward) {
            chunk_forward(b, rows, input, at);
        }
        if (b->loss != NULL) {
            loss += b->loss(b->self, first, rows, net->value[shape->layers - 1] + at * out);
        }
        if (b->gradient != NULL) {
            REAL *dx = b->input_gradient != NULL ? b->input_gradient + first * in : NULL;
            chunk_backward(b, rows, input, at, beta, gradient, dx);
            beta = 1;
        }
    }
    net->loss[slot] = loss;
}

/* A range of parameters: the partial gradients are added to the first, in order. */
static void reduce_piece(void *self, size_t piece, size_t worker)
{
    const batch *b = self;
    const device *on = b->net->device;
    (void)worker;
    size_t count = mlp_count(&b->net->shape);
    size_t first = piece * REDUCE_PIECE;
    size_t n = count - first < REDUCE_PIECE ? count - first : REDUCE_PIECE;
    for (size_t slot = 1; slot < b->slots; slot++) {
        on->BACKEND->axpy(on, n, 1, b->net->partial + (slot - 1) * count + first,
                          b->gradient + first);
    }
}

static double run(batch *b)
{
    const MLP *net = b->net;
    const device *on = net->device;
    size_t count = mlp_count(&net->shape);
    double loss = 0;
    if (b->n == 0) {
        if (b->gradient != NULL && !b->add) {
            on->BACKEND->fill(on, count, 0, b->gradient);
        }
        return 0;
    }
    b->chunk = (b->n / PIECES + 15) / 16 * 16;
    b->chunk = b->chunk < net->chunk_least ? net->chunk_least : b->chunk;
    b->chunk = b->chunk > on->rows_most ? on->rows_most : b->chunk;
    b->chunks = (b->n + b->chunk - 1) / b->chunk;
    b->slots = b->chunks < net->slots ? b->chunks : net->slots;
    size_t workers = b->n > ALONE / count ? net->workers : 1;
    on->each(on, workers, b->slots, run_slot, b);
    if (b->gradient != NULL && b->slots > 1) {
        on->each(on, workers, (count + REDUCE_PIECE - 1) / REDUCE_PIECE, reduce_piece, b);
    }
    for (size_t slot = 0; slot < b->slots; slot++) {
        loss += net->loss[slot];
    }
    return loss;
}

double NAMED(mlp, pass)(const MLP *net, const REAL *parameters, size_t n, const REAL *input,
                        NAMED(mlp, loss) loss, void *self, bool add, REAL *gradient,
                        REAL *input_gradient)
{
    batch b = {.net = net,
               .parameters = parameters,
               .n = n,
               .input = input,
               .forward = true,
               .add = add,
               .loss = loss,
               .self = self};
    b.gradient = gradient;
    b.input_gradient = input_gradient;
    return run(&b);
}

REAL *NAMED(mlp, forward)(const MLP *net, const REAL *parameters, size_t n, const REAL *input)
{
    batch b = {.net = net,
               .parameters = parameters,
               .n = n,
               .input = input,
               .forward = true,
               .kept = true};
    (void)run(&b);
    return net->value[net->shape.layers - 1];
}

void NAMED(mlp, backward)(const MLP *net, const REAL *parameters, size_t n, const REAL *input,
                          bool add, REAL *gradient, REAL *input_gradient)
{
    batch b = {
        .net = net, .parameters = parameters, .n = n, .input = input, .kept = true, .add = add};
    b.gradient = gradient;
    b.input_gradient = input_gradient;
    (void)run(&b);
}
