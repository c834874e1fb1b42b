/* The posterior as a handle: one allocation for all arrays, texts beside it, and what lscm.h shows
 * of it. */
#include "scm/posterior/posterior.h"

#include "data/text/text.h"
#include "result/store/finding_store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void lay_out(lscm_posterior *p, size_t weights, size_t bias)
{
    arena *a = &p->memory;
    size_t square = 0;
    a->overflowed = __builtin_mul_overflow(p->d, p->d, &square) || a->overflowed;
    p->w = arena_take(a, p->draws, square * sizeof *p->w);
    p->sigma = arena_take(a, p->draws, p->d * sizeof *p->sigma);
    p->intercept = arena_take(a, p->draws, p->d * sizeof *p->intercept);
    p->effect = arena_take(a, p->draws, p->d * sizeof *p->effect);
    p->order = arena_take(a, p->draws, p->d * sizeof *p->order);
    p->log_p = arena_take(a, p->draws, sizeof *p->log_p);
    p->log_q = arena_take(a, p->draws, sizeof *p->log_q);
    p->edge_prob = arena_take(a, square, sizeof *p->edge_prob);
    p->z = arena_take(a, p->rows, p->d * sizeof *p->z);
    p->z_sd = arena_take(a, p->rows, p->d * sizeof *p->z_sd);
    p->undirected = arena_take(a, square, sizeof *p->undirected);
    p->figures = arena_take(a, 3 * p->d, sizeof *p->figures);
    p->decode.weights = arena_take(a, weights, sizeof *p->decode.weights);
    p->decode.bias = bias > 0 ? arena_take(a, bias, sizeof *p->decode.bias) : NULL;
}

lscm_status posterior_new(struct lscm_posterior **out, size_t draws, size_t d, size_t rows,
                          size_t weights, size_t bias, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_posterior *p = calloc(1, sizeof *p);
    *out = NULL;
    if (p == NULL) {
        return fail_memory(why, sizeof *p);
    }
    p->draws = draws;
    p->d = d;
    p->rows = rows;
    lay_out(p, weights, bias);
    TRY(arena_open(&p->memory, why));
    lay_out(p, weights, bias);
    TRY(posterior_diagnose(p, why));
    *out = p;
    p = NULL;
done:
    lscm_posterior_free(p);
    return status;
}

lscm_status posterior_add_backdrop(lscm_posterior *posterior, size_t height, size_t width,
                                   size_t channels, lscm_error *why)
{
    size_t count = 0;
    bool over = __builtin_mul_overflow(height, width, &count) ||
                __builtin_mul_overflow(count, channels, &count) ||
                count > PTRDIFF_MAX / sizeof(double);
    double *backdrop = over ? NULL : calloc(count, sizeof *backdrop);
    if (backdrop == NULL) {
        return fail_memory(why, over ? SIZE_MAX : count * sizeof *backdrop);
    }
    free(posterior->decode.backdrop);
    posterior->decode.backdrop = backdrop;
    posterior->decode.height = height;
    posterior->decode.width = width;
    return LSCM_OK;
}

static void lay_out_bent(bent_mechanisms **out, arena *a, size_t draws, size_t d, size_t terms)
{
    bent_mechanisms *b = arena_take(a, 1, sizeof *b);
    bent_mechanisms at = {.draws = draws, .d = d, .terms = terms};
    at.basis = arena_take(a, d, sizeof *at.basis);
    at.first = arena_take(a, draws * d + 1, sizeof *at.first);
    at.parent = arena_take(a, terms, 2 * sizeof *at.parent);
    at.coef = arena_take(a, terms, CURVE_WIDTH * sizeof *at.coef);
    if (b != NULL) {
        *b = at;
    }
    *out = b;
}

lscm_status posterior_add_bent(lscm_posterior *posterior, size_t terms, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena memory = {0};
    bent_mechanisms *bent = NULL;
    lay_out_bent(&bent, &memory, posterior->draws, posterior->d, terms);
    TRY(arena_open(&memory, why));
    lay_out_bent(&bent, &memory, posterior->draws, posterior->d, terms);
    arena_close(&posterior->bent_memory);
    posterior->bent_memory = memory;
    posterior->bent = bent;
done:
    return status;
}

