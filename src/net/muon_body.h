/* See muon.h. */
#include <math.h>

enum { NEWTON_STEPS = 5 };

static double first_size(const mlp_shape *shape, size_t layer)
{
    return sqrt((layer > 0 ? 2.0 : 1.0) / (double)shape->width[layer]);
}

void NAMED(muon, lay_out)(MUON *o, arena *a, const mlp_shape *shape, const BACKEND *backend)
{
    size_t matrix = 0;
    size_t square = 0;
    for (size_t l = 0; l < shape->layers; l++) {
        size_t in = shape->width[l];
        size_t out = shape->width[l + 1];
        size_t least = in < out ? in : out;
        matrix = in * out > matrix ? in * out : matrix;
        square = least * least > square ? least * least : square;
    }
    *o = (MUON){.shape = *shape, .backend = backend, .steps = o->steps};
    o->state = arena_take(a, 2 * mlp_count(shape), sizeof(REAL));
    o->work = arena_take(a, 2 * matrix + 2 * square, sizeof(REAL));
}

void NAMED(muon, draw)(const mlp_shape *shape, rng r, REAL *parameters)
{
    for (size_t l = 0; l < shape->layers; l++) {
        size_t first = mlp_offset(shape, l);
        size_t weights = shape->width[l] * shape->width[l + 1];
        for (size_t i = first; i < mlp_offset(shape, l + 1); i++) {
            bool weight = i < first + weights;
            parameters[i] = (REAL)(weight ? first_size(shape, l) * rng_normal(r, i) : 0);
        }
    }
}

void NAMED(muon, orthogonal)(const BACKEND *b, size_t rows, size_t cols, REAL *x, REAL *work)
{
    bool wide = rows <= cols;
    size_t n = wide ? rows : cols;
    REAL *next = work;               /* (rows, cols) */
    REAL *gram = work + rows * cols; /* (n, n): X X', or X' X */
    REAL *power = gram + n * n;      /* (n, n) */
    double size = sqrt(b->sum_squares(rows * cols, x));
    b->scale(rows * cols, (REAL)(1 / (size + 1e-30)), x);
    for (int k = 0; k < NEWTON_STEPS; k++) {
        const REAL first = (REAL)3.4445;
        const REAL second = (REAL)-4.7750;
        const REAL third = (REAL)2.0315;
        b->gemm(!wide, wide, n, n, wide ? cols : rows, 1, x, x, 0, gram);
        b->copy(n * n, gram, power);
        b->gemm(false, false, n, n, n, third, gram, gram, second, power);
        b->copy(rows * cols, x, next);
        if (wide) {
            b->gemm(false, false, rows, cols, n, 1, power, x, first, next);
        } else {
            b->gemm(false, false, rows, cols, n, 1, x, power, first, next);
        }
        b->copy(rows * cols, next, x);
    }
}

void NAMED(muon, step)(MUON *o, double rate, REAL *parameters, const REAL *gradient)
{
    const double keep = 0.95;
    const BACKEND *b = o->backend;
    const mlp_shape *shape = &o->shape;
    size_t count = mlp_count(shape);
    double t = (double)++o->steps;
    backend_adam adam = {.b1 = 0.9,
                         .b2 = 0.99,
                         .outside = 1e-8,
                         .rate = rate / (1 - pow(0.9, t)),
                         .correct = 1 / (1 - pow(0.99, t))};
    for (size_t l = 0; l < shape->layers; l++) {
        size_t at = mlp_offset(shape, l);
        size_t in = shape->width[l];
        size_t out = shape->width[l + 1];
        size_t n = in * out;
        REAL *momentum = o->state + at;
        REAL *u = o->work;
        b->scale(n, (REAL)keep, momentum);
        b->axpy(n, 1, gradient + at, momentum);
        b->copy(n, gradient + at, u);
        b->axpy(n, (REAL)keep, momentum, u);
        NAMED(muon, orthogonal)(b, in, out, u, o->work + n);
        double longest = sqrt((double)(in > out ? in : out));
        b->axpy(n, (REAL)(-rate * first_size(shape, l) * longest), u, parameters + at);
        if (shape->bias) {
            b->adam(out, &adam, parameters + at + n, gradient + at + n, o->state + at + n,
                    o->state + count + at + n);
        }
    }
}
