/* Signals made by hand for the tests of the collapsed likelihood: rows of a linear SCM under do()
 * seen through a matrix, with everything that made them. */
#ifndef LSCM_TESTS_COLLAPSE_TESTING_H
#define LSCM_TESTS_COLLAPSE_TESTING_H

#include "infer/marginal/marginal.h"

#include "design_testing.h"
#include "invert.h"
#include "testing.h"

enum { MOST = 6 }; /* nodes, and directions */

typedef struct case_of {
    size_t d, rank, rows;
    double x_noise, actuator_noise, sigma;
    size_t never; /* this node is never a target; d: none */
    uint64_t seed;
} case_of;

typedef struct made_case {
    linear_view s;
    uint8_t *mask;  /* (rows, d): what s.design is made of */
    double *values; /* (rows, d) */
    collapse_parameters truth;
    collapse_graph graph;
    uint8_t parent[MOST * MOST];
    size_t order[MOST];
    double unit[MOST];
    dag_prior prior;
    double *z; /* (rows, d) */
} made_case;

static lscm_error why;

static inline double uniform(rng r, uint64_t k, double low, double high)
{
    return low + (high - low) * rng_uniform(r, k);
}

/* A graph in which node order[k] has about half of the nodes before it as parents. */
static inline void make_truth(made_case *m, const case_of *c)
{
    size_t d = c->d;
    rng r = {c->seed, 1};
    assert_ok(collapse_parameters_open(&m->truth, d, c->rank, &why));
    rng_permutation((rng){c->seed, 2}, 0, d, m->order);
    for (size_t to = 0; to < d; to++) {
        size_t i = m->order[to];
        for (size_t from = 0; from < to; from++) {
            size_t j = m->order[from];
            double w = uniform(r, 100 + j * d + i, 0.5, 1.5);
            m->parent[j * d + i] = rng_uniform(r, j * d + i) < 0.6 ? 1 : 0;
            m->truth.w[j * d + i] = m->parent[j * d + i] != 0 ? (to % 2 == 0 ? w : -w) : 0;
        }
        m->truth.c[i] = uniform(r, 200 + i, -1, 1);
        m->truth.sigma[i] = c->sigma * uniform(r, 220 + i, 0.7, 1.4);
        m->unit[i] = 1;
    }
    for (size_t k = 0; k < d * c->rank; k++) {
        m->truth.a[k] = uniform(r, 300 + k, -2, 2);
    }
    for (size_t k = 0; k < c->rank; k++) {
        m->truth.b[k] = uniform(r, 400 + k, -1, 1);
    }
    m->truth.actuator_noise = c->actuator_noise;
    m->truth.x_noise = c->x_noise;
    m->graph = (collapse_graph){m->parent, m->order};
    m->prior = (dag_prior){.ridge = 0.1, .dof = 3, .unit = m->unit};
}

static inline void make_row(made_case *m, const case_of *c, size_t row)
{
    size_t d = c->d;
    rng r = {c->seed, 3};
    uint64_t at = row * 4 * MOST;
    for (size_t i = 0; i < d; i++) {
        /* a third of the rows is observational, the others have one of 8 masks in runs of 7 */
        size_t set = row / 7 % 8;
        bool target = row % 3 != 0 && i != c->never &&
                      (set == i || rng_uniform((rng){c->seed, 4}, set * d + i) < 0.3);
        m->mask[row * d + i] = target ? 1 : 0;
        m->values[row * d + i] = target ? uniform(r, at + i, -3, 3) : 0;
    }
    for (size_t to = 0; to < d; to++) {
        size_t i = m->order[to];
        double z = m->truth.c[i] + m->truth.sigma[i] * rng_normal(r, at + MOST + i);
        for (size_t j = 0; j < d; j++) {
            z += m->parent[j * d + i] != 0 ? m->truth.w[j * d + i] * m->z[row * d + j] : 0;
        }
        if (m->mask[row * d + i] != 0) {
            z = m->values[row * d + i] + c->actuator_noise * rng_normal(r, at + MOST + i);
        }
        m->z[row * d + i] = z;
    }
    for (size_t k = 0; k < c->rank; k++) {
        double y = m->truth.b[k] + c->x_noise * rng_normal(r, at + 2 * MOST + k);
        for (size_t i = 0; i < d; i++) {
            y += m->z[row * d + i] * m->truth.a[i * c->rank + k];
        }
        m->s.y[row * c->rank + k] = y;
        m->s.spectrum[k] += y * y / (double)c->rows;
    }
}

