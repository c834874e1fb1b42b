/* lscm_fit: choosing, the loop over restarts and steps, stopping, and the result.
 *
 * Every WINDOW steps the mean loss is compared with that of the window before. Where it did not
 * fall by more than its own standard error, the rate is cut to a third; at the third such window
 * the run has converged. Of several starts each gets TRIAL steps, and the one with the lowest last
 * window goes on. Everything that decides is in `loop_state`, which a checkpoint holds beside the
 * estimator's own state: a resumed run takes the same steps, bit for bit.
 */
#include "base/threads.h"
#include "data/dataset.h"
#include "infer/fit_state.h"
#include "infer/run_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WINDOW = 250, CUTS = 3, TRIAL = 1000, METHOD_BIOLS = 1, ORDER_GIVEN = 1 };

double fit_seconds(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- Choosing ---- */

static void choose(fit *f)
{
    lscm_fit_settings *s = &f->settings;
    size_t d = f->data->nodes;
    s->method = METHOD_BIOLS;
    if (s->decoder == 0) {
        s->decoder = f->data->shape[LSCM_X].ndim > 2 ? 3 : 1; /* pictures: image; vectors: linear */
    }
    if (s->restarts == 0) {
        /* an order that was settled too early is not found again: start several times */
        bool learned = f->order == NULL && d > 1;
        s->restarts = s->decoder != 1 ? 1 : !learned ? 3 : d <= 6 ? 16 : d <= 12 ? 8 : 4;
    }
}

static lscm_status take_order(fit *f, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = f->data->nodes;
    double *stored = NULL;
    if (f->run->order == NULL && f->settings.order != ORDER_GIVEN) {
        return LSCM_OK;
    }
    f->order = malloc(d * sizeof *f->order);
    stored = calloc(2 * d, sizeof *stored);
    if (f->order == NULL || stored == NULL) {
        status = fail_memory(why, 3 * d * sizeof *stored);
        goto done;
    }
    if (f->run->order == NULL && !f->data->shape[LSCM_ORDER].present) {
        status = fail(why, LSCM_MISSING, "%s holds no order; list it (--order 2,0,1) or learn it",
                      f->data->path);
        goto done;
    }
    if (f->run->order == NULL) {
        TRY(lscm_dataset_read(f->data, LSCM_ORDER, 0, d, stored, why));
    }
    for (size_t k = 0; k < d; k++) {
        f->order[k] = f->run->order != NULL ? f->run->order[k] : (size_t)stored[k];
        if (f->order[k] >= d || stored[d + f->order[k]] != 0) {
            status = fail(why, LSCM_USAGE, "an order must name each of the %zu nodes once", d);
            goto done;
        }
        stored[d + f->order[k]] = 1;
    }
done:
    free(stored);
    return status;
}

/* ---- The loop ---- */

static void begin_restart(fit *f, uint64_t restart)
{
    loop_state *l = &f->loop;
    *l = (loop_state){.restart = restart,
                      .rate = f->settings.rate,
                      .trace_rows = l->trace_rows,
                      .best_loss = l->best_loss,
                      .has_best = l->has_best,
                      .diverged = l->diverged};
    biols_begin(f->b, restart);
}

static size_t saved_bytes(const fit *f)
{
    return sizeof f->loop + f->state_bytes;
}

static void put_state(const fit *f, char *to)
{
    memcpy(to, &f->loop, sizeof f->loop);
    biols_state_get(f->b, to + sizeof f->loop);
}

static void take_state(fit *f, const char *from)
{
    memcpy(&f->loop, from, sizeof f->loop);
    biols_state_set(f->b, from + sizeof f->loop);
}

static lscm_status save_checkpoint(fit *f, lscm_error *why)
{
    if (f->run->folder == NULL) {
        return LSCM_OK;
    }
    f->loop.trace_rows = trace_rows(f->rows);
    put_state(f, f->saved);
    return checkpoint_write(f->run->folder, f->fingerprint, f->saved, 2 * saved_bytes(f), why);
}

/* True when the restart has converged; the window just filled is closed. */
static bool close_window(fit *f)
{
    loop_state *l = &f->loop;
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
    return l->cuts >= CUTS && !f->settings.full_run;
}

static lscm_status report(const fit *f, double rate, lscm_error *why)
{
    char what[128];
    uint64_t steps = (uint64_t)f->settings.steps;
    uint64_t restarts = (uint64_t)f->settings.restarts;
    uint64_t trial = TRIAL < steps ? TRIAL : steps;
    uint64_t before = f->loop.final != 0 ? (restarts - 1) * trial : f->loop.restart * trial;
    if (f->progress == NULL || f->progress->report == NULL) {
        return LSCM_OK;
    }
    (void)snprintf(what, sizeof what, "start %llu of %llu, step %llu, bound %.1f, %.0f steps/s",
                   (unsigned long long)f->loop.restart + 1, (unsigned long long)restarts,
                   (unsigned long long)f->loop.step, -f->terms.loss, rate);
    if (!f->progress->report(f->progress->self, what, before + f->loop.step,
                             (restarts - 1) * trial + steps)) {
        return fail(why, LSCM_STOPPED, "stopped on request");
    }
    return LSCM_OK;
}

static lscm_status fail_stopped(const fit *f, lscm_error *why)
{
    return fail(why, LSCM_STOPPED,
                "stopped at step %llu of start %llu; continue with the same command and --resume",
                (unsigned long long)f->loop.step, (unsigned long long)f->loop.restart + 1);
}

/* From where the loop stands to the end of the trial, or of the run. */
static lscm_status run_restart(fit *f, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    loop_state *l = &f->loop;
    double begun = fit_seconds();
    double kept = begun;
    uint64_t from = l->step;
    bool converged = false;
    uint64_t steps = (uint64_t)f->settings.steps;
    uint64_t end = l->final != 0 || TRIAL > steps ? steps : TRIAL;
    while (l->step < end && !converged) {
        TRY(biols_step(f->b, l->rate, &f->terms, why));
        if (l->step % (uint64_t)f->settings.trace == 0) {
            TRY(trace_row(f->rows, f->b, l->restart, l->step, &f->terms, why));
        }
        l->sum += f->terms.loss;
        l->squares += f->terms.loss * f->terms.loss;
        l->step++;
        if (++l->in_window == WINDOW) {
            converged = close_window(f);
        }
        if (l->step % 10 == 0) {
            double now = fit_seconds();
            status = report(f, (double)(l->step - from) / (now - begun + 1e-9), why);
            bool due = f->settings.checkpoint > 0 && now - kept > f->settings.checkpoint;
            if (status == LSCM_OK && due) {
                status = save_checkpoint(f, why);
                kept = now;
            } else if (status == LSCM_STOPPED && f->run->folder != NULL) {
                status = save_checkpoint(f, why);
                status = status == LSCM_OK ? fail_stopped(f, why) : status;
            }
            TRY(status);
        }
    }
done:
    return status;
}

static void keep_if_best(fit *f)
{
    loop_state *l = &f->loop;
    double loss = l->windows > 0 ? l->previous : l->sum / (double)l->in_window;
    if (l->has_best == 0 || loss < l->best_loss) {
        l->best_loss = loss;
        l->has_best = 1;
        put_state(f, f->saved + saved_bytes(f));
    }
}

static lscm_status run_trials(fit *f, lscm_error *why)
{
    uint64_t restarts = (uint64_t)f->settings.restarts;
    for (;;) {
        lscm_status status = run_restart(f, why);
        if (status == LSCM_OK) {
            keep_if_best(f);
        } else if (status != LSCM_VALUE ||
                   (f->loop.restart + 1 == restarts && f->loop.has_best == 0)) {
            return status;
        } else {
            f->loop.diverged = 1; /* one start lost; the others may do */
        }
        if (f->loop.restart + 1 == restarts) {
            break;
        }
        begin_restart(f, f->loop.restart + 1);
    }
    uint64_t diverged = f->loop.diverged;
    take_state(f, f->saved + saved_bytes(f));
    f->loop.diverged = diverged;
    return LSCM_OK;
}

static lscm_status run_all(fit *f, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (f->settings.restarts > 1 && f->loop.final == 0) {
        TRY(run_trials(f, why));
    }
    f->loop.final = 1;
    TRY(run_restart(f, why));
    f->loop.best_loss =
        f->loop.windows > 0 ? f->loop.previous : f->loop.sum / (double)f->loop.in_window;
done:
    return status;
}

/* ---- All together ---- */

/* What a checkpoint must agree with: the data's shape and last row, the settings, the order. */
static lscm_status find_fingerprint(fit *f, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t D = lscm_dataset_features(f->data);
    size_t shape[3] = {f->data->rows, f->data->nodes, D};
    double *row = calloc(D, sizeof *row);
    lscm_fit_settings same = f->settings;
    same.checkpoint = 0; /* may differ */
    if (row == NULL) {
        return fail_memory(why, D * sizeof *row);
    }
    TRY(lscm_dataset_read(f->data, LSCM_X, f->data->rows - 1, 1, row, why));
    f->fingerprint = fingerprint_add(14695981039346656037U, shape, sizeof shape);
    f->fingerprint = fingerprint_add(f->fingerprint, row, D * sizeof *row);
    for (size_t i = 0; i < lscm_fit_table().count; i++) {
        char text[64];
        lscm_settings_get(&lscm_fit_table().rows[i], &same, text, sizeof text);
        f->fingerprint = fingerprint_add(f->fingerprint, text, strlen(text) + 1);
    }
    if (f->order != NULL) {
        f->fingerprint =
            fingerprint_add(f->fingerprint, f->order, f->data->nodes * sizeof *f->order);
    }
done:
    free(row);
    return status;
}

static lscm_status start_or_resume(fit *f, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (f->run->folder != NULL) {
        TRY(run_folder_begin(f->run->folder, f->run->force, f->run->resume, why));
    }
    if (f->run->resume) {
        TRY(checkpoint_read(f->run->folder, f->fingerprint, f->saved, 2 * saved_bytes(f), why));
        take_state(f, f->saved);
    } else {
        begin_restart(f, 0);
    }
    TRY(trace_open(&f->rows, f->run->folder, f->data, (size_t)f->settings.samples,
                   (size_t)f->loop.trace_rows, why));
done:
    return status;
}

static lscm_status prepare(fit *f, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_overview overview = {0};
    TRY(lscm_settings_check(lscm_fit_table(), &f->settings, why));
    TRY(lscm_dataset_check(f->data, &overview, f->progress, why));
    TRY(take_order(f, why));
    choose(f);
    TRY(biols_open(&f->b, f->data, &f->settings, f->order, f->progress, why));
    TRY(find_fingerprint(f, why));
    f->state_bytes = biols_state_size(f->b);
    f->saved = calloc(2, saved_bytes(f));
    if (f->saved == NULL) {
        status = fail_memory(why, 2 * saved_bytes(f));
        goto done;
    }
    f->read = fit_seconds() - f->begun;
done:
    return status;
}

lscm_status lscm_fit(lscm_posterior **out, const lscm_dataset *data,
                     const lscm_fit_settings *settings, const lscm_run_options *run,
                     const lscm_progress *progress, lscm_error *why)
{
    static const lscm_run_options alone = {0};
    lscm_status status = LSCM_OK;
    fit f = {.data = data,
             .settings = *settings,
             .run = run != NULL ? run : &alone,
             .progress = progress,
             .begun = fit_seconds(),
             .warnings = json_array()};
    int threads = 0;
    if (f.run->resume && f.run->folder == NULL) {
        status = fail(why, LSCM_USAGE, "to resume, name the run folder");
        goto done;
    }
    if (data->nodes < 8 && data->shape[LSCM_X].ndim == 2 && settings->decoder <= 1) {
        /* steps of a fraction of a millisecond: waiting for threads would cost more than they save
         */
        threads = threads_use(1);
    }
    TRY(prepare(&f, why));
    TRY(start_or_resume(&f, why));
    TRY(run_all(&f, why));
    f.trained = fit_seconds() - f.begun - f.read;
    if (f.loop.diverged != 0) {
        (void)json_array_append_new(
            f.warnings, json_string("a start diverged and was left out; a smaller rate may help"));
    }
    TRY(fit_finish(&f, out, why));
done:
    lscm_set_threads(threads);
    trace_close(f.rows);
    biols_close(f.b);
    json_decref(f.warnings);
    free(f.order);
    free(f.saved);
    return status;
}
