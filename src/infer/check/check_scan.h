/* Is there more to a node than what it is regressed on? Let r be what the regression leaves of node
 * i, and q any node that does not follow from i in the graph, a parent or not: a parent whose
 * effect is all bend is hardly ever one in a graph of straight effects. With the curves phi_qk of
 * curves.h (within +-4, so that few rows do not decide), columns centred as the regression's are,
 *
 *     bent     phi_q1, phi_q2, phi_q3, less what of them phi_q0 tells
 *     joint    phi_q0 phi_p0, less what phi_q0, phi_p0, phi_q1 and phi_p1 tell
 *     spread   |r| on phi_q0, phi_q1, within sets
 *
 * are held against r one after the other, spread where no parent of a node that bends is within the
 * outermost pieces of its curves: there they are told least, and what they miss looks like noise. r
 * is orthogonal to all that the regression has, so that with e one of them, r e ~ N(0, at most s^2
 * e'e): F tests are on the safe side, and what is modelled already does not show. The least chance
 * of a kind, times how many there are, stands for it; its share is that of r'r.
 */
#ifndef LSCM_INFER_CHECK_CHECK_SCAN_H
#define LSCM_INFER_CHECK_CHECK_SCAN_H

#include "infer/check/check_rows.h"

/* What speaks loudest: one node or two, and the share of what was left that it explains. */
typedef struct check_by {
    size_t nodes, node[2];
    double share;
    bool of_size; /* of how |r| varies */
} check_by;

enum { SCAN_CURVES = 4 };

typedef struct check_scan {
    size_t n;         /* rows in which the node is free */
    size_t others;    /* nodes that do not follow from it: of many nodes parents alone */
    size_t *other;    /* (others) */
    uint8_t *parent;  /* (others): whether it is one */
    uint8_t *follows; /* (d) */
    size_t sets;      /* in which the node is free */
    size_t *first;    /* (sets + 1): where they begin among these rows */
    uint8_t *inside;  /* (n): whether no parent of a node that bends is at its ends */
    double *part;     /* (sets): means taken off .. */
    double *times;    /* (sets): .. and factors */
    double *plain;    /* (others, 2, n): phi_0, phi_1 */
    double *curve;    /* (others, SCAN_CURVES, n): each less what those before it tell */
    double *column;   /* (3, n) */
    arena memory;
} check_scan;

lscm_status check_scan_open(check_scan *out, const check_rows *t, lscm_error *why);
void check_scan_close(check_scan *s);

/* Who does not follow from i in graph g. */
void check_scan_others(check_scan *s, const check_rows *t, size_t g, size_t i);
/* Their curves over the rows in which i is free, sets centred in part and weighed as these say. */
void check_scan_take(check_scan *s, const check_rows *t, size_t i, bool bent, const double *part,
                     const double *share);
/* Chances; rest (n): r with so many degrees of freedom. 1: nothing to test by. */
double check_scan_bent(const check_scan *s, const double *rest, double freedom, check_by *by);
double check_scan_joint(const check_scan *s, const double *rest, double freedom, check_by *by);
/* rest: of mean 0 in every set. */
double check_scan_spread(const check_scan *s, const double *rest, check_by *by);

#endif
