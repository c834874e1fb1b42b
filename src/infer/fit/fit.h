/* A fit, whole: the settings are checked, the order and background knowledge are read, and a table
 * of methods says who does the work.
 *
 * lscm_fit is declared in lscm.h; there is nothing else behind this door.
 */
#ifndef LSCM_INFER_FIT_FIT_H
#define LSCM_INFER_FIT_FIT_H

#include "lscm.h"

#endif
