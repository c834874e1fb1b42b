/* Inference where noise of mechanisms may be heavy-tailed (infer/evidence/noise_law.h), in rounds
 * (rounds.h) between which the law of each node's noise and what its rows count are drawn. So what
 * is far out counts little, makes no edges and breaks no intervals. Left to us, the first round is
 * all unless its residuals speak for such laws: normal data stay as they are.
 *
 * Of x linear in z where the encoder's error does not matter, or is not asked about; elsewhere,
 * where noise has one scale for all nodes and where entries are missing it is normal.
 */
#ifndef LSCM_INFER_ANCHORED_ANCHORED_NOISE_H
#define LSCM_INFER_ANCHORED_ANCHORED_NOISE_H

#include "infer/problem/problem.h"
#include "infer/run/run.h"

/* a: what inference with normal noise says, and gets what rounds say where there are any. */
lscm_status anchored_infer_noise(anchored *a, const anchored_input *in, lscm_error *why);
/* Warns where such laws were asked for and could not be had. */
void anchored_noise_unused(const fit *f, const char *why_not);
/* What judges of such a fit are to be asked. */
void anchored_noise_known(anchored_input *in, const anchored *a);
/* Laws into a posterior and, by node, what they are most likely, into its summary, where any is not
 * normal. names (d) or NULL. */
lscm_status anchored_noise_store(const anchored *a, lscm_posterior *p, char *const *names,
                                 json_t *summary, lscm_error *why);

#endif
