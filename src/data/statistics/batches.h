/* Batches: rows of a set that stand together, and share what the set's other rows do not: an
 * instrument was set up again, another day began. Nobody says where they begin, but the rows do, as
 * they stand in the file. Of the n rows of a set, e (w columns) what the values of do() leave of
 * y, batches b of n_b rows, e = m_b + N(0, S), m_b ~ N(m, tau^2 S), m flat, S by Jeffreys' prior:
 *
 *     log p = -(n-1)/2 log |S(tau)| - w/2 (sum_b log(1 + n_b tau^2) + log h),
 *
 * S(tau) and h as in infer/mechanism/set_means.h, tau one of three. Beforehand a set is one batch
 * with probability 1/2, each further one halves that, and may begin at any row. A batch has more
 * rows than columns. One after the other is split where that explains most, as long as it makes the
 * rows likelier. Where do() holds its values for so many rows, another value begins another batch.
 */
#ifndef LSCM_DATA_STATISTICS_BATCHES_H
#define LSCM_DATA_STATISTICS_BATCHES_H

#include "data/statistics/linear_view.h"

enum { BATCHES_WIDEST = 64, BATCHES_MOST = 64 }; /* columns, and batches of a set, at most */

/* Divides the sets of s->design where its rows do. */
lscm_status batches_find(linear_view *s, lscm_error *why);

#endif
