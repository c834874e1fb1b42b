/* Rows of which some mechanisms bend, the families and the bends of them, and the law of one family
 * by definition: with X the functions of its parents in the n rows in which its node is free, V
 * their covariance but for s^2 where sets have an intercept of their own, and L the prior
 * precisions,
 *
 *     y | c, s^2 ~ N(1 c, s^2 M),   M = V + X L^-1 X',   c flat:
 *
 * the evidence by (n, n) matrices, where the library has it by sums over rows. */
#ifndef LSCM_TESTS_BENDS_TESTING_H
#define LSCM_TESTS_BENDS_TESTING_H

#include "design_testing.h"
#include "infer/mechanism/mechanism.h"
#include "lcg.h"
#include "testing.h"

enum { BENT_ROWS = 320, BENT_NODES = 16, BENT_WIDEST = 4 * CURVE_WIDTH + 6 * CURVE_PAIRS };

/* G and H of the kinds that are not straight, and the ridge. */
static const double BENT_G[BEND_CURVES] = {1, 10, 100, 1000};
static const double BENT_H[BEND_PAIRS] = {1, 20, 400};
static const double BENT_RIDGE = 0.01;

static lscm_error why;

typedef struct bent_problem {
    size_t rows, d;
    double z[BENT_ROWS * BENT_NODES], unit[BENT_NODES];
    uint8_t mask[BENT_ROWS * BENT_NODES], keep[BENT_ROWS];
    uint8_t forbidden[BENT_NODES * BENT_NODES], required[BENT_NODES * BENT_NODES];
    size_t count[BENT_NODES], candidate[BENT_NODES * BENT_NODES];
    design design;
    families f;
    bends b;
    dag_prior prior;
} bent_problem;

/* Node i is made of the two before it: straight, a valley, a wave, a product in turn. Sets of
 * unequal size; every seventh row does not count. */
static inline void bent_rows(bent_problem *p, size_t rows, size_t d, uint64_t seed)
{
    lcg g = {seed};
    memset(p, 0, sizeof *p);
    p->rows = rows;
    p->d = d;
    for (size_t r = 0; r < rows; r++) {
        size_t set = r * r / (rows + 1) % (d + 1); /* d: nothing was set */
        double *z = p->z + r * d;
        p->keep[r] = r % 7 != 3 ? 1 : 0;
        for (size_t i = 0; i < d; i++) {
            double one = i > 0 ? z[i - 1] - (double)(i - 1) : 0;
            double other = i > 1 ? z[i - 2] - (double)(i - 2) : 0;
            double effect = i % 4 == 0   ? 0.7 * one
                            : i % 4 == 1 ? one * one - 1
                            : i % 4 == 2 ? 2 * sin(2 * one) + 0.5 * other
                                         : tanh(one) * other;
            bool hit = set == i || (set + 2 == i && r % 3 == 0);
            p->mask[r * d + i] = hit ? 1 : 0;
            z[i] = (double)i + (hit ? 1.5 * lcg_normal(&g) : effect + 0.5 * lcg_normal(&g));
            z[i] += hit ? 0 : 0.6 * sin((double)(3 * set + i));
        }
    }
    for (size_t i = 0; i < d; i++) {
        p->unit[i] = 0.5 + lcg_uniform(&g);
    }
    p->prior = (dag_prior){.ridge = 0.1, .dof = 3, .log_odds = -0.7, .unit = p->unit};
    design_again(&p->design, rows, d, p->mask, NULL);
}

static inline void bent_fit_if(bent_problem *p, bend_reach reach, bool effects,
                               const bend_asking *asking)
{
    latent_rows rows = {&p->design, p->z, p->keep, effects};
    candidate_lists lists = {p->d > 1 ? p->d - 1 : 1, p->count, p->candidate, p->required};
    candidate_lists_all(&lists, p->d, p->forbidden);
    assert_ok(families_of(&p->f, &rows, &lists, &why));
    assert_ok(bends_of(&p->b, &p->f, &rows, reach, &p->prior, asking, &why));
}

