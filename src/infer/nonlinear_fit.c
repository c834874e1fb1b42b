/* A fit where x is not linear in z, from the data set to the run folder: features, kernel, rounds
 * of the network with progress, trace and checkpoints, posterior, what held-out sets say, advice.
 * All that decides is in `round_log` and the generator's state, which a checkpoint holds: a resumed
 * run takes the same steps, bit for bit. */
#include "base/output.h"
#include "base/threads.h"
#include "infer/advice.h"
#include "infer/choices.h"
#include "infer/encoder.h"
#include "infer/fit_state.h"
#include "infer/judge.h"
#include "infer/nonlinear.h"
#include "infer/run_files.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOG_MOST = 128 };

/* What trace.csv shows. */
typedef struct round_log {
    uint64_t count;
    uint64_t step[LOG_MOST];
    generator_round round[LOG_MOST];
} round_log;

typedef struct nonlinear_run {
    fit *f;
    nonlinear n;
    anchored a;
    judgement j;
    round_log log;
    char *saved; /* log, then the generator's state */
    uint64_t fingerprint;
    double seconds_encode, seconds_train, seconds_graph, seconds_judge;
} nonlinear_run;

static anchored_input input_of(const nonlinear_run *r)
{
    const fit *f = r->f;
    return (anchored_input){.signal = &r->n.latents,
                            .read_off = true,
                            .settings = &f->settings,
                            .order = f->order,
                            .forbidden = f->known.forbidden,
                            .required = f->known.required,
                            .draws = (size_t)f->settings.draws,
                            .progress = f->progress};
}

/* ---- The loop ---- */

static lscm_status write_trace(const nonlinear_run *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char path[4096];
    output out = {0};
    FILE *file = NULL;
    if (r->f->run->folder == NULL) {
        return LSCM_OK;
    }
    (void)snprintf(path, sizeof path, "%s/trace.csv", r->f->run->folder);
    TRY(output_begin(&out, path, false, true, why));
    file = fopen(out.temporary, "w");
    if (file == NULL) {
        status = fail(why, LSCM_WRITE, "%s: cannot write", path);
        goto done;
    }
    (void)fprintf(file, "round,step,misfit,held_out_missed\n");
    for (size_t k = 0; k < r->log.count; k++) {
        (void)fprintf(file, "%zu,%llu,%.9g,%.9g\n", k, (unsigned long long)r->log.step[k],
                      r->log.round[k].misfit, r->log.round[k].held_out);
    }
    bool failed = ferror(file) != 0;
    failed = fclose(file) != 0 || failed;
    file = NULL;
    if (failed) {
        status = fail(why, LSCM_WRITE, "%s: cannot write; is the disk full?", path);
        goto done;
    }
    TRY(output_commit(&out, why));
done:
    if (file != NULL) {
        (void)fclose(file);
    }
    output_end(&out);
    return status;
}

/* The model belongs to a checkpoint: beyond DAG_EXACT_MOST nodes it is older than z. */
static size_t model_bytes(const nonlinear_run *r)
{
    return r->n.x.d * (r->n.x.d + 2) * sizeof(double);
}

static size_t saved_bytes(const nonlinear_run *r)
{
    return sizeof r->log + model_bytes(r) + generator_state_size(r->n.g);
}

static lscm_status save_checkpoint(const nonlinear_run *r, lscm_error *why)
{
    size_t d = r->n.x.d;
    char *model = r->saved + sizeof r->log;
    memcpy(r->saved, &r->log, sizeof r->log);
    memcpy(model, r->n.w, d * d * sizeof(double));
    memcpy(model + d * d * sizeof(double), r->n.intercept, d * sizeof(double));
    memcpy(model + d * (d + 1) * sizeof(double), r->n.sigma, d * sizeof(double));
    generator_state_get(r->n.g, model + model_bytes(r));
    return checkpoint_write(r->f->run->folder, r->fingerprint, r->saved, saved_bytes(r), why);
}

static lscm_status start_or_resume(nonlinear_run *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const fit *f = r->f;
    TRY(fit_fingerprint(f, &r->fingerprint, why));
    r->saved = calloc(1, saved_bytes(r));
    if (r->saved == NULL) {
        status = fail_memory(why, saved_bytes(r));
        goto done;
    }
    if (f->run->resume) {
        size_t d = r->n.x.d;
        const char *model = r->saved + sizeof r->log;
        TRY(checkpoint_read(f->run->folder, r->fingerprint, r->saved, saved_bytes(r), why));
        memcpy(&r->log, r->saved, sizeof r->log);
        memcpy(r->n.w, model, d * d * sizeof(double));
        memcpy(r->n.intercept, model + d * d * sizeof(double), d * sizeof(double));
        memcpy(r->n.sigma, model + d * (d + 1) * sizeof(double), d * sizeof(double));
        generator_state_set(r->n.g, model + model_bytes(r));
        if (generator_rounds(r->n.g) > 0) {
            generator_use(r->n.g, &(generator_model){r->n.w, r->n.intercept, r->n.sigma});
        }
    }
done:
    return status;
}

