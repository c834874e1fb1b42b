/* Mechanisms that bend, made by hand, and what they are by definition: a natural cubic spline as
 *
 *     f(z) = a + b z + sum_k c_k max(0, z - t_k)^3,   sum c_k = sum c_k t_k = 0,
 *
 * through its values at the knots t, another way than the library's pieces. Include it before
 * testing.h: cmocka has a macro `fail`. */
#ifndef LSCM_TESTS_MADE_BENT_H
#define LSCM_TESTS_MADE_BENT_H

#include "made_posterior.h"

#include <math.h>

typedef struct power_spline {
    size_t knots;
    const double *knot;
    double a, b, c[CURVE_KNOTS];
} power_spline;

/* Solves the n rows of m (n, n + 1) by elimination; the last column becomes the answer. */
static inline void power_solve(size_t n, double m[][CURVE_KNOTS + 3])
{
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t r = k; r < n; r++) {
            best = fabs(m[r][k]) > fabs(m[best][k]) ? r : best;
        }
        for (size_t c = 0; c <= n; c++) {
            double swap = m[k][c];
            m[k][c] = m[best][c];
            m[best][c] = swap;
        }
        for (size_t r = 0; r < n; r++) {
            double times = r == k ? 0 : m[r][k] / m[k][k];
            for (size_t c = k; c <= n; c++) {
                m[r][c] -= times * m[k][c];
            }
        }
    }
    for (size_t k = 0; k < n; k++) {
        m[k][n] /= m[k][k];
    }
}

static inline double power_of(double z, double knot, int power)
{
    return z > knot ? pow(z - knot, power) : 0;
}

/* Of curve k of a basis. */
static inline power_spline power_through(const curve_basis *basis, size_t k)
{
    double m[CURVE_KNOTS + 2][CURVE_KNOTS + 3] = {{0}};
    size_t n = basis->knots;
    power_spline f = {.knots = n, .knot = basis->knot};
    for (size_t r = 0; r < n; r++) {
        m[r][0] = 1;
        m[r][1] = basis->knot[r];
        for (size_t c = 0; c < n; c++) {
            m[r][2 + c] = power_of(basis->knot[r], basis->knot[c], 3);
        }
        m[r][n + 2] = basis->value[r][k];
        m[n][2 + r] = 1;
        m[n + 1][2 + r] = basis->knot[r];
    }
    power_solve(n + 2, m);
    f.a = m[0][n + 2];
    f.b = m[1][n + 2];
    for (size_t c = 0; c < n; c++) {
        f.c[c] = m[2 + c][n + 2];
    }
    return f;
}

static inline double power_value(const power_spline *f, double z)
{
    double sum = f->a + f->b * z;
    for (size_t k = 0; k < f->knots; k++) {
        sum += f->c[k] * power_of(z, f->knot[k], 3);
    }
    return sum;
}

static inline double power_second(const power_spline *f, double z)
{
    double sum = 0;
    for (size_t k = 0; k < f->knots; k++) {
        sum += 6 * f->c[k] * power_of(z, f->knot[k], 1);
    }
    return sum;
}

/* Random curves on so many knots, about -2 to 2. */
static inline curve_basis made_basis(lcg *g, size_t knots)
{
    curve_basis basis = {.knots = knots};
    double at = -2;
    for (size_t k = 0; k < knots; k++) {
        basis.knot[k] = at;
        at += (0.5 + lcg_uniform(g)) * 4 / (double)knots;
        for (size_t c = 0; c + 1 < knots; c++) {
            basis.value[k][c] = lcg_normal(g);
        }
    }
    for (size_t c = 0; c + 1 < knots; c++) {
        power_spline f = power_through(&basis, c);
        for (size_t k = 0; k < knots; k++) {
            basis.second[k][c] = power_second(&f, basis.knot[k]);
        }
    }
    return basis;
}

/* All nodes that have parents bend, but for every third of (draw, node): a curve of each parent,
 * and of the first two what they do together. */
