/* What the rows say against the model, whichever graph it has: chances of each node's tests, mean
 * over the graphs drawn (the true one weighs in with its share, so that a mean is at least that
 * share of its chance), and of each pair of nodes what speaks for a hidden cause of both. All
 * chances of one kind together, times their number, stand for that kind (Bonferroni).
 *
 * What all rows have wrong together, an encoder that is not quite right, makes slopes and pairs
 * differ too: their statistics are divided by 1 + n s^2 / ((r + 1) v), s^2 the variance that it
 * gives z, v what is left of the node.
 */
#ifndef LSCM_INFER_CHECK_CHECK_TESTS_H
#define LSCM_INFER_CHECK_CHECK_TESTS_H

#include "infer/check/check_hidden.h"

typedef struct check_tests {
    size_t d;
    double *chance[FAMILY_TESTS]; /* (d) */
    check_by *by[FAMILY_TESTS];   /* (d): under the graph most often drawn */
    check_hidden hidden;
    double *support; /* (d, d): of j -> i, mean over graphs that have it; 1 elsewhere */
    double *left;    /* (d): variance of z given its parents, in z's own unit */
    double *count;   /* (d): rows in which it is free */
    double unmet;    /* chance that the draws do not have the parents that matter */
    arena memory;
} check_tests;

lscm_status check_tests_of(check_tests *out, const check_rows *t, lscm_error *why);
void check_tests_close(check_tests *c);

#endif
