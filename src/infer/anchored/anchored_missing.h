/* Inference where entries of x are missing, in rounds (rounds.h) between which they are drawn
 * (infer/sample/fill.h): what they leave open is in the draws, and in z and its sd. Where x tells z
 * of rows so well that what is missing could not show beside the mechanisms' noise, one round is
 * all.
 */
#ifndef LSCM_INFER_ANCHORED_ANCHORED_MISSING_H
#define LSCM_INFER_ANCHORED_ANCHORED_MISSING_H

#include "infer/problem/problem.h"

/* in->view is s; its missing entries are left as drawn last. */
lscm_status anchored_infer_missing(anchored *out, linear_view *s, const anchored_input *in,
                                   lscm_error *why);
/* How often it infers where some are missing, at most. */
size_t anchored_rounds(const linear_view *s);

#endif
