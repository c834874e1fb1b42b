/* Findings as JSON objects:
 *
 *     {check, verdict: "good" | "found" | "noted" | "untested", figure, limit, nodes: [..], says,
 *      remedy, warns}
 *
 * "found" is what speaks against the model; "noted" is what it bears with, or what a design or the
 * fit's own chains leave open: then `warns` says whether the fit warns of it. figure is a chance or
 * a count that is too small below the limit (values, sets, digits, labels, constant, copies: too
 * large above it); null where there is none. */
#ifndef LSCM_INFER_CHECK_FINDINGS_H
#define LSCM_INFER_CHECK_FINDINGS_H

#include "infer/check/check_tests.h"

#include <jansson.h>

typedef enum finding_weight {
    WEIGHT_BREAKS, /* an assumption is broken: found, with a warning */
    WEIGHT_LIMITS, /* less is known than could be: noted, with a warning */
    WEIGHT_BORNE   /* the model takes account of it: noted, without one */
} finding_weight;

typedef struct finding {
    const char *check; /* its name, one word */
    const char *well;  /* what is said where all is well */
    const char *says;  /* where it is not; %s in it: the nodes */
    const char *remedy;
    finding_weight weight;
} finding;

/* A chance for each of `count` nodes, 1 where it could not be tested: their number times a chance
 * below the limit is a finding about that node. by (count), or NULL: what is said beside it;
 * doubted (count), or NULL, is 1 where it is. */
void find_nodes(json_t *checks, const finding *f, const double *chance, size_t count,
                char *const *names, const check_by *by, uint8_t *doubted);
/* One whose nodes are known: found where there are any. */
void find_listed(json_t *checks, const finding *f, double figure, double limit,
                 const uint8_t *which, size_t count, char *const *names);
/* One about no node. */
void find_plain(json_t *checks, const finding *f, double figure, double limit, bool found);
/* What the fit says of itself and the design: "fit", noted, for each sentence. */
void find_told(json_t *checks, const json_t *sentences);

#endif
