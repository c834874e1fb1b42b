/* Tables of text: data, be its variables observed or latent, and graphs.
 */
#ifndef LSCM_DATA_CSV_CSV_H
#define LSCM_DATA_CSV_CSV_H

#include "data/dataset/dataset.h"

#include "data/csv/csv_columns.h" /* what the header says */
#include "data/csv/csv_do.h"      /* what do() did in a record */
#include "data/csv/csv_note.h"    /* what was understood */

/* truth_only: the CSV is the matrix of a graph and fills w (and the names) only. */
lscm_status csv_open(lscm_dataset *data, const lscm_open_options *options, lscm_error *why);
/* Reads a graph from a CSV matrix into w of a data set whose nodes are known (or not yet: 0). */
lscm_status csv_read_graph(lscm_dataset *data, const char *path, lscm_error *why);
/* x, and what do() did and set; z, but no other truth. Cells are separated by a comma or a tab. */
lscm_status csv_write(const lscm_dataset *data, const char *to, char separator, meter *m,
                      lscm_error *why);

#endif
