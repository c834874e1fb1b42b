/* Pictures of things that move: networks that read z off them, taught by the values that do() sets
 * and by drawing all pictures again, and what their disagreement says of the errors of z.
 */
#ifndef LSCM_INFER_SIGHT_SIGHT_H
#define LSCM_INFER_SIGHT_SIGHT_H

#include "infer/sight/pictures.h"      /* pictures as networks see them */
#include "infer/sight/sight_net.h"     /* one network, and its steps */
#include "infer/sight/sight_reader.h"  /* several, and z with its sd */
#include "infer/sight/sight_stretch.h" /* readings beyond the labels */

#endif
