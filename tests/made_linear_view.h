/* Signals made by hand: a linear model under do(), z = c + z W + e (c = 0) with the targets of a
 * row set to their values plus actuator noise, and y = (z - a) M, so that z = a + y M^-1. Graph, W
 * and s are drawn from the prior of the anchored method (infer/mechanism/family.h), or are strong
 * and plain. Include it before testing.h: cmocka has a macro `fail`.
 */
#ifndef LSCM_TESTS_MADE_LINEAR_VIEW_H
#define LSCM_TESTS_MADE_LINEAR_VIEW_H

#include "data/statistics/statistics.h"
#include "design_testing.h"
#include "infer/mechanism/mechanism.h"
#include "lcg.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MADE_MOST = 12, MADE_SETS = 5 };

typedef struct made_design {
    size_t d, observational, sets, per_set;
    size_t untouched;        /* the last so many nodes are never targets */
    bool single;             /* sets have one target, in turn; otherwise any but all of the nodes */
    bool equal;              /* one s for all nodes */
    bool plain;              /* |w| in 0.5 .. 2, s = 0.5 .. 1; otherwise all from the prior */
    double value;            /* sd of the values: 2 makes the unit 1 */
    double actuator;         /* sd of what do() misses them by */
    double x_noise;          /* sd of the noise of y */
    double ridge, dof, edge; /* of the prior; edge: probability of a forward edge */
    double spread;           /* .. of ridges that nodes have of their own, or 0 */
    bool effects;            /* sets have intercepts of their own, tau from the prior .. */
    double tau;              /* .. or, above 0, this */
    bool hole;               /* .. w^2 times as likely: |w| is chi with 3 degrees of freedom */
} made_design;

typedef struct made_signal {
    linear_view s;
    uint8_t *mask;                     /* (rows, d): what s.design is made of */
    double *values;                    /* (rows, d) */
    double *z;                         /* (rows, d) */
    double w[MADE_MOST * MADE_MOST];   /* (d, d) */
    double sigma[MADE_MOST];           /* (d) */
    double shift[MADE_MOST];           /* (d): a */
    double mix[MADE_MOST * MADE_MOST]; /* (d, d): M */
    size_t order[MADE_MOST];
    double tau[MADE_MOST];                  /* (d) */
    double own[1U << MADE_SETS][MADE_MOST]; /* (targets as a number, d): what sets add */
} made_signal;

static inline double made_chi2(lcg *g, int dof)
{
    double sum = 0;
    for (int k = 0; k < dof; k++) {
        double x = lcg_normal(g);
        sum += x * x;
    }
    return sum;
}

/* sqrt(t) of a node, whose unit is 1. */
static inline double made_scale(const made_design *c, lcg *g)
{
    double u = c->spread > 0 ? lcg_uniform(g) : 0;
    double own = u < 0.6 ? 1 : u < 0.8 ? 1 / c->spread : c->spread;
    return sqrt(c->ridge * own);
}

static inline double made_weight(const made_design *c, lcg *g)
{
    return !c->hole               ? lcg_normal(g)
           : lcg_uniform(g) < 0.5 ? -sqrt(made_chi2(g, 3))
                                  : sqrt(made_chi2(g, 3));
}

static inline void made_mechanisms(made_signal *m, const made_design *c, lcg *g)
{
    size_t d = c->d;
    double shared = sqrt(c->ridge) / sqrt(made_chi2(g, (int)c->dof));
    memset(m->w, 0, sizeof m->w);
    lcg_order(g, d, m->order);
    for (size_t k = 0; k < d; k++) {
        size_t i = m->order[k];
        int parents = 0;
        double scale = made_scale(c, g);
        for (size_t before = 0; before < k; before++) {
            if (lcg_uniform(g) < c->edge) {
                m->w[m->order[before] * d + i] = 1;
                parents++;
            }
        }
        m->sigma[i] = c->equal ? shared : scale / sqrt(made_chi2(g, (int)c->dof + parents));
        if (c->plain) {
            m->sigma[i] = c->equal ? 0.7 : 0.5 + 0.5 * lcg_uniform(g);
        }
        for (size_t j = 0; j < d; j++) {
            double size = c->plain ? (lcg_uniform(g) < 0.5 ? -1 : 1) * (0.5 + 1.5 * lcg_uniform(g))
                                   : m->sigma[i] / scale * made_weight(c, g);
            m->w[j * d + i] *= size;
        }
    }
}

/* What sets have of their own, 0 with probability 1/2. */
static inline void made_effects(made_signal *m, const made_design *c, lcg *g)
{
    static const double tau[] = {0.1, 0.3, 1, 3, 10};
    for (size_t i = 0; i < c->d && c->effects; i++) {
        m->tau[i] = lcg_uniform(g) < 0.5 ? 0 : tau[lcg_below(g, 5)];
        m->tau[i] = c->tau > 0 ? c->tau : m->tau[i];
        for (size_t set = 0; set < 1U << MADE_SETS; set++) {
            m->own[set][i] = m->tau[i] * m->sigma[i] * lcg_normal(g);
        }
    }
}

