/* Random models: a random order of the nodes, a random graph along it, weights or bends, noise.
 *
 *   er     each pair (earlier, later) is an edge with probability min(1, 2 e/(d - 1))
 *   ba     node k of the order takes min(k, round e) distinct parents among the earlier ones, each
 *          chosen in proportion to 1 + the edges it has already (Barabasi-Albert)
 *   full   every pair
 *
 * The prior of the anchored method (infer/mechanism/family.h), for one unit u of all nodes:
 *
 *   sigma_i^2 = t u^2 / chi2(k + |pa_i|),   w_ji | sigma_i ~ N(0, sigma_i^2 / (t u^2))
 */
#include "scm/simulate/model.h"

#include "base/rng.h"
#include "base/streams.h"
#include "scm/mechanism/mechanism.h"

#include <math.h>
#include <string.h>

/* Choices of the settings table, in its order. */

/* edge (d, d) over positions: edge[a * d + b] = 1 when position a is a parent of position b. */
static void draw_er(double probability, uint64_t seed, size_t d, uint8_t *edge)
{
    rng r = {seed, STREAM_EDGES};
    for (size_t a = 0; a < d; a++) {
        for (size_t b = a + 1; b < d; b++) {
            edge[a * d + b] = rng_uniform(r, a * d + b) < probability ? 1 : 0;
        }
    }
}

static void draw_ba(size_t parents, uint64_t seed, size_t d, uint8_t *edge, size_t *degree)
{
    rng r = {seed, STREAM_EDGES};
    uint64_t used = 0;
    for (size_t b = 1; b < d; b++) {
        size_t wanted = parents < b ? parents : b;
        size_t total = 0;
        for (size_t a = 0; a < b; a++) {
            total += 1 + degree[a];
        }
        for (size_t found = 0; found < wanted; found++) {
            size_t ticket = (size_t)rng_below(r, used++, total);
            size_t a = 0;
            /* walk over those not taken yet; their shares add up to total */
            for (;; a++) {
                size_t share = edge[a * d + b] != 0 ? 0 : 1 + degree[a];
                if (ticket < share) {
                    break;
                }
                ticket -= share;
            }
            edge[a * d + b] = 1;
            total -= 1 + degree[a];
        }
        for (size_t a = 0; a < b; a++) {
            degree[a] += edge[a * d + b];
            degree[b] += edge[a * d + b];
        }
    }
}

static void draw_graph(const lscm_simulation *s, size_t d, uint8_t *edge, size_t *degree)
{
    uint64_t seed = (uint64_t)s->seed;
    if (s->graph == LSCM_GRAPH_BA) {
        draw_ba((size_t)llround(s->degree), seed, d, edge, degree);
    } else {
        double probability = d > 1 ? 2 * s->degree / ((double)d - 1) : 0;
        draw_er(s->graph == LSCM_GRAPH_FULL ? 1 : probability, seed, d, edge);
    }
}

double scm_value_unit(const lscm_simulation *s)
{
    double unit = s->values == LSCM_VALUES_UNIFORM ? s->value_scale / sqrt(12) : s->value_scale / 2;
    return s->values != LSCM_VALUES_ZERO && unit > 0 ? unit : 1;
}

/* sqrt(t) u */
static double prior_scale(const lscm_simulation *s)
{
    return sqrt(s->ridge) * scm_value_unit(s);
}

/* Of an edge to a node with noise sigma. */
static double draw_weight(const lscm_simulation *s, double sigma, uint64_t index)
{
    if (s->mechanism != LSCM_MECHANISM_LAW_LINEAR) {
        return 1;
    }
    rng size = {(uint64_t)s->seed, STREAM_WEIGHTS};
    rng sign = {(uint64_t)s->seed, STREAM_SIGNS};
    if (s->weights == LSCM_WEIGHTS_GAUSSIAN) {
        return s->weight_high * rng_normal(size, index);
    }
    if (s->weights == LSCM_WEIGHTS_PRIOR) {
        return sigma / prior_scale(s) * rng_normal(size, index);
    }
    double w = s->weight_low + (s->weight_high - s->weight_low) * rng_uniform(size, index);
    return rng_below(sign, index, 2) == 0 ? w : -w;
}

