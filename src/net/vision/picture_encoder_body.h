/* See picture_encoder.h. Back through a key point, with D = dloss/d(e, l), l the log of the sum:
 *
 *     dloss/dk_n = p_n (D_y (y_n - e_y) + D_x (x_n - e_x) + D_l).
 */
#include <math.h>
#include <string.h>

/* Where things of f begin. */
static size_t means_at(const picture_shape *s)
{
    return 2 * s->keys;
}

static size_t sums_at(const picture_shape *s)
{
    return 2 * s->keys + 2 * s->maps;
}

static REAL place_of(size_t i, size_t count)
{
    return (2 * (REAL)i + 1) / (REAL)count - 1;
}

/* The rows of map l, without its border. */
typedef struct map_rows {
    size_t high, width, first, pitch; /* numbers of a row; where row 0 begins; from row to row */
} map_rows;

static map_rows rows_of(const picture_shape *s, size_t l)
{
    const conv *c = &s->conv[l - 1];
    size_t wide = conv_wide(c);
    size_t pitch = (wide + 2) * c->out;
    return (map_rows){conv_high(c), wide * c->out, pitch + c->out, pitch};
}

void NAMED(picture, lay_out)(PICTURE_WORK *w, arena *a, const picture_shape *s)
{
    size_t positions = s->high * s->wide;
    w->map[0] = arena_take(a, map_count(s->height, s->width, s->conv[0].in), sizeof(REAL));
    for (size_t l = 1; l <= s->convs; l++) {
        const conv *c = &s->conv[l - 1];
        size_t count = map_count(conv_high(c), conv_wide(c), c->out);
        w->map[l] = arena_take(a, count, sizeof(REAL));
        w->slope[l] = arena_take(a, count, sizeof(REAL));
        w->back[l] = arena_take(a, count, sizeof(REAL));
    }
    w->key = arena_take(a, positions * s->keys, sizeof(REAL));
    w->key_back = arena_take(a, positions * s->keys, sizeof(REAL));
    w->feature = arena_take(a, s->features, sizeof(REAL));
    w->feature_back = arena_take(a, 2 * s->features, sizeof(REAL));
    w->hidden = arena_take(a, PICTURE_HIDDEN, sizeof(REAL));
    w->hidden_slope = arena_take(a, PICTURE_HIDDEN, sizeof(REAL));
    w->hidden_back = arena_take(a, PICTURE_HIDDEN, sizeof(REAL));
    w->z = arena_take(a, 2 * tile_columns(s->d), sizeof(REAL));
    w->z_back = arena_take(a, tile_columns(s->d), sizeof(REAL));
    w->top = arena_take(a, s->maps, sizeof *w->top);
}

void NAMED(picture, ready)(const picture_shape *s, const PICTURE_WORK *w)
{
    size_t in = s->conv[0].in;
    for (size_t i = 0; i < s->height; i++) {
        for (size_t j = 0; j < s->width; j++) {
            REAL *at = w->map[0] + ((i + 1) * (s->width + 2) + j + 1) * in + s->channels;
            at[0] = place_of(i, s->height);
            at[1] = place_of(j, s->width);
        }
    }
}

static void draw_matrix(rng r, size_t at, size_t in, size_t out, size_t used, double scale,
                        REAL *parameters)
{
    for (size_t k = 0; k < in * out; k++) {
        bool is_used = k % out < used;
        parameters[at + k] = is_used ? (REAL)(scale * rng_normal(r, at + k)) : 0;
    }
    for (size_t k = in * out; k < (in + 1) * out; k++) {
        parameters[at + k] = 0;
    }
}