static inline void *zeros(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    assert_non_null(memory);
    return memory;
}

static inline void make_case(made_case *m, const case_of *c)
{
    memset(m, 0, sizeof *m);
    make_truth(m, c);
    m->s = (linear_view){.rows = c->rows, .d = c->d, .D = c->rank, .rank = c->rank};
    m->s.y = zeros(c->rows * c->rank, sizeof(double));
    m->mask = zeros(c->rows * c->d, 1);
    m->values = zeros(c->rows * c->d, sizeof(double));
    m->s.spectrum = zeros(c->rank, sizeof(double));
    m->z = zeros(c->rows * c->d, sizeof(double));
    m->s.x_noise = c->x_noise;
    for (size_t row = 0; row < c->rows; row++) {
        make_row(m, c, row);
    }
    design_again(&m->s.design, c->rows, c->d, m->mask, m->values);
}

static inline void end_case(made_case *m)
{
    collapse_parameters_close(&m->truth);
    design_close(&m->s.design);
    free(m->s.y);
    free(m->mask);
    free(m->values);
    free(m->s.spectrum);
    free(m->z);
}

/* Every parameter in one list, noises as logarithms: number `k` of p changed by `by`. Returns false
 * past the last. */
static inline bool nudge(collapse_parameters *p, size_t k, double by)
{
    size_t d = p->d;
    size_t sizes[5] = {d * p->rank, p->rank, d * d, d, d};
    double *parts[5] = {p->a, p->b, p->w, p->c, p->sigma};
    for (size_t part = 0; part < 5; part++) {
        if (k < sizes[part]) {
            parts[part][k] = part == 4 ? parts[part][k] * exp(by) : parts[part][k] + by;
            return true;
        }
        k -= sizes[part];
    }
    p->actuator_noise *= k == 0 ? exp(by) : 1;
    p->x_noise *= k == 1 ? exp(by) : 1;
    return k < 2;
}

/* Number k of a gradient, in the order of nudge. */
static inline double slope_at(const collapse_parameters *g, size_t k)
{
    size_t d = g->d;
    size_t sizes[5] = {d * g->rank, g->rank, d * d, d, d};
    const double *parts[5] = {g->a, g->b, g->w, g->c, g->sigma};
    for (size_t part = 0; part < 5; part++) {
        if (k < sizes[part]) {
            return parts[part][k];
        }
        k -= sizes[part];
    }
    return k == 0 ? g->actuator_noise : g->x_noise;
}

static inline bool is_off_graph(const made_case *m, size_t k)
{
    size_t before = m->s.d * m->s.rank + m->s.rank;
    return k >= before && k < before + m->s.d * m->s.d && m->parent[k - before] == 0;
}

/* A start that knows nothing but the scale. */
static inline void random_start(const made_case *m, uint64_t seed, collapse_parameters *p)
{
    rng r = {seed, 9};
    collapse_parameters_copy(p, &m->truth);
    for (size_t k = 0; nudge(p, k, 0); k++) {
        if (!is_off_graph(m, k) && k + 2 < m->s.d * (m->s.rank + m->s.d + 2) + m->s.rank + 2) {
            (void)nudge(p, k, uniform(r, k, -1, 1));
        }
    }
}

/* What EM raises. */
static inline double objective(collapse *c, const made_case *m, const collapse_settings *s,
                               const collapse_parameters *p)
{
    return collapse_log_likelihood(c, &m->graph, p, NULL) + collapse_penalty(&m->graph, s, p, NULL);
}

#endif
