/* Causal variables of x = g(z) + noise, g not linear, read off x with the values of do() as labels:
 *
 *     features f -> kernel encoder z, sd -> network f = g(z), z refined through it -> z for a graph
 *
 * The kernel (kernel.h) is closed form and the start of everything. The network (generator.h) is
 * trained in rounds; after each, graph and mechanisms of z as it stands are inferred, and their
 * mean, of curves where they bend, helps to tell the z that the network is trained on next: where
 * mechanisms are sharp, few sets of interventions are enough. What is inferred at the end rests on
 * z read off without that help.
 */
#ifndef LSCM_INFER_ANCHORED_NONLINEAR_H
#define LSCM_INFER_ANCHORED_NONLINEAR_H

#include "infer/anchored/read_off.h"
#include "infer/generator/generator.h"
#include "infer/judge/judge.h"
#include "infer/kernel/kernel.h"
#include "infer/run/run.h"

/* Where training stands. */
typedef enum nonlinear_try {
    NONLINEAR_BIASED,      /* with biases is tried */
    NONLINEAR_HOMOGENEOUS, /* without */
    NONLINEAR_CHOSEN
} nonlinear_try;

typedef struct nonlinear_stage {
    uint64_t at;     /* nonlinear_try */
    uint64_t rounds; /* since the choice */
    uint64_t fresh;  /* the last step was one of them */
    double missed;   /* by the network with biases when it was tried */
    generator_round last;
} nonlinear_stage;

typedef struct nonlinear {
    const device *device; /* of the network */
    char *const *names;   /* (d) or NULL */
    features x;
    kernel_encoder kernel;
    kernel_beyond beyond; /* what it says of rows that are unlike labels */
    anchored_input asked; /* settings and background knowledge */
    generator *net[2];    /* with biases, without; NULL: not in question, or no longer */
    generator *g;         /* that of them which is trained, or was */
    nonlinear_stage stage;
    bool homogeneous; /* the network has no biases */
    bool network;     /* z is refined; else the kernel's */
    uint8_t *held;    /* (rows, d) */
    double *guess;    /* (rows, d): the kernel's z */
    double *size;     /* (rows): |f|^2, 1 in the mean */
    read_off off;     /* z, and what is known of it */
    arena memory;
} nonlinear;

/* Features must be there (n->x). */
lscm_status nonlinear_encode(nonlinear *n, const lscm_fit_settings *s,
                             const lscm_progress *progress, lscm_error *why);
/* The networks in question, untrained. `in` has the settings and background knowledge and lasts as
 * long as n; its view is set here. */
lscm_status nonlinear_begin(nonlinear *n, const anchored_input *in, lscm_error *why);
/* Training, to the end of which n->g is the network. */
trainee nonlinear_trainee(nonlinear *n);
/* After it: the other network goes. */
void nonlinear_settle(nonlinear *n);
/* The model that z as it stands asks for. */
lscm_status nonlinear_model(nonlinear *n, lscm_error *why);
/* z, sd, blur and r2, then the posterior, then told. */
lscm_status nonlinear_finish(nonlinear *n, anchored *out, const anchored_input *in,
                             lscm_error *why);
/* What is asked of z as it was read off, after that. */
anchored_input nonlinear_read_off(const nonlinear *n, const anchored_input *in);
/* The same fit of other rows for the judgement of this one (nonlinear_judged.c): kernel, network,
 * graphs and errors anew from the rows kept; the others' z read off by what came of it, and never
 * told their values. `in` as for nonlinear_begin; both must stay. */
typedef struct nonlinear_again {
    const nonlinear *whole;
    const anchored_input *in;
} nonlinear_again;
judged nonlinear_judged(const nonlinear_again *again);
void nonlinear_close(nonlinear *n);

#endif
