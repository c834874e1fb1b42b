/* A linear decoder over sampled z without ever leaving the d dimensions: with y = x A' (rows, d),
 *
 *   sum ||x - z A||^2 = sum ||x||^2 - 2 sum z y' + sum z G z',   slope 2 (z G - y),
 *   dF/dA = 2 (sum z'z) A - 2 (sum_draws z)' X.
 */
#ifndef LSCM_INFER_BIOLS_TILE_LINEAR_H
#define LSCM_INFER_BIOLS_TILE_LINEAR_H

#include "infer/biols/sampled.h"

typedef struct tile_linear {
    tile_decoder decode; /* first: it is a tile decoder */
    size_t rows, d, D;
    const double *x; /* (rows, D) */
    double *xx;      /* (tiles): sum ||x||^2 over the rows of a tile */
    double *y;       /* (rows, d) */
    double *gram;    /* (d, d) */
    double *second;  /* (SAMPLED_SLOTS, d, d): sum z'z */
    double *sum;     /* (SAMPLED_SLOTS, rows, d): sum of z over the draws of a slot */
    double *product; /* (SAMPLED_SLOTS, SAMPLED_TILE, d): z G */
    arena memory;
} tile_linear;

lscm_status tile_linear_open(tile_linear *out, size_t rows, size_t d, size_t D, lscm_error *why);
void tile_linear_close(tile_linear *t);
/* Before a pass: these rows, this decoder (d, D). */
void tile_linear_begin(tile_linear *t, const double *x, const double *decoder);
/* After a pass with slopes: dF/dA summed over draws, (d, D). */
void tile_linear_gradient(tile_linear *t, const double *decoder, double *out);

#endif
