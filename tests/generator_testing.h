/* Rows of a known network, and that network once more, plainly, in double:
 *
 *     f = c + q net((z - o)/k),   net(u) = h(h(u W1 + b1) W2 + b2) W3 + b3,
 *
 * h ReLU without biases, o = c = 0 (homogeneous), or GELU with them. Include it before testing.h.
 */
#ifndef LSCM_TESTS_GENERATOR_TESTING_H
#define LSCM_TESTS_GENERATOR_TESTING_H

#include "design_testing.h"
#include "infer/generator/generator.h"
#include "lcg.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORLD_ROWS = 420, WORLD_D = 4, WORLD_R = 14, WORLD_HIDDEN = 20, WORLD_COUNT = 2000 };

typedef struct world {
    size_t rows, d, R;
    generator_inverse inverse; /* its arrays are below */
    double offset[WORLD_D], centre[WORLD_R], wrong[WORLD_D];
    float parameters[WORLD_COUNT];
    float f[WORLD_ROWS * WORLD_R];
    design design; /* of mask and values */
    uint8_t mask[WORLD_ROWS * WORLD_D], held[WORLD_ROWS * WORLD_D];
    double values[WORLD_ROWS * WORLD_D], truth[WORLD_ROWS * WORLD_D];
    double guess[WORLD_ROWS * WORLD_D], sd[WORLD_ROWS * WORLD_D];
} world;

static inline network_shape world_shape(bool homogeneous, size_t hidden)
{
    return network_dense(
        &(network_stack){.layers = 3,
                         .width = (size_t[]){WORLD_D, hidden, hidden, WORLD_R},
                         .between = homogeneous ? ACTIVATION_RELU : ACTIVATION_GELU,
                         .last = ACTIVATION_IDENTITY,
                         .bias = !homogeneous});
}

static inline double plain_between(const network_shape *s, double x)
{
    double bend = 0.7978845608028654 * (x + 0.044715 * x * x * x);
    return s->layer[0].f == ACTIVATION_RELU ? fmax(x, 0) : 0.5 * x * (1 + tanh(bend));
}

/* A network by the parameters of its shape; in (d), out (R). */
static inline void plain_network(const network_shape *s, const double *p, const double *in,
                                 double *out)
{
    double h[2][64];
    memcpy(h[0], in, network_in(s) * sizeof *in);
    for (size_t l = 0; l < s->layers; l++) {
        const double *from = h[l % 2];
        double *to = l + 1 == s->layers ? out : h[(l + 1) % 2];
        for (size_t b = 0; b < s->layer[l].out; b++) {
            double sum = s->layer[l].bias ? p[s->layer[l].in * s->layer[l].out + b] : 0;
            for (size_t a = 0; a < s->layer[l].in; a++) {
                sum += from[a] * p[a * s->layer[l].out + b];
            }
            to[b] = l + 1 == s->layers ? sum : plain_between(s, sum);
        }
        p += (s->layer[l].in + (s->layer[l].bias ? 1 : 0)) * s->layer[l].out;
    }
}

/* f (R) of z (d), as an inverse has it. */
static inline void plain_f(const generator_inverse *i, const double *z, double *f)
{
    network_shape s = world_shape(i->homogeneous, i->hidden);
    double p[WORLD_COUNT];
    double u[WORLD_D];
    for (size_t k = 0; k < network_count(&s); k++) {
        p[k] = (double)i->parameters[k];
    }
    for (size_t j = 0; j < i->d; j++) {
        u[j] = (z[j] - i->offset[j]) / i->scale;
    }
    plain_network(&s, p, u, f);
    for (size_t k = 0; k < i->R; k++) {
        f[k] = i->centre[k] + i->spread * f[k];
    }
}

/* a of a row */
static inline double plain_unit(const generator_inverse *i, const float *f)
{
    double sum = 0;
    for (size_t k = 0; k < i->R; k++) {
        sum += (double)f[k] * (double)f[k];
    }
    return i->homogeneous ? sqrt(sum / (double)i->R) : 1;
}

/* A random network, rows of it with `noise` of f (in units of y), each node set by do() in about a
 * third of the rows, guesses that err by sd `error`. */
static inline void world_make(world *w, uint64_t seed, bool homogeneous, double noise, double error)
{
    lcg g = {seed};
    network_shape s = world_shape(homogeneous, WORLD_HIDDEN);
    design_close(&w->design);
    memset(w, 0, sizeof *w);
    w->rows = WORLD_ROWS;
    w->d = WORLD_D;
    w->R = WORLD_R;
    w->inverse = (generator_inverse){.d = WORLD_D,
                                     .R = WORLD_R,
                                     .hidden = WORLD_HIDDEN,
                                     .homogeneous = homogeneous,
                                     .scale = homogeneous ? 2.5 : 3,
                                     .spread = homogeneous ? 1 : 4,
                                     .noise2 = fmax(noise * noise, 1e-8),
                                     .offset = w->offset,
                                     .centre = w->centre,
                                     .wrong = w->wrong,
                                     .parameters = w->parameters};
    for (size_t l = 0; l < s.layers; l++) {
        size_t weights = s.layer[l].in * s.layer[l].out;
        for (size_t k = network_offset(&s, l); k < network_offset(&s, l + 1); k++) {
            bool bias = k >= network_offset(&s, l) + weights;
            double size = bias ? 0.3 : sqrt((l > 0 ? 2.0 : 1.0) / (double)s.layer[l].in);
            w->parameters[k] = (float)(size * lcg_normal(&g));
        }
    }
    for (size_t j = 0; j < w->d && !homogeneous; j++) {
        w->offset[j] = lcg_normal(&g);
    }
    for (size_t k = 0; k < w->R && !homogeneous; k++) {
        w->centre[k] = 5 * lcg_normal(&g);
    }
    for (size_t n = 0; n < w->rows; n++) {
        double f[WORLD_R];
        for (size_t at = n * w->d; at < (n + 1) * w->d; at++) {
            w->truth[at] = w->offset[at % w->d] + 3 * lcg_normal(&g);
            w->guess[at] = w->truth[at] + error * lcg_normal(&g);
            w->sd[at] = error;
            w->mask[at] = lcg_uniform(&g) < 0.33;
            w->values[at] = w->mask[at] != 0 ? w->truth[at] : 0;
            w->held[at] = w->mask[at] != 0 && lcg_uniform(&g) < 1.0 / 12;
        }
        plain_f(&w->inverse, w->truth + n * w->d, f);
        for (size_t k = 0; k < w->R; k++) {
            w->f[n * w->R + k] = (float)f[k];
        }
        double a = plain_unit(&w->inverse, w->f + n * w->R);
        for (size_t k = 0; k < w->R; k++) {
            w->f[n * w->R + k] += (float)(noise * a * w->inverse.spread * lcg_normal(&g));
        }
    }
    design_again(&w->design, w->rows, w->d, w->mask, w->values);
}

