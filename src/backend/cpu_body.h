/* The table of backend_table.h on OpenBLAS and loops that the compiler vectorises. */
#include "backend/activation_body.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

enum {
    ADAM_PIECE = 1 << 14, /* parameters updated by one thread at a time */
    ADAM_LARGE = 1 << 16  /* from here on threads are worth waking */
};

static void gemm(const device *on, const PRODUCT *p)
{
    (void)on;
    if (p->add != NULL && p->add != p->c) {
        memcpy(p->c, p->add, p->m * p->n * sizeof *p->c);
    }
    BLAS(gemm)
    (CblasRowMajor, p->flip_a ? CblasTrans : CblasNoTrans, p->flip_b ? CblasTrans : CblasNoTrans,
     (int)p->m, (int)p->n, (int)p->k, p->alpha, p->a, (int)(p->flip_a ? p->m : p->k), p->b,
     (int)(p->flip_b ? p->k : p->n), p->beta, p->c, (int)p->n);
}

CLONED static void add_bias(size_t rows, size_t cols, const REAL *restrict bias, REAL *restrict h)
{
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < cols; c++) {
            h[r * cols + c] += bias[c];
        }
    }
}

static void activate(const device *on, activation f, size_t rows, size_t cols, const REAL *bias,
                     REAL *h, REAL *slope)
{
    (void)on;
    /* two passes: over the whole array at once no vector is left part empty by an odd row */
    if (bias != NULL) {
        add_bias(rows, cols, bias, h);
    }
    if (f != ACTIVATION_IDENTITY) {
        activation_all[f](rows * cols, h, slope);
    }
}

CLONED static void multiply(size_t n, const REAL *restrict x, REAL *restrict y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] *= x[i];
    }
}

CLONED static void column_sums(size_t rows, size_t cols, const REAL *restrict d, REAL beta,
                               REAL *restrict sums)
{
    for (size_t c = 0; c < cols; c++) {
        sums[c] = beta == 0 ? 0 : beta * sums[c];
    }
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < cols; c++) {
            sums[c] += d[r * cols + c];
        }
    }
}

static void activate_back(const device *on, size_t rows, size_t cols, const REAL *slope, REAL *d,
                          REAL beta, REAL *bias)
{
    (void)on;
    if (slope != NULL) {
        multiply(rows * cols, slope, d);
    }
    if (bias != NULL) {
        column_sums(rows, cols, d, beta, bias);
    }
}

static void fill(const device *on, size_t n, REAL value, REAL *x)
{
    (void)on;
    for (size_t i = 0; i < n; i++) {
        x[i] = value;
    }
}

static void copy(const device *on, size_t n, const REAL *x, REAL *y)
{
    (void)on;
    memcpy(y, x, n * sizeof *y);
}

CLONED static void scale(const device *on, size_t n, REAL factor, REAL *x)
{
    (void)on;
    for (size_t i = 0; i < n; i++) {
        x[i] *= factor;
    }
}

CLONED static void axpy(const device *on, size_t n, REAL factor, const REAL *restrict x,
                        REAL *restrict y)
{
    (void)on;
    for (size_t i = 0; i < n; i++) {
        y[i] += factor * x[i];
    }
}

CLONED static double sum_squares(const device *on, size_t n, const REAL *x)
{
    (void)on;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++) {
        sum += (double)x[i] * (double)x[i];
    }
    return sum;
}

CLONED static double residual(const device *on, size_t n, REAL factor, const REAL *restrict x,
                              REAL *restrict y)
{
    (void)on;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (size_t i = 0; i < n; i++) {
        REAL e = y[i] - x[i];
        sum += (double)e * (double)e;
        y[i] = factor * e;
    }
    return sum;
}

CLONED static void adam_piece(size_t n, const backend_adam *step, REAL *restrict parameters,
                              const REAL *restrict gradient, REAL *restrict m, REAL *restrict s)
{
    REAL b1 = (REAL)step->b1;
    REAL b2 = (REAL)step->b2;
    REAL rest1 = (REAL)(1 - step->b1);
    REAL rest2 = (REAL)(1 - step->b2);
    REAL inside = (REAL)step->inside;
    REAL outside = (REAL)step->outside;
    REAL rate = (REAL)step->dial->rate;
    REAL correct = (REAL)step->dial->correct;
    REAL factor = (REAL)step->dial->scale;
    REAL follow = step->belief ? 1 : 0;
    for (size_t i = 0; i < n; i++) {
        REAL g = factor * gradient[i];
        REAL mean = b1 * m[i] + rest1 * g;
        REAL e = g - follow * mean;
        REAL square = b2 * s[i] + rest2 * e * e + inside;
        m[i] = mean;
        s[i] = square;
        parameters[i] -= rate * mean / (MATH(sqrt)(correct * square) + outside);
    }
}

static void adam(const device *on, size_t n, const backend_adam *step, REAL *parameters,
                 const REAL *gradient, REAL *m, REAL *s)
{
    (void)on;
#pragma omp parallel for schedule(static) if (n >= ADAM_LARGE)
    for (size_t at = 0; at < n; at += ADAM_PIECE) {
        size_t count = n - at < ADAM_PIECE ? n - at : ADAM_PIECE;
        adam_piece(count, step, parameters + at, gradient + at, m + at, s + at);
    }
}

static void unit(const device *on, size_t n, REAL *x)
{
    scale(on, n, (REAL)(1 / (sqrt(sum_squares(on, n, x)) + 1e-30)), x);
}

CLONED static void momentum(const device *on, size_t n, REAL keep, const REAL *restrict gradient,
                            REAL *restrict m, REAL *restrict u)
{
    (void)on;
    for (size_t i = 0; i < n; i++) {
        m[i] = keep * m[i] + gradient[i];
        u[i] = gradient[i] + keep * m[i];
    }
}

CLONED static void move(size_t n, REAL keep, REAL factor, const REAL *restrict u, REAL *restrict w)
{
    for (size_t i = 0; i < n; i++) {
        w[i] = keep * w[i] - factor * u[i];
    }
}

static void descend(const device *on, size_t n, const backend_dial *dial, double decay, double size,
                    const REAL *u, REAL *w)
{
    (void)on;
    move(n, (REAL)(1 - dial->rate * decay), (REAL)(dial->rate * size), u, w);
}

const BACKEND TYPED(cpu) = {
    .gemm = gemm,
    .activate = activate,
    .activate_back = activate_back,
    .norm = NAMED(batch_norm, forward),
    .norm_back = NAMED(batch_norm, backward),
    .fill = fill,
    .copy = copy,
    .scale = scale,
    .axpy = axpy,
    .sum_squares = sum_squares,
    .residual = residual,
    .unit = unit,
    .adam = adam,
    .momentum = momentum,
    .descend = descend,
};
