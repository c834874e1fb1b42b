/* AnnData (.h5ad): cells x genes, with a column of obs that says what was done to each cell.
 *
 * Where the targets are genes of var, the genes are observed variables and the values of do() stand
 * in x. Where a column of values is given, the targets are latent variables of which the genes are
 * features. HDF5's headers are in the files h5ad_file*.c alone.
 */
#ifndef LSCM_DATA_H5AD_H5AD_H
#define LSCM_DATA_H5AD_H5AD_H

#include "data/dataset/dataset.h"

lscm_status h5ad_open(lscm_dataset *data, const lscm_open_options *options, lscm_error *why);

#endif
