/* NumPy's formats: NPY arrays in any order and endianness, NPZ archives, and folders in the public
 * BIOLS layout.
 */
#ifndef LSCM_DATA_NPY_NPY_H
#define LSCM_DATA_NPY_NPY_H

#include "data/dataset/dataset.h"

#include "data/npy/byte_source.h" /* bytes of a file or an archive */
#include "data/npy/npy_array.h"   /* an array */
#include "data/npy/npz.h"         /* an archive, read */
#include "data/npy/npz_writer.h"  /* an archive, written */
#include "data/npy/permutation.h" /* orders as matrices */

lscm_status npz_open(lscm_dataset *data, lscm_error *why);
lscm_status npz_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why);
lscm_status folder_open(lscm_dataset *data, lscm_error *why);
lscm_status folder_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why);

#endif
