#include "infer/anchored/nonlinear_result.h"

#include "base/tuned.h"
#include "infer/check/check.h"
#include "infer/encoder/encoder.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* x = f E' (+ nothing: E spans the mean), so the last layer is multiplied by E'. */
static lscm_status take_decoder(const nonlinear *n, lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const features *x = &n->x;
    network_shape shape = generator_shape(n->g);
    size_t count = network_count(&shape);
    bool biased = shape.layer[0].bias;
    size_t hidden = shape.layer[shape.layers - 1].in;
    double *parameters = calloc(count, sizeof *parameters);
    double *weights = p->decode.weights;
    double *bias = p->decode.bias;
    if (parameters == NULL) {
        status = fail_memory(why, count * sizeof *parameters);
        goto done;
    }
    generator_network(n->g, parameters);
    p->decode.kind = DECODER_MLP;
    p->decode.between = shape.layer[0].f == ACTIVATION_RELU ? DECODER_RELU : DECODER_GELU;
    p->decode.biases = biased ? BIASES_ALL : BIASES_NONE;
    p->decode.layers = shape.layers;
    p->decode.sizes[shape.layers] = x->D;
    for (size_t l = 0; l < shape.layers; l++) {
        const double *from = parameters + network_offset(&shape, l);
        size_t in = shape.layer[l].in;
        size_t out = shape.layer[l].out;
        p->decode.sizes[l] = in;
        bool wide = l + 1 == shape.layers && x->basis != NULL;
        size_t to = wide ? x->D : out;
        if (wide) {
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)hidden, (int)x->D, (int)out,
                        1, from, (int)out, x->basis, (int)out, 0, weights, (int)x->D);
        } else {
            memcpy(weights, from, in * out * sizeof(double));
        }
        if (biased && wide) {
            cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)x->D, (int)out, 1, x->basis, (int)out,
                        from + in * out, 1, 0, bias, 1);
        } else if (biased) {
            memcpy(bias, from + in * out, out * sizeof(double));
        }
        weights += in * to;
        bias += biased ? to : 0;
    }
    double noise = generator_noise(n->g);
    p->decode.x_noise = sqrt(((double)x->R * noise * noise + x->left_out) / (double)x->D);
done:
    free(parameters);
    return status;
}

lscm_status nonlinear_posterior(const fit *f, const nonlinear *n, lscm_posterior **out,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const features *x = &n->x;
    network_shape shape = generator_shape(n->g);
    lscm_posterior *p = NULL;
    size_t d = x->d;
    size_t hidden = shape.layer[0].out;
    generator_inverse inverse = generator_inverse_of(n->g);
    TRY(fit_posterior(f, &p, (d + hidden + x->D) * hidden,
                      shape.layer[0].bias ? 2 * hidden + x->D : 0, why));
    TRY(take_decoder(n, p, why));
    memcpy(p->z, n->off.told, x->rows * d * sizeof(double));
    memcpy(p->z_sd, n->off.told_sd, x->rows * d * sizeof(double));
    TRY(encoder_pack_nonlinear(p, x, &n->kernel, n->network ? &inverse : NULL, why));
    kernel_shrink shrink = kernel_beyond_shrink(&n->beyond, n->homogeneous);
    TRY(encoder_pack_shrink(p, &shrink, why));
    TRY(encoder_pack_alike(p, n->off.alike, why));
    TRY(encoder_pack_units(p, f->data->units, why));
    *out = p;
    p = NULL;
done:
    lscm_posterior_free(p);
    return status;
}

static json_t *anchors_of(const nonlinear *n, char *const *names)
{
    json_t *all = json_object();
    for (size_t j = 0; j < n->x.d; j++) {
        char number[32];
        json_t *one = json_pack("{s:I}", "values", (json_int_t)n->kernel.labels[j]);
        (void)snprintf(number, sizeof number, "%zu", j);
        if (isfinite(n->off.r2[j])) {
            (void)json_object_set_new(one, "r2", json_real(n->off.r2[j]));
        }
        (void)json_object_set_new(all, names != NULL ? names[j] : number, one);
    }
    return all;
}

json_t *nonlinear_summary(const nonlinear *n, const char *reason, char *const *names)
{
    const kernel_encoder *k = &n->kernel;
    json_t *summary = json_object();
    (void)json_object_set_new(summary, "reason", json_string(reason));
    (void)json_object_set_new(summary, "encoder", json_string(n->network ? "network" : "kernel"));
    (void)json_object_set_new(summary, "family", json_string(kernel_family_name(k->space.family)));
    (void)json_object_set_new(summary, "biases", json_boolean(!n->homogeneous));
    (void)json_object_set_new(summary, "kernel_r2",
                              json_pack("{s:f, s:f, s:f}", "linear", k->r2[KERNEL_LINEAR],
                                        "homogeneous", k->r2[KERNEL_HOMOGENEOUS], "biased",
                                        k->r2[KERNEL_BIASED]));
    (void)json_object_set_new(summary, "anchors", anchors_of(n, names));
    (void)json_object_set_new(summary, "features", json_integer((json_int_t)n->x.R));
    (void)json_object_set_new(summary, "steps", json_integer((json_int_t)generator_done(n->g)));
    (void)json_object_set_new(summary, "outside", json_integer((json_int_t)n->off.outside));
    return summary;
}
