/* x = g(z) by a network, and the causal variables of every row read off through it.
 *
 * Rows are f (R), principal coordinates of x, and z (d): entries set by do() are their values v,
 * the others start from an encoder's guess m with sd p. In the units of a row, a = |f|/sqrt(R)
 * where g is homogeneous (no biases, ReLU: g(a z) = a g(z)), else 1,
 *
 *     y = (f - c)/(a q),   u = (z - o)/(a k),   y ~ N(g(u), s^2),   u_free ~ N((m - o)/(a k), (p/(a
 * k))^2)
 *
 * Rounds alternate: steps of the optimiser (muon.h) on g with u fixed; then Gauss-Newton on the
 * free u of each row with g fixed, J = dg/du (k, R) of its k free entries:
 *
 *     A = J J'/s^2 + diag(prior precision),   u <- u + A^-1 (J (y - g(u))/s^2 + precision (prior -
 * u)).
 *
 * Some of the values are held out: their entries are treated as free, and how far they land from
 * the values says how good z is, and which round to keep.
 */
#ifndef LSCM_INFER_GENERATOR_GENERATOR_NET_H
#define LSCM_INFER_GENERATOR_GENERATOR_NET_H

#include "base/pieces.h"
#include "data/design/design.h"
#include "net/muon.h"
#include "scm/mechanism/mechanism.h"

typedef struct generator_rows {
    size_t rows, d, R;
    const float *f;       /* (rows, R) */
    const design *design; /* of the same rows and nodes */
    const uint8_t *held;  /* (rows, d): values held out; m must not know them either */
    const double *z, *sd; /* (rows, d): m, p */
} generator_rows;

typedef struct generator_settings {
    const device *device;
    bool homogeneous;
    size_t hidden;      /* width of the two hidden layers */
    size_t batch;       /* rows of a step */
    size_t first, each; /* steps before the first refinement, and between refinements */
    size_t rounds;      /* refinements */
    double rate;
    uint64_t seed;
} generator_settings;

/* Sizes by problem; what is not 0 already stays. */
void generator_choose(generator_settings *s, const generator_rows *rows);

typedef struct generator generator;

lscm_status generator_open(generator **out, const generator_rows *rows,
                           const generator_settings *settings, lscm_error *why);
void generator_close(generator *g);

/* What a round came to. */
typedef struct generator_round {
    double misfit;   /* rms of y - g(u) over the batches, in units of y's sd */
    double held_out; /* mean over nodes of the share of variance that is missed: 1 - R2 */
} generator_round;

size_t generator_total(const generator *g); /* steps, all rounds together */
size_t generator_done(const generator *g);
size_t generator_rounds(const generator *g); /* refinements so far */
/* One step of the optimiser. Fails where something is not finite. */
lscm_status generator_step(generator *g, lscm_error *why);
/* True when it is time to refine: then do, until generator_done is generator_total and nothing is
 * due. */
bool generator_due(const generator *g);
lscm_status generator_refine(generator *g, generator_round *out, lscm_error *why);

/* A model of z where free helps to tell the z that the network is trained on. Its arrays are the
 * caller's. */
void generator_use(generator *g, const mechanism_model *model);
/* z (rows, d) as they stand, values in their places, without the model's help. */
void generator_z(const generator *g, double *z);

/* Everything that moves, for checkpoints, once it was collected from a device that may have it;
 * where pieces were set, the device is to have them anew. A model in use is the caller's to keep.
 */
lscm_status generator_collect(generator *g, lscm_error *why);
void generator_renew(generator *g);
enum { GENERATOR_PIECES = 7 };
size_t generator_pieces(generator *g, piece out[GENERATOR_PIECES]);

/* What held-out values say of z (generator_gain.c). */
typedef struct generator_errors {
    double *r2;  /* (d): of the values, NaN where there were none */
    double gain; /* sd of the error of z_j's scale, a share of it */
} generator_errors;
/* Takes the best round's network and judges it. From then on every value is in its place. */
lscm_status generator_finish(generator *g, generator_errors *out, lscm_error *why);
/* The same for a network that was trained on z as it was given (rounds = 0). */
lscm_status generator_adopt(generator *g, lscm_error *why);
/* z, sd (rows, d) by that network, with a model's help or without (NULL); values of do() have sd 0.
 * blur: NULL, or (d, d, d): the covariance that the noise of x gives z, mean over the rows in which
 * node i is free. */
lscm_status generator_read(generator *g, const mechanism_model *model, double *z, double *sd,
                           double *blur, lscm_error *why);

/* The layers of a network from z (d) to f (R): two that are hidden, biases everywhere but where it
 * is homogeneous. */
network_shape generator_layers(size_t d, size_t hidden, size_t R, bool homogeneous);
/* The network in the units of z and f: f =
 * network(z). parameters: network_count of the shape. */
network_shape generator_shape(const generator *g);
void generator_network(const generator *g, double *parameters);
/* sd of f - network(z), rms over rows. */
double generator_noise(const generator *g);

/* What reads z off new rows: the same numbers, to be stored. */
typedef struct generator_inverse {
    size_t d, R, hidden;
    bool homogeneous;
    double scale, spread; /* k, q */
    double noise2;        /* s^2 */
    double *offset;       /* (d): o */
    double *centre;       /* (R): c */
    double *wrong;        /* (d): sd of what the network gets wrong, in units of a row */
    float *parameters;    /* (network_count of the shape) */
} generator_inverse;
/* The generator's own; its arrays are the generator's. After generator_finish. */
generator_inverse generator_inverse_of(const generator *g);
/* z, sd (rows, d) of rows, by `rounds` of Gauss-Newton from the guess in rows->z, rows->sd; values
 * that do() set stay. held is not used. */
lscm_status generator_invert(const generator_inverse *inverse, const device *on,
                             const generator_rows *rows, double *z, double *sd, lscm_error *why);

#endif
