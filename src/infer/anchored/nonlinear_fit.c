/* A fit where x is not linear in z, from the data set to the run folder: features, kernel, rounds
 * of the network with progress, trace and checkpoints, posterior, what held-out sets say, advice.
 * All that decides is in `round_log` and the generator's state, which a checkpoint holds: a resumed
 * run takes the same steps, bit for bit. */
#include "infer/anchored/nonlinear_fit.h"
#include "base/output.h"
#include "infer/anchored/advice.h"
#include "infer/anchored/anchored_run.h"
#include "infer/anchored/judge.h"
#include "infer/anchored/nonlinear_result.h"
#include "infer/run/run.h"

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
    anchored_input in = anchored_input_of(r->f, &r->n.latents);
    in.read_off = true;
    in.saturated = r->f->data->shape[LSCM_X].ndim > 2;
    return in;
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

/* ---- All together ---- */

/* The run's own part of the summary: time, and what held-out sets say. */
static json_t *summary_of(const nonlinear_run *r, const char *reason)
{
    json_t *held_out = judgement_json(&r->j, r->f->data->node_names);
    json_t *seconds =
        json_pack("{s:f, s:f, s:f, s:f}", "read", r->f->read, "encode", r->seconds_encode, "train",
                  r->seconds_train, "graph", r->seconds_graph);
    json_t *summary = nonlinear_summary(&r->n, reason, r->f->data->node_names);
    if (held_out != NULL) {
        (void)json_object_set_new(summary, "held_out", held_out);
        (void)json_object_set_new(seconds, "judge", json_real(r->seconds_judge));
    }
    (void)json_object_set_new(summary, "seconds", seconds);
    return summary;
}

/* Choosing a network keeps no checkpoint; one from before stays as it was. */
static lscm_status begin(nonlinear_run *r, const anchored_input *in, lscm_error *why)
{
    lscm_status status = nonlinear_begin(&r->n, in, why);
    if (status == LSCM_STOPPED) {
        return fail(why, LSCM_STOPPED,
                    r->f->run->resume
                        ? "stopped while choosing a network; the checkpoint is as it was: "
                          "continue with the same command"
                        : "stopped while choosing a network, before there was anything to keep; "
                          "start again");
    }
    return status;
}

/* Held-out values are best told by a linear regression, and by one on as many components of x as
 * there are nodes: with more of them, a regression bends, too. */
static bool linear_wins(const nonlinear *n, const linear_rival *rival)
{
    return rival != NULL && n->kernel.space.family == KERNEL_LINEAR &&
           rival->missed <= 2 * (1 - n->kernel.r2[KERNEL_LINEAR]);
}

/* Ends early where the rival wins. */
static lscm_status run_all(nonlinear_run *r, linear_rival *rival, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    fit *f = r->f;
    anchored_input in = input_of(r);
    double begun = fit_seconds();
    TRY(nonlinear_encode(&r->n, &f->settings, f->progress, why));
    r->seconds_encode = fit_seconds() - begun;
    if (linear_wins(&r->n, rival)) {
        rival->wins = true;
        goto done;
    }
    if (f->settings.decoder == DECODE_AUTO) {
        f->settings.decoder = DECODE_MLP; /* of vectors and pictures alike */
    }
    begun = fit_seconds();
    TRY(begin(r, &in, why));
    if (f->run->folder != NULL) {
        TRY(run_folder_begin(f->run->folder, f->run->force && !f->run->resume, f->run->resume,
                             why));
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

lscm_status nonlinear_fit(fit *f, lscm_posterior **out, linear_rival *rival, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    nonlinear_run r = {.f = f, .n = {.device = &f->device}};
    lscm_posterior *p = NULL;
    bool asked = f->settings.decoder != DECODE_AUTO;
    if (f->settings.noise == NOISE_AUTO) {
        f->settings.noise = NOISE_UNEQUAL;
    }
    meter m = meter_over(f->data, f->progress, "reading");
    TRY(features_of(&r.n.x, f->data, &m, why));
    f->read = fit_seconds() - f->begun;
    TRY(run_all(&r, rival, why));
    if (rival != NULL && rival->wins) {
        goto done;
    }
    nonlinear_warn(&r.n, &r.a, f->warnings);
    TRY(nonlinear_posterior(f, &r.n, &p, why));
    json_t *summary = summary_of(&r, asked ? "as asked"
                                           : "values set by do() label the causal variables, and x "
                                             "is not linear in them");
    anchored_store(&r.a, p, summary);
    TRY(fit_save(f, p, summary, why));
    if (f->run->folder != NULL) {
        checkpoint_remove(f->run->folder);
    }
    *out = p;
    p = NULL;
done:
    if (status != LSCM_OK && f->run->folder != NULL) {
        (void)rmdir(f->run->folder); /* goes only when nothing is in it */
    }
    lscm_posterior_free(p);
    judgement_close(&r.j);
    anchored_close(&r.a);
    nonlinear_close(&r.n);
    free(r.saved);
    return status;
}
