/* Edges that do() refutes. An edge p -> i says that i follows p where do() sets p as it does
 * elsewhere. What a hidden cause of both, or a mechanism of the wrong shape, makes of p in rows in
 * which p is free outweighs the rows in which it is set: these are few, and what they lack is taken
 * for an intercept of their own (set_means.h). So they are asked by themselves. In the rows with p
 * set and i free, over draws that have the edge,
 *
 *     g = f_i(z) - f_i(z with z_p in its middle)      what the edge says that p does there,
 *     y = g + z_i - c_i - f_i(z)                      what is seen of that, all else taken off,
 *
 * residuals counted from their mean where p is free. y = s g + a_k + e, a_k of sd tau sigma by the
 * sets in which p is free (their median, which no one set moves). Once what the n_k rows of a set
 * have in common is taken off but for a share 1/sqrt(1 + n_k tau^2), in y and g alike, rows are
 * independent, and
 *
 *     s = sum g y / sum g^2,   v = sigma^2 / sum g^2 and the spread of s over draws.
 *
 * The edge as it is has s = 1, none has 0:
 *
 *     log p(y | none)/p(y | edge) = (1 - 2 s)/(2 v).
 *
 * An edge that is there is this unlikely by L with a chance below that of a normal number beyond
 * sqrt(2 L), whatever v is. It is refuted where that exceeds L and no cubic of z_p finds an effect
 * of another shape in y that has half the size of g. */
#ifndef LSCM_INFER_EVIDENCE_REFUTED_H
#define LSCM_INFER_EVIDENCE_REFUTED_H

#include "infer/problem/problem.h"

/* Of edges over 1/2 that nobody asked for; share (d, d): s of those that are refuted, else NAN.
 * Returns how many there are in *count. */
lscm_status refuted_edges(double *share, size_t *count, const anchored_input *in, const anchored *a,
                          lscm_error *why);

#endif
