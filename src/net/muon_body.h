/* See muon.h. */
#include <math.h>

enum { NEWTON_STEPS = 5 };

static double first_size(const network_shape *shape, size_t l)
{
    return sqrt((l > 0 ? 2.0 : 1.0) / (double)shape->layer[l].in);
}

/* Scratch of a layer: U, and what orthogonal needs. */
static size_t scratch_of(const network_shape *shape, size_t l)
{
    size_t matrix = layer_matrix(&shape->layer[l]);
    size_t in = shape->layer[l].in;
    size_t out = shape->layer[l].out;
    size_t least = in < out ? in : out;
    return matrix > 0 ? 2 * matrix + 2 * least * least : 0;
}

void NAMED(muon, lay_out)(MUON *o, arena *a, const network_shape *shape, const device *on)
{
    size_t scratch = 0;
    for (size_t l = 0; l < shape->layers; l++) {
        scratch += scratch_of(shape, l);
    }
    *o = (MUON){.shape = *shape, .device = on, .steps = o->steps};
    o->state = arena_take(a, 2 * network_count(shape), sizeof(REAL));
    o->work = arena_take(a, scratch, sizeof(REAL));
}

void NAMED(muon, draw)(const network_shape *shape, rng r, REAL *parameters)
{
    for (size_t l = 0; l < shape->layers; l++) {
        size_t first = network_offset(shape, l);
        size_t weights = layer_matrix(&shape->layer[l]);
        for (size_t i = first; i < network_offset(shape, l + 1); i++) {
            bool weight = i < first + weights;
            parameters[i] = (REAL)(weight ? first_size(shape, l) * rng_normal(r, i) : 0);
        }
    }
}

void NAMED(muon, orthogonal)(const device *on, size_t rows, size_t cols, REAL *x, REAL *work)
{
    const BACKEND *b = on->BACKEND;
    bool wide = rows <= cols;
    size_t n = wide ? rows : cols;
    REAL *next = work;               /* (rows, cols) */
    REAL *gram = work + rows * cols; /* (n, n): X X', or X' X */
    REAL *power = gram + n * n;      /* (n, n) */
    double size = sqrt(b->sum_squares(on, rows * cols, x));
    b->scale(on, rows * cols, (REAL)(1 / (size + 1e-30)), x);
    for (int k = 0; k < NEWTON_STEPS; k++) {
        const REAL first = (REAL)3.4445;
        const REAL second = (REAL)-4.7750;
        const REAL third = (REAL)2.0315;
        b->gemm(on, &(PRODUCT){.flip_a = !wide,
                               .flip_b = wide,
                               .m = n,
                               .n = n,
                               .k = wide ? cols : rows,
                               .alpha = 1,
                               .a = x,
                               .b = x,
                               .c = gram});
        b->copy(on, n * n, gram, power);
        b->gemm(on, &(PRODUCT){.m = n,
                               .n = n,
                               .k = n,
                               .alpha = third,
                               .beta = second,
                               .a = gram,
                               .b = gram,
                               .c = power});
        b->copy(on, rows * cols, x, next);
        b->gemm(on, &(PRODUCT){.m = rows,
                               .n = cols,
                               .k = n,
                               .alpha = 1,
                               .beta = first,
                               .a = wide ? power : x,
                               .b = wide ? x : power,
                               .c = next});
        b->copy(on, rows * cols, next, x);
    }
}

typedef struct muon_job {
    MUON *o;
    double rate;
    REAL *parameters;
    const REAL *gradient;
} muon_job;

/* Layers are independent; the one with the k-th most work is the k-th to begin. */
static size_t layer_of(const network_shape *shape, size_t k)
{
    for (size_t l = 0;; l++) {
        size_t before = 0;
        for (size_t m = 0; m < shape->layers; m++) {
            size_t mine = scratch_of(shape, l);
            size_t other = scratch_of(shape, m);
            before += other > mine || (other == mine && m < l) ? 1 : 0;
        }
        if (before == k) {
            return l;
        }
    }
}

/* W, n numbers from `at` on, and its momentum. */
static void step_matrix(const muon_job *job, size_t l, size_t at, size_t n)
{
    const double keep = 0.95;
    const MUON *o = job->o;
    const device *on = o->device;
    const BACKEND *b = on->BACKEND;
    const network_shape *shape = &o->shape;
    size_t in = shape->layer[l].in;
    size_t out = shape->layer[l].out;
    REAL *momentum = o->state + at;
    REAL *u = o->work;
    for (size_t m = 0; m < l; m++) {
        u += scratch_of(shape, m);
    }
    b->scale(on, n, (REAL)keep, momentum);
    b->axpy(on, n, 1, job->gradient + at, momentum);
    b->copy(on, n, job->gradient + at, u);
    b->axpy(on, n, (REAL)keep, momentum, u);
    NAMED(muon, orthogonal)(on, in, out, u, u + n);
    double longest = sqrt((double)(in > out ? in : out));
    b->axpy(on, n, (REAL)(-job->rate * first_size(shape, l) * longest), u, job->parameters + at);
}

/* What is no matrix, n numbers from `at` on. */
static void step_rest(const muon_job *job, size_t at, size_t n)
{
    const MUON *o = job->o;
    double t = (double)o->steps;
    backend_adam adam = {.b1 = 0.9,
                         .b2 = 0.99,
                         .outside = 1e-8,
                         .rate = job->rate / (1 - pow(0.9, t)),
                         .correct = 1 / (1 - pow(0.99, t))};
    o->device->BACKEND->adam(o->device, n, &adam, job->parameters + at, job->gradient + at,
                             o->state + at, o->state + network_count(&o->shape) + at);
}

static void step_layer(void *self, size_t k, size_t worker)
{
    const muon_job *job = self;
    const network_shape *shape = &job->o->shape;
    size_t l = layer_of(shape, k);
    size_t at = network_offset(shape, l);
    size_t matrix = layer_matrix(&shape->layer[l]);
    size_t rest = layer_count(&shape->layer[l]) - matrix;
    (void)worker;
    if (matrix > 0) {
        step_matrix(job, l, at, matrix);
    }
    if (rest > 0) {
        step_rest(job, at + matrix, rest);
    }
}

void NAMED(muon, step)(MUON *o, double rate, REAL *parameters, const REAL *gradient)
{
    const device *on = o->device;
    muon_job job = {.o = o, .rate = rate, .gradient = gradient};
    job.parameters = parameters;
    o->steps++;
    on->each(on, on->workers(on), o->shape.layers, step_layer, &job);
}
