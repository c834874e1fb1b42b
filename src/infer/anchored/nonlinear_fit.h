/* The anchored method where x is not linear in z, as a run. */
#ifndef LSCM_INFER_ANCHORED_NONLINEAR_FIT_H
#define LSCM_INFER_ANCHORED_NONLINEAR_FIT_H

#include "infer/run/run.h"

/* Encoders that may do as well as a kernel and the network that follows it, or better. */
typedef enum rival_kind { RIVAL_NONE, RIVAL_LINEAR, RIVAL_PICTURES } rival_kind;
typedef struct rivals {
    bool linear, pictures; /* in question */
    double missed;         /* share of the values' variance that a linear one does not predict at
                              sets left out */
    rival_kind winner;     /* the answer: where there is one, nothing else was done */
    double kernel, trial;  /* RIVAL_PICTURES: missed by a kernel, and by a network of pictures */
} rivals;
/* With the decoder left to us there may be rivals; NULL: there are none. */
lscm_status nonlinear_fit(fit *f, lscm_posterior **out, rivals *others, lscm_error *why);

#endif
