/* Words in a column of targets for "nothing was set": "control", "non-targeting", "NT", "DMSO". */
#ifndef LSCM_DATA_TEXT_CONTROL_H
#define LSCM_DATA_TEXT_CONTROL_H

#include <stdbool.h>

/* Is it among `control` ("control,NT"; NULL: the usual words), in any case, with or without a
 * number behind it ("NT_12", "NegCtrl0"; WT1 is a gene)? An empty word is. */
bool is_control(const char *word, const char *control);

#endif
