#include "infer/run/training.h"

#include "base/clock.h"
#include "base/tuned.h"
#include "infer/run/run_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void begin_restart(training *r, uint64_t restart)
{
    training_loop *l = &r->loop;
    *l = (training_loop){.restart = restart,
                         .rate = r->f->settings.rate,
                         .trace_rows = l->trace_rows,
                         .best_loss = l->best_loss,
                         .has_best = l->has_best,
                         .diverged = l->diverged};
    r->learner.begin(r->learner.self, restart);
}

static size_t saved_bytes(const training *r)
{
    return sizeof r->loop + r->state_bytes;
}

/* Of the checkpoint. */
static size_t all_bytes(const training *r)
{
    return (r->learner.course != NULL ? 1 : 2) * saved_bytes(r);
}

static lscm_status put_state(const training *r, char *to, lscm_error *why)
{
    memcpy(to, &r->loop, sizeof r->loop);
    return trainee_get(&r->learner, to + sizeof r->loop, why);
}

static void take_state(training *r, const char *from)
{
    memcpy(&r->loop, from, sizeof r->loop);
    trainee_set(&r->learner, from + sizeof r->loop);
}

static lscm_status save_checkpoint(training *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (r->f->run->folder == NULL) {
        return LSCM_OK;
    }
    r->loop.trace_rows = trace_rows(r->rows);
    TRY(put_state(r, r->saved, why));
    TRY(checkpoint_write(r->f->run->folder, r->fingerprint, r->saved, all_bytes(r), why));
done:
    return status;
}

/* The window just filled is closed. */
static void close_window(training *r)
{
    training_loop *l = &r->loop;
    double n = (double)l->in_window;
    double mean = l->sum / n;
    double error = sqrt(fmax(l->squares / n - mean * mean, 0) / n);
    if (l->windows > 0 && !r->steady && !(l->previous - mean > error)) {
        l->cuts++;
        l->rate /= 3;
    }
    l->previous = mean;
    l->windows++;
    l->sum = l->squares = 0;
    l->in_window = 0;
    l->converged = l->cuts >= tuned_training_cuts() && !r->f->settings.full_run ? 1 : 0;
}

/* The start has had its trial, or all its steps. */
static bool over(const training *r)
{
    const training_loop *l = &r->loop;
    uint64_t steps = (uint64_t)r->f->settings.steps;
    if (r->learner.course != NULL) {
        return r->learner.course->over(r->learner.self);
    }
    return l->converged != 0 ||
           l->step >=
               (l->final != 0 || tuned_training_trial() > steps ? steps : tuned_training_trial());
}

/* What the loop's own course makes of a step: trace, window. */
static lscm_status follow_step(training *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    training_loop *l = &r->loop;
    if (l->step % (uint64_t)r->f->settings.trace == 0) {
        TRY(trace_row(r->rows, l->restart, l->step, &r->terms, why));
    }
    l->sum += r->terms.loss;
    l->squares += r->terms.loss * r->terms.loss;
    if (++l->in_window == tuned_training_window()) {
        close_window(r);
    }
done:
    return status;
}

/* Where the loop's own course stands: starts, steps, the bound. */
static void place(const training *r, trainee_place *out)
{
    uint64_t steps = (uint64_t)r->f->settings.steps;
    uint64_t restarts = (uint64_t)r->f->settings.restarts;
    uint64_t trial = tuned_training_trial() < steps ? tuned_training_trial() : steps;
    uint64_t before = r->loop.final != 0 ? (restarts - 1) * trial : r->loop.restart * trial;
    (void)snprintf(out->what, sizeof out->what, "start %llu of %llu, step %llu, bound %.1f",
                   (unsigned long long)r->loop.restart + 1, (unsigned long long)restarts,
                   (unsigned long long)r->loop.step, -r->terms.loss);
    out->done = before + r->loop.step;
    out->total = (restarts - 1) * trial + steps;
}

static lscm_status report(const training *r, double rate, lscm_error *why)
{
    char what[160];
    trainee_place at = {.stage = ""};
    const char *on = r->f->device.name;
    const lscm_progress *p = r->f->progress;
    if (p == NULL || p->report == NULL) {
        return LSCM_OK;
    }
    if (r->learner.course != NULL) {
        r->learner.course->place(r->learner.self, &at);
    } else {
        place(r, &at);
    }
    (void)snprintf(what, sizeof what, "%s, %.0f steps/s on %.*s", at.what, rate,
                   (int)strcspn(on, " "), on);
    return p->report(p->self, what, at.tried + at.done, at.tried + at.total)
               ? LSCM_OK
               : fail(why, LSCM_STOPPED, "stopped on request");
}

static lscm_status fail_stopped(const training *r, lscm_error *why)
{
    trainee_place at = {.stage = ""};
    if (r->learner.course == NULL) {
        return fail(
            why, LSCM_STOPPED,
            "stopped at step %llu of start %llu; continue with the same command and --resume",
            (unsigned long long)r->loop.step, (unsigned long long)r->loop.restart + 1);
    }
    r->learner.course->place(r->learner.self, &at);
    return fail(why, LSCM_STOPPED,
                "stopped %sat step %llu of %llu; continue with the same command and --resume",
                at.stage, (unsigned long long)at.done, (unsigned long long)at.total);
}

/* Times of a stretch of steps. */
typedef struct stretch {
    double begun, kept; /* its begin; its last checkpoint */
    uint64_t from;      /* step */
} stretch;

