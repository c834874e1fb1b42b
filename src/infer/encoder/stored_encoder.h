/* The encoder of a run: what turns rows of x (D) into causal variables, kept in the posterior as
 * named arrays.
 *
 *   observed variables  z = x, sd = 0; nothing is stored
 *   linear              y = (x - mean) basis (D, r);  z = shift + y slope (r, d), its sd of noise
 *                       (d), spread (d, r + 1, r + 1) and actuator_noise (1): encoder_row
 *   kernel FAMILY       f = x basis (D, R), or x itself (float32);  z and sd of the kernel encoder
 *                       (scale, centre, shift, ridge, unit, usable, alpha, inputs, sd_first,
 *                       sd_row, factor: kernel.h); where there is a network x = g(z) (generator,
 *                       generator_*: generator.h), these are where Gauss-Newton through it begins
 *
 *                       with beyond_line (R + 1, d), beyond (4, d), beyond the labels it is shrunk
 *                       (kernel_beyond.h); with alike (d + 1, d) sd has what is wrong in all rows
 *                       alike (alike_errors.h)
 *                       with x_origin, x_unit (D), all of it is of (x - x_origin) / x_unit
 *   pictures            x~ = (x - backdrop (height, width, channels)) / scale (1), float32;  z and
 * sd by networks: parameters (members, P) float32, offset and spread (members, d), errors (3, d):
 * sight_reader.h
 *
 * range (2, d): the smallest and the largest value that do() set each node to; equal where that is
 * not known. Entries that do() set are their values, with sd 0 (linear: as far as the actuator's
 * noise allows).
 */
#ifndef LSCM_INFER_ENCODER_STORED_ENCODER_H
#define LSCM_INFER_ENCODER_STORED_ENCODER_H

#include "infer/evidence/evidence.h"
#include "infer/generator/generator.h"
#include "infer/kernel/kernel.h"
#include "infer/problem/problem.h"
#include "infer/sight/sight.h"
#include "scm/posterior/posterior.h"

/* Into a posterior that has no encoder yet. Observed variables leave it without. */
lscm_status encoder_pack_linear(lscm_posterior *p, const linear_view *s, const anchored *a,
                                lscm_error *why);
/* `inverse` NULL: the kernel alone. */
lscm_status encoder_pack_nonlinear(lscm_posterior *p, const features *f, const kernel_encoder *k,
                                   const generator_inverse *inverse, lscm_error *why);
/* Networks of pictures; the posterior has the shape of x. by: labels. */
lscm_status encoder_pack_sight(lscm_posterior *p, const sight_reader *r, const design *by,
                               lscm_error *why);
/* What it has wrong alike in all rows: alike (d + 1, d). */
lscm_status encoder_pack_alike(lscm_posterior *p, const double *alike, lscm_error *why);
/* How it is shrunk beyond the labels. */
lscm_status encoder_pack_shrink(lscm_posterior *p, const kernel_shrink *s, lscm_error *why);
/* Of x in units of its columns (NULL: its own). */
lscm_status encoder_pack_units(lscm_posterior *p, const struct column_units *u, lscm_error *why);

typedef enum encoder_kind {
    ENCODES_IDENTITY,
    ENCODES_LINEAR,
    ENCODES_KERNEL,
    ENCODES_PICTURES
} encoder_kind;

/* Coming back: all arrays are the posterior's. */
typedef struct encoder {
    encoder_kind kind;
    size_t d, D;
    size_t width;          /* coordinates of a row: D, r or R */
    double *basis;         /* (D, width), or NULL: coordinates are x */
    double *origin, *unit; /* (D): x is taken as (x - origin) / unit, or NULL: as it is */
    double *range;         /* (2, d), or NULL */
    double *mean;          /* (D); linear, as what follows */
    double *shift;         /* (d) */
    double *slope;         /* (r, d) */
    double *noise;         /* (d) */
    double *spread;
    double actuator_noise;
    kernel_encoder kernel;
    kernel_shrink shrink; /* line NULL: runs that are older keep none */
    double *alike;        /* (d + 1, d), or NULL: the same */
    generator_inverse inverse;
    bool inverted; /* there is an inverse */
    sight_reader sight;
} encoder;

/* Fails when the run has no encoder, or one that is not sound. */
lscm_status encoder_open(encoder *out, const lscm_posterior *p, lscm_error *why);

/* Some rows on their way from x to z. */
typedef struct encoder_rows {
    const device *device; /* of the network where the encoder is inverted */
    size_t rows;
    double *y;            /* (rows, width), but for kernels and pictures: */
    float *f;             /* (rows, width) */
    const design *design; /* of the same rows */
    double *z, *sd;       /* (rows, d) */
    double *guess;        /* (2, rows, d): scratch where the encoder is inverted */
} encoder_rows;

/* Coordinates of rows first .. first + n - 1 from x (n, D), which is changed. */
void encoder_reduce(const encoder *e, const encoder_rows *rows, size_t first, size_t n, double *x);
/* z and sd of all rows from their coordinates. */
lscm_status encoder_apply(const encoder *e, const encoder_rows *rows, const lscm_progress *progress,
                          lscm_error *why);
/* Rows in which an entry that was not set lies outside the range; SIZE_MAX when no range is known.
 */
size_t encoder_outside(const encoder *e, const encoder_rows *rows);

/* ---- transform.c ---- */

/* lscm_posterior_transform_on in blocks of x and chunks of coordinates of about `bytes`, but no
 * chunk under 4096 rows, or one of pictures. */
lscm_status transform_within(const lscm_posterior *posterior, const lscm_dataset *data,
                             size_t bytes, lscm_device asked, lscm_encoding *out,
                             const lscm_progress *progress, lscm_error *why);

#endif
