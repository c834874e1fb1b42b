/* Which pairs of nodes the data decide. With p of a -> b, of b -> a and of neither,
 *
 *     decided      one of the three has 95%; an edge also where do() set its cause (an F test
 * there: what no hidden cause can feign) assumed      an edge has 95%, but not by rows in which
 * do() set its cause: it is there if nothing hidden moves both; or a check found something about
 * one of the nodes undecidable  there may be an edge, and in most graphs drawn that have it its
 * reversal is in the same class under the sets of the design (essential.h): no number of rows of
 * these sets tells; nor where a node never varies, is set in every row, or a causal variable is
 * never set undecided    the rest: more rows would tell
 */
#ifndef LSCM_INFER_CHECK_CHECK_EDGES_H
#define LSCM_INFER_CHECK_CHECK_EDGES_H

#include "infer/check/check_tests.h"

#include <jansson.h>

/* {decided: n, assumed: n, undecided: n, undecidable: n, list: [{nodes, verdict, edge or null,
 * p: [.., ..], why, remedy}], undirected: [[a, b], ..]}: every pair but those that have no edge for
 * sure, and by numbers those whose edge, in most graphs that have it, can be turned. doubted (d): 1
 * where a check found something. */
lscm_status check_edges(json_t **out, const check_rows *t, const check_tests *c,
                        const uint8_t *doubted, lscm_error *why);

#endif
