/* What csv_do.c is made of: shared by its parts alone. */
#ifndef LSCM_DATA_CSV_CSV_DO_PARTS_H
#define LSCM_DATA_CSV_CSV_DO_PARTS_H

#include "data/csv/csv_do.h"

/* Does a cell of targets say that nothing was set? */
bool csv_do_none(const csv_do *did, const csv_lines *in, const char *cell);
/* Targets and values of latent nodes; `learn` is NULL, or where nodes are added. */
lscm_status csv_do_pairs(const csv_do *did, csv_nodes *learn, csv_lines *in, uint8_t *targets,
                         double *values, lscm_error *why);

#endif
