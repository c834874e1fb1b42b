/* A data set in an NPZ file: x, targets, values, z, w, sigma, order; names (of nodes) and features
 * (their names) as str arrays; recipe, a str without dimensions. Other keys are left alone.
 */
#include "data/npy/npy.h"
#include "data/npy/npy_dataset.h"
#include "data/npy/npz.h"

#include <string.h>

lscm_status npz_open(lscm_dataset *data, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    npz_file *file = NULL;
    npy_names names = {.nodes = "names", .features = "features", .recipe = "recipe"};
    memcpy(names.field, FIELD_NAMES, sizeof names.field);
    TRY(npz_file_open(&file, data->path, why));
    TRY(npy_dataset_fill(data, npz_file_store(file), &names, why));
done:
    return status;
}
