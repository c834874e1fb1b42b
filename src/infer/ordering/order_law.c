#include "infer/ordering/order_law.h"

#include "base/lanes.h"
#include "infer/ordering/permanent.h"
#include "infer/ordering/sinkhorn.h"
#include "scm/graph/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HIDDEN = 128 };
static const double BOUND = 10; /* of the logits */

/* Scratch of one block of eight draws. */
typedef struct order_block {
    lanes *logits, *noisy, *soft, *slope, *belief; /* (d, d) */
    double *one, *marginal;                        /* (d, d): of one draw */
    sinkhorn_work sinkhorn;
    assignment_work assignment;
    bethe_work bethe;
    permanent_work exact;
    bool failed; /* something was not finite */
} order_block;

struct order_law {
    const device *device;
    size_t d, inputs, draws;
    bool exact;
    double temperature;
    network_f32 net;
    float *parameter, *gradient; /* (parameters) */
    float *input, *input_slope;  /* (draws, inputs) */
    float *output;               /* (draws, d, d), in the network's memory */
    size_t *order;               /* (draws, d) */
    order_block *block;          /* (draws / LANES) */
    arena memory;
};

static network_shape shape_of(size_t d, size_t inputs)
{
    return network_dense(&(network_stack){.layers = 3,
                                          .width = (size_t[]){inputs, HIDDEN, HIDDEN, d * d},
                                          .between = ACTIVATION_GELU,
                                          .last = ACTIVATION_IDENTITY,
                                          .bias = true});
}

static order_block block_take(arena *a, size_t d, bool exact)
{
    order_block b = {
        .logits = arena_take(a, d * d, sizeof(lanes)),
        .noisy = arena_take(a, d * d, sizeof(lanes)),
        .soft = arena_take(a, d * d, sizeof(lanes)),
        .slope = arena_take(a, d * d, sizeof(lanes)),
        .belief = arena_take(a, d * d, sizeof(lanes)),
        .one = arena_take(a, d * d, sizeof(double)),
        .marginal = arena_take(a, d * d, sizeof(double)),
    };
    sinkhorn_lay_out(&b.sinkhorn, a, d);
    assignment_lay_out(&b.assignment, a, d);
    if (exact) {
        permanent_lay_out(&b.exact, a, d);
    } else {
        bethe_lay_out(&b.bethe, a, d);
    }
    return b;
}

static void lay_out(order_law *law, arena *a)
{
    network_shape shape = shape_of(law->d, law->inputs);
    network_f32_lay_out(&law->net, a, &shape, law->draws, law->device);
    law->parameter = arena_take(a, network_count(&shape), sizeof(float));
    law->gradient = arena_take(a, network_count(&shape), sizeof(float));
    law->input = arena_take(a, law->draws * law->inputs, sizeof(float));
    law->input_slope = arena_take(a, law->draws * law->inputs, sizeof(float));
    law->order = arena_take(a, law->draws * law->d, sizeof(size_t));
    law->block = arena_take(a, law->draws / LANES, sizeof *law->block);
    for (size_t k = 0; k < law->draws / LANES; k++) {
        order_block b = block_take(a, law->d, law->exact);
        if (law->block != NULL) {
            law->block[k] = b;
        }
    }
}

lscm_status order_open(order_law **out, const device *on, size_t d, size_t inputs, size_t draws,
                       bool exact, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (exact && d > PERMANENT_MOST) {
        return fail(why, LSCM_USAGE,
                    "the exact permanent goes to %d nodes, not %zu; use --permanent bethe",
                    PERMANENT_MOST, d);
    }
    order_law *law = calloc(1, sizeof *law);
    if (law == NULL) {
        return fail_memory(why, sizeof *law);
    }
    law->device = on;
    law->d = d;
    law->inputs = inputs;
    law->draws = draws;
    law->exact = exact;
    lay_out(law, &law->memory);
    TRY(on->claim(on, &law->memory, why));
    lay_out(law, &law->memory);
    *out = law;
    law = NULL;
done:
    order_close(law);
    return status;
}

void order_close(order_law *law)
{
    if (law != NULL) {
        law->device->release(law->device, &law->memory);
        free(law);
    }
}

size_t order_parameters(const order_law *law)
{
    return network_count(&law->net.shape);
}

float *order_parameter(order_law *law)
{
    return law->parameter;
}

const float *order_gradient(const order_law *law)
{
    return law->gradient;
}

void order_begin(order_law *law, rng r)
{
    network_f32_draw(&law->net.shape, r, law->parameter, NULL);
}

static network_batch_f32 batch_of(const order_law *law)
{
    return (network_batch_f32){.parameters = law->parameter,
                               .n = law->draws,
                               .input = law->input,
                               .gradient = law->gradient,
                               .input_gradient = law->input_slope};
}

