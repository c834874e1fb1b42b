/* The E-step: expected sums over all rows, set by set. With V = X'X the covariance of z and
 * Y = C^-1 D (u, u), so that Cov(z, e_U) = X'Y and Var e_k = |Y[:, k]|^2,
 *
 *     E [1 z]'[1 z] = sum over reduced rows + n_t V,   E z'(y - zA - b) = sum - n_t V A,
 *     E z' e_i = sum + n_t (X'Y)_i,                    E |y - zA - b|^2 = sum + n_t |X A|^2.
 */
#include "infer/marginal/collapse_state.h"

#include "base/threads.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#define LOG_2_PI 1.83787706640934548356

collapse_sums collapse_sums_at(const collapse *c, size_t group)
{
    collapse_sums s;
    size_t n = c->d + 1;
    s.log_likelihood = c->sums + group * c->sum_size;
    s.rest = s.log_likelihood + 1;
    s.target = s.rest + 1;
    s.node = s.target + 1;
    s.gram = s.node + c->d;
    s.by_a = s.gram + n * n;
    s.node_gram = s.by_a + n * c->rank;
    s.by_node = s.node_gram + c->d * n * n;
    s.by_target = s.by_node + c->d * n;
    return s;
}

static double squares(const double *x, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        sum += x[k] * x[k];
    }
    return sum;
}

static void add_decoder(const collapse *c, const collapse_parameters *p, double rows, size_t q,
                        const collapse_slot *slot, const collapse_sums *sums)
{
    size_t d = c->d;
    size_t r = c->rank;
    size_t n = d + 1;
    size_t u = slot->law.u;
    product(1, turned(slot->z, q, n), plain(slot->z, q, n), 0, slot->gram, n);
    product(1, turned(slot->z, q, n), plain(slot->rest, q, r), 1, sums->by_a, r);
    if (u > 0) {
        product(rows, turned(slot->law.x, u, d), plain(slot->law.x, u, d), 1, slot->gram + n + 1,
                n);
        product(1, plain(slot->law.x, u, d), plain(p->a, d, r), 0, slot->xa, r);
        product(-rows, turned(slot->law.x, u, d), plain(slot->xa, u, r), 1, sums->by_a + r, r);
        *sums->rest += rows * squares(slot->xa, u * r);
    }
    cblas_daxpy((int)(n * n), 1, slot->gram, 1, sums->gram, 1);
}

static void add_nodes(const collapse *c, double rows, size_t q, const collapse_slot *slot,
                      const collapse_sums *sums)
{
    const set_law *law = &slot->law;
    size_t d = c->d;
    size_t n = d + 1;
    size_t u = law->u;
    memset(slot->root, 0, u * u * sizeof(double));
    for (size_t k = 0; k < u; k++) {
        slot->root[k * u + k] = law->scale[k];
        for (size_t row = 0; row < q; row++) {
            slot->h[row * u + k] *= law->scale[k]; /* from here on E e */
        }
    }
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, (int)u, (int)u, 1,
                law->h, (int)u, slot->root, (int)u);
    product(1, turned(slot->z, q, n), plain(slot->h, q, u), 0, slot->cross, u);
    product(rows, turned(law->x, u, d), plain(slot->root, u, u), 1, slot->cross + u, u);
    for (size_t k = 0; k < u; k++) {
        size_t i = law->active[k];
        double square = 0;
        for (size_t row = 0; row < q; row++) {
            square += slot->h[row * u + k] * slot->h[row * u + k];
        }
        for (size_t a = 0; a < u; a++) {
            square += rows * slot->root[a * u + k] * slot->root[a * u + k];
        }
        if (law->target[i] != 0) {
            *sums->target += square;
            cblas_daxpy((int)n, 1, slot->cross + k, (int)u, sums->by_target + i * n, 1);
            continue;
        }
        sums->node[i] += square;
        cblas_daxpy((int)(n * n), 1, slot->gram, 1, sums->node_gram + i * n * n, 1);
        cblas_daxpy((int)n, 1, slot->cross + k, (int)u, sums->by_node + i * n, 1);
    }
}