void NAMED(picture, draw)(const picture_shape *s, rng r, REAL *parameters)
{
    size_t d = tile_columns(s->d);
    const double small = 0.1;
    memset(parameters, 0, picture_count(s) * sizeof *parameters);
    for (size_t l = 0; l < s->convs; l++) {
        size_t in = 9 * s->conv[l].in;
        size_t out = s->conv[l].out;
        draw_matrix(r, picture_conv_at(s, l), in, out, out, sqrt(2 / (double)in), parameters);
    }
    draw_matrix(r, picture_part_at(s, PICTURE_KEYS), s->maps, s->keys, s->keys,
                sqrt(1 / (double)s->maps), parameters);
    draw_matrix(r, picture_part_at(s, PICTURE_FIRST), s->features, PICTURE_HIDDEN, PICTURE_HIDDEN,
                sqrt(2 / (double)s->features), parameters);
    draw_matrix(r, picture_part_at(s, PICTURE_SECOND), PICTURE_HIDDEN, d, s->d,
                small * sqrt(1 / (double)PICTURE_HIDDEN), parameters);
    size_t direct = picture_part_at(s, PICTURE_DIRECT);
    for (size_t k = 0; k < 2 * s->keys * d; k++) {
        bool is_used = k % d < s->d;
        parameters[direct + k] =
            is_used ? (REAL)(small * rng_normal(r, direct + k) / sqrt((double)s->keys)) : 0;
    }
}

static void turn_matrix(size_t in, size_t out, const REAL *from, REAL *to)
{
    for (size_t i = 0; i < in; i++) {
        for (size_t o = 0; o < out; o++) {
            to[o * in + i] = from[i * out + o];
        }
    }
}

void NAMED(picture, turn)(const picture_shape *s, const REAL *parameters, REAL *turned)
{
    size_t d = tile_columns(s->d);
    for (size_t l = 1; l < s->convs; l++) {
        size_t at = picture_conv_at(s, l);
        NAMED(conv, turn)(&s->conv[l], parameters + at, turned + at);
    }
    size_t at = picture_part_at(s, PICTURE_KEYS);
    turn_matrix(s->maps, s->keys, parameters + at, turned + at);
    at = picture_part_at(s, PICTURE_FIRST);
    turn_matrix(s->features, PICTURE_HIDDEN, parameters + at, turned + at);
    at = picture_part_at(s, PICTURE_SECOND);
    turn_matrix(PICTURE_HIDDEN, d, parameters + at, turned + at);
    at = picture_part_at(s, PICTURE_DIRECT);
    turn_matrix(2 * s->keys, d, parameters + at, turned + at);
}

void NAMED(picture, show)(const picture_shape *s, const PICTURE_WORK *w, const REAL *x)
{
    size_t in = s->conv[0].in;
    for (size_t i = 0; i < s->height; i++) {
        REAL *at = w->map[0] + ((i + 1) * (s->width + 2) + 1) * in;
        const REAL *from = x + i * s->width * s->channels;
        for (size_t j = 0; j < s->width; j++) {
            for (size_t c = 0; c < s->channels; c++) {
                at[j * in + c] = from[j * s->channels + c];
            }
        }
    }
}

/* ---- Forward ---- */

static void find_keys(const picture_shape *s, const PICTURE_WORK *w)
{
    size_t positions = s->high * s->wide;
    for (size_t k = 0; k < s->keys; k++) {
        REAL most = w->key[k];
        REAL sum = 0;
        REAL down = 0;
        REAL right = 0;
        for (size_t n = 1; n < positions; n++) {
            REAL score = w->key[n * s->keys + k];
            most = score > most ? score : most;
        }
        for (size_t n = 0; n < positions; n++) {
            REAL p = MATH(exp)(w->key[n * s->keys + k] - most);
            w->key[n * s->keys + k] = p;
            sum += p;
            down += p * place_of(n / s->wide, s->high);
            right += p * place_of(n % s->wide, s->wide);
        }
        for (size_t n = 0; n < positions; n++) {
            w->key[n * s->keys + k] /= sum;
        }
        w->feature[k] = down / sum;
        w->feature[s->keys + k] = right / sum;
        w->feature[sums_at(s) + k] = most + MATH(log)(sum);
    }
}