/* T and (T + Gumbel)/tau of eight draws. */
static void take_logits(const order_law *law, const order_block *b, size_t first, rng gumbel)
{
    size_t dd = law->d * law->d;
    for (size_t k = 0; k < LANES; k++) {
        size_t draw = first + k;
        for (size_t i = 0; i < dd; i++) {
            double logit = BOUND * tanh((double)law->output[draw * dd + i] / BOUND);
            b->logits[i][k] = logit;
            b->noisy[i][k] = (logit + rng_gumbel(gumbel, draw * dd + i)) / law->temperature;
        }
    }
}

/* log perm(exp T) and its gradient. */
static void normalise(const order_law *law, order_block *b, lanes *value)
{
    size_t dd = law->d * law->d;
    if (!law->exact) {
        double error =
            bethe_permanent(b->logits, law->d, PERMANENT_ITERATIONS, value, b->belief, &b->bethe);
        b->failed = b->failed || !(error < 1);
        return;
    }
    for (size_t k = 0; k < LANES; k++) {
        double log_permanent = 0;
        for (size_t i = 0; i < dd; i++) {
            b->one[i] = b->logits[i][k];
        }
        if (permanent_exact(b->one, law->d, &log_permanent, &b->exact, NULL) != LSCM_OK) {
            b->failed = true;
            return;
        }
        permanent_marginals(&b->exact, b->marginal);
        (*value)[k] = log_permanent;
        for (size_t i = 0; i < dd; i++) {
            b->belief[i][k] = b->marginal[i];
        }
    }
}

static void draw_block(const order_law *law, order_block *b, size_t first, rng gumbel,
                       size_t *order, double *log_q)
{
    size_t d = law->d;
    lanes log_permanent = {0};
    take_logits(law, b, first, gumbel);
    b->failed = !(sinkhorn_forward(b->noisy, d, b->soft, &b->sinkhorn) < 0.1);
    normalise(law, b, &log_permanent);
    for (size_t k = 0; k < LANES && !b->failed; k++) {
        size_t *column = order + (first + k) * d;
        for (size_t i = 0; i < d * d; i++) {
            b->one[i] = -b->noisy[i][k];
        }
        b->failed = assignment_solve(b->one, d, column, &b->assignment, NULL) != LSCM_OK;
        log_q[first + k] = -log_permanent[k];
        for (size_t i = 0; i < d && !b->failed; i++) {
            log_q[first + k] += b->logits[i * d + column[i]][k];
        }
    }
}

lscm_status order_draw(order_law *law, const double *theta, double temperature, rng gumbel,
                       size_t *order, double *log_q, lscm_error *why)
{
    size_t blocks = law->draws / LANES;
    bool failed = false;
    law->temperature = temperature;
    for (size_t i = 0; i < law->draws * law->inputs; i++) {
        law->input[i] = (float)theta[i];
    }
    const network_batch_f32 batch = batch_of(law);
    law->output = network_f32_forward(&law->net, &batch);
#pragma omp parallel for schedule(static) if (blocks > 1)
    for (ptrdiff_t k = 0; k < (ptrdiff_t)blocks; k++) {
        draw_block(law, &law->block[k], (size_t)k * LANES, gumbel, order, log_q);
    }
    for (size_t k = 0; k < blocks; k++) {
        failed = failed || law->block[k].failed;
    }
    memcpy(law->order, order, law->draws * law->d * sizeof *order);
    if (failed) {
        return fail(why, LSCM_VALUE,
                    "the logits of the order are no longer finite; try a smaller --rate");
    }
    return LSCM_OK;
}

/* The gradient in T of eight draws: through the soft P for what comes from the hard one (`slope`,
 * and T itself in <P, T>), and P - beliefs from log q. Leaves that of the network's output. */
static void back_block(const order_law *law, const order_block *b, size_t first,
                       const double *slope, double weight)
{
    size_t d = law->d;
    size_t dd = d * d;
    for (size_t k = 0; k < LANES; k++) {
        for (size_t i = 0; i < dd; i++) {
            b->slope[i][k] = slope[(first + k) * dd + i] + weight * b->logits[i][k];
        }
    }
    sinkhorn_backward(b->soft, b->slope, d, b->slope, &b->sinkhorn);
    for (size_t k = 0; k < LANES; k++) {
        const size_t *column = law->order + (first + k) * d;
        float *out = law->output + (first + k) * dd;
        for (size_t i = 0; i < dd; i++) {
            double hard = column[i / d] == i % d ? 1 : 0;
            double logit = b->logits[i][k] / BOUND;
            double by_logit = b->slope[i][k] / law->temperature + weight * (hard - b->belief[i][k]);
            out[i] = (float)(by_logit * (1 - logit * logit));
        }
    }
}

void order_back(order_law *law, const double *slope, double weight, double *theta_slope)
{
    size_t blocks = law->draws / LANES;
#pragma omp parallel for schedule(static) if (blocks > 1)
    for (ptrdiff_t k = 0; k < (ptrdiff_t)blocks; k++) {
        back_block(law, &law->block[k], (size_t)k * LANES, slope, weight);
    }
    const network_batch_f32 batch = batch_of(law);
    network_f32_backward(&law->net, &batch);
    for (size_t i = 0; i < law->draws * law->inputs; i++) {
        theta_slope[i] += (double)law->input_slope[i];
    }
}