static lscm_status report(const nonlinear_run *r, double rate, lscm_error *why)
{
    char what[128];
    const lscm_progress *p = r->f->progress;
    if (p == NULL || p->report == NULL) {
        return LSCM_OK;
    }
    if (r->log.count > 0) {
        const generator_round *last = &r->log.round[r->log.count - 1];
        (void)snprintf(what, sizeof what, "network: misfit %.4f, held-out R2 %.4f, %.0f steps/s",
                       last->misfit, 1 - last->held_out, rate);
    } else {
        (void)snprintf(what, sizeof what, "network: %.0f steps/s", rate);
    }
    return p->report(p->self, what, generator_done(r->n.g), generator_total(r->n.g))
               ? LSCM_OK
               : fail(why, LSCM_STOPPED, "stopped on request");
}

static lscm_status keep_going(const nonlinear_run *r, size_t from, double begun, double *kept,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double now = fit_seconds();
    double every = r->f->settings.checkpoint;
    bool folder = r->f->run->folder != NULL;
    status = report(r, (double)(generator_done(r->n.g) - from) / (now - begun + 1e-9), why);
    if (status == LSCM_OK && folder && every > 0 && now - *kept > every) {
        status = save_checkpoint(r, why);
        *kept = now;
    } else if (status == LSCM_STOPPED && folder) {
        status = save_checkpoint(r, why);
        if (status == LSCM_OK) {
            status = fail(why, LSCM_STOPPED,
                          "stopped at step %zu of %zu; continue with the same command and --resume",
                          generator_done(r->n.g), generator_total(r->n.g));
        }
    }
    return status;
}

static lscm_status train(nonlinear_run *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    generator *g = r->n.g;
    anchored_input in = input_of(r);
    double begun = fit_seconds();
    double kept = begun;
    size_t from = generator_done(g);
    while (generator_done(g) < generator_total(g) || generator_due(g)) {
        if (generator_due(g)) {
            generator_round round;
            TRY(nonlinear_round(&r->n, &in, &round, why));
            if (r->log.count < LOG_MOST) {
                r->log.step[r->log.count] = generator_done(g);
                r->log.round[r->log.count++] = round;
            }
            TRY(write_trace(r, why));
        } else {
            TRY(generator_step(g, why));
        }
        if (generator_done(g) % 10 == 0) {
            TRY(keep_going(r, from, begun, &kept, why));
        }
    }
done:
    return status;
}

/* ---- The result ---- */

/* x = f E' (+ nothing: E spans the mean), so the last layer is multiplied by E'. */
static lscm_status take_decoder(const nonlinear_run *r, lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const features *x = &r->n.x;
    mlp_shape shape = generator_shape(r->n.g);
    size_t count = mlp_count(&shape);
    size_t hidden = shape.width[2];
    double *parameters = calloc(count, sizeof *parameters);
    double *weights = p->decode.weights;
    double *bias = p->decode.bias;
    if (parameters == NULL) {
        status = fail_memory(why, count * sizeof *parameters);
        goto done;
    }
    generator_network(r->n.g, parameters);
    p->decode.kind = DECODER_MLP;
    p->decode.between = shape.between == ACTIVATION_RELU ? DECODER_RELU : DECODER_GELU;
    p->decode.biases = shape.bias ? BIASES_ALL : BIASES_NONE;
    p->decode.layers = shape.layers;
    memcpy(p->decode.sizes, shape.width, shape.layers * sizeof *shape.width);
    p->decode.sizes[shape.layers] = x->D;
    for (size_t l = 0; l < shape.layers; l++) {
        const double *from = parameters + mlp_offset(&shape, l);
        size_t in = shape.width[l];
        size_t out = shape.width[l + 1];
        bool wide = l + 1 == shape.layers && x->basis != NULL;
        size_t to = wide ? x->D : out;
        if (wide) {
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)hidden, (int)x->D, (int)out,
                        1, from, (int)out, x->basis, (int)out, 0, weights, (int)x->D);
        } else {
            memcpy(weights, from, in * out * sizeof(double));
        }
        if (shape.bias && wide) {
            cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)x->D, (int)out, 1, x->basis, (int)out,
                        from + in * out, 1, 0, bias, 1);
        } else if (shape.bias) {
            memcpy(bias, from + in * out, out * sizeof(double));
        }
        weights += in * to;
        bias += shape.bias ? to : 0;
    }
    double noise = generator_noise(r->n.g);
    p->decode.x_noise = sqrt(((double)x->R * noise * noise + x->left_out) / (double)x->D);
