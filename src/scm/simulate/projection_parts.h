/* The parts of a projection: see projection.h. */
#ifndef LSCM_SCM_SIMULATE_PROJECTION_PARTS_H
#define LSCM_SCM_SIMULATE_PROJECTION_PARTS_H

#include "scm/simulate/projection.h"

/* c (m, n) = a (m, k) b (k, n) */
void projection_multiply(size_t m, size_t n, size_t k, const double *a, const double *b, double *c);

/* The network mlp: weights and biases; z (n, d) to x (n, D) by way of `hidden` (n, D). */
void network_draw(const projection *p, const lscm_simulation *s);
void network_apply(const projection *p, size_t n, const double *z, double *hidden, double *x);

/* Pictures of d nodes: pixels on a side; places of the squares, and k of blobs; x (n, D). */
size_t picture_side(size_t d);
void picture_place(const projection *p);
void picture_squares(const projection *p, size_t n, const double *z, double *x);
void picture_blobs(const projection *p, size_t n, const double *z, double *x);

#endif
