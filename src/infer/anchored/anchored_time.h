/* What the stages of a fit are expected to take, from what is known of their work: before the rows
 * are read by counts, after the first inference by what it took. */
#ifndef LSCM_INFER_ANCHORED_ANCHORED_TIME_H
#define LSCM_INFER_ANCHORED_ANCHORED_TIME_H

#include "infer/problem/problem.h"
#include "infer/run/run.h"

/* How often targets are left out, at most: of many nodes no graph is made again where z is read
 * off. */
size_t judged_targets(size_t d, bool observed);
/* While rows are read. */
void time_all(fit *f);
/* Before an inference of so many rounds: all that follows does one of them again. */
void time_rounds(fit *f, size_t rounds);
/* Once there is an inference; whether it is judged. */
void time_judgement(fit *f, const linear_view *s, const anchored *a, bool asked);

#endif
