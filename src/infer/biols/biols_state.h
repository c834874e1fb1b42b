/* The estimator from the inside; biols.c steps, biols_open.c builds, biols_draw.c draws,
 * biols_still.c leaves out what never changes. */
#ifndef LSCM_INFER_BIOLS_BIOLS_STATE_H
#define LSCM_INFER_BIOLS_BIOLS_STATE_H

#include "base/streams.h"
#include "infer/biols/biols_estimator.h"
#include "infer/biols/tile_linear.h"
#include "infer/biols/tile_net.h"
#include "infer/biols/tile_queue.h"
#include "infer/ordering/ordering.h"
#include "infer/run/run.h"
#include "infer/weights/weights.h"
#include "net/optimiser.h"

/* All rows in memory, or the rows of a batch. */
typedef struct row_store {
    size_t rows;
    double *x64;    /* (rows, D), linear decoder */
    float *x32;     /* (rows, D), networks */
    uint8_t *mask;  /* (rows, d) */
    double *values; /* (rows, d), 0 off target */
} row_store;

struct biols {
    const device *device;
    lscm_fit_settings settings;
    size_t d, D, N, S;
    size_t features; /* of x; D of them are decoded by a network, all by a linear decoder */
    size_t noises;   /* k: noise scales, 1 or d */
    size_t entries;  /* l = d (d - 1)/2 */
    size_t inputs;   /* l + k */
    bool linear, closed;
    bool queued;          /* the network is on a device with memory of its own */
    double log_factorial; /* of d; 0 when the order is given */
    double noise_floor, x_noise;
    horseshoe prior;

    moments m;            /* closed form */
    linear_work *moment;  /* closed form */
    row_store all, batch; /* sampled; batch is `all` when it has all rows */
    sampled_work *sampled;
    tile_linear tile;
    tile_net net;
    tile_queue far;      /* queued */
    uint32_t *picked;    /* (batch), queued: rows of the batch; NULL: it has all */
    network_shape shape; /* of the network decoder */
    order_law *law;      /* NULL: the order is given */

    double *parameter, *gradient; /* mean (l + k), raw (l + k), and A (d, D) when linear */
    float *weight;                /* of the network; queued: as it was when it was collected */
    optimiser_f64 step64;
    optimiser_f32 step_net, step_order;
    size_t step, restart;

    double *eps, *theta, *theta_slope; /* (S, l + k) */
    double *lower, *by_weight, *by_p;  /* (S, d, d) */
    double *sigma, *by_sigma;          /* (S, d) */
    double *error, *log_q;             /* (S) */
    size_t *order;                     /* (S, d) */
    double *by_mean, *by_raw;          /* (l + k): of the KL */
    size_t *kept;                      /* (D): which features a network decodes */
    double *still;                     /* (features): what the others always are */
    arena memory, rows, columns;
};

/* theta, lower, sigma, order and log_q of the S draws from these streams. */
lscm_status biols_sample_q(biols *b, rng eps, rng gumbel, double temperature, lscm_error *why);
/* error of the draws in theta; gradients too when asked for. */
lscm_status biols_error(biols *b, rng z, bool gradients, lscm_error *why);
/* `weight` and the optimiser's state, which are here, to the device that has the network. */
void biols_hand_out(biols *b);
/* Stream `use` of this restart and step. */
rng biols_stream(const biols *b, enum stream use, uint64_t step);

/* For a network: D, kept and still of the data. */
lscm_status biols_find_still(biols *b, const lscm_dataset *data, lscm_error *why);
/* The last layer `last` (hidden, D) as matrix (hidden, features) and, where something is still,
 * bias (features). */
void biols_put_last(const biols *b, const float *last, double *matrix, double *bias);

#endif