static inline bool made_bends(const lscm_posterior *p, size_t draw, size_t node)
{
    bool any = false;
    for (size_t j = 0; j < p->d; j++) {
        any = any || p->w[(draw * p->d + j) * p->d + node] != 0;
    }
    return any && (draw + node) % 3 != 0;
}

static inline void made_term(bent_mechanisms *b, uint64_t t, lcg *g, int32_t one, int32_t other)
{
    b->parent[2 * t] = one;
    b->parent[2 * t + 1] = other;
    for (size_t k = 0; k < (other < 0 ? CURVE_WIDTH : CURVE_PAIRS); k++) {
        b->coef[t * CURVE_WIDTH + k] = lcg_normal(g);
    }
}

/* The terms of one node, where b is NULL only their number. */
static inline uint64_t made_terms(const lscm_posterior *p, bent_mechanisms *b, size_t draw,
                                  size_t node, uint64_t t, lcg *g)
{
    int32_t found[2] = {-1, -1};
    for (size_t j = 0; j < p->d && made_bends(p, draw, node); j++) {
        if (p->w[(draw * p->d + j) * p->d + node] != 0) {
            found[0] = found[0] < 0 ? (int32_t)j : found[0];
            found[1] = found[0] < (int32_t)j && found[1] < 0 ? (int32_t)j : found[1];
            if (b != NULL) {
                made_term(b, t, g, (int32_t)j, BENT_ALONE);
            }
            t++;
        }
    }
    if (found[1] >= 0) {
        if (b != NULL) {
            made_term(b, t, g, found[0], found[1]);
        }
        t++;
    }
    return t;
}

/* The posterior, some of whose nodes bend in some draws. */
static inline lscm_posterior *made_to_bend(lscm_posterior *p)
{
    lcg g = {99};
    uint64_t terms = 0;
    for (size_t k = 0; k < p->draws * p->d; k++) {
        terms = made_terms(p, NULL, k / p->d, k % p->d, terms, &g);
    }
    if (posterior_add_bent(p, (size_t)terms, NULL) != LSCM_OK) {
        abort();
    }
    for (size_t i = 0; i < p->d; i++) {
        p->bent->basis[i] = made_basis(&g, i == 0 ? CURVE_KNOTS : 4 + i % 4);
    }
    terms = 0;
    for (size_t k = 0; k < p->draws * p->d; k++) {
        p->bent->first[k] = terms;
        terms = made_terms(p, p->bent, k / p->d, k % p->d, terms, &g);
    }
    p->bent->first[p->draws * p->d] = terms;
    return p;
}

/* phi_k of a node by definition */
static inline double made_phi(const bent_mechanisms *b, int32_t node, size_t k, double z)
{
    power_spline f = power_through(&b->basis[node], k);
    return power_value(&f, z);
}

/* All terms by definition; `only`: those of this parent alone, or -1 for all. */
static inline double made_effect(const bent_mechanisms *b, size_t draw, size_t i, const double *z,
                                 int only)
{
    static const size_t pairs[10][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 2},
                                        {2, 0}, {1, 2}, {2, 1}, {0, 3}, {3, 0}};
    double sum = 0;
    for (uint64_t t = b->first[draw * b->d + i]; t < b->first[draw * b->d + i + 1]; t++) {
        int32_t p = b->parent[2 * t];
        int32_t q = b->parent[2 * t + 1];
        const double *coef = b->coef + t * CURVE_WIDTH;
        if (only >= 0 && (p != only || q >= 0)) {
            continue;
        }
        for (size_t k = 0; k < CURVE_WIDTH && q < 0; k++) {
            sum += coef[k] * made_phi(b, p, k, z[p]);
        }
        for (size_t k = 0; k < 10 && q >= 0; k++) {
            sum += coef[k] * made_phi(b, p, pairs[k][0], z[p]) * made_phi(b, q, pairs[k][1], z[q]);
        }
    }
    return sum;
}

#endif