static void pool(const picture_shape *s, const PICTURE_WORK *w)
{
    map_rows rows = rows_of(s, s->convs);
    REAL *mean = w->feature + means_at(s);
    REAL *most = mean + s->maps;
    for (size_t c = 0; c < s->maps; c++) {
        mean[c] = 0;
        most[c] = w->map[s->convs][rows.first + c];
        w->top[c] = rows.first + c;
    }
    for (size_t i = 0; i < rows.high; i++) {
        size_t at = rows.first + i * rows.pitch;
        for (size_t k = 0; k < rows.width; k++) {
            size_t c = k % s->maps;
            REAL value = w->map[s->convs][at + k];
            mean[c] += value;
            if (value > most[c]) {
                most[c] = value;
                w->top[c] = at + k;
            }
        }
    }
    for (size_t c = 0; c < s->maps; c++) {
        mean[c] /= (REAL)(s->high * s->wide);
    }
}

static void dense(size_t rows, size_t in, size_t out, const REAL *x, size_t step,
                  const REAL *weights, const REAL *bias, REAL *y)
{
    const tile_runs all = {1, {{0, in, 0}}};
    NAMED(tiles, product)(rows, out, &all, x, step, weights, bias, y, out);
}

void NAMED(picture, forward)(const picture_shape *s, const device *on, const REAL *parameters,
                             const PICTURE_WORK *w)
{
    size_t d = tile_columns(s->d);
    for (size_t l = 1; l <= s->convs; l++) {
        map_rows rows = rows_of(s, l);
        NAMED(conv, forward)
        (&s->conv[l - 1], parameters + picture_conv_at(s, l - 1), w->map[l - 1], w->map[l]);
        for (size_t i = 0; i < rows.high; i++) {
            size_t at = rows.first + i * rows.pitch;
            on->BACKEND->activate(on, ACTIVATION_GELU, 1, rows.width, NULL, w->map[l] + at,
                                  w->slope[l] + at);
        }
    }
    map_rows last = rows_of(s, s->convs);
    const REAL *keys = parameters + picture_part_at(s, PICTURE_KEYS);
    for (size_t i = 0; i < s->high; i++) {
        dense(s->wide, s->maps, s->keys, w->map[s->convs] + last.first + i * last.pitch, s->maps,
              keys, keys + s->maps * s->keys, w->key + i * s->wide * s->keys);
    }
    find_keys(s, w);
    pool(s, w);
    const REAL *first = parameters + picture_part_at(s, PICTURE_FIRST);
    const REAL *second = parameters + picture_part_at(s, PICTURE_SECOND);
    dense(1, s->features, PICTURE_HIDDEN, w->feature, 0, first,
          first + s->features * PICTURE_HIDDEN, w->hidden);
    on->BACKEND->activate(on, ACTIVATION_GELU, 1, PICTURE_HIDDEN, NULL, w->hidden, w->hidden_slope);
    dense(1, 2 * s->keys, d, w->feature, 0, parameters + picture_part_at(s, PICTURE_DIRECT),
          second + PICTURE_HIDDEN * d, w->z + d);
    dense(1, PICTURE_HIDDEN, d, w->hidden, 0, second, w->z + d, w->z);
}

/* ---- Back ---- */

static void add_outer(size_t rows, size_t in, size_t out, const REAL *x, size_t step, const REAL *d,
                      REAL *weights)
{
    const tile_runs all = {1, {{0, in, 0}}};
    NAMED(tiles, outer)(rows, out, &all, x, step, d, out, weights);
}

