/* What comes of a generator: z of its rows, z of new rows, the network itself. */
#include "base/tuned.h"
#include "infer/generator/generator_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct collection {
    const generator *g;
    double *sd;  /* (rows, d) */
    double *cov; /* (GENERATOR_SLOTS, d, d, d): sums, in the units of z; or NULL */
} collection;

static void collect(void *self, size_t row, size_t slot, size_t count, const size_t *node,
                    const double *covariance)
{
    const collection *c = self;
    size_t d = c->g->rows.d;
    double unit = c->g->unit[row] * c->g->scale;
    for (size_t a = 0; a < count; a++) {
        c->sd[row * d + node[a]] = unit * sqrt(covariance[a * count + a]);
        for (size_t b = 0; b < count && c->cov != NULL; b++) {
            double entry = unit * unit * covariance[a * count + b];
            for (size_t i = 0; i < count; i++) {
                c->cov[((slot * d + node[i]) * d + node[a]) * d + node[b]] += entry;
            }
        }
    }
}

/* Means over the rows in which each node is free; set (d) is scratch. */
static void take_blur(const generator *g, const double *cov, size_t *set, double *blur)
{
    size_t d = g->rows.d;
    memset(blur, 0, d * d * d * sizeof *blur);
    design_count(g->rows.design, NULL, set, NULL);
    for (size_t i = 0; i < d; i++) {
        double free_rows = (double)(g->rows.rows - set[i]);
        for (size_t w = 0; w < GENERATOR_SLOTS && free_rows > 0; w++) {
            for (size_t k = i * d * d; k < (i + 1) * d * d; k++) {
                blur[k] += cov[w * d * d * d + k] / free_rows;
            }
        }
    }
}

/* sd of what the network gets wrong, beyond the noise of x: from the held-out values, in the units
 * of a row. */
static double misled(const generator *g, size_t j, const double *sd)
{
    const generator_rows *r = &g->rows;
    double sum = 0;
    double count = 0;
    for (size_t n = 0; n < r->rows; n++) {
        size_t at = n * r->d + j;
        if (r->held[at] != 0) {
            double away = generator_z_of(g, n, j, (double)g->u[at]) - design_value(r->design, n, j);
            sum += (away * away - sd[at] * sd[at]) / (g->unit[n] * g->unit[n]);
            count += 1;
        }
    }
    return count > 0 && sum > 0 ? sqrt(sum / count) : 0;
}

lscm_status generator_finish(generator *g, generator_errors *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const generator_rows *r = &g->rows;
    size_t d = r->d;
    collection c = {g, calloc(r->rows * d, sizeof(double)), NULL};
    if (c.sd == NULL) {
        status = fail_memory(why, r->rows * d * sizeof(double));
        goto done;
    }
    memcpy(g->parameters, g->best, g->count * sizeof(float));
    for (size_t k = 0; k < tuned_network_read_sweeps(); k++) {
        generator_sweep(g, false, false, k + 1 == tuned_network_read_sweeps() ? collect : NULL, &c);
    }
    for (size_t j = 0; j < d; j++) {
        out->r2[j] = 1 - generator_missed(g, j);
        g->wrong[j] = misled(g, j, c.sd);
    }
    TRY(generator_gain(g, &out->gain, why));
    for (size_t n = 0; n < r->rows; n++) {
        for (size_t j = 0; j < d; j++) {
            if (design_is_set(r->design, n, j)) {
                double v = design_value(r->design, n, j);
                g->u[n * d + j] = (float)generator_u_of(g, n, j, v);
            }
        }
    }
    memcpy(g->t, g->u, r->rows * d * sizeof(float));
done:
    free(c.sd);
    return status;
}

lscm_status generator_adopt(generator *g, lscm_error *why)
{
    lscm_status status = generator_collect(g, why);
    double misfit = g->now.batches > 0 ? g->now.sum / g->now.batches : NAN;
    if (status == LSCM_OK && !isfinite(misfit)) {
        status = fail(why, LSCM_VALUE, "the network diverged; try a smaller --rate");
    }
    if (status != LSCM_OK) {
        return status;
    }
    g->free = 0; /* z is as it was given: nothing was fitted */
    generator_measure(g);
    memcpy(g->best, g->parameters, g->count * sizeof(float));
    return LSCM_OK;
}

