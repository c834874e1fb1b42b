/* The products in one precision; included by tiles.h for each. */

/* y, `pitch` apart, gets `rows` rows; x + r step is where row r begins. bias (out) or NULL. */
void NAMED(tiles, product)(size_t rows, size_t out, const tile_runs *runs, const REAL *x,
                           size_t step, const REAL *weights, const REAL *bias, REAL *y,
                           size_t pitch);
/* weights (runs, out) += x' d; d rows are `pitch` apart. */
void NAMED(tiles, outer)(size_t rows, size_t out, const tile_runs *runs, const REAL *x, size_t step,
                         const REAL *d, size_t pitch, REAL *weights);
/* sums (out) += the rows of d. */
void NAMED(tiles, sums)(size_t rows, size_t out, const REAL *d, size_t pitch, REAL *sums);
