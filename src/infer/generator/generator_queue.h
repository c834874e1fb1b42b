/* Steps of a generator's network on a device with memory of its own (net/dense_machine.h): rows,
 * network and optimiser stay there, row numbers and dials go there with each step. Steps are queued
 * and their misfits added up there; what is here is as it was when it was last collected.
 */
#ifndef LSCM_INFER_GENERATOR_GENERATOR_QUEUE_H
#define LSCM_INFER_GENERATOR_GENERATOR_QUEUE_H

#include "net/dense_machine.h"
#include "net/muon.h"

typedef struct generator generator;

typedef struct generator_queue {
    dense_queue *queue; /* NULL: there was no step yet */
    bool ahead;         /* of what is here */
    network_f32 net;
    muon_f32 optimiser;
    float *parameters, *gradient; /* (count) */
    float *t, *y;                 /* (rows, d), (rows, R) */
    float *input;                 /* (batch, d) */
    uint32_t *row;                /* (batch) */
    double *squares;              /* (batch) */
    backend_dial *dial;           /* (MUON_DIALS) */
    dense_tally *tally;
    dense_steps *step;
    uint32_t *row_here; /* (batch) */
    arena there, here;
} generator_queue;

/* One step at this rate; a network that diverged may be found out some steps later. */
lscm_status generator_queue_step(generator *g, double rate, lscm_error *why);
/* What is there comes back. */
lscm_status generator_queue_collect(generator *g, lscm_error *why);
void generator_queue_close(generator_queue *q);

#endif