lscm_status generator_read(generator *g, const mechanism_model *model, double *z, double *sd,
                           double *blur, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const generator_rows *r = &g->rows;
    size_t d = r->d;
    size_t size = GENERATOR_SLOTS * d * d * d;
    float *u = model != NULL ? g->t : g->u;
    double noise2 = g->now.noise2;
    collection c = {g, sd, blur != NULL ? calloc(size, sizeof(double)) : NULL};
    if (blur != NULL && c.cov == NULL) {
        status = fail_memory(why, size * sizeof(double));
        goto done;
    }
    g->model = model != NULL ? *model : (mechanism_model){0};
    memset(sd, 0, r->rows * d * sizeof *sd);
    for (size_t k = 0; k < tuned_network_read_sweeps(); k++) {
        generator_sweep(g, model != NULL, true,
                        k + 1 == tuned_network_read_sweeps() ? collect : NULL, &c);
        g->now.noise2 = noise2; /* of the training, not of these rows */
    }
    for (size_t at = 0; at < r->rows * d; at++) {
        z[at] = generator_z_of(g, at / d, at % d, (double)u[at]);
        sd[at] = hypot(sd[at], g->unit[at / d] * g->wrong[at % d]);
    }
    design_put(r->design, z, sd);
    if (blur != NULL) {
        take_blur(g, c.cov, g->node, blur);
    }
done:
    g->model = (mechanism_model){0};
    free(c.cov);
    return status;
}

/* ---- New rows ---- */

generator_inverse generator_inverse_of(const generator *g)
{
    return (generator_inverse){.d = g->rows.d,
                               .R = g->rows.R,
                               .hidden = g->settings.hidden,
                               .homogeneous = g->settings.homogeneous,
                               .scale = g->scale,
                               .spread = g->spread,
                               .noise2 = g->now.noise2,
                               .offset = g->offset,
                               .centre = g->centre,
                               .wrong = g->wrong,
                               .parameters = g->best};
}

lscm_status generator_invert(const generator_inverse *inverse, const device *on,
                             const generator_rows *rows, double *z, double *sd, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    generator *g = NULL;
    generator_settings settings = {
        .device = on, .homogeneous = inverse->homogeneous, .hidden = inverse->hidden, .batch = 1};
    generator_rows shown = *rows;
    shown.held = NULL;
    TRY(generator_open_with(&g, &shown, &settings, inverse, why));
    for (size_t k = 0; k < tuned_network_new_sweeps(); k++) {
        generator_sweep(g, false, true, NULL, NULL);
        g->now.noise2 = inverse->noise2;
    }
    TRY(generator_read(g, NULL, z, sd, NULL, why));
done:
    generator_close(g);
    return status;
}

/* ---- The network ---- */

network_shape generator_shape(const generator *g)
{
    return g->shape;
}

/* f = c + a q net((z - o)/(a k)): a = 1, or it cancels where the network is homogeneous. */
void generator_network(const generator *g, double *parameters)
{
    const network_shape *s = &g->shape;
    size_t d = network_in(s);
    size_t hidden = s->layer[0].out;
    size_t R = network_out(s);
    bool bias = s->layer[0].bias;
    size_t last = network_offset(s, s->layers - 1);
    for (size_t k = 0; k < g->count; k++) {
        parameters[k] = (double)g->best[k] * (k >= last ? g->spread : 1);
    }
    for (size_t k = 0; k < d * hidden; k++) {
        parameters[k] /= g->scale;
    }
    for (size_t h = 0; h < hidden && bias; h++) {
        for (size_t j = 0; j < d; j++) {
            parameters[d * hidden + h] -= g->offset[j] * parameters[j * hidden + h];
        }
    }
    for (size_t k = 0; k < R && bias; k++) {
        parameters[g->count - R + k] += g->centre[k];
    }
}

double generator_noise(const generator *g)
{
    return g->now.noise_f;
}
