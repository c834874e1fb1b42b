/* Does what was told contradict the data? The fit is made again with nothing told, and what it says
 * of each piece is looked at:
 *
 *     a -> b forbidden     P(a -> b) > 1 - e, or of both ways, where both are, P(a - b)
 *     a -> b required      P(a -> b) < e
 *
 * with e = tuned_warn_knowledge. Where no piece does by itself and graphs are exact, all of it
 * together: log P(data) - log P(data, told) is -log P(told | data), which must be more than
 * knowledge of this kind has against it before any data: log d! for orders, an edge each for what
 * is required or forbidden. Where they are not exact, rows that are held out tell: both fits are
 * asked about the same, and the one that was told things must not be worse by more than
 * tuned_warn_knowledge_row a row.
 */
#ifndef LSCM_INFER_ANCHORED_KNOWLEDGE_ADVICE_H
#define LSCM_INFER_ANCHORED_KNOWLEDGE_ADVICE_H

#include "infer/anchored/anchored_infer.h"
#include "infer/judge/judge.h"
#include "infer/run/run.h"

/* Nothing is done where nothing is told. `in` is what `a` was inferred from, and `held` what rows
 * held out say of that; NULL: z was read off under what was told, and pieces alone are looked at.
 * names (d) or NULL. */
lscm_status advise_on_knowledge(const knowledge *k, const anchored_input *in, const anchored *a,
                                const judgement *held, char *const *names, json_t *warnings,
                                lscm_error *why);

#endif
