/* Questions to a posterior: rows under do(), x of z, scores, comparisons, exports. All of them are
 * in lscm.h; nothing else is behind this door.
 */
#ifndef LSCM_RESULT_ASK_ASK_H
#define LSCM_RESULT_ASK_ASK_H

#include "lscm.h"

#endif
