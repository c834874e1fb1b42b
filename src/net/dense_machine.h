/* Dense networks on a device with memory of its own: a queue of operations, each begun when the one
 * before it is done. Its `on` is a device like any other, so networks and optimisers run on it as
 * they are (float alone), but
 *
 *   - what is claimed of it is memory that the host cannot touch: numbers are put there and got
 * from there,
 *   - operations return before they are done, and `wait` says what went wrong,
 *   - those that return a sum are not there: `misfit` and `tally` leave it in the device's memory.
 *
 * A step is taken down once, between `record` and `recorded`, and then done again and again; all
 * that changes is in memory (backend_dial, row numbers). Sums have one order: the same numbers give
 * the same bits.
 */
#ifndef LSCM_NET_DENSE_MACHINE_H
#define LSCM_NET_DENSE_MACHINE_H

#include "backend/backend.h"

#include <stdint.h>

/* A plug-in's own begins with this. */
typedef struct dense_queue {
    device on;
    const struct dense_machine *does;
} dense_queue;

/* A step that was taken down. */
typedef struct dense_steps dense_steps;
typedef struct dense_machine dense_machine;

/* y (rows, cols), row r for row[r] of `target` (or row r where NULL): e = y - target. y becomes
 * factor e, squares (rows) get |e|^2. */
typedef struct dense_misfit {
    size_t rows, cols;
    float factor;
    const uint32_t *row;
    const float *target;
    float *y;
    double *squares;
} dense_misfit;

/* What steps came to: sums over all of them, and the first, from 1, that was not finite; 0: none.
 */
typedef struct dense_tally {
    double sum, steps, lost;
} dense_tally;

struct dense_machine {
    /* Batches of at most `rows` rows go through a network at once. */
    lscm_status (*open)(dense_queue **out, const device *on, size_t rows, lscm_error *why);
    /* When all memory has been released; NULL: nothing. */
    void (*close)(dense_queue *q);

    /* The bytes to put may change when it returns, those to get are there; not while recording. */
    void (*put)(dense_queue *q, size_t bytes, const void *from, void *to);
    void (*get)(dense_queue *q, size_t bytes, const void *from, void *to);
    /* Until all is done: fails where any operation since the last `wait` did. */
    lscm_status (*wait)(dense_queue *q, lscm_error *why);

    /* Operations between these two are taken down, not done. */
    lscm_status (*record)(dense_queue *q, lscm_error *why);
    lscm_status (*recorded)(dense_queue *q, dense_steps **out, lscm_error *why);
    void (*replay)(dense_queue *q, const dense_steps *s);
    /* NULL: nothing. */
    void (*forget)(dense_steps *s);

    /* to (n, cols): rows row[..] of `from` */
    void (*gather)(dense_queue *q, size_t n, size_t cols, const uint32_t *row, const float *from,
                   float *to);
    void (*misfit)(dense_queue *q, const dense_misfit *m);
    /* t: one step more, which came to factor times the sum of n squares */
    void (*tally)(dense_queue *q, size_t n, double factor, const double *squares, dense_tally *t);
    const struct latent_machine *latents; /* net/latent_machine.h */
};

#endif