static inline void bent_fit(bent_problem *p, bend_reach reach, bool effects)
{
    bent_fit_if(p, reach, effects, NULL);
}

static inline void bent_discard(bent_problem *p)
{
    bends_close(&p->b);
    families_close(&p->f);
    design_close(&p->design);
}

/* The integral of phi_k'' phi_l'' over all z: phi' is a quadratic between knots, phi'' a line, so
 * differences and two points of Gauss are exact. */
static inline double bent_rough(const curve_basis *basis, size_t k, size_t l)
{
    double sum = 0;
    for (size_t m = 0; m + 1 < basis->knots; m++) {
        double half = (basis->knot[m + 1] - basis->knot[m]) / 2;
        double middle = basis->knot[m] + half;
        for (int side = -1; side <= 1; side += 2) {
            double left[CURVE_WIDTH];
            double right[CURVE_WIDTH];
            double at = middle + side * half / sqrt(3);
            curve_slopes(basis, at - 0.4 * half, left);
            curve_slopes(basis, at + 0.4 * half, right);
            double step = right[k] - left[k];
            sum += half * step * (right[l] - left[l]) / (0.64 * half * half);
        }
    }
    return sum;
}

/* The functions of some parents in a kind, and the rows of their node. */
typedef struct bent_law {
    size_t n, width;
    double y[BENT_ROWS], x[BENT_ROWS][BENT_WIDEST], v[BENT_ROWS][BENT_ROWS];
    double precision[BENT_WIDEST]; /* L */
    int32_t term[BENT_WIDEST][3];  /* parents p, q or -1, and which function */
    size_t parents;
} bent_law;

static inline void bent_add(bent_law *law, int32_t p, int32_t q, size_t k, double precision)
{
    law->term[law->width][0] = p;
    law->term[law->width][1] = q;
    law->term[law->width][2] = (int32_t)k;
    law->precision[law->width++] = precision;
}

/* How much rougher function k is than the first that bends; 1 for those before. */
static inline double bent_rougher(const curve_basis *basis, size_t k)
{
    return k < 2 ? 1 : bent_rough(basis, k, k) / bent_rough(basis, 1, 1);
}

static inline double bent_sd(const bent_problem *p, size_t node)
{
    double n = 0;
    double sum = 0;
    double square = 0;
    for (size_t r = 0; r < p->rows; r++) {
        n += p->keep[r];
        sum += p->keep[r] != 0 ? p->z[r * p->d + node] : 0;
    }
    for (size_t r = 0; r < p->rows; r++) {
        double e = p->z[r * p->d + node] - sum / n;
        square += p->keep[r] != 0 ? e * e : 0;
    }
    return sqrt(square / n);
}

/* Which functions there are: of the parents (a mask over nodes) of node i in the kind of G and H,
 * 0: none. */
static inline void bent_functions(bent_law *law, const bent_problem *p, size_t i, uint32_t parents,
                                  const double *gh)
{
    double h = gh[1];
    size_t most = p->count[i] > BEND_MANY ? BEND_FEWER : CURVE_WIDTH;
    law->width = 0;
    law->parents = 0;
    for (size_t j = 0; j < p->d; j++) {
        if ((parents >> j & 1) != 0) {
            const curve_basis *basis = &p->b.basis[j];
            double by = p->unit[j] / bent_sd(p, j);
            law->parents++;
            bent_add(law, (int32_t)j, -1, 0, BENT_RIDGE * by * by);
            for (size_t k = 1; gh[0] > 0 && k + 1 < basis->knots && k < most; k++) {
                bent_add(law, (int32_t)j, -1, k, bent_rougher(basis, k) / gh[0]);
            }
        }
    }
    for (size_t a = 0; a < p->d && h > 0; a++) {
        for (size_t b = a + 1; b < p->d; b++) {
            for (size_t k = 0; k < CURVE_PAIRS && (parents >> a & parents >> b & 1) != 0; k++) {
                double r = bent_rougher(&p->b.basis[a], CURVE_PAIR[k][0]) *
                           bent_rougher(&p->b.basis[b], CURVE_PAIR[k][1]);
                bent_add(law, (int32_t)a, (int32_t)b, k, r / h);
            }
        }
    }
}

