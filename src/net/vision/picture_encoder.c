#include "net/vision/picture_encoder.h"

enum { SIDE_ENOUGH = 32, CONVS_LEAST = 4, CONVS_AFTER = 2, FIRST_MAPS = 16, MAPS = 32 };

picture_shape picture_shape_of(size_t height, size_t width, size_t channels, size_t d)
{
    picture_shape s = {.height = height, .width = width, .channels = channels, .d = d};
    size_t halved = 0;
    for (size_t side = height < width ? height : width; side >= SIDE_ENOUGH;
         side = (side + 1) / 2) {
        halved++;
    }
    s.convs = halved + CONVS_AFTER > CONVS_LEAST ? halved + CONVS_AFTER : CONVS_LEAST;
    s.high = height;
    s.wide = width;
    s.maps = channels + 2;
    for (size_t l = 0; l < s.convs; l++) {
        conv *c = &s.conv[l];
        *c = (conv){s.high, s.wide, s.maps, l == 0 ? FIRST_MAPS : MAPS, l < halved ? 2 : 1};
        s.high = conv_high(c);
        s.wide = conv_wide(c);
        s.maps = c->out;
    }
    s.keys = tile_columns(2 * d);
    s.features = 3 * s.keys + 2 * s.maps;
    return s;
}

size_t picture_conv_at(const picture_shape *s, size_t last)
{
    size_t at = 0;
    for (size_t l = 0; l < last; l++) {
        at += conv_weights(&s->conv[l]) + s->conv[l].out;
    }
    return at;
}

size_t picture_part_at(const picture_shape *s, picture_part part)
{
    size_t d = tile_columns(s->d);
    const size_t count[PICTURE_END] = {(s->maps + 1) * s->keys, (s->features + 1) * PICTURE_HIDDEN,
                                       (PICTURE_HIDDEN + 1) * d, 2 * s->keys * d};
    size_t at = picture_conv_at(s, s->convs);
    for (size_t k = 0; k < (size_t)part; k++) {
        at += count[k];
    }
    return at;
}

size_t picture_count(const picture_shape *s)
{
    return picture_part_at(s, PICTURE_END);
}