static inline generator_rows world_rows(const world *w)
{
    return (generator_rows){.rows = w->rows,
                            .d = w->d,
                            .R = w->R,
                            .f = w->f,
                            .design = &w->design,
                            .held = w->held,
                            .z = w->guess,
                            .sd = w->sd};
}

/* What a row's z is judged by, its slope and its curvature, over the k free entries `node`:
 * |f - f(z)|^2/(s a q)^2 + sum (z - m)^2/p^2 + what a model says (or NULL). */
typedef struct plain_row {
    const generator_inverse *inverse;
    const mechanism_model *model;
    const float *f;       /* (R) */
    const uint8_t *mask;  /* (d) */
    const double *m, *sd; /* (d) */
    size_t k, node[WORLD_D];
} plain_row;

static inline plain_row world_row(const world *w, const generator_inverse *i, size_t n)
{
    plain_row r = {.inverse = i,
                   .f = w->f + n * w->R,
                   .mask = w->mask + n * w->d,
                   .m = w->guess + n * w->d,
                   .sd = w->sd + n * w->d};
    for (size_t j = 0; j < w->d; j++) {
        if (r.mask[j] == 0) {
            r.node[r.k++] = j;
        }
    }
    return r;
}

/* -1/2 the gradient at z (k), and A (k, k), by differences of f. */
static inline void plain_normal(const plain_row *r, const double *z, double *pull, double *a)
{
    size_t d = r->inverse->d;
    size_t R = r->inverse->R;
    double s = plain_unit(r->inverse, r->f) * r->inverse->spread;
    double s2 = s * s * r->inverse->noise2;
    double f[WORLD_R];
    double slope[WORLD_D][WORLD_R];
    plain_f(r->inverse, z, f);
    for (size_t b = 0; b < r->k; b++) {
        const double h = 1e-6;
        double moved[WORLD_D];
        double back[WORLD_R];
        memcpy(moved, z, d * sizeof *z);
        moved[r->node[b]] = z[r->node[b]] - h;
        plain_f(r->inverse, moved, back);
        moved[r->node[b]] = z[r->node[b]] + h;
        plain_f(r->inverse, moved, slope[b]);
        for (size_t k = 0; k < R; k++) {
            slope[b][k] = (slope[b][k] - back[k]) / (2 * h);
        }
    }
    for (size_t b = 0; b < r->k; b++) {
        size_t j = r->node[b];
        double p2 = r->sd[j] * r->sd[j];
        pull[b] = (r->m[j] - z[j]) / p2;
        for (size_t k = 0; k < R; k++) {
            pull[b] += slope[b][k] * ((double)r->f[k] - f[k]) / s2;
        }
        for (size_t c = 0; c < r->k; c++) {
            a[b * r->k + c] = b == c ? 1 / p2 : 0;
            for (size_t k = 0; k < R; k++) {
                a[b * r->k + c] += slope[b][k] * slope[c][k] / s2;
            }
        }
    }
    for (size_t i = 0; i < d && r->model != NULL; i++) {
        if (r->mask[i] == 0) { /* (z (I - W) - c)_i / s_i is standard normal */
            const mechanism_model *m = r->model;
            double rest = z[i] - m->intercept[i];
            double t[WORLD_D];
            for (size_t j = 0; j < d; j++) {
                rest -= z[j] * m->w[j * d + i];
                t[j] = ((j == i ? 1 : 0) - m->w[j * d + i]) / m->sigma[i];
            }
            for (size_t b = 0; b < r->k; b++) {
                pull[b] -= t[r->node[b]] * rest / m->sigma[i];
                for (size_t c = 0; c < r->k; c++) {
                    a[b * r->k + c] += t[r->node[b]] * t[r->node[c]];
                }
            }
        }
    }
}

/* A^-1, and the step A^-1 pull that is left at z, into pull. */
static inline void plain_solve(size_t k, double *pull, double *a)
{
    (void)LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', (int)k, a, (int)k);
    (void)LAPACKE_dpotrs(LAPACK_ROW_MAJOR, 'L', (int)k, 1, a, (int)k, pull, 1);
    (void)LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'L', (int)k, a, (int)k);
    for (size_t i = 0; i < k; i++) {
        for (size_t j = i + 1; j < k; j++) {
            a[i * k + j] = a[j * k + i];
        }
    }
}

#endif
