/* Observed variables and graphs as CSV.
 */
#ifndef LSCM_DATA_CSV_CSV_H
#define LSCM_DATA_CSV_CSV_H

#include "data/dataset/dataset.h"

#include "data/csv/csv_columns.h" /* what the header says */

/* truth_only: the CSV is the matrix of a graph and fills w (and the names) only. */
lscm_status csv_open(lscm_dataset *data, const lscm_open_options *options, lscm_error *why);
/* Reads a graph from a CSV matrix into w of a data set whose nodes are known (or not yet: 0). */
lscm_status csv_read_graph(lscm_dataset *data, const char *path, lscm_error *why);
/* x and the target column only. */
lscm_status csv_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why);

#endif
