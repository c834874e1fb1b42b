/* Whether z was clipped: values that were cut to [-C, C] pile up at +-C, where any smooth law has
 * only a few of its largest. */
#ifndef LSCM_INFER_SAMPLE_CLIP_H
#define LSCM_INFER_SAMPLE_CLIP_H

#include "infer/anchor/anchor.h"

/* C, or 0 where nothing piles up. noise (d): sd of the error of z. Values that do() set do not
 * count. */
lscm_status clip_find(double *out, const latent_rows *z, const double *noise, lscm_error *why);

/* bound (d): |z_j| below it is what it seems, above it only its side is known. reach (d): where
 * that is said; NULL: the clip, with room for the error of the encoder. */
void clip_bounds(double clip, const double *reach, const anchor *a, double *bound);

#endif
