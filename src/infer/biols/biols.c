/* One step of Algorithm 1: draw, error, gradients, update. The gradient of a draw in theta = (L,
 * log s):
 *
 *   dF/dL[b][a] = dF/dW[a][b] (positions),   dF/dP = (L' G' + L G) P,  G = dF/dW in positions,
 *
 * then through the law of the order; and mean and raw log sd by theta = mean + sd eps. */
#include "infer/biols/biols_state.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

static const double TWO_PI = 6.283185307179586;

rng biols_stream(const biols *b, enum stream use, uint64_t step)
{
    return (rng){(uint64_t)b->settings.seed,
                 (uint64_t)use | (uint64_t)b->restart << 16 | step << 32};
}

lscm_status biols_sample_q(biols *b, rng eps, rng gumbel, double temperature, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = b->d;
    size_t n = b->inputs;
    const double *mean = b->parameter;
    const double *raw = b->parameter + n;
    rng_normals(eps, 0, b->S * n, b->eps);
    for (size_t i = 0; i < n; i++) {
        double slope = 0;
        double sd = exp(weights_log_sd(raw[i], &slope));
        for (size_t s = 0; s < b->S; s++) {
            b->theta[s * n + i] = mean[i] + sd * b->eps[s * n + i];
        }
    }
    for (size_t s = 0; s < b->S; s++) {
        const double *theta = b->theta + s * n;
        for (size_t i = 0, entry = 0; i < d; i++) {
            for (size_t j = 0; j < i; j++) {
                b->lower[(s * d + i) * d + j] = theta[entry++];
            }
            b->sigma[s * d + i] = exp(theta[b->entries + (b->noises > 1 ? i : 0)]);
        }
    }
    if (b->law != NULL) {
        TRY(order_draw(b->law, b->theta, temperature, gumbel, b->order, b->log_q, why));
    }
done:
    return status;
}

/* A random batch, with replacement: rows of `all` into `batch`. */
static void fill_batch(biols *b)
{
    rng r = biols_stream(b, STREAM_BIOLS_BATCH, b->step);
    if (b->batch.rows == b->all.rows) {
        return;
    }
    for (size_t k = 0; k < b->batch.rows; k++) {
        size_t row = (size_t)rng_below(r, k, b->all.rows);
        memcpy(b->batch.mask + k * b->d, b->all.mask + row * b->d, b->d);
        memcpy(b->batch.values + k * b->d, b->all.values + row * b->d, b->d * sizeof(double));
        if (b->linear) {
            memcpy(b->batch.x64 + k * b->D, b->all.x64 + row * b->D, b->D * sizeof(double));
        } else if (b->queued) {
            b->picked[k] = (uint32_t)row;
        } else {
            memcpy(b->batch.x32 + k * b->D, b->all.x32 + row * b->D, b->D * sizeof(float));
        }
    }
}

/* What turns the z of these rows into an error, ready for a pass. */
static tile_decoder *begin_pass(biols *b)
{
    if (b->linear) {
        tile_linear_begin(&b->tile, b->batch.x64, b->parameter + 2 * b->inputs);
        return &b->tile.decode;
    }
    if (b->queued) {
        tile_queue_begin(&b->far, b->picked);
        return &b->far.decode;
    }
    tile_net_begin(&b->net, b->batch.x32, b->weight);
    return &b->net.decode;
}

lscm_status biols_error(biols *b, rng z, bool gradients, lscm_error *why)
{
    double *matrix = b->parameter + 2 * b->inputs;
    model_draws draws = {b->S, b->order, b->lower, b->sigma};
    linear_gradients g = {b->by_weight, b->by_sigma, b->gradient + 2 * b->inputs};
    if (b->closed) {
        linear_error(b->moment, &draws, matrix, b->error, gradients ? &g : NULL);
        return LSCM_OK;
    }
    row_batch rows = {b->batch.rows, b->d, b->batch.mask, b->batch.values};
    sampled_error(b->sampled, &rows, &draws, z, begin_pass(b), b->error, gradients ? &g : NULL);
    if (b->linear && gradients) {
        tile_linear_gradient(&b->tile, matrix, g.decoder);
    }
    return b->queued ? tile_queue_wait(&b->far, why) : LSCM_OK;
}

/* From the gradients in W and log sigma of each draw to those in theta and P; `scale` multiplies F.
 */
static void error_back(biols *b, double scale)
{
    size_t d = b->d;
    memset(b->theta_slope, 0, b->S * b->inputs * sizeof(double));
    for (size_t s = 0; s < b->S; s++) {
        const double *g = b->by_weight + s * d * d;
        const double *lower = b->lower + s * d * d;
        double *slope = b->theta_slope + s * b->inputs;
        size_t entry = 0;
        for (size_t i = 0; i < d; i++) {
            for (size_t j = 0; j < i; j++) {
                slope[entry++] = scale * g[j * d + i];
            }
            slope[b->entries + (b->noises > 1 ? i : 0)] += scale * b->by_sigma[s * d + i];
        }
        if (b->law == NULL) {
            continue;
        }
        for (size_t k = 0; k < d; k++) {
            for (size_t c = 0; c < d; c++) {
                double sum = 0;
                for (size_t a = k + 1; a < d; a++) {
                    sum += lower[a * d + k] * g[c * d + a];
                }
                for (size_t a = 0; a < k; a++) {
                    sum += lower[k * d + a] * g[a * d + c];
                }
                b->by_p[(s * d + k) * d + b->order[s * d + c]] = scale * sum;
            }
        }
    }
}

