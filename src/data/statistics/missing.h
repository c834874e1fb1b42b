/* Entries of x that are missing (NaN), taken as missing at random: whether one is may depend on all
 * that was seen of its row, not on what it would have been.
 *
 * With factors y ~ N(0, I) (r) that all columns share,
 *
 *     x_j = c_j + l_j y + e_j,   e_j ~ N(0, psi_j),
 *
 * what was seen of a row, o, tells its factors and they the rest:
 *
 *     V = (I + sum_o l_j'l_j / psi_j)^-1,   m = V sum_o l_j'(x_j - c_j) / psi_j.
 *
 * EM takes these and, column by column, the regression of x_j on (y, 1) over the rows that have it,
 * V and all. Missing entries become c_j + l_j y + e_j, y and e_j drawn: the covariance of x, and
 * what is computed of it, is then as if nothing were missing.
 */
#ifndef LSCM_DATA_STATISTICS_MISSING_H
#define LSCM_DATA_STATISTICS_MISSING_H

#include "base/rng.h"
#include "base/status.h"
#include "data/dataset/dataset.h"

/* *mask (n, D): 1 where x is NaN, the caller's to free; NULL where nothing is. Fails where a column
 * has no number at all: it is told by names (D) or number, of pictures by its pixel. names and
 * shape, that of x, may be NULL. */
lscm_status missing_find(uint8_t **mask, const char *path, char *const *names,
                         const array_shape *shape, const double *x, size_t n, size_t D,
                         lscm_error *why);
size_t missing_count(const uint8_t *mask, size_t n);
/* Fills x (n, D) where mask is 1, by r factors; r < D or there is nothing to tell noise by. */
lscm_status missing_fill(double *x, const uint8_t *mask, size_t n, size_t D, size_t r, rng random,
                         lscm_error *why);

#endif
