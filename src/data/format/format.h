/* Opening and saving data sets in any format: the table of formats (formats.h), of which the ending
 * of a name chooses one.
 *
 * What lscm.h declares is all that is behind this door.
 */
#ifndef LSCM_DATA_FORMAT_FORMAT_H
#define LSCM_DATA_FORMAT_FORMAT_H

#include "lscm.h"

#endif
