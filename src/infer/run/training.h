/* Training as a run: the loop over starts and steps, stopping, checkpoints, and what is stored.
 *
 * Every WINDOW steps the mean loss is compared with that of the window before. Where it did not
 * fall by more than its own standard error, the rate is cut to a third; at the third such window
 * the run has converged, unless it is to be steady: then the rate stays and all steps are taken. Of
 * several starts each gets TRIAL steps, and the one with the lowest last window goes on. A learner
 * with a course of its own (trainee.h) starts once and says itself when it is over. Everything that
 * decides is in `training_loop`, which a checkpoint holds beside the learner's own state: a resumed
 * run takes the same steps, bit for bit, wherever it was stopped.
 */
#ifndef LSCM_INFER_RUN_TRAINING_H
#define LSCM_INFER_RUN_TRAINING_H

#include "infer/run/fit_state.h"
#include "infer/run/trace.h"
#include "infer/run/trainee.h"

typedef struct training_loop {
    uint64_t restart, step; /* the step to take next */
    uint64_t trace_rows;
    double sum, squares, previous; /* loss over this window; mean of the one before */
    uint64_t in_window, windows, cuts;
    double rate;
    double best_loss; /* last window of the best start so far */
    uint64_t has_best;
    uint64_t converged; /* this start, in its trial or after it */
    uint64_t final;     /* the trials are over */
    uint64_t diverged;  /* a start was lost */
} training_loop;

typedef struct training {
    fit *f;
    trainee learner;
    bool steady;
    trace *rows;
    training_loop loop;
    training_terms terms;
    char *saved; /* training_loop and state of the learner: now, and of the best start (the loop's
                    course) */
    size_t state_bytes;
    uint64_t fingerprint;
    double trained; /* seconds */
} training;

/* The run folder, begun or resumed; the settings of the fit have been filled in. */
lscm_status training_open(training *out, fit *f, const trainee *learner, bool steady,
                          lscm_error *why);
void training_close(training *r);
/* All steps that are left. */
lscm_status training_run(training *r, lscm_error *why);

/* Draws of the learner and their edges, over p->threshold, into a posterior. */
lscm_status training_draw(const training *r, lscm_posterior *p, lscm_error *why);
/* Bound, steps, seconds; the caller's. */
json_t *training_summary(const training *r, const lscm_posterior *p);
/* Saves the run; takes the summary. */
lscm_status training_save(const training *r, lscm_posterior *p, json_t *summary, lscm_error *why);

#endif
