/* Does something that nobody measured move two nodes? With a before b in a graph that was drawn and
 * e_a = z_a - c - z_P w what it leaves of a, a hidden cause h of both gives b where it is free
 *
 *     z_b ~ N(z_Q w + delta e_a, v)            where a is free, too,
 *     z_b ~ N(z_Q w, v + delta^2 var e_a)      where do() set a: h is no longer seen through it,
 *
 * one number more than without, and Q may have fewer parents than b has in the graph: an edge
 * a -> b that is not there, and those that make up for it, go. With L the likelihoods at their
 * maxima, k parameters and n rows (Schwarz), the best Q found by leaving out parents one by one,
 *
 *     gain_ab = log L(Q, h) - log L(P) - (k(Q, h) - k(P)) log(n)/2,
 *
 * P those of the graph, mended one by one where that is better, too,
 * each with the intercepts of sets as the fit has them or without, whichever is better. Graphs
 * weigh in as often as they were drawn. The mean of exp(gain) over pairs is the Bayes factor of one
 * hidden cause somewhere against none: where there is none it exceeds 19 in fewer than 1 of 19 data
 * sets.
 *
 * Where nodes bend z_b stands there less what of its curves is not straight, as the rows have them
 * without h, and e_a is what its curves leave of a.
 *
 * spare_pb is the same of the best model that has a hidden cause of b and another node but no edge
 * p -> b: where it is not far below 0 the edge may be a hidden cause's.
 */
#ifndef LSCM_INFER_CHECK_CHECK_HIDDEN_H
#define LSCM_INFER_CHECK_CHECK_HIDDEN_H

#include "infer/check/check_family.h"

typedef struct check_hidden {
    double *gain;  /* (d, d): i < j; -inf: not tested */
    double *spare; /* (d, d): of p -> b, mean over graphs that have it; -inf where none has */
    size_t pairs;  /* tested */
} check_hidden;

/* The arrays are the caller's. all (graphs, d): families with their weights. */
lscm_status check_hidden_of(check_hidden *out, const check_rows *t, const check_family *all,
                            lscm_error *why);
/* Probability that nothing hidden moves any two, 1/2 before the data; NaN: nothing was tested. */
double check_hidden_none(const check_hidden *h, size_t d);

#endif
