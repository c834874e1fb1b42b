/* A baseline on a device with memory of its own (net/dense_machine.h): rows, networks and their
 * optimiser stay there; a step's draws and row numbers go there, what it comes to comes back. Its
 * mathematics is that of vae.h and graphvae.h, in the same order; vae_queue.c and graphvae_queue.c
 * have it.
 */
#ifndef LSCM_INFER_BASELINES_BASELINE_QUEUE_H
#define LSCM_INFER_BASELINES_BASELINE_QUEUE_H

#include "infer/run/run.h"
#include "net/latent_machine.h"
#include "net/network.h"
#include "net/optimiser.h"

typedef struct baseline baseline;

typedef struct baseline_queue {
    dense_queue *queue; /* NULL: the networks are on the CPU */
    network_f32 encode, decode;
    network_f32 *top; /* (d): of GraphVAE */
    optimiser_f32 descent;
    float *x;                              /* (rows, D): all */
    float *batch;                          /* (batch, D) */
    uint32_t *row;                         /* (batch) */
    float *parameter, *gradient, *running; /* as the baseline's */
    double *eps, *gates;                   /* (batch, d); see baseline.h */
    float *z, *slope;                      /* (batch, d) */
    double *squares, *kl;                  /* (batch) */
    latent_terms *terms;
    backend_dial *dial;
    latent_graph graph; /* of GraphVAE */
    dense_steps *loss;
    uint32_t *row_here; /* (batch) */
    arena there, here;
} baseline_queue;

lscm_status baseline_queue_open(baseline *b, lscm_error *why);
void baseline_queue_close(baseline_queue *q);
/* Of a batch: terms, in the units of the rows, and the gradient, which stays there; then a step
 * down it. */
lscm_status baseline_queue_loss(baseline *b, training_terms *terms, lscm_error *why);
void baseline_queue_step(baseline *b, double rate);
/* Parameters, averages and the optimiser's state, to the device and from there. */
void baseline_queue_put(baseline *b);
lscm_status baseline_queue_get(baseline *b, lscm_error *why);

/* Rows of a step for a network whose parameters and averages begin there. */
network_batch_f32 baseline_queue_batch(const baseline *b, size_t parameter, size_t running,
                                       const float *input, float *input_gradient);
/* From z to the loss, and back to z's slope: the decoder begins there among the parameters. */
void baseline_queue_decode(const baseline *b, size_t parameter, size_t running);

#endif
