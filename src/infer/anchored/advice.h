/* What a scientist would want to be told before believing a fit: each warning one sentence, with
 * names where there are any. */
#ifndef LSCM_INFER_ANCHORED_ADVICE_H
#define LSCM_INFER_ANCHORED_ADVICE_H

#include "infer/anchored/anchored_infer.h"
#include "infer/judge/judge.h"

#include <jansson.h>

/* Appends to `warnings`. names (d) or NULL. */
void advise(const linear_view *s, const anchored *a, char *const *names, json_t *warnings);
/* The same of the chains alone: whether they agree, whether they did by themselves, and what they
 * had no room for. */
void advise_on_chains(const anchored *a, char *const *names, json_t *warnings);

/* What interventions that were held out, and targets that were left out whole, say of it. */
void advise_on_judgement(const judgement *j, const anchored *a, char *const *names,
                         json_t *warnings);
void advise_on_left_out(const left_out *l, json_t *warnings);

/* Nodes whose sets have intercepts of their own more likely than not, with the mean of their sd;
 * NULL where there are none. */
json_t *effects_json(const anchored *a, char *const *names);
/* Per node: how it was anchored; an object by node name or number. */
json_t *anchors_json(const anchored *a, char *const *names);
/* What held-out sets say; NULL where there was too little to hold out. */
json_t *judgement_json(const judgement *j, char *const *names);
/* How well the effects of targets left out whole are predicted, beside those who know no graph;
 * NULL where none could be. */
json_t *left_out_json(const left_out *l);

#endif