/* One function at a row z (d). */
static inline double bent_function(const bends *b, const int32_t *term, const double *z)
{
    double one[CURVE_WIDTH];
    double other[CURVE_WIDTH];
    curve_values(&b->basis[term[0]], z[term[0]], one);
    if (term[1] < 0) {
        return one[term[2]];
    }
    curve_values(&b->basis[term[1]], z[term[1]], other);
    return one[CURVE_PAIR[term[2]][0]] * other[CURVE_PAIR[term[2]][1]];
}

static inline void bent_law_of(bent_law *law, const bent_problem *p, size_t i, uint32_t parents,
                               const double *gh, double tau)
{
    size_t row[BENT_ROWS];
    bent_functions(law, p, i, parents, gh);
    law->n = 0;
    for (size_t r = 0; r < p->rows; r++) {
        if (p->keep[r] != 0 && p->mask[r * p->d + i] == 0) {
            const double *z = p->z + r * p->d;
            law->y[law->n] = z[i];
            for (size_t k = 0; k < law->width; k++) {
                law->x[law->n][k] = bent_function(&p->b, law->term[k], z);
            }
            row[law->n++] = r;
        }
    }
    for (size_t a = 0; a < law->n; a++) {
        for (size_t b = 0; b < law->n; b++) {
            bool same = memcmp(p->mask + row[a] * p->d, p->mask + row[b] * p->d, p->d) == 0;
            law->v[a][b] = (a == b ? 1 : 0) + (same ? tau * tau : 0);
        }
    }
}

/* Lower Cholesky factor of m (n, n; rows `stride` apart) in its place; log of its determinant. */
static inline double bent_factor(double *m, size_t n, size_t stride)
{
    double log_det = 0;
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b <= a; b++) {
            double sum = m[a * stride + b];
            for (size_t c = 0; c < b; c++) {
                sum -= m[a * stride + c] * m[b * stride + c];
            }
            m[a * stride + b] = a == b ? sqrt(sum) : sum / m[b * stride + b];
        }
        log_det += 2 * log(m[a * stride + a]);
    }
    return log_det;
}

/* x = L^-1 x */
static inline void bent_forward(const double *m, size_t n, size_t stride, double *x)
{
    for (size_t a = 0; a < n; a++) {
        for (size_t c = 0; c < a; c++) {
            x[a] -= m[a * stride + c] * x[c];
        }
        x[a] /= m[a * stride + a];
    }
}

/* log p(y) but for what all kinds have in common. */
static inline double bent_evidence(const bent_law *law, const bent_problem *p, size_t i)
{
    static double m[BENT_ROWS][BENT_ROWS];
    double y[BENT_ROWS];
    double one[BENT_ROWS];
    double dots[3] = {0};
    size_t n = law->n;
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b <= a; b++) {
            m[a][b] = law->v[a][b];
            for (size_t k = 0; k < law->width; k++) {
                m[a][b] += law->x[a][k] * law->x[b][k] / law->precision[k];
            }
        }
        y[a] = law->y[a];
        one[a] = 1;
    }
    double log_det = bent_factor(m[0], n, BENT_ROWS);
    bent_forward(m[0], n, BENT_ROWS, y);
    bent_forward(m[0], n, BENT_ROWS, one);
    for (size_t a = 0; a < n; a++) {
        dots[0] += y[a] * y[a];
        dots[1] += y[a] * one[a];
        dots[2] += one[a] * one[a];
    }
    double q = BENT_RIDGE * p->unit[i] * p->unit[i] + dots[0] - dots[1] * dots[1] / dots[2];
    double freedom = p->prior.dof + (double)law->parents + (double)n - 1;
    return -freedom / 2 * log(q) - log_det / 2 - log(dots[2]) / 2;
}

