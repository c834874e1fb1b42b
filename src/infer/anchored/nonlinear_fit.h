/* The anchored method where x is not linear in z, as a run. */
#ifndef LSCM_INFER_ANCHORED_NONLINEAR_FIT_H
#define LSCM_INFER_ANCHORED_NONLINEAR_FIT_H

#include "infer/run/run.h"

/* A linear encoder that may do as well as one that is not. */
typedef struct linear_rival {
    double missed; /* share of the values' variance that it does not predict at sets left out */
    bool wins;     /* the answer: then nothing else was done */
} linear_rival;
/* With the decoder left to us there may be a rival; NULL: there is none. */
lscm_status nonlinear_fit(fit *f, lscm_posterior **out, linear_rival *rival, lscm_error *why);

#endif