static void lay_out_noise(noise_shapes *noise, arena *a, size_t n)
{
    noise->dof = arena_take(a, n, sizeof(double));
    noise->share = arena_take(a, n, sizeof(double));
    noise->ratio = arena_take(a, n, sizeof(double));
}

lscm_status posterior_add_noise(lscm_posterior *posterior, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena memory = {0};
    noise_shapes noise;
    lay_out_noise(&noise, &memory, posterior->draws * posterior->d);
    TRY(arena_open(&memory, why));
    lay_out_noise(&noise, &memory, posterior->draws * posterior->d);
    for (size_t k = 0; k < posterior->draws * posterior->d; k++) {
        noise.dof[k] = INFINITY;
        noise.ratio[k] = 1;
    }
    arena_close(&posterior->noise_memory);
    posterior->noise_memory = memory;
    posterior->noise = noise;
done:
    return status;
}

void lscm_posterior_free(lscm_posterior *posterior)
{
    if (posterior == NULL) {
        return;
    }
    for (size_t k = 0; k < posterior->encoder.count; k++) {
        free(posterior->encoder.array[k].raw);
    }
    names_free(posterior->node_names, posterior->d);
    names_free(posterior->warnings, posterior->diagnostics.warnings);
    finding_store_free(posterior->findings);
    free(posterior->decode.backdrop);
    free(posterior->config);
    free(posterior->summary);
    arena_close(&posterior->noise_memory);
    arena_close(&posterior->bent_memory);
    arena_close(&posterior->memory);
    free(posterior);
}

size_t lscm_posterior_draws(const lscm_posterior *posterior)
{
    return posterior->draws;
}

size_t lscm_posterior_nodes(const lscm_posterior *posterior)
{
    return posterior->d;
}

size_t lscm_posterior_rows(const lscm_posterior *posterior)
{
    return posterior->rows;
}

const char *lscm_posterior_node_name(const lscm_posterior *posterior, size_t node)
{
    bool known = posterior->node_names != NULL && node < posterior->d;
    return known ? posterior->node_names[node] : NULL;
}

const char *lscm_posterior_config(const lscm_posterior *posterior)
{
    return posterior->config != NULL ? posterior->config : "{}";
}

const char *lscm_posterior_summary(const lscm_posterior *posterior)
{
    return posterior->summary != NULL ? posterior->summary : "{}";
}

double lscm_posterior_threshold(const lscm_posterior *posterior)
{
    return posterior->threshold;
}

lscm_shape lscm_posterior_x_shape(const lscm_posterior *posterior)
{
    lscm_shape shape = {.present = true, .ndim = posterior->x_ndim - 1, .dtype = "float64"};
    memcpy(shape.dims, posterior->x_dims, (size_t)shape.ndim * sizeof *shape.dims);
    return shape;
}

const double *lscm_posterior_weights(const lscm_posterior *posterior)
{
    return posterior->w;
}

const double *lscm_posterior_sigma(const lscm_posterior *posterior)
{
    return posterior->sigma;
}

const double *lscm_posterior_intercept(const lscm_posterior *posterior)
{
    return posterior->intercept;
}

const size_t *lscm_posterior_order(const lscm_posterior *posterior)
{
    return posterior->order;
}

const double *lscm_posterior_log_p(const lscm_posterior *posterior)
{
    return posterior->log_p;
}

const double *lscm_posterior_log_q(const lscm_posterior *posterior)
{
    return posterior->log_q;
}

const double *lscm_posterior_edge_prob(const lscm_posterior *posterior)
{
    return posterior->edge_prob;
}

const uint8_t *lscm_posterior_undirected(const lscm_posterior *posterior)
{
    return posterior->undirected;
}

double posterior_shown(const struct lscm_posterior *posterior, size_t from, size_t to)
{
    size_t d = posterior->d;
    double back =
        posterior->undirected[from * d + to] != 0 ? posterior->edge_prob[to * d + from] : 0;
    return fmin(posterior->edge_prob[from * d + to] + back, 1);
}

const double *lscm_posterior_z(const lscm_posterior *posterior)
{
    return posterior->z;
}

const double *lscm_posterior_z_sd(const lscm_posterior *posterior)
{
    return posterior->z_sd;
}
