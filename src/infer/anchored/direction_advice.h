/* What nothing in the data directs. Graphs of one class under the sets of the design explain all
 * rows alike, so which way such an edge points is the prior's word, and is not passed on as
 * knowledge. */
#ifndef LSCM_INFER_ANCHORED_DIRECTION_ADVICE_H
#define LSCM_INFER_ANCHORED_DIRECTION_ADVICE_H

#include "infer/problem/problem.h"

#include <jansson.h>

/* A sentence where a likely edge is among the undirected of `pairs` (infer/check). names (d) or
 * NULL. */
void advise_on_directions(const json_t *pairs, const design *s, const anchored *a,
                          char *const *names, json_t *warnings);

#endif
