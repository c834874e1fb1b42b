#include "net/vision/pixel_decoder.h"

pixel_shape pixel_shape_of(size_t d, size_t channels)
{
    pixel_shape s = {.d = d, .channels = channels};
    for (size_t l = 0; l < PIXEL_LAYERS; l++) {
        s.in[l] = l == 0 ? tile_columns(d + 2) : PIXEL_HIDDEN;
        s.out[l] = l + 1 == PIXEL_LAYERS ? tile_columns(channels) : PIXEL_HIDDEN;
        s.at[l + 1] = s.at[l] + (s.in[l] + 1) * s.out[l];
    }
    return s;
}
