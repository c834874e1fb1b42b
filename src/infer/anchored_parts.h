/* Pieces of the anchored method; see anchored.h. */
#ifndef LSCM_INFER_ANCHORED_PARTS_H
#define LSCM_INFER_ANCHORED_PARTS_H

#include "infer/anchored.h"

/* The anchor of observed variables. */
lscm_status encoder_identity(anchor *out, const signal *s, const uint8_t *keep, lscm_error *why);
/* Slope (r, d) of the anchor, with directions for the nodes that have no labels. */
lscm_status encoder_complete(const signal *s, const anchor *a, double *slope, lscm_error *why);
/* unit (d); sorted (d) is scratch. */
void encoder_units(const signal *s, const anchor *a, const uint8_t *keep, const double *z,
                   double *unit, double *sorted);
/* z and sd (d) of a row y (r), of which the encoder says `mean` (d). */
typedef struct encoder_errors {
    size_t d, rank;
    const double *noise;  /* (d) */
    const double *spread; /* (d, r + 1, r + 1), as in anchored, or NULL */
    double actuator_noise;
} encoder_errors;
/* mask, values (d): what do() set; NULL: nothing. */
void encoder_row(const encoder_errors *errors, const double *y, const double *mean,
                 const uint8_t *mask, const double *values, double *z, double *sd);
/* z and z_sd (rows, d): posterior mean and sd. */
void encoder_z(const signal *s, const anchored *a, double *z, double *z_sd);
/* x = z weights + bias: weights (d, D), bias (D). */
lscm_status encoder_invert(const signal *s, const anchored *a, double *weights, double *bias,
                           lscm_error *why);
/* Nodes up to which the encoder is drawn with the graph. */
enum { ANCHORED_JOINT = 64 };
/* Chains, and the sweeps of each: one for every draw kept, and half as many again before. */
size_t anchored_chains(const anchored_input *in);
size_t anchored_sweeps(const anchored_input *in);
/* Edge probabilities from the draws, which stand chain by chain, and how far the chains agree: the
 * worst over weights of edges that are in doubt or not. series (draws): scratch. */
void anchored_take_edges(anchored *a, size_t chains, double *series);

/* Whether z can be drawn row by row; whether it should, for z of a row is known worse than the
 * mechanisms resolve, but for the anchors. */
bool anchored_rows_few(const signal *s);
bool anchored_rows_matter(const anchored *a, const anchored_input *in);
/* keep (rows), the caller's to free: 1 for rows in which no z is cut off; all rows where those are
 * too few. */
lscm_status anchored_rows_known(const anchored *a, const anchored_input *in, uint8_t **keep,
                                lscm_error *why);
lscm_status anchored_infer_rows(anchored *a, const anchored_input *in, const graph_posterior *g,
                                lscm_error *why);

/* Widens the draws by what z has wrong in all rows alike; `in` says how much. */
void anchored_take_errors(anchored *a, const graph_posterior *g, const anchored_input *in);

#endif