done:
    free(parameters);
    return status;
}

static lscm_status make_posterior(nonlinear_run *r, lscm_posterior **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const features *x = &r->n.x;
    const anchored *a = &r->a;
    mlp_shape shape = generator_shape(r->n.g);
    lscm_posterior *p = NULL;
    size_t d = x->d;
    size_t n = a->draws * d;
    size_t hidden = shape.width[1];
    generator_inverse inverse = generator_inverse_of(r->n.g);
    TRY(fit_posterior(r->f, &p, (d + hidden + x->D) * hidden, shape.bias ? 2 * hidden + x->D : 0,
                      why));
    TRY(take_decoder(r, p, why));
    memcpy(p->w, a->w, n * d * sizeof(double));
    memcpy(p->sigma, a->sigma, n * sizeof(double));
    memcpy(p->intercept, a->intercept, n * sizeof(double));
    memcpy(p->order, a->order, n * sizeof *p->order);
    memcpy(p->log_p, a->log_p, a->draws * sizeof(double));
    memcpy(p->log_q, a->log_q, a->draws * sizeof(double));
    memcpy(p->edge_prob, a->edge_prob, d * d * sizeof(double));
    memcpy(p->z, r->n.told, x->rows * d * sizeof(double));
    memcpy(p->z_sd, r->n.told_sd, x->rows * d * sizeof(double));
    TRY(encoder_pack_nonlinear(p, x, &r->n.kernel, r->n.network ? &inverse : NULL, why));
    *out = p;
    p = NULL;
done:
    lscm_posterior_free(p);
    return status;
}

static json_t *anchors_of(const nonlinear_run *r)
{
    json_t *all = json_object();
    char *const *names = r->f->data->node_names;
    for (size_t j = 0; j < r->n.x.d; j++) {
        char number[32];
        json_t *one = json_pack("{s:I}", "values", (json_int_t)r->n.kernel.labels[j]);
        (void)snprintf(number, sizeof number, "%zu", j);
        if (isfinite(r->n.r2[j])) {
            (void)json_object_set_new(one, "r2", json_real(r->n.r2[j]));
        }
        (void)json_object_set_new(all, names != NULL ? names[j] : number, one);
    }
    return all;
}

static json_t *summary_of(const nonlinear_run *r, const char *reason)
{
    static const char *const samplers[] = {"exact", "mcmc", "joint", "latent"};
    const kernel_encoder *k = &r->n.kernel;
    json_t *held_out = judgement_json(&r->j, r->f->data->node_names);
    json_t *seconds =
        json_pack("{s:f, s:f, s:f, s:f}", "read", r->f->read, "encode", r->seconds_encode, "train",
                  r->seconds_train, "graph", r->seconds_graph);
    json_t *summary = json_object();
    (void)json_object_set_new(summary, "reason", json_string(reason));
    (void)json_object_set_new(summary, "encoder", json_string(r->n.network ? "network" : "kernel"));
    (void)json_object_set_new(summary, "family", json_string(kernel_family_name(k->space.family)));
    (void)json_object_set_new(summary, "biases", json_boolean(!r->n.homogeneous));
    (void)json_object_set_new(summary, "kernel_r2",
                              json_pack("{s:f, s:f, s:f}", "linear", k->r2[KERNEL_LINEAR],
                                        "homogeneous", k->r2[KERNEL_HOMOGENEOUS], "biased",
                                        k->r2[KERNEL_BIASED]));
    (void)json_object_set_new(summary, "anchors", anchors_of(r));
    (void)json_object_set_new(summary, "features", json_integer((json_int_t)r->n.x.R));
    (void)json_object_set_new(summary, "steps", json_integer((json_int_t)generator_done(r->n.g)));
    (void)json_object_set_new(summary, "outside", json_integer((json_int_t)r->n.outside));
    (void)json_object_set_new(summary, "sampler", json_string(samplers[r->a.sampler]));
    (void)json_object_set_new(summary, "r_hat", json_real(r->a.r_hat));
    (void)json_object_set_new(summary, "ess", json_real(r->a.ess));
    (void)json_object_set_new(summary, "dispersion", json_real(r->a.dispersion));
    if (held_out != NULL) {
        (void)json_object_set_new(summary, "held_out", held_out);
        (void)json_object_set_new(seconds, "judge", json_real(r->seconds_judge));
    }
    (void)json_object_set_new(summary, "seconds", seconds);
    return summary;
}

