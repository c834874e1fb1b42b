/* The anchored method: causal variables read off x, then a posterior over graphs and mechanisms.
 *
 *     signal y -> anchor z = a + y B -> families -> graphs -> W, s, c given the graph
 *
 * Where the encoder is known so well that its error cannot show (or z is observed), the draws are
 * independent: graphs from dag_exact or dag_mcmc at this z, mechanisms from their conjugate law.
 * Elsewhere encoder, graph and mechanisms are drawn together (joint.h), from these as a start; and
 * where x is so noisy that z of a row is uncertain, or z was clipped, z too (latent_chain.h).
 */
#ifndef LSCM_INFER_ANCHORED_ANCHORED_INFER_H
#define LSCM_INFER_ANCHORED_ANCHORED_INFER_H

#include "infer/problem/problem.h"

lscm_status anchored_infer(anchored *out, const anchored_input *in, lscm_error *why);

#endif
