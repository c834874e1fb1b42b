/* One node i with the parents P that a graph gives it. Over the rows in which it is free, in units,
 * with what the errors of z take from parents put back (regression calibration: G = (S + O)_PP of
 * the set, both taken over the free parents),
 *
 *     x_P = m_P + S_PP G^-1 (z - m)_P,   y = z_i - O_iP G^-1 (z - m)_P:   E[y | z_P] = c + x_P w,
 *
 * rows of a set weighed by the variance that is left there, and intercepts of sets as the fit has
 * them (of every column the set's mean is taken off in part, 1 - 1/sqrt(1 + n tau^2): tau = 0 is
 * one intercept, infinity one for every set), F tests ask of regressions of y on x_P whether there
 * is more to it:
 *
 *     bent      x_p^2
 *     slopes    x_p where do() set p (and, where sets have no intercepts of their own, that it did)
 *     kept      of observed i where do() set it: its parents, which do() should have cut off
 *     response  what sets of interventions have of their own: does i move whenever anything is set
 *               (check_response.h)?
 *     support   whether x_p matters at all where do() set p: what no hidden cause can feign
 *
 * and of what is left, whether it is normal (tails), varies alike in all sets (noise: Levene), and
 * has no order (check_drift.h).
 */
#ifndef LSCM_INFER_CHECK_CHECK_FAMILY_H
#define LSCM_INFER_CHECK_CHECK_FAMILY_H

#include "infer/check/check_gather.h"
#include "infer/check/check_scan.h"

typedef enum check_test {
    TEST_BENT,
    TEST_SLOPES,
    TEST_NOISE,
    TEST_TAILS,
    TEST_KEPT,
    TEST_RESPONSE,
    TEST_DRIFT,
    TEST_JOINT,
    TEST_SPREAD,
    FAMILY_TESTS
} check_test;

typedef struct check_family {
    check_functions f;           /* what it is regressed on .. */
    double *coef;                /* (f.count): .. and how */
    double chance[FAMILY_TESTS]; /* 1 where there is nothing to test by */
    check_by by[FAMILY_TESTS];   /* of those that a scan makes: what speaks loudest */
    double *weight;              /* (d): of the parents, average slopes; 0 for others */
    double *support;             /* (d): chance of as much, did p not matter; 1 for others */
    double left;                 /* variance of y given its parents, in units */
    double count;                /* rows in which i is free */
    bool read_well;              /* else only support is told: errors of z decide the rest */
} check_family;

/* f.term, coef, weight and support are the caller's. */
void check_family_of(check_family *out, const check_rows *t, size_t g, size_t i, check_work *q,
                     check_scan *scan);

#endif