/* Mean and raw log sd from the slopes in theta and the KL. */
static void collect(biols *b, double kl_weight)
{
    size_t n = b->inputs;
    for (size_t i = 0; i < n; i++) {
        double by_mean = 0;
        double by_eps = 0;
        double slope = 0;
        double sd = exp(weights_log_sd(b->parameter[n + i], &slope));
        for (size_t s = 0; s < b->S; s++) {
            by_mean += b->theta_slope[s * n + i];
            by_eps += b->theta_slope[s * n + i] * b->eps[s * n + i];
        }
        b->gradient[i] = by_mean + kl_weight * b->by_mean[i];
        b->gradient[n + i] = by_eps * sd * slope + kl_weight * b->by_raw[i];
    }
}

static void update(biols *b, double rate, double scale)
{
    double *by_decoder = b->gradient + 2 * b->inputs;
    optimiser_group all = {b->step64.n, rate};
    if (b->closed) {
        linear_best_decoder(b->moment, by_decoder, b->parameter + 2 * b->inputs);
    } else if (b->linear) {
        cblas_dscal((int)(b->d * b->D), scale, by_decoder, 1);
    }
    optimiser_f64_step(&b->step64, &all, 1, b->parameter, b->gradient);
    if (b->law != NULL) {
        optimiser_group group = {order_parameters(b->law), rate};
        optimiser_f32_step(&b->step_order, &group, 1, order_parameter(b->law),
                           order_gradient(b->law));
    }
    if (b->queued) {
        b->step_net.steps++;
        backend_dial dial = optimiser_f32_dial(&b->step_net, rate);
        dial.scale = scale;
        tile_queue_step(&b->far, &dial);
    } else if (!b->linear) {
        optimiser_group group = {network_count(&b->shape), rate};
        float *gradient = tile_net_gradient(&b->net);
        cblas_sscal((int)group.count, (float)scale, gradient, 1);
        optimiser_f32_step(&b->step_net, &group, 1, b->weight, gradient);
    }
}

static double mean_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i];
    }
    return sum / (double)n;
}

static double temperature_at(const biols *b)
{
    const lscm_fit_settings *s = &b->settings;
    double done = s->steps > 1 ? (double)b->step / (double)(s->steps - 1) : 0;
    done = done < 1 ? done : 1;
    return s->final_temperature > 0
               ? s->temperature * pow(s->final_temperature / s->temperature, done)
               : s->temperature;
}

lscm_status biols_step(biols *b, double rate, training_terms *terms, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double numbers = (double)b->N * (double)b->D;
    double inflate = b->closed ? 1 : (double)b->N / (double)b->batch.rows; /* to all rows */
    bool elbo = b->settings.objective == LSCM_OBJECTIVE_ELBO;
    weights q = {b->d, b->noises, b->parameter, b->parameter + b->inputs};
    TRY(biols_sample_q(b, biols_stream(b, STREAM_BIOLS_EPS, b->step),
                       biols_stream(b, STREAM_BIOLS_GUMBEL, b->step), temperature_at(b), why));
    if (!b->closed) {
        fill_batch(b);
    }
    TRY(biols_error(b, biols_stream(b, STREAM_BIOLS_Z, b->step), true, why));

    double error = inflate * mean_of(b->error, b->S);
    if (b->settings.x_noise == 0) {
        b->x_noise = fmax(sqrt(error / numbers), b->noise_floor);
    }
    double variance = b->x_noise * b->x_noise;
    double per_error = elbo ? 1 / (2 * variance) : 1 / numbers;
    double scale = per_error * inflate / (double)b->S;
    *terms = (training_terms){.error = error / numbers, .x_noise = b->x_noise};
    terms->kl = weights_kl(&q, &b->prior, b->by_mean, b->by_raw);
    terms->log_q = b->law != NULL ? mean_of(b->log_q, b->S) + b->log_factorial : 0;
    terms->loss =
        elbo ? error * per_error + numbers / 2 * log(TWO_PI * variance) + terms->kl + terms->log_q
             : terms->error;
    if (!isfinite(terms->loss)) {
        return fail(
            why, LSCM_VALUE,
            "step %zu: the bound is no longer finite (error %g, KL %g); try a smaller --rate",
            b->step, terms->error, terms->kl);
    }
    error_back(b, scale);
    if (b->law != NULL) {
        order_back(b->law, b->by_p, elbo ? 1 / (double)b->S : 0, b->theta_slope);
    }
    collect(b, elbo ? 1 : 0);
    update(b, rate, scale);
    b->step++;
done:
    return status;
}
