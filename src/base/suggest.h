/* "did you mean": see lscm_suggest in lscm.h. */
#ifndef LSCM_BASE_SUGGEST_H
#define LSCM_BASE_SUGGEST_H

#include "lscm.h"

/* The same over names joined by '|', as in the settings table; the answer is copied to `out`. */
const char *suggest_choice(const char *word, const char *choices, char *out, size_t size);

#endif
