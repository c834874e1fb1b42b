/* Writes a data set as an NPZ file: its fields under their names, and names, features and recipe as
 * texts. Where the rows are draws of one law, also x_mean, x_lower, x_upper (5% and 95%), of the
 * shape of one x, and z_mean, z_lower, z_upper (d). */
#include "base/arena.h"
#include "data/npy/npy.h"
#include "data/npy/npz_writer.h"
#include "data/statistics/statistics.h"

enum { BANDS = 3 };

/* Of one field; `memory` keeps the numbers until the file is written. */
static lscm_status add_bands(npz_writer *writer, const lscm_dataset *data, lscm_field field,
                             arena *memory, meter *m, lscm_error *why)
{
    static const char *const names[LSCM_FIELDS][BANDS] = {
        [LSCM_X] = {"x_mean", "x_lower", "x_upper"}, [LSCM_Z] = {"z_mean", "z_lower", "z_upper"}};
    lscm_status status = LSCM_OK;
    const array_shape *rows = &data->shape[field];
    array_shape one = {true, DTYPE_FLOAT64, rows->ndim - 1, {0}};
    for (int i = 0; i < one.ndim; i++) {
        one.dims[i] = rows->dims[i + 1];
    }
    size_t columns = shape_count(&one);
    (void)arena_take(memory, columns, BANDS * sizeof(double));
    TRY(arena_open(memory, why));
    double *numbers = arena_take(memory, columns, BANDS * sizeof(double));
    const lscm_bands bands = {
        .mean = numbers, .lower = numbers + columns, .upper = numbers + 2 * columns};
    TRY(bands_of(data, field, &bands, m, why));
    for (size_t k = 0; k < BANDS; k++) {
        TRY(npz_writer_add(writer, names[field][k],
                           npy_stream_of_memory(npy_header_of(&one), numbers + k * columns), why));
    }
done:
    return status;
}

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
    arena bands[2] = {{0}, {0}};
    TRY(npz_writer_open(&writer, to, m->what, why));
    TRY(add_all(writer, data, m, why));
    if (data->banded) {
        TRY(add_bands(writer, data, LSCM_X, &bands[0], m, why));
        TRY(add_bands(writer, data, LSCM_Z, &bands[1], m, why));
    }
    TRY(npz_writer_finish(writer, why));
done:
    npz_writer_close(writer);
    arena_close(&bands[0]);
    arena_close(&bands[1]);
    return status;
}
