/* How well scores rank the true above the false: n scored items, sorted once, highest first.
 *
 *   AUROC              P(score of a true > score of a false) + P(equal)/2, by midranks
 *   average precision  sum_k (R_k - R_{k-1}) P_k over the distinct scores, from the highest: recall
 *                      and precision of all items that score at least the k-th
 *
 * Both are NaN when all items are true or all are false. O(n log n).
 */
#ifndef LSCM_SCM_METRICS_RANKING_H
#define LSCM_SCM_METRICS_RANKING_H

#include <stdbool.h>
#include <stddef.h>

typedef struct scored {
    double score; /* finite */
    bool truth;
} scored;

void ranking_sort(scored *items, size_t n);
/* Of sorted items. */
double ranking_auroc(const scored *sorted, size_t n);
double ranking_average_precision(const scored *sorted, size_t n);

#endif
