/* The file formats, all alike, as a table (open.c): a reader fills a data set made by dataset_new
 * (shapes, whole fields, names, recipe, a row source that owns the open file); a writer writes a
 * whole data set to `to`, a temporary name that lscm_dataset_save renames afterwards (`m.what`
 * says which file the user means).
 *
 * What lscm.h declares is all that is behind this door.
 */
#ifndef LSCM_DATA_FORMAT_FORMAT_H
#define LSCM_DATA_FORMAT_FORMAT_H

#include "lscm.h"

#endif
