#include "scm/metrics/ranking.h"

#include <math.h>
#include <stdlib.h>

static int higher_first(const void *left, const void *right)
{
    double a = ((const scored *)left)->score;
    double b = ((const scored *)right)->score;
    return (a < b) - (a > b);
}

void ranking_sort(scored *items, size_t n)
{
    qsort(items, n, sizeof *items, higher_first);
}

static size_t count_true(const scored *items, size_t n)
{
    size_t count = 0;
    for (size_t k = 0; k < n; k++) {
        count += items[k].truth ? 1 : 0;
    }
    return count;
}

/* End of the group of equal scores that begins at `first`; counts its true items. */
static size_t end_of_group(const scored *sorted, size_t n, size_t first, size_t *trues)
{
    size_t end = first;
    *trues = 0;
    do {
        *trues += sorted[end].truth ? 1 : 0;
        end++;
    } while (end < n && sorted[end].score == sorted[first].score);
    return end;
}

double ranking_auroc(const scored *sorted, size_t n)
{
    size_t all_true = count_true(sorted, n);
    size_t all_false = n - all_true;
    if (all_true == 0 || all_false == 0) {
        return NAN;
    }
    double wins = 0; /* pairs (true, false) in the right order; a tie is half a pair */
    size_t trues_above = 0;
    for (size_t k = 0; k < n;) {
        size_t trues = 0;
        size_t end = end_of_group(sorted, n, k, &trues);
        double falses = (double)(end - k - trues);
        wins += falses * ((double)trues_above + 0.5 * (double)trues);
        trues_above += trues;
        k = end;
    }
    return wins / ((double)all_true * (double)all_false);
}

double ranking_average_precision(const scored *sorted, size_t n)
{
    size_t all_true = count_true(sorted, n);
    if (all_true == 0 || all_true == n) {
        return NAN;
    }
    double sum = 0;
    size_t found = 0;
    for (size_t k = 0; k < n;) {
        size_t trues = 0;
        size_t end = end_of_group(sorted, n, k, &trues);
        found += trues;
        sum += (double)trues * ((double)found / (double)end);
        k = end;
    }
    return sum / (double)all_true;
}
