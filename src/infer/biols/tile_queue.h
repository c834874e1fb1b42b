/* A network decoder over sampled z on a device with memory of its own (net/dense_machine.h): the
 * same as tile_net.h, many tiles at a time. Rows of x, parameters and the optimiser's state stay
 * there; z goes there, squared errors and their slopes in z come back. How many tiles are taken at
 * a time depends on the network alone, so results do not depend on the device's memory.
 */
#ifndef LSCM_INFER_BIOLS_TILE_QUEUE_H
#define LSCM_INFER_BIOLS_TILE_QUEUE_H

#include "infer/biols/sampled.h"
#include "net/dense_machine.h"
#include "net/network.h"
#include "net/optimiser.h"

typedef struct tile_queue {
    tile_decoder decode; /* first: it is a tile decoder */
    dense_queue *queue;
    network_shape shape;
    size_t all;             /* rows of x */
    const uint32_t *picked; /* rows of the batch among them; NULL: all */
    network_f32 net;
    optimiser_f32 descent;
    float *x;                    /* (all, D) */
    float *parameter, *gradient; /* (parameters) */
    float *z, *back;             /* (rows, d) */
    uint32_t *row;               /* (rows) */
    double *squares;             /* (rows) */
    backend_dial *dial;          /* (1) */
    float *z_here;               /* the same on the host: z, then its slopes */
    uint32_t *row_here;
    double *squares_here;
    dense_steps *steps; /* what is done for so many rows with slopes */
    size_t rows;
    arena there, here;
} tile_queue;

/* tiles: of a pass; x (all, D) */
lscm_status tile_queue_open(tile_queue *out, const device *on, const network_shape *shape,
                            const optimiser_settings *rule, size_t tiles, size_t all,
                            const float *x, lscm_error *why);
void tile_queue_close(tile_queue *t);
/* Before a pass: these rows. */
void tile_queue_begin(tile_queue *t, const uint32_t *picked);
/* After a pass: what went wrong, if anything. */
lscm_status tile_queue_wait(const tile_queue *t, lscm_error *why);
/* A step of the optimiser down the gradient of the last pass with slopes. */
void tile_queue_step(tile_queue *t, const backend_dial *dial);

/* Parameters and the optimiser's state (2, parameters), to the device and from there. */
void tile_queue_put(const tile_queue *t, const float *parameter, const float *state);
lscm_status tile_queue_get(const tile_queue *t, float *parameter, float *state, lscm_error *why);

#endif
