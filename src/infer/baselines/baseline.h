/* What the baselines share: an autoencoder on the rows of x alone, one draw of z per row and step,
 * Adam at a constant rate for a fixed number of steps; a graph, causal variables and a decoder come
 * out. Interventions are not looked at. vae_fit.c and graphvae_fit.c supply the rest.
 *
 * Parameters, gradient and moments are in float32. Losses of a batch are scaled to all rows and to
 * the units of x only when they are reported.
 */
#ifndef LSCM_INFER_BASELINES_BASELINE_H
#define LSCM_INFER_BASELINES_BASELINE_H

#include "base/streams.h"
#include "infer/baselines/baseline_queue.h"
#include "infer/baselines/graphvae.h"
#include "infer/baselines/minibatch.h"
#include "infer/run/run.h"
#include "net/optimiser.h"

typedef struct baseline baseline;

typedef struct baseline_kind {
    size_t batch; /* the usual */
    size_t (*steps)(const minibatch *rows);
    /* The decoder as a plain network, and its activation where it is stored. */
    network_shape (*decoder)(size_t d, size_t D);
    decoder_activation between;
    /* Sets count and running_count, measures or places what is its own. */
    void (*lay_out)(baseline *b, arena *a);
    /* Fresh parameters. */
    void (*begin)(baseline *b);
    /* What a step draws beside rows and eps; NULL: nothing. */
    void (*draws)(baseline *b);
    /* Terms in nats per row, in the units of the rows, and the gradient, of a batch. */
    void (*loss)(baseline *b, const float *x, training_terms *terms);
    /* W (d, d), all zero before; NULL: there are no edges. */
    void (*graph)(const baseline *b, double *w);
    /* The decoder's parameters as a plain network. */
    void (*plain)(const baseline *b, float *out);
    /* z and z_sd of all rows. */
    lscm_status (*encode)(const baseline *b, double *z, double *sd, lscm_error *why);
    /* On a queue (baseline_queue.h): networks and what is its own, what never changes (NULL:
     * nothing), and the loss of a batch. */
    void (*queue_lay_out)(baseline *b, arena *a);
    void (*queue_begin)(baseline *b);
    void (*queue_loss)(const baseline *b);
} baseline_kind;

struct baseline {
    const baseline_kind *kind;
    const device *device;
    const lscm_fit_settings *settings;
    size_t d, D;
    minibatch rows;
    x_noise_rule noise;
    size_t *order; /* (d): given, or that of the nodes */
    size_t count, running_count;
    float *parameter, *gradient; /* (count) */
    float *running;              /* (running_count) */
    optimiser_f32 descent;
    double *eps; /* (batch, d) */
    vae_f32 vae;
    graphvae_f32 graph;
    double *gates; /* of the graph's: (d (d - 1)/2) of Gumbel noise, then tau; NULL: no gates */
    baseline_queue far;
    size_t step, restart;
    double x_noise; /* of the last step, in the units of x */
    arena memory;
};

/* Stream `use` of this start; `at` is a step, or the number of a network. */
rng baseline_stream(const baseline *b, enum stream use, uint64_t at);

/* Rows x (batch, D) of a step, and where its gradient goes. */
network_batch_f32 baseline_batch(const baseline *b, const float *x);

/* The estimator alone: chooses what the settings leave open. */
lscm_status baseline_open(baseline **out, fit *f, const baseline_kind *kind, lscm_error *why);
void baseline_close(baseline *b);
trainee baseline_trainee(baseline *b);
/* What is on a device comes back. */
lscm_status baseline_collect(baseline *b, lscm_error *why);

/* The whole run. */
lscm_status baseline_fit(fit *f, const baseline_kind *kind, lscm_posterior **out, lscm_error *why);

extern const baseline_kind vae_kind, graphvae_kind;

void vae_queue_lay_out(baseline *b, arena *a);
void vae_queue_loss(const baseline *b);
void graphvae_queue_lay_out(baseline *b, arena *a);
void graphvae_queue_begin(baseline *b);
void graphvae_queue_loss(const baseline *b);

#endif
