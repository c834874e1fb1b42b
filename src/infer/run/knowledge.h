/* Background knowledge: edges that must be there, edges that must not, and tiers (a node of a later
 * tier never causes one of an earlier). Tiers become forbidden edges, everything is checked against
 * everything else, and an estimator asks only whether it may or must have an edge.
 */
#ifndef LSCM_INFER_RUN_KNOWLEDGE_H
#define LSCM_INFER_RUN_KNOWLEDGE_H

#include "base/status.h"

#include <jansson.h>

typedef struct knowledge {
    size_t d;
    uint8_t *forbidden; /* (d, d): 1 at [j * d + i] for the edge j -> i; NULL: nothing is known */
    uint8_t *required;  /* (d, d) likewise; NULL with the other */
} knowledge;

/* Merges what the run says. Refuses (LSCM_USAGE) a node that must cause itself, an edge both
 * required and forbidden, by tiers too, required edges that make a cycle, or that point backwards
 * in `order` (d; NULL: learned). `names` (d) or NULL. */
lscm_status knowledge_open(knowledge *out, const lscm_run_options *run, size_t d,
                           char *const *names, const size_t *order, lscm_error *why);
void knowledge_close(knowledge *k); /* safe on a zeroed one */

/* Whether anything is known. */
static inline bool knowledge_any(const knowledge *k)
{
    return k->forbidden != NULL;
}

/* j -> i; never j -> j. */
static inline bool knowledge_allows(const knowledge *k, size_t j, size_t i)
{
    return j != i && (k->forbidden == NULL || k->forbidden[j * k->d + i] == 0);
}

static inline bool knowledge_requires(const knowledge *k, size_t j, size_t i)
{
    return k->required != NULL && k->required[j * k->d + i] != 0;
}

/* What the run says as it was said, into config.json: "forbid" and "require", lists of "a->b", and
 * "tiers", a list of lists of nodes; those that there are. */
void knowledge_store(const lscm_run_options *run, size_t d, char *const *names, json_t *config);

#endif
