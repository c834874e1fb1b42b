/* A fit from the inside: fit.c runs it, fit_result.c makes the posterior of it. */
#ifndef LSCM_INFER_FIT_STATE_H
#define LSCM_INFER_FIT_STATE_H

#include "infer/biols.h"
#include "infer/trace.h"

#include <jansson.h>

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

typedef struct fit {
    const lscm_dataset *data;
    lscm_fit_settings settings;
    const lscm_run_options *run;
    const lscm_progress *progress;
    size_t *order; /* (d), or NULL: learned */
    biols *b;
    trace *rows;
    loop_state loop;
    biols_terms terms;
    char *saved; /* loop_state and state of the estimator, twice: now, and of the best start */
    size_t state_bytes;
    uint64_t fingerprint;
    double begun, read, trained; /* seconds */
    json_t *warnings;
} fit;

double fit_seconds(void); /* of a clock that never goes back */
/* Draws, z, names and texts from the estimator as it stands; saves the run. */
lscm_status fit_finish(fit *f, lscm_posterior **out, lscm_error *why);

#endif
