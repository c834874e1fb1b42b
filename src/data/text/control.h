/* Words in a column of targets for "nothing was set". */
#ifndef LSCM_DATA_TEXT_CONTROL_H
#define LSCM_DATA_TEXT_CONTROL_H

#include <stdbool.h>

/* Is it among `control` ("control,NT"; NULL: the usual words), in upper or lower case? */
bool is_control(const char *word, const char *control);

#endif
