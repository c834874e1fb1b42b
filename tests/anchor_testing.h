/* Signals made by hand: y = z M + noise with z from a random linear model under do(). */
#ifndef LSCM_TESTS_ANCHOR_TESTING_H
#define LSCM_TESTS_ANCHOR_TESTING_H

#include "infer/anchor/anchor.h"

#include "lcg.h"
#include "testing.h"

#include <lapacke.h>

typedef struct made_rows {
    size_t d, observational, sets, per_set;
    bool single;      /* one target per set, cycling; otherwise 1 .. d - 1 of them */
    double noise;     /* of the mechanisms */
    double value;     /* sd of the values */
    double x_noise;   /* of y */
    double actuator;  /* s_I */
    double constant;  /* not 0: all values are this */
    uint64_t seed;    /* of model and mixing */
    uint64_t samples; /* of the samples */
} made_rows;

typedef struct made {
    linear_view s;
    double *z;       /* (rows, d) */
    double *mixing;  /* (d, d): M */
    double *inverse; /* (d, d) */
    double *w;       /* (d, d) */
    size_t *order;   /* (d) */
} made;

static inline void *zeros(size_t count, size_t size)
{
    void *p = calloc(count > 0 ? count : 1, size);
    assert_non_null(p);
    return p;
}

static inline void made_free(made *m)
{
    free(m->s.y);
    free(m->s.mask);
    free(m->s.values);
    free(m->z);
    free(m->mixing);
    free(m->inverse);
    free(m->w);
    free(m->order);
}

static inline void make_model(made *m, const made_rows *c)
{
    lcg g = {c->seed * 7919 + 1};
    size_t d = c->d;
    int pivot[64];
    m->mixing = zeros(d * d, sizeof(double));
    m->inverse = zeros(d * d, sizeof(double));
    m->w = zeros(d * d, sizeof(double));
    m->order = zeros(d, sizeof(size_t));
    lcg_weights(&g, d, 2.0 / (double)d, m->order, m->w);
    for (size_t i = 0; i < d * d; i++) {
        m->mixing[i] = 4 * lcg_uniform(&g) - 2 + (i % (d + 1) == 0 ? 2.5 * sqrt((double)d) : 0);
    }
    memcpy(m->inverse, m->mixing, d * d * sizeof(double));
    assert_int_equal(LAPACKE_dgetrf(LAPACK_ROW_MAJOR, (int)d, (int)d, m->inverse, (int)d, pivot),
                     0);
    assert_int_equal(LAPACKE_dgetri(LAPACK_ROW_MAJOR, (int)d, m->inverse, (int)d, pivot), 0);
}

/* One row given its mask and values. */
static inline void make_row(made *m, const made_rows *c, size_t row, lcg *g)
{
    size_t d = c->d;
    double *z = m->z + row * d;
    double *y = m->s.y + row * d;
    for (size_t k = 0; k < d; k++) {
        size_t i = m->order[k];
        if (m->s.mask[row * d + i] != 0) {
            z[i] = m->s.values[row * d + i] + c->actuator * lcg_normal(g);
            continue;
        }
        z[i] = c->noise * lcg_normal(g);
        for (size_t j = 0; j < d; j++) {
            z[i] += z[j] * m->w[j * d + i];
        }
    }
    for (size_t i = 0; i < d; i++) {
        y[i] = c->x_noise * lcg_normal(g);
        for (size_t j = 0; j < d; j++) {
            y[i] += z[j] * m->mixing[j * d + i];
        }
    }
}

static inline made make(const made_rows *c)
{
    made m = {0};
    size_t d = c->d;
    size_t rows = c->observational + c->sets * c->per_set;
    size_t order[64];
    lcg pick = {c->seed * 31 + 5};
    lcg g = {(c->seed << 20) + c->samples * 104729 + 11};
    make_model(&m, c);
    m.z = zeros(rows * d, sizeof(double));
    m.s = (linear_view){.rows = rows, .d = d, .D = d, .rank = d, .x_noise = c->x_noise};
    m.s.y = zeros(rows * d, sizeof(double));
    m.s.mask = zeros(rows * d, 1);
    m.s.values = zeros(rows * d, sizeof(double));
    for (size_t k = 0; k < c->sets; k++) {
        size_t count = c->single || d == 1 ? 1 : 1 + lcg_below(&pick, d - 1);
        lcg_order(&pick, d, order);
        if (c->single) {
            order[0] = k % d;
        }
        for (size_t i = 0; i < c->per_set; i++) {
            size_t row = c->observational + k * c->per_set + i;
            for (size_t t = 0; t < count; t++) {
                size_t at = row * d + order[t];
                m.s.mask[at] = 1;
                m.s.values[at] = c->constant != 0 ? c->constant : c->value * lcg_normal(&g);
            }
        }
    }
    for (size_t row = 0; row < rows; row++) {
        make_row(&m, c, row, &g);
    }
    return m;
}

/* Mean squared error of z (d) over all rows. */
static inline void z_errors(const made *m, const anchor *a, double *error)
{
    size_t d = m->s.d;
    double *z = zeros(m->s.rows * d, sizeof(double));
    memset(error, 0, d * sizeof(double));
    anchor_apply(&m->s, a->intercept, a->slope, z);
    for (size_t i = 0; i < m->s.rows * d; i++) {
        double e = z[i] - m->z[i];
        error[i % d] += e * e / (double)m->s.rows;
    }
    free(z);
}

static inline void assert_nothing(const anchor *a, size_t j)
{
    assert_int_equal(a->kind[j], ANCHOR_NONE);
    assert_near(a->intercept[j], 0, 0);
    assert_near(a->residual[j], 0, 0);
    assert_near(a->standard_error[j], 0, 0);
    assert_near(a->noise[j], 0, 0);
    for (size_t c = 0; c < a->rank; c++) {
        assert_near(a->slope[c * a->d + j], 0, 0);
    }
}

#endif
