/* What reading and writing a BIOLS folder share. */
#ifndef LSCM_DATA_NPY_FOLDER_H
#define LSCM_DATA_NPY_FOLDER_H

#include "data/npy/npy_dataset.h"

/* File names without .npy; the order is perm.npy, a matrix. */
extern const npy_names FOLDER_NAMES;

/* A file being written into the folder. */
typedef struct folder_file {
    int fd;
    const char *what; /* opens the sentence: "writing data.nc" */
} folder_file;

lscm_status folder_file_open(folder_file *file, const char *folder, const char *name,
                             const char *what, lscm_error *why);
lscm_status folder_file_write(const folder_file *file, const void *from, size_t bytes,
                              lscm_error *why);
/* The last errors show here; safe on one that was never opened ({-1}) or is closed. */
lscm_status folder_file_close(folder_file *file, lscm_error *why);

/* interv_nodes.npy, interv_noise.npy and edge_weights.npy: see folder_derive.c. */
lscm_status folder_derive(const lscm_dataset *data, const char *to, meter *m, lscm_error *why);

#endif
