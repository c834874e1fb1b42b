/* Families of a random linear model with interventions: every node has rows, scatter and means of
 * its own, as the exact and sampled posteriors over graphs get them. */
#ifndef LSCM_TESTS_MADE_FAMILIES_H
#define LSCM_TESTS_MADE_FAMILIES_H

#include "infer/mechanism/mechanism.h"
#include "lcg.h"

#include <stdbool.h>

enum { MADE_NODES = 16 };

typedef struct made_family {
    size_t candidate[MADE_NODES];
    double scatter[MADE_NODES * MADE_NODES], mean[MADE_NODES];
} made_family;

typedef struct made_families {
    size_t d;
    double w[MADE_NODES * MADE_NODES]; /* (d, d): the model */
    double unit[MADE_NODES];
    made_family store[MADE_NODES];
    family f[MADE_NODES];
    dag_prior prior;
} made_families;

/* Scatter and means over `rows` fresh rows; other nodes are set to N(0, 2^2) in a third of them. */
static inline void made_moments(made_families *m, size_t i, const size_t *order, size_t rows,
                                double repeat, lcg *g)
{
    size_t d = m->d;
    family *f = &m->f[i];
    made_family *s = &m->store[i];
    size_t side = f->count + 1;
    double z[MADE_NODES];
    double sum[MADE_NODES] = {0};
    double square[MADE_NODES * MADE_NODES] = {0};
    for (size_t row = 0; row < rows; row++) {
        for (size_t k = 0; k < d; k++) {
            size_t node = order[k];
            bool set = node != i && lcg_uniform(g) < 1.0 / 3;
            z[node] = set ? 2 * lcg_normal(g) : 0.5 + lcg_normal(g);
            for (size_t j = 0; j < d && !set; j++) {
                z[node] += m->w[j * d + node] != 0 ? m->w[j * d + node] * z[j] : 0;
            }
        }
        for (size_t a = 0; a < side; a++) {
            double left = z[a < f->count ? f->candidate[a] : i];
            sum[a] += left;
            for (size_t b = 0; b < side; b++) {
                square[a * side + b] += left * z[b < f->count ? f->candidate[b] : i];
            }
        }
    }
    double n = rows > 0 ? (double)rows : 1;
    for (size_t a = 0; a < side; a++) {
        s->mean[a] = sum[a] / n;
        for (size_t b = 0; b < side; b++) {
            s->scatter[a * side + b] = repeat * (square[a * side + b] - sum[a] * sum[b] / n);
        }
    }
    f->rows = repeat * (double)rows;
}

/* d nodes; each candidate is there with probability `allowed`; node i has rows + i rows, each
 * counted `repeat` times. */
static inline void made_families_of(made_families *m, size_t d, size_t rows, double repeat,
                                    double allowed, uint64_t seed)
{
    lcg g = {seed};
    size_t order[MADE_NODES];
    *m = (made_families){.d = d};
    lcg_weights(&g, d, 0.5, order, m->w);
    for (size_t k = 0; k < d * d; k++) {
        m->w[k] *= 0.5;
    }
    m->prior = (dag_prior){.ridge = 0.1, .dof = 3, .log_odds = -0.7, .unit = m->unit};
    for (size_t i = 0; i < d; i++) {
        m->unit[i] = 0.5 + lcg_uniform(&g);
        family *f = &m->f[i];
        *f = (family){.node = i,
                      .levels = 1,
                      .candidate = m->store[i].candidate,
                      .scatter = m->store[i].scatter,
                      .mean = m->store[i].mean};
        for (size_t j = 0; j < d; j++) {
            if (j != i && lcg_uniform(&g) < allowed) {
                m->store[i].candidate[f->count++] = j;
            }
        }
        made_moments(m, i, order, rows > 0 ? rows + i : 0, repeat, &g);
    }
}

#endif