static double draw_sigma(const lscm_simulation *s, size_t node, size_t parents)
{
    rng r = {(uint64_t)s->seed, STREAM_SIGMA};
    if (s->noise == LSCM_NOISE_LAW_UNEQUAL) {
        return s->noise_scale * exp(log(2) * rng_uniform(r, node));
    }
    if (s->noise == LSCM_NOISE_LAW_PRIOR) {
        double dof = (double)s->noise_dof + (double)parents;
        return prior_scale(s) / sqrt(2 * rng_gamma(r, node * RNG_GAMMA, dof / 2));
    }
    return s->noise_scale;
}

static void list_parents(scm_model *m)
{
    size_t edges = 0;
    for (size_t i = 0; i < m->d; i++) {
        m->parent_start[i] = edges;
        for (size_t j = 0; j < m->d; j++) {
            if (m->w[j * m->d + i] != 0) {
                m->parents[edges++] = j;
            }
        }
    }
    m->parent_start[m->d] = edges;
}

static void lay_out(scm_model *m, arena *a, uint8_t **edge, size_t **degree)
{
    size_t d = m->d;
    m->w = arena_take(a, d * d, sizeof *m->w);
    m->sigma = arena_take(a, d, sizeof *m->sigma);
    m->order = arena_take(a, d, sizeof *m->order);
    m->parent_start = arena_take(a, d + 1, sizeof *m->parent_start);
    m->parents = arena_take(a, d * (d - 1) / 2, sizeof *m->parents);
    *edge = arena_take(a, d * d, sizeof **edge);
    *degree = arena_take(a, d, sizeof **degree);
}

lscm_status scm_model_random(scm_model *out, const lscm_simulation *settings, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    uint8_t *edge = NULL;
    size_t *degree = NULL;
    scm_model m = {.d = (size_t)settings->nodes};
    lay_out(&m, &m.memory, &edge, &degree);
    TRY(arena_open(&m.memory, why));
    lay_out(&m, &m.memory, &edge, &degree);

    rng_permutation((rng){(uint64_t)settings->seed, STREAM_ORDER}, 0, m.d, m.order);
    draw_graph(settings, m.d, edge, degree);
    for (size_t b = 0; b < m.d; b++) {
        size_t child = m.order[b];
        size_t parents = 0;
        for (size_t a = 0; a < b; a++) {
            parents += edge[a * m.d + b];
        }
        m.sigma[child] = draw_sigma(settings, child, parents);
        for (size_t a = 0; a < b; a++) {
            if (edge[a * m.d + b] != 0) {
                m.w[m.order[a] * m.d + child] = draw_weight(settings, m.sigma[child], a * m.d + b);
            }
        }
    }
    list_parents(&m);
    m.bent = settings->mechanism != LSCM_MECHANISM_LAW_LINEAR;
    if (m.bent) {
        TRY(scm_bends_random(&m.f, settings, scm_value_unit(settings), m.d, m.parent_start,
                             m.parents, why));
    }
    *out = m;
    m = (scm_model){0};
done:
    scm_model_close(&m);
    return status;
}

void scm_model_close(scm_model *model)
{
    scm_bends_close(&model->f);
    arena_close(&model->memory);
}

void scm_model_sample(const scm_model *model, size_t n, const uint8_t *mask, const double *values,
                      const double *noise, double *z)
{
    const mechanism_model m = {.d = model->d, .w = model->w, .sigma = model->sigma};
    for (size_t k = 0; k < model->d; k++) {
        size_t i = model->order[k];
        size_t first = model->parent_start[i];
        double *zi = z + i * n;
        memcpy(zi, noise + i * n, n * sizeof *zi);
        if (model->bent) {
            scm_bends_add(&model->f, i, n, z);
        } else {
            mechanism_simulate_column(&m, i, model->parents + first,
                                      model->parent_start[i + 1] - first, n, z);
        }
        for (size_t r = 0; r < n; r++) {
            double set = values[i * n + r] + noise[i * n + r];
            zi[r] = mask[i * n + r] != 0 ? set : zi[r];
        }
    }
}
