/* The file formats, all alike: a reader fills a data set made by dataset_new (shapes, whole fields,
 * names, recipe, a row source that owns the open file); a writer writes a whole data set to `to`, a
 * temporary name that lscm_dataset_save renames afterwards (`m.what` says which file the user
 * means).
 */
#ifndef LSCM_DATA_FORMATS_H
#define LSCM_DATA_FORMATS_H

#include "data/blocks.h"

lscm_status netcdf_open(lscm_dataset *data, lscm_error *why);
lscm_status npz_open(lscm_dataset *data, lscm_error *why);
lscm_status folder_open(lscm_dataset *data, lscm_error *why);
/* A folder of PNG pictures and their list, interventions.csv, or a CSV that is such a list; both
 * leave the columns out that `options` says. */
lscm_status pictures_open(lscm_dataset *data, const lscm_open_options *options, lscm_error *why);
lscm_status pictures_open_list(lscm_dataset *data, const lscm_open_options *options,
                               lscm_error *why);
/* A folder with pictures or with their list, and not of the BIOLS layout? */
bool pictures_are_in(const char *folder);
/* truth_only: the CSV is the matrix of a graph and fills w (and the names) only. */
lscm_status csv_open(lscm_dataset *data, const lscm_open_options *options, lscm_error *why);
/* Reads a graph from a CSV matrix into w of a data set whose nodes are known (or not yet: 0). */
lscm_status csv_read_graph(lscm_dataset *data, const char *path, lscm_error *why);

lscm_status netcdf_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why);
lscm_status npz_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why);
lscm_status folder_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why);
lscm_status pictures_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why);
/* x and the target column only. */
lscm_status csv_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why);
/* A grid of up to 64 pictures spread evenly over the rows. */
lscm_status png_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why);
lscm_status dot_write(const lscm_dataset *data, const char *to, lscm_error *why);

#endif
