/* Who was set by do(), to what: rows grouped by their intervention set, and what is held out of
 * them.
 */
#ifndef LSCM_DATA_DESIGN_DESIGN_H
#define LSCM_DATA_DESIGN_DESIGN_H

#include "data/design/design_sets.h" /* who was set, to what, by set */
#include "data/design/hold_out.h"    /* values held out */
#include "data/design/latent_rows.h" /* numbers of every node in them */
#include "data/design/mask_list.h"   /* distinct sets as they are met */
#include "data/design/mask_rows.h"   /* rows by set */

#endif
