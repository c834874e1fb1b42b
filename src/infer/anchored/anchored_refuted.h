/* Inference without the edges that do() refutes (infer/evidence/refuted.h): they are left out, and
 * graphs asked again, until none is left. Where all is well the first answer is the last. */
#ifndef LSCM_INFER_ANCHORED_ANCHORED_REFUTED_H
#define LSCM_INFER_ANCHORED_ANCHORED_REFUTED_H

#include "infer/problem/problem.h"
#include "infer/run/run.h"

typedef struct refutations {
    size_t d, count;
    uint8_t *forbidden; /* (d, d): as it was told, and those that are refuted */
    double *share;      /* (d, d): of what the edge says, what is seen where do() set its
                           cause; NAN: not refuted */
    arena memory;
} refutations;

lscm_status anchored_infer_refuting(anchored *out, refutations *r, const anchored_input *in,
                                    lscm_error *why);
void refutations_close(refutations *r);
/* "refuted" into the summary, a list of {from, to, share}, and a warning, where there are any.
 * names (d) or NULL. */
void refutations_tell(const refutations *r, char *const *names, json_t *summary, json_t *warnings);

#endif
