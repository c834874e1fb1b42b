/* What estimators take from the rows in one pass: moments by intervention set, the linear part of
 * x, features of x, bands of columns.
 */
#ifndef LSCM_DATA_STATISTICS_STATISTICS_H
#define LSCM_DATA_STATISTICS_STATISTICS_H

#include "data/statistics/bands.h"       /* mean, sd and quantiles of columns */
#include "data/statistics/batches.h"     /* parts of sets that differ */
#include "data/statistics/features.h"    /* f, principal coordinates of x */
#include "data/statistics/linear_view.h" /* y, the part of x that is linear in z */
#include "data/statistics/missing.h"     /* x filled in by factors */
#include "data/statistics/moments.h"     /* sums by set */
#include "data/statistics/principal.h"   /* principal directions */

#endif
