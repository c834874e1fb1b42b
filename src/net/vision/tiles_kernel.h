/* The products for one kind of processor; included by tiles_body.h for each. TILE_TALL rows by
 * TILE_WIDE lanes of columns are as much as its registers hold. Vectors are lowered to what a
 * target has before anything is inlined, so that all of it stands here once a target. */
INLINED lanes FOR_TARGET(lanes_at)(const REAL *from)
{
    return *(const lanes *)(const void *)from;
}

INLINED void FOR_TARGET(lanes_put)(REAL *to, lanes value)
{
    *(lanes *)(void *)to = value;
}

INLINED lanes FOR_TARGET(lanes_of)(REAL value)
{
    return value - (lanes){0};
}

/* `rows` rows by `wide` lanes of columns; both are constants where it is called. */
INLINED void FOR_TARGET(product_tile)(size_t rows, size_t wide, size_t out, const tile_runs *runs,
                                      const REAL *x, size_t step, const REAL *weights,
                                      const REAL *bias, REAL *y, size_t pitch)
{
    lanes sum[TILE_MOST][TILE_WIDE];
    UNROLLED for (size_t r = 0; r < rows; r++)
    {
        UNROLLED for (size_t c = 0; c < wide; c++)
        {
            sum[r][c] = bias != NULL ? FOR_TARGET(lanes_at)(bias + c * TILE_LANES) : (lanes){0};
        }
    }
    for (size_t s = 0; s < runs->count; s++) {
        const REAL *from = x + runs->run[s].offset;
        const REAL *w = weights + runs->run[s].weights;
        size_t length = runs->run[s].length;
        for (size_t k = 0; k < length; k++) {
            lanes column[TILE_WIDE];
            UNROLLED for (size_t c = 0; c < wide; c++)
            {
                column[c] = FOR_TARGET(lanes_at)(w + k * out + c * TILE_LANES);
            }
            UNROLLED for (size_t r = 0; r < rows; r++)
            {
                lanes value = FOR_TARGET(lanes_of)(from[r * step + k]);
                UNROLLED for (size_t c = 0; c < wide; c++)
                {
                    sum[r][c] += column[c] * value;
                }
            }
        }
    }
    UNROLLED for (size_t r = 0; r < rows; r++)
    {
        UNROLLED for (size_t c = 0; c < wide; c++)
        {
            FOR_TARGET(lanes_put)(y + r * pitch + c * TILE_LANES, sum[r][c]);
        }
    }
}

/* All rows of a column block. The last tile may begin among rows that are done already: they come
 * out the same. */
INLINED void FOR_TARGET(product_columns)(size_t rows, size_t wide, size_t out,
                                         const tile_runs *runs, const REAL *x, size_t step,
                                         const REAL *weights, const REAL *bias, REAL *y,
                                         size_t pitch)
{
    if (rows < TILE_TALL) {
        for (size_t r = 0; r < rows; r++) {
            FOR_TARGET(product_tile)
            (1, wide, out, runs, x + r * step, step, weights, bias, y + r * pitch, pitch);
        }
        return;
    }
    for (size_t r = 0; r < rows; r += TILE_TALL) {
        size_t at = rows - r < TILE_TALL ? rows - TILE_TALL : r;
        FOR_TARGET(product_tile)
        (TILE_TALL, wide, out, runs, x + at * step, step, weights, bias, y + at * pitch, pitch);
    }
}

static void FOR_TARGET(product)(size_t rows, size_t out, const tile_runs *runs, const REAL *x,
                                size_t step, const REAL *weights, const REAL *bias, REAL *y,
                                size_t pitch)
{
    size_t c = 0;
    for (; c + TILE_SPAN <= out; c += TILE_SPAN) {
        FOR_TARGET(product_columns)
        (rows, TILE_WIDE, out, runs, x, step, weights + c, bias != NULL ? bias + c : NULL, y + c,
         pitch);
    }
    for (; c < out; c += TILE_LANES) {
        FOR_TARGET(product_columns)
        (rows, 1, out, runs, x, step, weights + c, bias != NULL ? bias + c : NULL, y + c, pitch);
    }
}

/* `count` rows of W (a constant) by `wide` lanes of columns. */
INLINED void FOR_TARGET(outer_tile)(size_t count, size_t wide, size_t rows, size_t out,
                                    const REAL *x, size_t step, const REAL *d, size_t pitch,
                                    REAL *weights)
{
    lanes sum[TILE_MOST][TILE_WIDE];
    UNROLLED for (size_t k = 0; k < count; k++)
    {
        UNROLLED for (size_t c = 0; c < wide; c++)
        {
            sum[k][c] = FOR_TARGET(lanes_at)(weights + k * out + c * TILE_LANES);
        }
    }
    for (size_t r = 0; r < rows; r++) {
        lanes column[TILE_WIDE];
        UNROLLED for (size_t c = 0; c < wide; c++)
        {
            column[c] = FOR_TARGET(lanes_at)(d + r * pitch + c * TILE_LANES);
        }
        UNROLLED for (size_t k = 0; k < count; k++)
        {
            lanes value = FOR_TARGET(lanes_of)(x[r * step + k]);
            UNROLLED for (size_t c = 0; c < wide; c++)
            {
                sum[k][c] += column[c] * value;
            }
        }
    }
    UNROLLED for (size_t k = 0; k < count; k++)
    {
        UNROLLED for (size_t c = 0; c < wide; c++)
        {
            FOR_TARGET(lanes_put)(weights + k * out + c * TILE_LANES, sum[k][c]);
        }
    }
}

INLINED void FOR_TARGET(outer_columns)(size_t wide, size_t rows, size_t out, size_t length,
                                       const REAL *x, size_t step, const REAL *d, size_t pitch,
                                       REAL *weights)
{
    size_t k = 0;
    for (; k + TILE_TALL <= length; k += TILE_TALL) {
        FOR_TARGET(outer_tile)
        (TILE_TALL, wide, rows, out, x + k, step, d, pitch, weights + k * out);
    }
    for (; k + 4 <= length; k += 4) {
        FOR_TARGET(outer_tile)(4, wide, rows, out, x + k, step, d, pitch, weights + k * out);
    }
    for (; k < length; k++) {
        FOR_TARGET(outer_tile)(1, wide, rows, out, x + k, step, d, pitch, weights + k * out);
    }
}

static void FOR_TARGET(outer)(size_t rows, size_t out, const tile_runs *runs, const REAL *x,
                              size_t step, const REAL *d, size_t pitch, REAL *weights)
{
    for (size_t s = 0; s < runs->count; s++) {
        const tile_run *at = &runs->run[s];
        size_t c = 0;
        for (; c + TILE_SPAN <= out; c += TILE_SPAN) {
            FOR_TARGET(outer_columns)
            (TILE_WIDE, rows, out, at->length, x + at->offset, step, d + c, pitch,
             weights + at->weights + c);
        }
        for (; c < out; c += TILE_LANES) {
            FOR_TARGET(outer_columns)
            (1, rows, out, at->length, x + at->offset, step, d + c, pitch,
             weights + at->weights + c);
        }
    }
}

static void FOR_TARGET(sums)(size_t rows, size_t out, const REAL *d, size_t pitch, REAL *sums)
{
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < out; c++) {
            sums[c] += d[r * pitch + c];
        }
    }
}
