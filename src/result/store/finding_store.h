/* The checks of a summary as lscm.h shows them; what is no finding is left out. */
#ifndef LSCM_RESULT_STORE_FINDING_STORE_H
#define LSCM_RESULT_STORE_FINDING_STORE_H

#include "base/status.h"

#include <jansson.h>

typedef struct finding_store {
    size_t count, found;
    const lscm_finding **each; /* (count) */
    lscm_finding *all;         /* (count) */
    const char **nodes;        /* of all of them */
    json_t *checks;            /* whose texts they are */
} finding_store;

/* A reference to `checks` is kept. */
lscm_status finding_store_of(finding_store **out, json_t *checks, lscm_error *why);
void finding_store_free(finding_store *f);

#endif