static lscm_status keep_going(training *r, stretch *s, lscm_error *why)
{
    double now = clock_seconds();
    double every = r->f->settings.checkpoint;
    lscm_status status = report(r, (double)(r->loop.step - s->from) / (now - s->begun + 1e-9), why);
    if (status == LSCM_OK && every > 0 && now - s->kept > every) {
        status = save_checkpoint(r, why);
        s->kept = now;
    } else if (status == LSCM_STOPPED && r->f->run->folder != NULL) {
        status = save_checkpoint(r, why);
        status = status == LSCM_OK ? fail_stopped(r, why) : status;
    }
    return status;
}

/* From where the loop stands to the end of the trial, or of the run. */
static lscm_status run_restart(training *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    training_loop *l = &r->loop;
    double now = clock_seconds();
    stretch s = {.begun = now, .kept = now, .from = l->step};
    while (!over(r)) {
        TRY(r->learner.step(r->learner.self, l->rate, &r->terms, why));
        TRY(r->learner.course != NULL ? trace_course(r->rows, why) : follow_step(r, why));
        l->step++;
        if (l->step % 10 == 0) {
            TRY(keep_going(r, &s, why));
        }
    }
done:
    return status;
}

static lscm_status keep_if_best(training *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    training_loop *l = &r->loop;
    double loss = l->windows > 0 ? l->previous : l->sum / (double)l->in_window;
    if (l->has_best == 0 || loss < l->best_loss) {
        l->best_loss = loss;
        l->has_best = 1;
        status = put_state(r, r->saved + saved_bytes(r), why);
    }
    return status;
}

static lscm_status run_trials(training *r, lscm_error *why)
{
    uint64_t restarts = (uint64_t)r->f->settings.restarts;
    for (;;) {
        lscm_status status = run_restart(r, why);
        if (status == LSCM_OK) {
            status = keep_if_best(r, why);
        } else if (status == LSCM_VALUE &&
                   (r->loop.restart + 1 < restarts || r->loop.has_best != 0)) {
            r->loop.diverged = 1; /* one start lost; the others may do */
            status = LSCM_OK;
        }
        if (status != LSCM_OK) {
            return status;
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

lscm_status training_run(training *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    training_loop *l = &r->loop;
    if (r->learner.course == NULL && r->f->settings.restarts > 1 && l->final == 0) {
        TRY(run_trials(r, why));
    }
    if (l->final == 0) {
        l->final = 1;
        l->converged = 0; /* in its trial */
    }
    TRY(run_restart(r, why));
    if (r->learner.course != NULL && r->f->settings.checkpoint > 0) {
        TRY(save_checkpoint(r, why)); /* what comes next may take long, too */
    }
    l->best_loss = l->windows > 0 ? l->previous : l->sum / (double)l->in_window;
    r->trained = clock_seconds() - r->f->begun - r->f->read;
done:
    return status;
}

/* ---- Beginning ---- */

static lscm_status start_or_resume(training *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (r->f->run->folder != NULL) {
        TRY(run_folder_begin(r->f->run->folder, r->f->run->force, r->f->run->resume, why));
    }
    if (r->f->run->resume) {
        TRY(checkpoint_read(r->f->run->folder, r->fingerprint, r->saved, all_bytes(r), why));
        take_state(r, r->saved);
    } else {
        begin_restart(r, 0);
    }
    TRY(trace_open(&r->rows, r->f, &r->learner, (size_t)r->loop.trace_rows, why));
done:
    return status;
}

lscm_status training_open(training *out, fit *f, const trainee *learner, bool steady,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    training r = {.f = f, .learner = *learner, .steady = steady};
    r.state_bytes = trainee_bytes(learner);
    TRY(fit_fingerprint(f, &r.fingerprint, why));
    r.saved = calloc(1, all_bytes(&r));
    if (r.saved == NULL) {
        status = fail_memory(why, all_bytes(&r));
        goto done;
    }
    TRY(start_or_resume(&r, why));
    *out = r;
    r = (training){0};
done:
    training_close(&r);
    return status;
}

void training_close(training *r)
{
    trace_close(r->rows);
    free(r->saved);
}

/* ---- The result ---- */

lscm_status training_draw(const training *r, lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t dd = p->d * p->d;
    model_sample sample = {p->w, p->sigma, p->log_p, p->log_q, p->order};
    TRY(r->learner.draw(r->learner.self, p->draws, 0, &sample, why));
    for (size_t s = 0; s < p->draws; s++) {
        for (size_t i = 0; i < dd; i++) {
            p->edge_prob[i] += fabs(p->w[s * dd + i]) > p->threshold ? 1 / (double)p->draws : 0;
        }
    }
done:
    return status;
}

json_t *training_summary(const training *r, const lscm_posterior *p)
{
    const fit *f = r->f;
    if (r->loop.diverged != 0) {
        (void)json_array_append_new(
            f->warnings, json_string("a start diverged and was left out; a smaller rate may help"));
    }
    return json_pack("{s:f, s:I, s:I, s:f, s:{s:f, s:f}}", "bound", -r->loop.best_loss, "steps",
                     (json_int_t)r->loop.step, "restarts", (json_int_t)f->settings.restarts,
                     "x_noise", p->decode.x_noise, "seconds", "read", f->read, "train", r->trained);
}

lscm_status training_save(const training *r, lscm_posterior *p, json_t *summary, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(fit_save(r->f, p, summary, why));
    if (r->f->run->folder != NULL) {
        checkpoint_remove(r->f->run->folder);
    }
done:
    return status;
}
