/* A fit from the inside: fit.c begins it, a method runs it, fit_result.c makes the posterior of it.
 */
#ifndef LSCM_INFER_RUN_FIT_STATE_H
#define LSCM_INFER_RUN_FIT_STATE_H

#include "backend/backend.h"
#include "base/stages.h"
#include "data/dataset/dataset.h"
#include "infer/run/knowledge.h"
#include "scm/posterior/posterior.h"

#include <jansson.h>

/* What the anchored method does, in this order. */
typedef enum fit_stage {
    FIT_READ,
    FIT_ENCODE, /* where x bends: the kernel .. */
    FIT_TRAIN,  /* .. and the network */
    FIT_INFER,
    FIT_SETS,    /* judged without some sets .. */
    FIT_TARGETS, /* .. and targets */
    FIT_COMPARE, /* with a fit that was told nothing */
    FIT_STAGES
} fit_stage;

typedef struct fit {
    const lscm_dataset *data;
    lscm_fit_settings settings; /* what was left open is filled in */
    const lscm_run_options *run;
    const lscm_progress *progress;
    stages stages;       /* of the anchored method, whose progress is their own */
    const size_t *order; /* (d), or NULL: learned */
    knowledge known;
    device device; /* that trains what learns by steps: the CPU until fit_take_device */
    bool device_taken;
    char device_reason[DEVICE_REASON]; /* why it is the CPU, where the choice was free; or "" */
    double begun, read;                /* seconds */
    json_t *warnings;
    json_t *checks; /* findings of infer/check; a warning of each that found something */
    json_t *pairs;  /* pairs of nodes, decided or not; NULL: nothing is said of them */
} fit;

const char *fit_method(const fit *f); /* "anchored" */
/* Opens the device of the settings, in place of the CPU; for what trains networks, before it takes
 * memory. Once more does nothing. */
lscm_status fit_take_device(fit *f, lscm_error *why);
/* Which it was, into the summary; a warning where one was asked for and had nothing to do. */
void fit_say_device(const fit *f, json_t *summary);
/* Of methods that cannot use background knowledge: fails when there is any. */
lscm_status fit_refuse_knowledge(const fit *f, lscm_error *why);

/* A posterior of the run's draws and the data's shape and names; numbers in the decoder as in
 * posterior_new. */
lscm_status fit_posterior(const fit *f, lscm_posterior **out, size_t weights, size_t bias,
                          lscm_error *why);
/* Adds configuration and summary (`more`, whose reference is taken, with method, decoder, warnings,
 * total seconds and memory) and saves the run where it has a folder. */
lscm_status fit_save(const fit *f, lscm_posterior *p, json_t *more, lscm_error *why);

/* What a checkpoint must agree with: all rows of the data, the settings, the order, background
 * knowledge, the version of the library. */
lscm_status fit_fingerprint(const fit *f, uint64_t *out, lscm_error *why);

#endif
