/* The maps of a group of pictures, and the launches that fill them: convolutions by their sizes
 * (net/vision/picture_encoder.h knows which there are), keys and head.
 */
#ifndef LSCM_CUDA_PICTURE_LAYERS_H
#define LSCM_CUDA_PICTURE_LAYERS_H

#include "cuda/picture_head.h"
#include "cuda/pool.h"

extern "C" {
#include "net/vision/picture_machine.h"
}

/* (group, rows, columns, channels): x~ with its coordinates, then those of the layers; slopes and D
 * of these where there is a way back. */
struct picture_maps {
    float *value[PICTURE_CONVS + 1], *slope[PICTURE_CONVS + 1], *back[PICTURE_CONVS + 1];
    float *key; /* (group, positions, keys) */
    int *top;   /* (group, HEAD_MAPS) */
};

void picture_maps_lay_out(picture_maps *m, device_pool *pool, const picture_shape *s, size_t group,
                          bool back);

head_shape picture_head_of(const picture_shape *s);

/* What layer l (from 1) is of. */
conv_layer picture_layer(const picture_shape *s, const picture_maps *m, size_t l,
                         const float *parameters);

/* Lets kernels have the shared memory that they need. */
lscm_status picture_allow(const picture_shape *s, lscm_error *why);

/* Maps and z of `count` pictures, number `first` on of a batch. */
void picture_see(const picture_shape *s, const picture_maps *m, const conv_source *from,
                 const head_arrays *a, size_t first, size_t count, cudaStream_t stream);
/* From D of the last map to those of all others, and to the weights of every slot. */
void picture_see_back(const picture_shape *s, const picture_maps *m, const float *parameters,
                      picture_slots slots, size_t slots_here, size_t count, float *gradient,
                      size_t pitch, cudaStream_t stream);

#endif
