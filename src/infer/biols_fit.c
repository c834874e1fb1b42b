/* Algorithm 1 as a run: the loop over starts and steps, stopping, checkpoints, and the result.
 *
 * Every WINDOW steps the mean loss is compared with that of the window before. Where it did not
 * fall by more than its own standard error, the rate is cut to a third; at the third such window
 * the run has converged. Of several starts each gets TRIAL steps, and the one with the lowest last
 * window goes on. Everything that decides is in `loop_state`, which a checkpoint holds beside the
 * estimator's own state: a resumed run takes the same steps, bit for bit.
 */
#include "base/threads.h"
#include "data/dataset.h"
#include "infer/biols.h"
#include "infer/choices.h"
#include "infer/expected_z.h"
#include "infer/fit_state.h"
#include "infer/run_files.h"
#include "infer/trace.h"
#include "scm/decode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 250, CUTS = 3, TRIAL = 1000 };

typedef struct loop_state {
    uint64_t restart, step; /* the step to take next */
    uint64_t trace_rows;
    double sum, squares, previous; /* loss over this window; mean of the one before */
    uint64_t in_window, windows, cuts;
    double rate;
    double best_loss; /* last window of the best start so far */
    uint64_t has_best;
    uint64_t final;    /* the trials are over */
    uint64_t diverged; /* a start was lost */
} loop_state;

typedef struct biols_run {
    fit *f;
    biols *b;
    trace *rows;
    loop_state loop;
    biols_terms terms;
    char *saved; /* loop_state and state of the estimator, twice: now, and of the best start */
    size_t state_bytes;
    uint64_t fingerprint;
} biols_run;

static void choose(biols_run *r)
{
    lscm_fit_settings *s = &r->f->settings;
    size_t d = r->f->data->nodes;
    if (s->decoder == DECODE_AUTO) {
        s->decoder = r->f->data->shape[LSCM_X].ndim > 2 ? DECODE_IMAGE : DECODE_LINEAR;
    }
    if (s->restarts == 0) {
        /* an order that was settled too early is not found again: start several times */
        bool learned = r->f->order == NULL && d > 1;
        s->restarts = s->decoder != DECODE_LINEAR ? 1
                      : !learned                  ? 3
                      : d <= 6                    ? 16
                      : d <= 12                   ? 8
                                                  : 4;
    }
}

/* What only the anchored method can do. */
static lscm_status refuse_anchored(const fit *f, lscm_error *why)
{
    if (f->settings.decoder == DECODE_IDENTITY) {
        return fail(why, LSCM_USAGE,
                    "the method biols has no identity decoder; leave --decoder out, or take "
                    "--method anchored");
    }
    if (knowledge_any(&f->known)) {
        return fail(why, LSCM_USAGE,
                    "the method biols cannot use background knowledge (--forbid, --require, "
                    "--tiers); leave it out, or take --method anchored");
    }
    return LSCM_OK;
}

/* ---- The loop ---- */

static void begin_restart(biols_run *r, uint64_t restart)
{
    loop_state *l = &r->loop;
    *l = (loop_state){.restart = restart,
                      .rate = r->f->settings.rate,
                      .trace_rows = l->trace_rows,
                      .best_loss = l->best_loss,
                      .has_best = l->has_best,
                      .diverged = l->diverged};
    biols_begin(r->b, restart);
}

static size_t saved_bytes(const biols_run *r)
{
    return sizeof r->loop + r->state_bytes;
}

static void put_state(const biols_run *r, char *to)
{
    memcpy(to, &r->loop, sizeof r->loop);
    biols_state_get(r->b, to + sizeof r->loop);
}

static void take_state(biols_run *r, const char *from)
{
    memcpy(&r->loop, from, sizeof r->loop);
    biols_state_set(r->b, from + sizeof r->loop);
}

static lscm_status save_checkpoint(biols_run *r, lscm_error *why)
{
    if (r->f->run->folder == NULL) {
        return LSCM_OK;
    }
    r->loop.trace_rows = trace_rows(r->rows);
    put_state(r, r->saved);
    return checkpoint_write(r->f->run->folder, r->fingerprint, r->saved, 2 * saved_bytes(r), why);
}

