/* Kernel values of rows of features, tile by tile: cosines in double (near +-1 the kernel is steep:
 * a rounding of 1e-7 in the cosine of two equal rows would be 1e-4 in the kernel), the map to the
 * kernel in float32, vectorised. */
#ifndef LSCM_INFER_KERNEL_KERNEL_MAP_H
#define LSCM_INFER_KERNEL_KERNEL_MAP_H

#include "infer/kernel/kernel_encoder.h"

enum { KERNEL_ROWS = 128, KERNEL_COLUMNS = 256 }; /* of a tile */

/* n inputs: unit vectors and lengths. */
typedef struct kernel_points {
    size_t n, k;
    double *unit;   /* (n, k); 0 where the length is 0 */
    double *radius; /* (n) */
} kernel_points;

/* Coordinates of an input: R, or R + 1 with the constant. */
size_t kernel_width(const kernel_space *s);
/* Scale of the space from rows f (n, R); centre is set. `lengths` (n) is scratch. */
double kernel_scale(const kernel_space *s, size_t n, const float *f, double *lengths);
/* Points p->n of f (any, R): rows row[0], row[1], ..., or 0, 1, ... when row is NULL. */
void kernel_points_of(const kernel_space *s, const float *f, const uint32_t *row, kernel_points *p);
/* Whether a row of this length has a direction. */
bool kernel_lit(const kernel_space *s, double radius);
/* The length that sd is proportional to: that of a row, or the least with a direction. */
double kernel_reach(const kernel_space *s, double radius);

/* k of `count` cosines. */
void kernel_map(size_t count, const double *cosine, float *out);
/* The points first .. of p, at most so many. */
kernel_points kernel_points_from(const kernel_points *p, size_t first, size_t most);
/* out (a->n, b->n), rows `stride` apart; at most one tile. cosine (KERNEL_ROWS, KERNEL_COLUMNS) is
 * scratch. */
void kernel_tile(const kernel_points *a, const kernel_points *b, double *cosine, float *out,
                 size_t stride);
/* out (a->n, b->n) on all threads; cosine (threads, KERNEL_ROWS, KERNEL_COLUMNS). */
void kernel_matrix(const kernel_points *a, const kernel_points *b, double *cosine, float *out);
/* The lower triangle of k(a, a): row i begins at i * stride, or at i (i + 1) / 2 when stride is 0.
 * The diagonal is 1. */
void kernel_triangle(const kernel_points *a, double *cosine, float *out, size_t stride);

#endif
