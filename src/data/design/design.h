/* Who was set by do(), to what: rows grouped by their intervention set, and what is held out of
 * them.
 */
#ifndef LSCM_DATA_DESIGN_DESIGN_H
#define LSCM_DATA_DESIGN_DESIGN_H

#include "data/design/design_sets.h" /* who was set, to what, by set */
#include "data/design/hold_out.h"    /* what is not shown, to judge by */
#include "data/design/mask_list.h"   /* distinct sets as they are met, where rows are not kept */
#include "data/design/spread.h"      /* mean and spread of columns, free or set */

#endif
