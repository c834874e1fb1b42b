/* See conv.h: rows of positions are rows of a product (tiles.h), and the three rows of x that they
 * see are its runs. */

/* The order of columns in turned weights: q' -> q. */
static const size_t turned_column[2][3] = {{2, 1, 0}, {2, 0, 1}};

void NAMED(conv, forward)(const conv *c, const REAL *weights, const REAL *x, REAL *y)
{
    size_t row = (c->width + 2) * c->in;
    size_t wide = conv_wide(c);
    tile_runs runs = {.count = 3};
    for (size_t p = 0; p < 3; p++) {
        runs.run[p] = (tile_run){p * row, 3 * c->in, 3 * p * c->in * c->out};
    }
    for (size_t i = 0; i < conv_high(c); i++) {
        NAMED(tiles, product)
        (wide, c->out, &runs, x + c->stride * i * row, c->stride * c->in, weights,
         weights + conv_weights(c), y + ((i + 1) * (wide + 2) + 1) * c->out, c->out);
    }
}

void NAMED(conv, by_weights)(const conv *c, const REAL *x, const REAL *d, REAL *gradient)
{
    size_t row = (c->width + 2) * c->in;
    size_t wide = conv_wide(c);
    tile_runs runs = {.count = 3};
    for (size_t p = 0; p < 3; p++) {
        runs.run[p] = (tile_run){p * row, 3 * c->in, 3 * p * c->in * c->out};
    }
    for (size_t i = 0; i < conv_high(c); i++) {
        const REAL *at = d + ((i + 1) * (wide + 2) + 1) * c->out;
        NAMED(tiles, outer)
        (wide, c->out, &runs, x + c->stride * i * row, c->stride * c->in, at, c->out, gradient);
        NAMED(tiles, sums)(wide, c->out, at, c->out, gradient + conv_weights(c));
    }
}

void NAMED(conv, turn)(const conv *c, const REAL *weights, REAL *turned)
{
    const size_t *column = turned_column[c->stride - 1];
    for (size_t p = 0; p < 3; p++) {
        for (size_t q = 0; q < 3; q++) {
            const REAL *from = weights + (3 * p + column[q]) * c->in * c->out;
            REAL *to = turned + (3 * p + q) * c->in * c->out;
            for (size_t k = 0; k < c->in; k++) {
                for (size_t o = 0; o < c->out; o++) {
                    to[o * c->in + k] = from[k * c->out + o];
                }
            }
        }
    }
}

/* Rows of d that position u sees: u = s i + p - 1. Offsets are from the row of i = u / s. */
static tile_runs rows_seen(const conv *c, size_t u, size_t columns, size_t first)
{
    size_t row = (conv_wide(c) + 2) * c->out;
    size_t three = 3 * c->in * c->out; /* of turned weights */
    size_t at = first * c->in * c->out;
    size_t length = columns * c->out;
    if (c->stride == 1) {
        return (tile_runs){
            3, {{0, length, 2 * three + at}, {row, length, three + at}, {2 * row, length, at}}};
    }
    if (u % 2 == 0) {
        return (tile_runs){1, {{row, length, three + at}}};
    }
    return (tile_runs){2, {{row, length, 2 * three + at}, {2 * row, length, at}}};
}

void NAMED(conv, by_input)(const conv *c, const REAL *turned, const REAL *d, REAL *dx)
{
    size_t row = (conv_wide(c) + 2) * c->out;
    size_t s = c->stride;
    for (size_t u = 0; u < c->height; u++) {
        REAL *to = dx + ((u + 1) * (c->width + 2) + 1) * c->in;
        const REAL *from = d + u / s * row; /* row i - 1 of d, with its border */
        if (s == 1) {
            tile_runs runs = rows_seen(c, u, 3, 0);
            NAMED(tiles, product)
            (c->width, c->in, &runs, from, c->out, turned, NULL, to, c->in);
            continue;
        }
        /* even columns see q = 1 alone, odd ones q = 2 and 0: columns 1 and 2 of what is there */
        tile_runs even = rows_seen(c, u, 1, 2);
        tile_runs odd = rows_seen(c, u, 2, 0);
        NAMED(tiles, product)
        ((c->width + 1) / 2, c->in, &even, from + c->out, c->out, turned, NULL, to, 2 * c->in);
        NAMED(tiles, product)
        (c->width / 2, c->in, &odd, from + c->out, c->out, turned, NULL, to + c->in, 2 * c->in);
    }
}
