/* A model against the truth under one do(), in samples of z of both; free nodes alone, each counted
 * in sds of the truth without do(). With m and t the means of n rows, v their variances,
 *
 *   square error   mean over nodes of (m - t)^2 - (v_m + v_t)/n: of the expectations themselves
 *   energy         (2 E|X - Y| - E|X - X'| - E|Y - Y'|) / E|Y - Y'|, X of the model, Y of the
 * truth, X' and Y' other rows of the same (Szekely and Rizzo 2013)
 *
 * Neither is biased (but for the ratio), so either may be a little below 0 where laws are the same.
 */
#ifndef LSCM_SCM_METRICS_METRICS_DO_H
#define LSCM_SCM_METRICS_METRICS_DO_H

#include <stddef.h>
#include <stdint.h>

typedef struct do_rows {
    size_t n, d;         /* n >= 2 */
    const double *model; /* (n, d) */
    const double *truth; /* (n, d) */
    const double *sd;    /* (d); a node where it is not above 0 is left out */
    const uint8_t *set;  /* (d): not 0 where do() acts, which is left out */
} do_rows;

/* The sum over the nodes that count, and how many they are. */
double do_square_error(const do_rows *rows, size_t *count);
/* scratch (2 n d). NaN where the truth does not vary, or no node counts. */
double do_energy(const do_rows *rows, double *scratch);

#endif
