/* What the tests of the law of orders share: brute force over permutations, the network in plain
 * loops, and a law whose logits are known. */
#ifndef LSCM_TESTS_ORDER_TESTING_H
#define LSCM_TESTS_ORDER_TESTING_H

#include "activations.h"
#include "infer/ordering/ordering.h"
#include "lcg.h"
#include "on_cpu.h"
#include "testing.h"

static lscm_error why;

enum { MOST = 8, HIDDEN = 128 };

/* ---- Another way ------------------------------------------------------------------------------
 */

static inline bool next_permutation(size_t *p, size_t n)
{
    size_t i = n;
    while (i > 1 && p[i - 2] >= p[i - 1]) {
        i--;
    }
    if (i < 2) {
        return false;
    }
    size_t j = n;
    while (p[j - 1] <= p[i - 2]) {
        j--;
    }
    size_t kept = p[i - 2];
    p[i - 2] = p[j - 1];
    p[j - 1] = kept;
    for (size_t a = i - 1, b = n - 1; a < b; a++, b--) {
        kept = p[a];
        p[a] = p[b];
        p[b] = kept;
    }
    return true;
}

/* log perm(exp T); marginal (d, d) unless NULL: the probability of P[k][i] = 1. */
static inline double log_permanent(const double *logit, size_t d, double *marginal)
{
    size_t p[MOST];
    double best = -INFINITY;
    for (int pass = 0; pass < 2; pass++) {
        double sum = 0;
        for (size_t i = 0; i < d; i++) {
            p[i] = i;
        }
        for (size_t i = 0; pass == 1 && marginal != NULL && i < d * d; i++) {
            marginal[i] = 0;
        }
        do {
            double score = 0;
            for (size_t k = 0; k < d; k++) {
                score += logit[k * d + p[k]];
            }
            if (pass == 0) {
                best = fmax(best, score);
                continue;
            }
            sum += exp(score - best);
            for (size_t k = 0; k < d && marginal != NULL; k++) {
                marginal[k * d + p[k]] += exp(score - best);
            }
        } while (next_permutation(p, d));
        if (pass == 1) {
            for (size_t i = 0; i < d * d && marginal != NULL; i++) {
                marginal[i] /= sum;
            }
            return best + log(sum);
        }
    }
    return NAN;
}

/* One dense layer: out (columns) = in (rows) W + b. Returns what follows them. */
static inline const float *one_layer(const float *parameter, size_t rows, size_t columns,
                                     const double *in, double *out)
{
    for (size_t j = 0; j < columns; j++) {
        out[j] = (double)parameter[rows * columns + j];
        for (size_t i = 0; i < rows; i++) {
            out[j] += in[i] * (double)parameter[i * columns + j];
        }
    }
    return parameter + (rows + 1) * columns;
}

/* T = 10 tanh(net(theta)/10), inputs-128-128-d^2. */
static inline void logits_of(const float *parameter, size_t d, size_t inputs, const double *theta,
                             double *logit)
{
    double first[HIDDEN];
    double second[HIDDEN];
    parameter = one_layer(parameter, inputs, HIDDEN, theta, first);
    for (size_t i = 0; i < HIDDEN; i++) {
        first[i] = f_of(ACTIVATION_GELU, first[i]);
    }
    parameter = one_layer(parameter, HIDDEN, HIDDEN, first, second);
    for (size_t i = 0; i < HIDDEN; i++) {
        second[i] = f_of(ACTIVATION_GELU, second[i]);
    }
    (void)one_layer(parameter, HIDDEN, d * d, second, logit);
    for (size_t i = 0; i < d * d; i++) {
        logit[i] = 10 * tanh(logit[i] / 10);
    }
}

/* <P, T> */
static inline double score_of(const double *logit, size_t d, const size_t *order)
{
    double sum = 0;
    for (size_t k = 0; k < d; k++) {
        sum += logit[k * d + order[k]];
    }
    return sum;
}

static inline double log_q_of(const double *logit, size_t d, const size_t *order)
{
    return score_of(logit, d, order) - log_permanent(logit, d, NULL);
}

static inline void assert_orders(const size_t *order, size_t draws, size_t d)
{
    for (size_t s = 0; s < draws; s++) {
        unsigned seen = 0;
        for (size_t k = 0; k < d; k++) {
            assert_true(order[s * d + k] < d);
            seen |= 1U << order[s * d + k];
        }
        assert_int_equal(seen, (1U << d) - 1);
    }
}

/* ---- A law and its arrays ---------------------------------------------------------------------
 */

typedef struct fixture {
    size_t d, inputs, draws;
    order_law *law;
    double *theta, *theta_slope; /* (draws, inputs) */
    double *slope;               /* (draws, d, d) */
    double *log_q;               /* (draws) */
    size_t *order;               /* (draws, d) */
} fixture;

static inline void begin(fixture *f, size_t d, size_t draws, bool exact)
{
    lcg random = {d + 1000 * draws};
    *f = (fixture){.d = d, .inputs = d * (d - 1) / 2 + 1, .draws = draws};
    assert_ok(order_open(&f->law, on_cpu(), d, f->inputs, draws, exact, &why));
    assert_int_equal(order_parameters(f->law),
                     (f->inputs + 1) * HIDDEN + (HIDDEN + 1) * HIDDEN + (HIDDEN + 1) * d * d);
    order_begin(f->law, (rng){11, d});
    f->theta = calloc(draws * f->inputs, sizeof(double));
    f->theta_slope = calloc(draws * f->inputs, sizeof(double));
    f->slope = calloc(draws * d * d, sizeof(double));
    f->log_q = calloc(draws, sizeof(double));
    f->order = calloc(draws * d, sizeof(size_t));
    assert_true(f->theta != NULL && f->theta_slope != NULL && f->slope != NULL &&
                f->log_q != NULL && f->order != NULL);
    for (size_t i = 0; i < draws * f->inputs; i++) {
        f->theta[i] = lcg_normal(&random);
    }
}

static inline void end(fixture *f)
{
    order_close(f->law);
    free(f->theta);
    free(f->theta_slope);
    free(f->slope);
    free(f->log_q);
    free(f->order);
}

static inline void draw(fixture *f, double temperature, uint64_t seed)
{
    assert_ok(order_draw(f->law, f->theta, temperature, (rng){seed, 1}, f->order, f->log_q, &why));
    assert_orders(f->order, f->draws, f->d);
}

/* The last bias (d, d), all other parameters 0: T = 10 tanh(bias/10) in every draw. */
static inline float *only_bias(fixture *f, double scale, double *logit)
{
    lcg random = {3 + f->d};
    size_t n = order_parameters(f->law);
    float *bias = order_parameter(f->law) + n - f->d * f->d;
    memset(order_parameter(f->law), 0, n * sizeof(float));
    for (size_t i = 0; i < f->d * f->d; i++) {
        bias[i] = (float)(scale * lcg_normal(&random));
        logit[i] = 10 * tanh((double)bias[i] / 10);
    }
    return bias;
}

static inline const float *bias_gradient(const fixture *f)
{
    return order_gradient(f->law) + order_parameters(f->law) - f->d * f->d;
}

/* ---- log q ------------------------------------------------------------------------------------
 */

#endif
