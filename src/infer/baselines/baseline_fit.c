/* A baseline as a run: what is refused, the loop, the result. The stored decoder gives x in its own
 * units: x = mean + scale g(z). */
#include "infer/baselines/baseline.h"

#include "base/clock.h"
#include "base/threads.h"
#include "infer/run/run.h"
#include "scm/posterior/posterior.h"

#include <math.h>
#include <stdlib.h>

enum { WIDE = 1024 }; /* features */

static lscm_status refuse(const fit *f, lscm_error *why)
{
    int64_t asked = f->settings.decoder;
    if (asked != LSCM_DECODER_AUTO && asked != LSCM_DECODER_MLP) {
        return fail(why, LSCM_USAGE,
                    "the method %s has a network of its own (mlp) for a decoder; leave --decoder "
                    "out, or take --method anchored",
                    fit_method(f));
    }
    return fit_refuse_knowledge(f, why);
}

static decoder decoder_of(const baseline *b)
{
    const network_shape shape = b->kind->decoder(b->d, b->D);
    decoder g = {.kind = DECODER_MLP,
                 .between = b->kind->between,
                 .biases = BIASES_ALL,
                 .layers = shape.layers,
                 .x_noise = b->x_noise};
    g.sizes[0] = b->d;
    for (size_t l = 0; l < shape.layers; l++) {
        g.sizes[l + 1] = shape.layer[l].out;
    }
    return g;
}

/* Into p, which has room for it. */
static lscm_status put_decoder(const baseline *b, decoder *out, lscm_error *why)
{
    const network_shape shape = b->kind->decoder(b->d, b->D);
    double *weights = out->weights;
    double *bias = out->bias;
    float *plain = calloc(network_count(&shape), sizeof *plain);
    if (plain == NULL) {
        return fail_memory(why, network_count(&shape) * sizeof *plain);
    }
    b->kind->plain(b, plain);
    *out = decoder_of(b);
    out->weights = weights;
    out->bias = bias;
    for (size_t l = 0; l < shape.layers; l++) {
        const float *from = plain + network_offset(&shape, l);
        size_t outputs = shape.layer[l].out;
        size_t matrix = layer_matrix(&shape.layer[l]);
        bool last = l + 1 == shape.layers;
        double scale = last ? b->rows.scale : 1;
        for (size_t k = 0; k < matrix; k++) {
            *weights++ = scale * (double)from[k];
        }
        for (size_t k = 0; k < outputs; k++) {
            *bias++ = scale * (double)from[matrix + k] + (last ? b->rows.mean[k] : 0);
        }
    }
    free(plain);
    return LSCM_OK;
}

static lscm_status check_z(const lscm_posterior *p, lscm_error *why)
{
    for (size_t k = 0; k < p->rows * p->d; k++) {
        if (!isfinite(p->z[k]) || !isfinite(p->z_sd[k])) {
            return fail(why, LSCM_VALUE,
                        "the last step left numbers that are not finite; try a smaller --rate");
        }
    }
    return LSCM_OK;
}

static lscm_status finish(const training *r, baseline *b, lscm_posterior **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_posterior *p = NULL;
    decoder g = decoder_of(b);
    TRY(fit_posterior(r->f, &p, decoder_weights(&g), decoder_bias_count(&g), why));
    TRY(baseline_collect(b, why));
    TRY(put_decoder(b, &p->decode, why));
    TRY(training_draw(r, p, why));
    TRY(b->kind->encode(b, p->z, p->z_sd, why));
    TRY(check_z(p, why));
    TRY(training_save(r, p, training_summary(r, p), why));
    *out = p;
    p = NULL;
done:
    lscm_posterior_free(p);
    return status;
}

lscm_status baseline_fit(fit *f, const baseline_kind *kind, lscm_posterior **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    training r = {0};
    baseline *b = NULL;
    int threads = 0;
    if (lscm_dataset_features(f->data) < WIDE) {
        /* steps of a few milliseconds: waiting for threads would cost more than they save */
        threads = threads_use(1);
    }
    TRY(refuse(f, why));
    TRY(check_pass(f->data, f->progress, why));
    TRY(baseline_open(&b, f, kind, why));
    f->read = clock_seconds() - f->begun;
    trainee learner = baseline_trainee(b);
    TRY(training_open(&r, f, &learner, true, why));
    TRY(training_run(&r, why));
    TRY(finish(&r, b, out, why));
done:
    lscm_set_threads(threads);
    training_close(&r);
    baseline_close(b);
    return status;
}
