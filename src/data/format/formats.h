/* The table of file formats. A row has an ending, the format's name, its reader and its writer, or
 * not_read, not_written; another ending of a format follows it with the same name.
 *
 * What a row names is declared here. A format that is one file stands beside this one and includes
 * it; one that takes more has a room of its own, which open.c opens.
 */
#ifndef LSCM_DATA_FORMAT_FORMATS_H
#define LSCM_DATA_FORMAT_FORMATS_H

#include "data/dataset/dataset.h"
#include "data/text/text.h" /* numbers, names and records, for formats of text */

/* Fills a data set made by dataset_new: shapes, whole fields, names, recipe, a row source that owns
 * the open file. */
typedef lscm_status format_reader(lscm_dataset *data, const lscm_open_options *options,
                                  lscm_error *why);
/* Writes a whole data set to `to`, a temporary name that lscm_dataset_save renames afterwards;
 * m->what says which file the user means. */
typedef lscm_status format_writer(const lscm_dataset *data, const char *to, meter *m,
                                  lscm_error *why);

#define FORMATS(X)                                                                                 \
    X(".nc", "netCDF-4", read_netcdf, netcdf_write)                                                \
    X(".nc4", "netCDF-4", read_netcdf, netcdf_write)                                               \
    X(".npz", "NPZ", read_npz, npz_write)                                                          \
    X(".csv", "CSV", read_csv, write_csv)                                                          \
    X(".csv.gz", "CSV", read_csv, not_written)                                                     \
    X(".tsv", "TSV", read_csv, write_tsv)                                                          \
    X(".tsv.gz", "TSV", read_csv, not_written)                                                     \
    X(".h5ad", "AnnData", read_h5ad, not_written)                                                  \
    X(".png", "PNG", not_read, png_write)

#define FORMAT_DECLARED(ending, name, reader, writer)                                              \
    format_reader reader;                                                                          \
    format_writer writer;
FORMATS(FORMAT_DECLARED)
#undef FORMAT_DECLARED

/* Where there is no reader or no writer: they say so. */
format_reader not_read;
format_writer not_written;

#endif
