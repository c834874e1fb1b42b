/* Pictures as networks see them: what each pixel differs from its mean by, in units of what pixels
 * vary by,
 *
 *     x~ = (x - backdrop)/scale,   scale^2 = mean over pixels and channels of the variance of x.
 *
 * Up to PICTURES_BYTES of them are kept to learn from, as bytes where they are
 * bytes, else as floats: all, or as many drawn at random. Where a pixel varies it tells more:
 * `reach` is the distribution function over pixels of sd + a share of their mean sd.
 */
#ifndef LSCM_INFER_SIGHT_PICTURES_H
#define LSCM_INFER_SIGHT_PICTURES_H

#include "base/arena.h"
#include "data/dataset/dataset.h"

typedef struct pictures {
    size_t rows; /* of the data set */
    size_t height, width, channels, count;
    size_t kept;
    uint32_t *row;   /* (kept): which those are, ascending */
    dtype type;      /* DTYPE_UINT8 or DTYPE_FLOAT32 */
    void *x;         /* (kept, count) */
    float *backdrop; /* (count) */
    double scale;    /* 0: all are alike */
    double *reach;   /* (height width): ascending to 1 */
    arena memory;
} pictures;

/* `m` may be NULL; it gets the bytes of x. x must be pictures (pictures_are). */
lscm_status pictures_of(pictures *out, const lscm_dataset *data, uint64_t seed, meter *m,
                        lscm_error *why);
/* The same, keeping at most `bytes`, but one picture at least. */
lscm_status pictures_within(pictures *out, const lscm_dataset *data, size_t bytes, uint64_t seed,
                            meter *m, lscm_error *why);
/* Whether x is pictures that a network of pictures can take: sides, channels. */
bool pictures_are(const lscm_dataset *data);
/* x~ of a picture that was kept, and of one (count) as it is. */
void pictures_kept(const pictures *p, size_t k, float *out);
void pictures_scale(const pictures *p, const double *x, float *out);
void pictures_close(pictures *p);

#endif