/* What a scientist would want to be told. */
static void warn_of(const nonlinear_run *r)
{
    char text[256];
    double worst = INFINITY;
    size_t node = 0;
    size_t entries = 0;
    for (size_t j = 0; j < r->n.x.d; j++) {
        if (r->n.r2[j] < worst) {
            worst = r->n.r2[j];
            node = j;
        }
    }
    for (size_t k = 0; k < r->n.x.rows * r->n.x.d; k++) {
        entries += r->n.x.mask[k] == 0 ? 1 : 0;
    }
    if (worst < 0.9) {
        (void)snprintf(text, sizeof text,
                       "values of do() that were held out are predicted badly (R2 %.2f for node "
                       "%zu): edges there rest on little; more rows or more varied sets would help",
                       worst, node);
        (void)json_array_append_new(r->f->warnings, json_string(text));
    }
    if (r->a.r_hat > 1.1) {
        (void)snprintf(
            text, sizeof text,
            "the chains do not agree yet (R-hat %.2f): weights of edges are less certain than "
            "they look",
            r->a.r_hat);
        (void)json_array_append_new(r->f->warnings, json_string(text));
    }
    if ((double)r->n.outside > 0.05 * (double)entries) {
        (void)snprintf(text, sizeof text,
                       "%.0f%% of the causal variables that do() did not set lie beyond the values "
                       "that it set elsewhere: there the encoder extrapolates",
                       100 * (double)r->n.outside / (double)entries);
        (void)json_array_append_new(r->f->warnings, json_string(text));
    }
}

/* ---- All together ---- */

static lscm_status read_features(nonlinear_run *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    fit *f = r->f;
    meter m = meter_over(f->data, f->progress, "reading");
    if (!f->data->shape[LSCM_VALUES].present) {
        return fail(why, LSCM_MISSING,
                    "%s holds no values; a network decoder needs what do() set, or --method biols",
                    f->data->path);
    }
    TRY(features_of(&r->n.x, f->data, &m, why));
    f->read = fit_seconds() - f->begun;
done:
    return status;
}

static lscm_status run_all(nonlinear_run *r, bool *linear, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    fit *f = r->f;
    anchored_input in = input_of(r);
    double begun = fit_seconds();
    TRY(nonlinear_encode(&r->n, &f->settings, f->progress, why));
    r->seconds_encode = fit_seconds() - begun;
    *linear = *linear && r->n.kernel.space.family == KERNEL_LINEAR;
    if (*linear) {
        goto done;
    }
    if (f->settings.decoder == DECODE_AUTO) {
        f->settings.decoder = DECODE_MLP; /* of vectors and pictures alike */
    }
    begun = fit_seconds();
    TRY(nonlinear_begin(&r->n, &in, why));
    if (f->run->folder != NULL && (!f->run->force || f->run->resume)) {
        TRY(run_folder_begin(f->run->folder, false, f->run->resume, why));
    } else if (f->run->folder != NULL) {
        TRY(run_folder_begin(f->run->folder, true, false, why));
    }
    TRY(start_or_resume(r, why));
    TRY(train(r, why));
    r->seconds_train = fit_seconds() - begun;
    begun = fit_seconds();
    TRY(nonlinear_finish(&r->n, &r->a, &in, why));
    r->seconds_graph = fit_seconds() - begun;
    begun = fit_seconds();
    if (f->settings.holdout > 0) {
        TRY(judge(&r->j, &in, f->settings.holdout, why));
    }
    r->seconds_judge = fit_seconds() - begun;
done:
    return status;
}

lscm_status nonlinear_fit(fit *f, lscm_posterior **out, bool *linear, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    nonlinear_run r = {.f = f};
    lscm_posterior *p = NULL;
    bool asked = f->settings.decoder != DECODE_AUTO;
    int blas = threads_blas_single();
    if (f->settings.noise == NOISE_AUTO) {
        f->settings.noise = NOISE_UNEQUAL;
    }
    TRY(read_features(&r, why));
    TRY(run_all(&r, linear, why));
    if (*linear) {
        goto done;
    }
    warn_of(&r);
    TRY(make_posterior(&r, &p, why));
    TRY(fit_save(f, p,
                 summary_of(&r, asked ? "as asked"
                                      : "values set by do() label the causal variables, and x is "
                                        "not linear in them"),
                 why));
    if (f->run->folder != NULL) {
        checkpoint_remove(f->run->folder);
    }
    *out = p;
    p = NULL;
done:
    if (status != LSCM_OK && f->run->folder != NULL) {
        (void)rmdir(f->run->folder); /* goes only when nothing is in it */
    }
    threads_blas_restore(blas);
    lscm_posterior_free(p);
    judgement_close(&r.j);
    anchored_close(&r.a);
    nonlinear_close(&r.n);
    free(r.saved);
    return status;
}
