/* Inference on a view, again without some of its rows, to be judged by them. */
#ifndef LSCM_INFER_ANCHORED_ANCHORED_JUDGED_H
#define LSCM_INFER_ANCHORED_ANCHORED_JUDGED_H

#include "infer/judge/judge.h"

/* The input must stay. */
judged anchored_judged(const anchored_input *in);

/* z as it was read off all rows, to judge graph and mechanisms alone by. */
typedef struct read_again {
    anchored_input in; /* its view is `view` */
    linear_view view;  /* VIEW_READ_OFF; its design is another's */
    arena memory;
} read_again;

/* As `in`, of which `a` came, has it: x linear in z, or bent and read off already (in->blur). Under
 * the prior that was found. */
lscm_status read_again_open(read_again *out, const anchored_input *in, const anchored *a,
                            lscm_error *why);
void read_again_close(read_again *r);
judged read_again_judged(const read_again *r);

#endif
