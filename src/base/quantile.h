/* Quantiles of numbers in memory, interpolated linearly between neighbours, as NumPy does. */
#ifndef LSCM_BASE_QUANTILE_H
#define LSCM_BASE_QUANTILE_H

#include <stddef.h>

/* For qsort: ascending. */
static inline int quantile_compare(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return a < b ? -1 : a > b ? 1 : 0;
}

/* Of n > 0 sorted numbers; share in [0, 1]. */
static inline double quantile_of_sorted(const double *sorted, size_t n, double share)
{
    double at = share * (double)(n - 1);
    size_t low = (size_t)at;
    size_t high = low + 1 < n ? low + 1 : low;
    return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

#endif