/* dloss/df of the head, in feature_back. */
static void head_back(const picture_shape *s, const REAL *turned, const PICTURE_WORK *w,
                      REAL *gradient)
{
    size_t d = tile_columns(s->d);
    size_t first = picture_part_at(s, PICTURE_FIRST);
    size_t second = picture_part_at(s, PICTURE_SECOND);
    size_t direct = picture_part_at(s, PICTURE_DIRECT);
    REAL *places = w->feature_back + s->features; /* by the direct path */
    add_outer(1, PICTURE_HIDDEN, d, w->hidden, 0, w->z_back, gradient + second);
    NAMED(tiles, sums)(1, d, w->z_back, d, gradient + second + PICTURE_HIDDEN * d);
    add_outer(1, 2 * s->keys, d, w->feature, 0, w->z_back, gradient + direct);
    dense(1, d, PICTURE_HIDDEN, w->z_back, 0, turned + second, NULL, w->hidden_back);
    for (size_t k = 0; k < PICTURE_HIDDEN; k++) {
        w->hidden_back[k] *= w->hidden_slope[k];
    }
    add_outer(1, s->features, PICTURE_HIDDEN, w->feature, 0, w->hidden_back, gradient + first);
    NAMED(tiles, sums)
    (1, PICTURE_HIDDEN, w->hidden_back, PICTURE_HIDDEN,
     gradient + first + s->features * PICTURE_HIDDEN);
    dense(1, d, 2 * s->keys, w->z_back, 0, turned + direct, NULL, places);
    dense(1, PICTURE_HIDDEN, s->features, w->hidden_back, 0, turned + first, NULL, w->feature_back);
    for (size_t k = 0; k < 2 * s->keys; k++) {
        w->feature_back[k] += places[k];
    }
}

static void keys_back(const picture_shape *s, const PICTURE_WORK *w)
{
    size_t positions = s->high * s->wide;
    const REAL *down = w->feature_back;
    const REAL *right = w->feature_back + s->keys;
    const REAL *sum = w->feature_back + sums_at(s);
    for (size_t n = 0; n < positions; n++) {
        REAL y = place_of(n / s->wide, s->high);
        REAL x = place_of(n % s->wide, s->wide);
        const REAL *p = w->key + n * s->keys;
        REAL *to = w->key_back + n * s->keys;
        for (size_t k = 0; k < s->keys; k++) {
            to[k] = p[k] * (down[k] * (y - w->feature[k]) +
                            right[k] * (x - w->feature[s->keys + k]) + sum[k]);
        }
    }
}

/* dloss/dm_L: by keys, means and maxima. */
static void last_back(const picture_shape *s, const REAL *turned, const PICTURE_WORK *w,
                      REAL *gradient)
{
    map_rows rows = rows_of(s, s->convs);
    size_t at = picture_part_at(s, PICTURE_KEYS);
    const REAL *mean = w->feature_back + means_at(s);
    const REAL *most = mean + s->maps;
    REAL share = 1 / (REAL)(s->high * s->wide);
    for (size_t i = 0; i < s->high; i++) {
        size_t row = rows.first + i * rows.pitch;
        const REAL *d = w->key_back + i * s->wide * s->keys;
        add_outer(s->wide, s->maps, s->keys, w->map[s->convs] + row, s->maps, d, gradient + at);
        NAMED(tiles, sums)(s->wide, s->keys, d, s->keys, gradient + at + s->maps * s->keys);
        dense(s->wide, s->keys, s->maps, d, s->keys, turned + at, NULL, w->back[s->convs] + row);
        for (size_t k = 0; k < rows.width; k++) {
            w->back[s->convs][row + k] += share * mean[k % s->maps];
        }
    }
    for (size_t c = 0; c < s->maps; c++) {
        w->back[s->convs][w->top[c]] += most[c];
    }
}

void NAMED(picture, backward)(const picture_shape *s, const REAL *turned, const PICTURE_WORK *w,
                              REAL *gradient)
{
    head_back(s, turned, w, gradient);
    keys_back(s, w);
    last_back(s, turned, w, gradient);
    for (size_t l = s->convs; l > 0; l--) {
        map_rows rows = rows_of(s, l);
        size_t at = picture_conv_at(s, l - 1);
        for (size_t i = 0; i < rows.high; i++) {
            REAL *d = w->back[l] + rows.first + i * rows.pitch;
            const REAL *slope = w->slope[l] + rows.first + i * rows.pitch;
            for (size_t k = 0; k < rows.width; k++) {
                d[k] *= slope[k];
            }
        }
        NAMED(conv, by_weights)(&s->conv[l - 1], w->map[l - 1], w->back[l], gradient + at);
        if (l > 1) {
            NAMED(conv, by_input)(&s->conv[l - 1], turned + at, w->back[l], w->back[l - 1]);
        }
    }
}
