/* How many chains, how long, and what they agree on. */
#ifndef LSCM_INFER_SAMPLE_SAMPLE_CHAINS_H
#define LSCM_INFER_SAMPLE_SAMPLE_CHAINS_H

#include "infer/mechanism/mechanism.h"
#include "infer/problem/problem.h"

/* Nodes up to which the encoder is drawn with the graph. */
enum { ANCHORED_JOINT = 64 };
/* Chains, and the sweeps of each: one for every draw kept, and half as many again before. */
size_t anchored_chains(const anchored_input *in);
size_t anchored_sweeps(const anchored_input *in);
/* Edge probabilities from the draws, which stand chain by chain, no surer than the chains can be
 * (graph/convergence.h), `replaced` of which went on from the place of another; and how far they
 * agree: the worst over weights of edges that are in doubt or not. series (draws): scratch. */
void anchored_take_edges(anchored *a, const mechanisms *m, size_t chains, size_t replaced,
                         double *series);

#endif