/* True when the restart has converged; the window just filled is closed. */
static bool close_window(biols_run *r)
{
    loop_state *l = &r->loop;
    double n = (double)l->in_window;
    double mean = l->sum / n;
    double error = sqrt(fmax(l->squares / n - mean * mean, 0) / n);
    if (l->windows > 0 && !(l->previous - mean > error)) {
        l->cuts++;
        l->rate /= 3;
    }
    l->previous = mean;
    l->windows++;
    l->sum = l->squares = 0;
    l->in_window = 0;
    return l->cuts >= CUTS && !r->f->settings.full_run;
}

static lscm_status report(const biols_run *r, double rate, lscm_error *why)
{
    char what[128];
    uint64_t steps = (uint64_t)r->f->settings.steps;
    uint64_t restarts = (uint64_t)r->f->settings.restarts;
    uint64_t trial = TRIAL < steps ? TRIAL : steps;
    uint64_t before = r->loop.final != 0 ? (restarts - 1) * trial : r->loop.restart * trial;
    if (r->f->progress == NULL || r->f->progress->report == NULL) {
        return LSCM_OK;
    }
    (void)snprintf(what, sizeof what, "start %llu of %llu, step %llu, bound %.1f, %.0f steps/s",
                   (unsigned long long)r->loop.restart + 1, (unsigned long long)restarts,
                   (unsigned long long)r->loop.step, -r->terms.loss, rate);
    if (!r->f->progress->report(r->f->progress->self, what, before + r->loop.step,
                                (restarts - 1) * trial + steps)) {
        return fail(why, LSCM_STOPPED, "stopped on request");
    }
    return LSCM_OK;
}

static lscm_status fail_stopped(const biols_run *r, lscm_error *why)
{
    return fail(why, LSCM_STOPPED,
                "stopped at step %llu of start %llu; continue with the same command and --resume",
                (unsigned long long)r->loop.step, (unsigned long long)r->loop.restart + 1);
}

/* From where the loop stands to the end of the trial, or of the run. */
static lscm_status run_restart(biols_run *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    loop_state *l = &r->loop;
    double begun = fit_seconds();
    double kept = begun;
    uint64_t from = l->step;
    bool converged = false;
    uint64_t steps = (uint64_t)r->f->settings.steps;
    uint64_t end = l->final != 0 || TRIAL > steps ? steps : TRIAL;
    while (l->step < end && !converged) {
        TRY(biols_step(r->b, l->rate, &r->terms, why));
        if (l->step % (uint64_t)r->f->settings.trace == 0) {
            TRY(trace_row(r->rows, r->b, l->restart, l->step, &r->terms, why));
        }
        l->sum += r->terms.loss;
        l->squares += r->terms.loss * r->terms.loss;
        l->step++;
        if (++l->in_window == WINDOW) {
            converged = close_window(r);
        }
        if (l->step % 10 == 0) {
            double now = fit_seconds();
            status = report(r, (double)(l->step - from) / (now - begun + 1e-9), why);
            bool due = r->f->settings.checkpoint > 0 && now - kept > r->f->settings.checkpoint;
            if (status == LSCM_OK && due) {
                status = save_checkpoint(r, why);
                kept = now;
            } else if (status == LSCM_STOPPED && r->f->run->folder != NULL) {
                status = save_checkpoint(r, why);
                status = status == LSCM_OK ? fail_stopped(r, why) : status;
            }
            TRY(status);
        }
    }
done:
    return status;
}

static void keep_if_best(biols_run *r)
{
    loop_state *l = &r->loop;
    double loss = l->windows > 0 ? l->previous : l->sum / (double)l->in_window;
    if (l->has_best == 0 || loss < l->best_loss) {
        l->best_loss = loss;
        l->has_best = 1;
        put_state(r, r->saved + saved_bytes(r));
    }
}

static lscm_status run_trials(biols_run *r, lscm_error *why)
{
    uint64_t restarts = (uint64_t)r->f->settings.restarts;
    for (;;) {
        lscm_status status = run_restart(r, why);
        if (status == LSCM_OK) {
            keep_if_best(r);
        } else if (status != LSCM_VALUE ||
                   (r->loop.restart + 1 == restarts && r->loop.has_best == 0)) {
            return status;
        } else {
            r->loop.diverged = 1; /* one start lost; the others may do */
        }
        if (r->loop.restart + 1 == restarts) {
            break;
        }
        begin_restart(r, r->loop.restart + 1);
    }
    uint64_t diverged = r->loop.diverged;
    take_state(r, r->saved + saved_bytes(r));
    r->loop.diverged = diverged;
    return LSCM_OK;
}

