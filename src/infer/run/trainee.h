/* What learns by steps down a gradient: the estimator of the paper, the baselines and the network
 * of x that bends, as the loop (infer/run/training.h) and the trace see them. */
#ifndef LSCM_INFER_RUN_TRAINEE_H
#define LSCM_INFER_RUN_TRAINEE_H

#include "base/pieces.h"
#include "base/status.h"

#include <stdint.h>

typedef struct training_terms {
    double loss;    /* what is minimised, nats of all rows */
    double error;   /* mean squared error of x */
    double kl;      /* KL(q || p) of what is inferred: weights and noise, or z */
    double log_q;   /* E log q(order) + log d!; 0 where no order is learned */
    double x_noise; /* s_x */
} training_terms;

/* Draws of W (count, d, d) and sigma (count, d) by node, order (count, d), log densities (count) or
 * NULL. */
typedef struct model_sample {
    double *w, *sigma, *log_p, *log_q;
    size_t *order;
} model_sample;

enum { PIECES = 24, TRAINEE_COLUMNS = 8 }; /* at most */

/* Where a learner stands, for people. */
typedef struct trainee_place {
    char what[96];        /* "network: misfit 0.1234" */
    const char *stage;    /* "" or "while choosing a network, " */
    uint64_t done, total; /* steps */
    uint64_t tried;       /* .. of what was tried beside it */
} trainee_place;

/* A course of its own, in place of the loop's: how many steps and of what kind, at which rate, is
 * the learner's; a step may be a long one, between two that are short. */
typedef struct trainee_course {
    bool (*over)(const void *self);
    void (*place)(const void *self, trainee_place *out);
    /* The header of trace.csv, and after a step the numbers of its row; 0 where there is none. */
    const char *columns;
    size_t (*row)(const void *self, double out[TRAINEE_COLUMNS]);
} trainee_course;

typedef struct trainee {
    void *self;
    /* Start number `restart`: fresh parameters. */
    void (*begin)(void *self, size_t restart);
    /* One step at this rate; LSCM_VALUE when something is no longer finite. */
    lscm_status (*step)(void *self, double rate, training_terms *terms, lscm_error *why);
    /* Everything that a continuation needs; returns how many pieces. */
    size_t (*pieces)(void *self, piece out[PIECES]);
    /* Fresh draws from this stream. */
    lscm_status (*draw)(void *self, size_t count, uint64_t stream, const model_sample *out,
                        lscm_error *why);
    const trainee_course *course; /* NULL: the loop's; with one, nothing is drawn or begun again */
    /* Where the pieces were set: what follows from them; NULL: nothing. */
    void (*restored)(void *self);
    /* Before pieces are read: what is kept on a device comes back into them; NULL: all are here. */
    lscm_status (*collect)(void *self, lscm_error *why);
} trainee;

/* The state as bytes, and from them. */
size_t trainee_bytes(const trainee *t);
lscm_status trainee_get(const trainee *t, void *state, lscm_error *why);
void trainee_set(const trainee *t, const void *state);

#endif