/* G and H of a kind, and P(kind). */
static inline double bent_kind(size_t kind, bool pairs, double gh[2])
{
    size_t k = kind > BEND_CURVES ? kind - 1 - BEND_CURVES : 0;
    gh[0] = kind == 0 ? 0 : BENT_G[kind <= BEND_CURVES ? kind - 1 : k / BEND_PAIRS];
    gh[1] = kind <= BEND_CURVES ? 0 : BENT_H[k % BEND_PAIRS];
    double alike = kind <= BEND_CURVES ? BEND_CURVES : BEND_CURVES * BEND_PAIRS;
    return kind == 0 ? 0.5 : (pairs ? 0.25 : 0.5) / alike;
}

/* log P(kind) + log evidence less that of the straight kind, (BEND_KINDS); how many there are. */
static inline size_t bent_kinds(const bent_problem *p, size_t i, uint32_t parents, double tau,
                                double *out)
{
    static bent_law law;
    bool pairs = p->b.reach == BEND_JOINT && __builtin_popcount(parents) > 1;
    size_t kinds = pairs ? BEND_KINDS : 1 + BEND_CURVES;
    double straight = 0;
    for (size_t kind = 0; kind < kinds; kind++) {
        double gh[2];
        double share = bent_kind(kind, pairs, gh);
        bent_law_of(&law, p, i, parents, gh, tau);
        double evidence = bent_evidence(&law, p, i);
        straight = kind == 0 ? evidence : straight;
        out[kind] = log(share) + evidence - straight;
    }
    return kinds;
}

/* log sum e^x */
static inline double bent_sum(const double *x, size_t n)
{
    double top = x[0];
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        top = fmax(top, x[k]);
    }
    for (size_t k = 0; k < n; k++) {
        sum += exp(x[k] - top);
    }
    return top + log(sum);
}

/* Masks over the candidates of a family as masks over nodes. */
static inline uint32_t bent_nodes(const family *f, uint32_t parents)
{
    uint32_t out = 0;
    for (size_t c = 0; c < f->count; c++) {
        out |= (parents >> c & 1) << f->candidate[c];
    }
    return out;
}

/* ---- Draws ----------------------------------------------------------------------------------- */

enum { DRAWS = 20000, NODES = 4 };

typedef struct drawing {
    uint32_t parents[DRAWS * NODES];
    uint8_t place[DRAWS * NODES];
    double w[DRAWS * NODES * NODES], sigma[DRAWS * NODES], intercept[DRAWS * NODES];
    double effect[DRAWS * NODES];
    bend_draws draws;
} drawing;

/* The same parents for all; w, sigma, intercept and effect are numbers that no law would give, to
 * be seen again where a node is straight. */
static inline void draw(drawing *t, const bent_problem *p, size_t count, const uint32_t *parents,
                        const size_t *level)
{
    for (size_t k = 0; k < count * NODES; k++) {
        size_t i = k % NODES;
        const family *f = &p->f.list[i];
        t->parents[k] = parents[i];
        t->place[k] = (uint8_t)f->level[level[i]].place;
        t->sigma[k] = 1000 + (double)k;
        t->intercept[k] = 2000 + (double)k;
        t->effect[k] = 3000 + (double)k;
        for (size_t j = 0; j < NODES; j++) {
            bool edge = (bent_nodes(f, parents[i]) >> j & 1) != 0;
            t->w[(k - i + j) * NODES + i] = edge ? 4000 + (double)k : 0;
        }
    }
    t->draws = (bend_draws){.count = count,
                            .d = NODES,
                            .parents = t->parents,
                            .place = t->place,
                            .w = t->w,
                            .sigma = t->sigma,
                            .intercept = t->intercept,
                            .effect = t->effect};
    assert_ok(bends_draw(&p->b, &p->f, &p->prior, (rng){11, 12}, &t->draws, &why));
    assert_int_equal(t->draws.bent.draws, count);
    assert_int_equal(t->draws.bent.d, NODES);
}

#endif