static void add_set(const collapse *c, const collapse_graph *g, const collapse_parameters *p,
                    size_t t, bool all, collapse_slot *slot, const collapse_sums *sums)
{
    size_t at = c->first[t];
    size_t q = c->first[t + 1] - at;
    double s_x = collapse_x_noise(c, p);
    double rows = (double)design_set_rows(c->design, t);
    collapse_law(c, g, p, t, slot);
    collapse_condition(c, p, q, c->one + at, c->y + at * c->rank, c->v + at * c->d, slot);
    double rest = squares(slot->rest, q * c->rank);
    *sums->rest += rest;
    *sums->log_likelihood -= 0.5 * (rows * ((double)c->rank * LOG_2_PI + slot->law.log_det) +
                                    squares(slot->h, q * slot->law.u) + rest / (s_x * s_x));
    if (all) {
        add_decoder(c, p, rows, q, slot, sums);
        if (slot->law.u > 0) {
            add_nodes(c, rows, q, slot, sums);
        }
    }
}

double collapse_expect(collapse *c, const collapse_graph *g, const collapse_parameters *p, bool all)
{
    double s_x = collapse_x_noise(c, p);
    double outside = c->s->x_noise;
    size_t sets = c->design->sets;
    threads_blas_single();
#pragma omp parallel for num_threads(collapse_team(c, c->first[sets] + sets * c->d))               \
    schedule(dynamic)
    for (size_t k = 0; k < COLLAPSE_GROUPS; k++) {
        collapse_sums sums = collapse_sums_at(c, k);
        memset(sums.log_likelihood, 0, c->sum_size * sizeof(double));
        for (size_t t = k * sets / COLLAPSE_GROUPS; t < (k + 1) * sets / COLLAPSE_GROUPS; t++) {
            add_set(c, g, p, t, all, &c->slot[omp_get_thread_num()], &sums);
        }
    }
    threads_blas_restore();
    for (size_t k = 1; k < COLLAPSE_GROUPS; k++) {
        for (size_t i = 0; i < c->sum_size; i++) {
            c->sums[i] += c->sums[k * c->sum_size + i];
        }
    }
    double beyond = c->outside > 0
                        ? c->outside * (LOG_2_PI + 2 * log(s_x) + outside * outside / (s_x * s_x))
                        : 0;
    return *collapse_sums_at(c, 0).log_likelihood - 0.5 * beyond;
}

double collapse_log_likelihood(collapse *c, const collapse_graph *g, const collapse_parameters *p,
                               collapse_parameters *gradient)
{
    size_t d = c->d;
    size_t r = c->rank;
    size_t n = d + 1;
    double rows = (double)c->rows;
    double s_x = collapse_x_noise(c, p);
    double value = collapse_expect(c, g, p, gradient != NULL);
    collapse_sums sums = collapse_sums_at(c, 0);
    double targets = 0;
    if (gradient == NULL) {
        return value;
    }
    for (size_t k = 0; k < r; k++) {
        gradient->b[k] = sums.by_a[k] / (s_x * s_x);
    }
    for (size_t k = 0; k < d * r; k++) {
        gradient->a[k] = sums.by_a[r + k] / (s_x * s_x);
    }
    for (size_t i = 0; i < d; i++) {
        double variance = p->sigma[i] * p->sigma[i];
        for (size_t j = 0; j < d; j++) {
            gradient->w[j * d + i] =
                g->parent[j * d + i] != 0 ? sums.by_node[i * n + 1 + j] / variance : 0;
        }
        gradient->c[i] = sums.by_node[i * n] / variance;
        gradient->sigma[i] = sums.node[i] / variance - (rows - (double)c->targeted[i]);
        targets += (double)c->targeted[i];
    }
    gradient->actuator_noise = 0;
    if (p->actuator_noise > 0) {
        double variance = p->actuator_noise * p->actuator_noise;
        gradient->actuator_noise = *sums.target / variance - targets;
    }
    gradient->x_noise = (*sums.rest + c->outside * c->s->x_noise * c->s->x_noise) / (s_x * s_x) -
                        rows * (double)r - c->outside;
    return value;
}
