/* Inference on a view, again without some of its rows, to be judged by them. */
#ifndef LSCM_INFER_ANCHORED_ANCHORED_JUDGED_H
#define LSCM_INFER_ANCHORED_ANCHORED_JUDGED_H

#include "infer/judge/judge.h"

/* The input must stay. */
judged anchored_judged(const anchored_input *in);

#endif
