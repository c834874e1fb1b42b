/* Principal coordinates of x for encoders that are not linear: with E (D, R) orthonormal,
 *
 *     f = x E  (N, R), float32,   |x - f E'|^2 on average `left_out`.
 *
 * E spans the leading principal directions of x about its mean AND the mean itself, so inner
 * products and norms of f are those of x, not only of x - mean (positively homogeneous encoders
 * need that), and (f - mean) E' is x - c. R is the smallest that leaves at most 1e-7 of the
 * variance, or stops where the spectrum is flat (noise), at most 256 and one for the mean. Narrow
 * x (D <= 128) is taken as it is: E = I, not stored.
 *
 * x that is too large to keep as double is read twice: a sample of rows gives E, one pass gives f.
 * Memory then: the sample (128 MB, or 1 088 rows if that is more) with twice R D doubles for its
 * directions, released before f (4 N R bytes), E (8 D R) and blocks of rows (about 60 MB) are
 * there: 0.3 GB for 100 000 pictures of 64 x 64 x 3. What occurs only in rows that the sample
 * missed is left out.
 */
#ifndef LSCM_DATA_STATISTICS_FEATURES_H
#define LSCM_DATA_STATISTICS_FEATURES_H

#include "base/arena.h"
#include "data/dataset/dataset.h"
#include "data/design/design.h"

enum { FEATURES_MOST = 256, FEATURES_NARROW = 128 };

typedef struct features {
    size_t rows, d, D;
    size_t R;        /* at least 1 */
    float *f;        /* (rows, R) */
    double *basis;   /* (D, R): E; NULL: f is x, R = D */
    double *mean;    /* (R): of f */
    double variance; /* mean over rows of |x - c|^2, c the mean of x */
    double left_out; /* mean over rows of |x - f E'|^2 */
    design design;   /* who was set, to what */
    arena memory;
    void *f_block; /* owned memory of f; NULL when f lies elsewhere */
} features;

/* Values must be present. Everything is checked as it is read. `m` may be NULL; it gets the bytes
 * of x, targets and values as they stand in the file. x whose numbers do not fit in float32 is
 * refused. The same numbers on any number of threads. */
lscm_status features_of(features *out, const lscm_dataset *data, meter *m, lscm_error *why);
/* The same, keeping wide x in memory only when it has at most `bytes` as double (half of that for
 * the sample of rows otherwise). */
lscm_status features_of_within(features *out, const lscm_dataset *data, size_t bytes, meter *m,
                               lscm_error *why);
/* out (n, R) = x E for rows x (n, D). */
void features_project(const features *s, size_t n, const double *x, float *out);
/* The rows that count alone, keep (rows), in the coordinates of all; those must stay. */
lscm_status features_keep(features *out, const features *from, const uint8_t *keep,
                          lscm_error *why);
void features_close(features *s);

#endif
