/* Data for tests of the kernel encoder: causal variables under do(), seen through a random network.
 * Include it first: cmocka has a macro `fail`. */
#ifndef LSCM_TESTS_KERNEL_TESTING_H
#define LSCM_TESTS_KERNEL_TESTING_H

#include "infer/kernel/kernel.h"

#include "design_testing.h"
#include "lcg.h"
#include "testing.h"

static lscm_error why;

static inline float *floats(size_t count)
{
    float *out = calloc(count + 1, sizeof *out);
    if (out == NULL) {
        abort();
    }
    return out;
}

static inline double *numbers(size_t count)
{
    double *out = calloc(count + 1, sizeof *out);
    if (out == NULL) {
        abort();
    }
    return out;
}

/* ---- Data ---- */

typedef enum shape { STRAIGHT, RELU, CURVED } shape;

typedef struct rows_of {
    features f;
    uint8_t *mask;  /* (rows, d): what f.design is made of */
    double *values; /* (rows, d) */
    double *z;      /* (rows, d) */
} rows_of;

/* x of z through a random network: linear, ReLU without biases, or a line and tanh with biases. */
static inline void observe(shape kind, lcg g, size_t d, size_t R, double noise, lcg *draws,
                           const double *z, float *x)
{
    enum { HIDDEN = 40 };
    double hidden[HIDDEN];
    for (size_t k = 0; k < HIDDEN; k++) {
        double sum = kind == CURVED ? 2 * lcg_normal(&g) : 0;
        for (size_t j = 0; j < d; j++) {
            sum += z[j] * lcg_normal(&g);
        }
        hidden[k] = kind == STRAIGHT ? sum : kind == RELU ? fmax(sum, 0) : 3 * tanh(sum / 3);
    }
    for (size_t c = 0; c < R; c++) {
        double sum = 0;
        for (size_t k = 0; k < HIDDEN; k++) {
            sum += hidden[k] * lcg_normal(&g) / sqrt((double)HIDDEN);
        }
        x[c] = (float)(sum + (kind == CURVED ? 3 * z[c % d] : 0) + noise * lcg_normal(draws));
    }
}

/* `sets` random sets of targets, a fifth of the rows observational; free variables follow their
 * predecessor. */
static inline rows_of make(shape kind, size_t rows, size_t d, size_t R, size_t sets, double noise)
{
    lcg g = {rows + 3 * d + 17 * R + 1000 * (size_t)kind};
    rows_of r = {.f = {.rows = rows, .d = d, .D = R, .R = R}};
    r.z = numbers(rows * d);
    r.f.f = floats(rows * R);
    r.f.mean = numbers(R);
    r.values = numbers(rows * d);
    r.mask = calloc(rows * d, 1);
    if (r.mask == NULL) {
        abort();
    }
    for (size_t row = 0; row < rows; row++) {
        size_t set = 5 * row < rows ? 0 : 1 + row * sets / (rows + 1);
        lcg own = {77 * set};
        for (size_t j = 0; j < d; j++) {
            bool target = set > 0 && lcg_uniform(&own) < 0.5;
            double value = 2 * lcg_normal(&g);
            r.mask[row * d + j] = target ? 1 : 0;
            r.values[row * d + j] = target ? value : 0;
            r.z[row * d + j] = target  ? value
                               : j > 0 ? r.z[row * d + j - 1] + lcg_normal(&g)
                                       : 2 * lcg_normal(&g);
        }
        observe(kind, (lcg){5 + (size_t)kind}, d, R, noise, &g, r.z + row * d, r.f.f + row * R);
        for (size_t k = 0; k < R; k++) {
            r.f.mean[k] += (double)r.f.f[row * R + k] / (double)rows;
        }
    }
    design_again(&r.f.design, rows, d, r.mask, r.values);
    return r;
}

static inline void drop(rows_of *r)
{
    design_close(&r->f.design);
    free(r->z);
    free(r->f.f);
    free(r->f.mean);
    free(r->values);
    free(r->mask);
}

typedef struct encoded {
    kernel_encoder e;
    double *z, *sd;
} encoded;

static inline encoded encode(const rows_of *r, kernel_settings settings)
{
    encoded out = {.z = numbers(r->f.rows * r->f.d), .sd = numbers(r->f.rows * r->f.d)};
    assert_ok(kernel_encode(&out.e, out.z, out.sd, &r->f, &settings, NULL, &why));
    for (size_t k = 0; k < r->f.rows * r->f.d; k++) {
        assert_true(isfinite(out.z[k]) && isfinite(out.sd[k]) && out.sd[k] >= 0);
    }
    return out;
}

static inline void discard(encoded *e)
{
    kernel_encoder_close(&e->e);
    free(e->z);
    free(e->sd);
}

#endif
