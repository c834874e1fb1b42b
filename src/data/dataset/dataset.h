/* What a data set is: shapes, small arrays kept whole, and a source of rows that may be a file,
 * memory or the simulator; passes over the rows in checked blocks, on one process or several.
 *
 * Promise: memory does not grow with N, and what was read was checked.
 */
#ifndef LSCM_DATA_DATASET_DATASET_H
#define LSCM_DATA_DATASET_DATASET_H

#include "data/dataset/blocks.h"         /* rows in blocks, with progress */
#include "data/dataset/dataset_handle.h" /* the handle and its row source */
#include "data/dataset/dtype.h"          /* element types */
#include "data/dataset/in_units.h"       /* x in units of its columns */
#include "data/dataset/split.h"          /* passes that processes share */

#endif
