/* What a scientist would want to be told before believing a fit: each warning one sentence, with
 * names where there are any. */
#ifndef LSCM_INFER_ADVICE_H
#define LSCM_INFER_ADVICE_H

#include "infer/anchored.h"
#include "infer/judge.h"

#include <jansson.h>

/* Appends to `warnings`. names (d) or NULL. */
void advise(const signal *s, const anchored *a, char *const *names, json_t *warnings);

/* True where x varies beyond what d directions and noise explain: it may not be linear in z. */
bool signal_bends(const signal *s);
/* The share of x's variance that d directions explain. */
double signal_explained(const signal *s);

/* Per node: how it was anchored; an object by node name or number. */
json_t *anchors_json(const anchored *a, char *const *names);
/* What held-out sets say; NULL where there was too little to hold out. */
json_t *judgement_json(const judgement *j, char *const *names);

#endif
