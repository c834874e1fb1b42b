/* Graphs as files for others: DOT, GraphML and JSON.
 */
#ifndef LSCM_DATA_DRAWING_DRAWING_H
#define LSCM_DATA_DRAWING_DRAWING_H

#include "data/dataset/dataset.h"

#include "data/drawing/dot.h"        /* DOT */
#include "data/drawing/graph_file.h" /* GraphML and JSON */

lscm_status dot_write(const lscm_dataset *data, const char *to, lscm_error *why);

#endif
