/* Words that say that nothing was done: "control", "non-targeting", "NT", "DMSO", ... */
#ifndef LSCM_DATA_TEXT_CONTROL_H
#define LSCM_DATA_TEXT_CONTROL_H

#include <stdbool.h>

/* The words without `given`, for documents and sentences. */
#define CONTROL_WORDS                                                                              \
    "control,ctrl,negctrl,neg_ctrl,negative,non-targeting,non_targeting,nontargeting,"             \
    "non targeting,safe-targeting,nt,none,nan,na,unperturbed,untreated,vehicle,dmso,-1"

/* Is a word one of `given` ("none,mock"; NULL: CONTROL_WORDS), in any case, with or without a
 * number behind it ("NT_12")? Nothing at all is control, too. */
bool control_word(const char *word, const char *given);

#endif
