/* Who was set by do(): rows grouped by their intervention set, and the values that an encoder is
 * not shown.
 */
#ifndef LSCM_DATA_DESIGN_DESIGN_H
#define LSCM_DATA_DESIGN_DESIGN_H

#include "data/design/hold_out.h"  /* values held out */
#include "data/design/mask_list.h" /* distinct sets as they are met */
#include "data/design/mask_rows.h" /* rows by set */

#endif
