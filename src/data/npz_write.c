/* Writes a data set as an NPZ file: its fields under their names, and names, features and recipe as
 * texts. */
#include "data/formats.h"
#include "data/npz_writer.h"

static lscm_status add_all(npz_writer *writer, const lscm_dataset *data, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char *const recipe[1] = {data->recipe};
    for (int field = 0; field < LSCM_FIELDS; field++) {
        if (data->shape[field].present) {
            TRY(npz_writer_add(writer, FIELD_NAMES[field],
                               npy_stream_of_field(data, (lscm_field)field, m), why));
        }
    }
    TRY(npz_writer_add_texts(writer, "names", data->node_names, 1, data->nodes, why));
    TRY(npz_writer_add_texts(writer, "features", data->feature_names, 1,
                             lscm_dataset_features(data), why));
    TRY(npz_writer_add_texts(writer, "recipe", data->recipe != NULL ? recipe : NULL, 0, 1, why));
done:
    return status;
}

lscm_status npz_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    npz_writer *writer = NULL;
    TRY(npz_writer_open(&writer, to, m->what, why));
    TRY(add_all(writer, data, m, why));
    TRY(npz_writer_finish(writer, why));
done:
    npz_writer_close(writer);
    return status;
}
