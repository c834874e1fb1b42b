/* From the last map m of a picture (positions, C) to z (net/vision/picture_encoder.h):
 *
 *     k = m W_k + b_k,  p = softmax of k over positions,  f = (e, mean m, max m, log sum exp k)
 *     z = gelu(f W_1 + b_1) W_2 + b_2 + e W_e
 *
 * There: picture_head_forward.h; and back: picture_head_back.h.
 */
#ifndef LSCM_CUDA_PICTURE_HEAD_H
#define LSCM_CUDA_PICTURE_HEAD_H

#include "cuda/picture_conv.h"

enum { HEAD_THREADS = 256, HEAD_MAPS = 32, HEAD_HIDDEN = 128, HEAD_KEYS = 16 };

/* Offsets are of parameters. keys and columns are multiples of HEAD_KEYS. */
struct head_shape {
    int high, wide, keys, features, columns, d;
    size_t at_keys, at_first, at_second, at_direct;
};

/* Per picture: of a group (map, slope, key, back), of the batch the others. */
struct head_arrays {
    const float *parameters;
    const float *map, *slope;                   /* (positions, HEAD_MAPS) */
    float *key;                                 /* (positions, keys): p */
    float *back;                                /* (positions, HEAD_MAPS): D of the last map */
    float *feature, *feature_back;              /* (features) */
    float *hidden, *hidden_slope, *hidden_back; /* (HEAD_HIDDEN) */
    float *z, *z_back;                          /* (columns) */
    int *top;                                   /* (HEAD_MAPS): where the maximum is */
    const float *labels;                        /* (kept, d) */
    const uint32_t *picture;                    /* (batch): of those kept */
    const float *by_pixels;                     /* (parts, columns): dloss/du^, in so many parts */
    int parts;
    double *loss; /* 1: squared errors of labels */
};

#endif
