/* A Gibbs sampler whose one half is inference as ever: in turn
 *
 *     graph, mechanisms and encoder given all else     anchored_infer.h
 *     something else given a draw of these             the caller's
 *
 * Fits of the first rounds settle; those that count have a share of the draws each, and edge
 * probabilities are their mean: what is drawn between them is left open by the draws.
 */
#ifndef LSCM_INFER_ANCHORED_ROUNDS_H
#define LSCM_INFER_ANCHORED_ROUNDS_H

#include "infer/problem/problem.h"

typedef struct rounds {
    size_t settle;    /* rounds before any counts, .. */
    size_t count;     /* .. and those that do */
    const char *what; /* is drawn between them, in a word or two */
    void *self;
    /* Draws it for the round that follows; *in is what that will be asked. After the first round
     * *enough says that there is no need for more. */
    lscm_status (*between)(void *self, const anchored *a, size_t round, anchored_input *in,
                           bool *enough, lscm_error *why);
    /* Or NULL: a round that counts has draws first .. past - 1. Called before `between`. */
    void (*counts)(void *self, anchored *a, size_t first, size_t past);
} rounds;

/* `a` is empty, or the first round's inference; becomes that of the last round, with the draws of
 * all that count. */
lscm_status rounds_run(const rounds *r, anchored *a, const anchored_input *in, lscm_error *why);

#endif