/* Targets (d) of set `set`. */
static inline void made_targets(const made_design *c, size_t set, lcg *g, uint8_t *target)
{
    size_t touched = c->d - c->untouched;
    size_t count = 0;
    memset(target, 0, c->d);
    if (c->single) {
        target[set % touched] = 1;
        return;
    }
    while (count == 0 || count == c->d) {
        count = 0;
        for (size_t i = 0; i < touched; i++) {
            target[i] = lcg_uniform(g) < 0.5 ? 1 : 0;
            count += target[i];
        }
    }
}

static inline void made_row(made_signal *m, const made_design *c, size_t row, lcg *g)
{
    size_t d = c->d;
    double *z = m->z + row * d;
    size_t set = 0;
    for (size_t i = 0; i < d && c->effects; i++) { /* d is at most MADE_SETS */
        set += m->mask[row * d + i] != 0 ? (size_t)1 << i : 0;
    }
    for (size_t k = 0; k < d; k++) {
        size_t i = m->order[k];
        if (m->mask[row * d + i] != 0) {
            m->values[row * d + i] = c->value * lcg_normal(g);
            z[i] = m->values[row * d + i] + c->actuator * lcg_normal(g);
            continue;
        }
        z[i] = m->sigma[i] * lcg_normal(g) + m->own[set][i];
        for (size_t j = 0; j < d; j++) {
            z[i] += m->w[j * d + i] != 0 ? m->w[j * d + i] * z[j] : 0;
        }
    }
    for (size_t j = 0; j < d; j++) {
        double y = c->x_noise * lcg_normal(g);
        for (size_t i = 0; i < d; i++) {
            y += (z[i] - m->shift[i]) * m->mix[i * d + j];
        }
        m->s.y[row * d + j] = y;
    }
}

/* What linear_view_of would have said of y. */
static inline void made_spectrum(made_signal *m)
{
    linear_view *s = &m->s;
    for (size_t j = 0; j < s->rank; j++) {
        double mean = 0;
        double variance = 0;
        for (size_t row = 0; row < s->rows; row++) {
            mean += s->y[row * s->rank + j] / (double)s->rows;
        }
        for (size_t row = 0; row < s->rows; row++) {
            double left = s->y[row * s->rank + j] - mean;
            variance += left * left / (double)s->rows;
        }
        s->spectrum[j] = variance;
        s->variance += variance;
        s->basis[j * s->rank + j] = 1;
        s->scale[j] = 1;
    }
}

/* After a change of mask or values. */
static inline void made_again(made_signal *m)
{
    design_again(&m->s.design, m->s.rows, m->s.d, m->mask, m->values);
}

static inline made_signal made_signal_of(const made_design *c, lcg *g)
{
    made_signal m = {0};
    size_t d = c->d;
    size_t rows = c->observational + c->sets * c->per_set;
    uint8_t target[MADE_MOST] = {0};
    m.s = (linear_view){
        .kind = VIEW_LINEAR, .rows = rows, .d = d, .D = d, .rank = d, .x_noise = c->x_noise};
    m.z = calloc(rows * d, sizeof(double));
    m.s.y = calloc(rows * d, sizeof(double));
    m.mask = calloc(rows * d, 1);
    m.values = calloc(rows * d, sizeof(double));
    m.s.mean = calloc(d, sizeof(double));
    m.s.scale = calloc(d, sizeof(double));
    m.s.basis = calloc(d * d, sizeof(double));
    m.s.spectrum = calloc(d, sizeof(double));
    if (m.z == NULL || m.s.y == NULL || m.mask == NULL || m.values == NULL || m.s.mean == NULL ||
        m.s.scale == NULL || m.s.basis == NULL || m.s.spectrum == NULL) {
        abort();
    }
    made_mechanisms(&m, c, g);
    made_effects(&m, c, g);
    for (size_t i = 0; i < d; i++) {
        m.shift[i] = lcg_normal(g);
        for (size_t j = 0; j < d; j++) {
            m.mix[i * d + j] = lcg_normal(g) + (i == j ? 2 : 0);
        }
    }
    for (size_t row = 0; row < rows; row++) {
        if (row >= c->observational) {
            if ((row - c->observational) % c->per_set == 0) {
                made_targets(c, (row - c->observational) / c->per_set, g, target);
            }
            memcpy(m.mask + row * d, target, d);
        }
        made_row(&m, c, row, g);
    }
    made_again(&m);
    made_spectrum(&m);
    return m;
}

static inline void made_signal_free(made_signal *m)
{
    design_close(&m->s.design);
    free(m->z);
    free(m->s.y);
    free(m->mask);
    free(m->values);
    free(m->s.mean);
    free(m->s.scale);
    free(m->s.basis);
    free(m->s.spectrum);
}

#endif
