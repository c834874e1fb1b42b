/* The inside of generator.h; generator_refine.c has the rows, generator.c the rest. */
#ifndef LSCM_INFER_GENERATOR_GENERATOR_STATE_H
#define LSCM_INFER_GENERATOR_GENERATOR_STATE_H

#include "infer/generator/generator_net.h"
#include "infer/generator/generator_queue.h"

enum { GENERATOR_BLOCK = 16, GENERATOR_SLOTS = 32 }; /* rows refined together; sums kept apart */

/* What a round's network is judged by, and all that a checkpoint needs beside the arrays. */
typedef struct generator_counts {
    uint64_t steps, rounds; /* done */
    uint64_t best_round;
    double best; /* held_out of it; infinity at first */
    double sum;  /* of squared misfits since the last round */
    double batches;
    double noise2;  /* s^2, in units of y */
    double noise_f; /* the same in units of f, for rows of all sizes alike */
} generator_counts;

struct generator {
    generator_rows rows;
    generator_settings settings;
    network_shape shape;
    network_f32 net;
    muon_f32 optimiser;
    generator_counts now;
    size_t count;                        /* parameters */
    double *unit;                        /* (rows): a */
    double *offset;                      /* (d): o */
    double *centre;                      /* (R): c */
    double *wrong;                       /* (d): see generator_inverse */
    double scale, spread;                /* k, q */
    float *y;                            /* (rows, R) */
    float *u;                            /* (rows, d) */
    float *prior, *weight;               /* (rows, d): mean and precision, in units of u */
    float *parameters, *gradient, *best; /* (count) */
    float *input, *target;               /* (batch, d), (batch, R) */
    size_t workers, scratch;             /* of refinement: floats of each worker */
    float *work;                         /* (workers, scratch) */
    double *solve;                       /* (workers, 3 d d + 4 d) */
    mechanism_model model;               /* w NULL: none yet */
    float *t;            /* (rows, d): u with the model's help: what the network is trained on */
    size_t *node;        /* (workers, d) */
    size_t free;         /* entries of z that nothing sets, at most half of f's */
    double *sums;        /* (blocks, 2): misfits, in units of y and of f / q */
    generator_queue far; /* where the device has memory of its own */
    arena memory;
};

/* The sentence for step `step`, whose loss is not finite. */
lscm_status generator_diverged(const generator *g, uint64_t step, lscm_error *why);
/* Node j of a row, from the units of z to those of u, and back. */
double generator_u_of(const generator *g, size_t row, size_t j, double z);
double generator_z_of(const generator *g, size_t row, size_t j, double u);
/* 1 - R2 of node j's held-out values; NaN without any. */
double generator_missed(const generator *g, size_t j);
/* Leak and gain. */
lscm_status generator_gain(const generator *g, double *gain, lscm_error *why);
/* A generator that has learned already. */
lscm_status generator_open_with(generator **out, const generator_rows *rows,
                                const generator_settings *settings, const generator_inverse *i,
                                lscm_error *why);

/* Floats of scratch that refining a block needs. */
size_t generator_block_floats(const generator *g);
/* One sweep over all rows' u, or t with the model's help (helped); where `all`, held-out values are
 * in their places too. Sets noise2 to the mean squared misfit after it. visit: NULL, or called for
 * each row with its free nodes and A^-1.
 */
typedef void (*generator_visit)(void *self, size_t row, size_t slot, size_t count,
                                const size_t *node, const double *covariance);
void generator_sweep(generator *g, bool helped, bool all, generator_visit visit, void *self);
/* The misfits alone: noise2 and noise_f of u as it stands. */
void generator_measure(generator *g);

#endif
