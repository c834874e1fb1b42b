/* Findings as JSON objects:
 *
 *     {check, verdict: "good" | "found" | "noted" | "untested", figure, limit, nodes: [..], says,
 * remedy}
 *
 * figure is a chance that is too small below the limit (values: a share, sets: an sd over the
 * noise, too large above it); null where
 * there is none. */
#ifndef LSCM_INFER_CHECK_FINDINGS_H
#define LSCM_INFER_CHECK_FINDINGS_H

#include "infer/check/check_tests.h"

#include <jansson.h>

typedef struct finding {
    const char *check; /* its name, one word */
    const char *well;  /* what is said where all is well */
    const char *says;  /* where it is not; %s in it: the nodes */
    const char *remedy;
    bool borne; /* the model takes account of it: noted, and no warning */
} finding;

/* A chance for each of `count` nodes, 1 where it could not be tested: their number times a chance
 * below the limit is a finding about that node. doubted (count), or NULL, is 1 where it is. */
void find_nodes(json_t *checks, const finding *f, const double *chance, size_t count,
                char *const *names, uint8_t *doubted);
/* One whose nodes are known: found where there are any. */
void find_listed(json_t *checks, const finding *f, double figure, double limit,
                 const uint8_t *which, size_t count, char *const *names);
/* What the fit says of itself and the design, a finding "fit" for each sentence. */
void find_told(json_t *checks, const json_t *sentences);

#endif
