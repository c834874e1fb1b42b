/* What nothing in the data directs. Graphs of one class under the sets of the design explain all
 * rows alike, so which way such an edge points is the prior's word, and is not passed on as
 * knowledge. */
#ifndef LSCM_INFER_RUN_DIRECTIONS_H
#define LSCM_INFER_RUN_DIRECTIONS_H

#include "infer/run/fit_state.h"

/* Finds pairs {"undirected": [[a, b], ..]} for the draws of p, of methods whose fits are not
 * checked (infer/check finds them with the rest), and says so. Where noise is equal, or an order is
 * given, there are none. */
lscm_status directions_find(fit *f, const lscm_posterior *p, lscm_error *why);
/* A sentence where a likely edge is among the undirected of f->pairs; edge_prob (d, d).
 * observational: do() never set anything. */
void advise_on_directions(const fit *f, bool observational, const double *edge_prob);

#endif
