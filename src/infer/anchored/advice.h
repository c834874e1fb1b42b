/* What a scientist would want to be told before believing a fit: each warning one sentence, with
 * names where there are any. */
#ifndef LSCM_INFER_ANCHORED_ADVICE_H
#define LSCM_INFER_ANCHORED_ADVICE_H

#include "infer/anchored/anchored_infer.h"
#include "infer/anchored/judge.h"

#include <jansson.h>

/* Appends to `warnings`. names (d) or NULL. */
void advise(const linear_view *s, const anchored *a, char *const *names, json_t *warnings);
/* The same of the chains alone: whether they agree, whether they did by themselves, and what they
 * had no room for. */
void advise_on_chains(const anchored *a, char *const *names, json_t *warnings);

/* Nodes whose sets have intercepts of their own more likely than not, with the mean of their sd;
 * NULL where there are none. */
json_t *effects_json(const anchored *a, char *const *names);
/* Per node: how it was anchored; an object by node name or number. */
json_t *anchors_json(const anchored *a, char *const *names);
/* What held-out sets say; NULL where there was too little to hold out. */
json_t *judgement_json(const judgement *j, char *const *names);

#endif