static lscm_status run_all(biols_run *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (r->f->settings.restarts > 1 && r->loop.final == 0) {
        TRY(run_trials(r, why));
    }
    r->loop.final = 1;
    TRY(run_restart(r, why));
    r->loop.best_loss =
        r->loop.windows > 0 ? r->loop.previous : r->loop.sum / (double)r->loop.in_window;
done:
    return status;
}

/* ---- All together ---- */

static lscm_status start_or_resume(biols_run *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (r->f->run->folder != NULL) {
        TRY(run_folder_begin(r->f->run->folder, r->f->run->force, r->f->run->resume, why));
    }
    if (r->f->run->resume) {
        TRY(checkpoint_read(r->f->run->folder, r->fingerprint, r->saved, 2 * saved_bytes(r), why));
        take_state(r, r->saved);
    } else {
        begin_restart(r, 0);
    }
    TRY(trace_open(&r->rows, r->f->run->folder, r->f->data, (size_t)r->f->settings.samples,
                   (size_t)r->loop.trace_rows, why));
done:
    return status;
}

static lscm_status open_run(biols_run *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    fit *f = r->f;
    TRY(refuse_anchored(f, why));
    TRY(lscm_dataset_check(f->data, &(lscm_overview){0}, f->progress, why));
    choose(r);
    TRY(biols_open(&r->b, f->data, &f->settings, f->order, f->progress, why));
    TRY(fit_fingerprint(f, &r->fingerprint, why));
    r->state_bytes = biols_state_size(r->b);
    r->saved = calloc(2, saved_bytes(r));
    if (r->saved == NULL) {
        status = fail_memory(why, 2 * saved_bytes(r));
        goto done;
    }
    TRY(start_or_resume(r, why));
    f->read = fit_seconds() - f->begun;
done:
    return status;
}

static lscm_status finish(const biols_run *r, lscm_posterior **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    fit *f = r->f;
    size_t d = f->data->nodes;
    size_t draws = (size_t)f->settings.draws;
    double trained = fit_seconds() - f->begun - f->read;
    lscm_posterior *p = NULL;
    decoder g = biols_decoder_shape(r->b);
    TRY(fit_posterior(f, &p, decoder_weights(&g), decoder_bias_count(&g), why));
    biols_decoder(r->b, &p->decode);
    p->threshold = 0.3;
    biols_sample sample = {p->w, p->sigma, p->log_p, p->log_q, p->order};
    TRY(biols_draw(r->b, draws, 0, &sample, why));
    for (size_t s = 0; s < draws; s++) {
        for (size_t i = 0; i < d * d; i++) {
            p->edge_prob[i] += fabs(p->w[s * d * d + i]) > p->threshold ? 1 / (double)draws : 0;
        }
    }
    TRY(expected_z(p, f->data, why));
    if (r->loop.diverged != 0) {
        (void)json_array_append_new(
            f->warnings, json_string("a start diverged and was left out; a smaller rate may help"));
    }
    json_t *summary =
        json_pack("{s:f, s:I, s:I, s:f, s:{s:f, s:f}}", "bound", -r->loop.best_loss, "steps",
                  (json_int_t)r->loop.step, "restarts", (json_int_t)f->settings.restarts, "x_noise",
                  p->decode.x_noise, "seconds", "read", f->read, "train", trained);
    if (f->chosen) {
        (void)json_object_set_new(
            summary, "reason",
            json_string("a network was asked for, and there are no values of do() to anchor it"));
    }
    TRY(fit_save(f, p, summary, why));
    if (f->run->folder != NULL) {
        checkpoint_remove(f->run->folder);
    }
    *out = p;
    p = NULL;
done:
    lscm_posterior_free(p);
    return status;
}

lscm_status biols_fit(fit *f, lscm_posterior **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    biols_run r = {.f = f};
    int threads = 0;
    if (f->data->nodes < 8 && f->data->shape[LSCM_X].ndim == 2 &&
        f->settings.decoder <= DECODE_LINEAR) {
        /* steps of a fraction of a millisecond: waiting for threads would cost more than they save
         */
        threads = threads_use(1);
    }
    TRY(open_run(&r, why));
    TRY(run_all(&r, why));
    TRY(finish(&r, out, why));
done:
    lscm_set_threads(threads);
    trace_close(r.rows);
    biols_close(r.b);
    free(r.saved);
    return status;
}
