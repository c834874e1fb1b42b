/* Causal variables of new rows, z and sd (rows, d), by the ending of the name:
 *
 *   .npz  z, z_sd (rows, d)  names (d)
 *   .nc   z(sample, node)  z_sd(sample, node)  node(node)
 *   .csv  a row per row: raf, mek, .. or z0, z1, ..; then raf_sd, mek_sd, .. or z0_sd, ..
 */
#include "base/output.h"
#include "data/netcdf/netcdf.h"
#include "data/npy/npy.h"
#include "data/text/text.h"
#include "scm/posterior/posterior.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct latents {
    const lscm_posterior *p;
    size_t rows;
    const double *z, *sd;
    const char *what; /* opens every sentence */
} latents;

static lscm_status write_npz(const latents *l, const char *to, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    npz_writer *writer = NULL;
    const array_shape shape = {true, DTYPE_FLOAT64, 2, {l->rows, l->p->d}};
    const npy_header header = npy_header_of(&shape);
    TRY(npz_writer_open(&writer, to, l->what, why));
    TRY(npz_writer_add(writer, "z", npy_stream_of_memory(header, l->z), why));
    TRY(npz_writer_add(writer, "z_sd", npy_stream_of_memory(header, l->sd), why));
    TRY(npz_writer_add_texts(writer, "names", l->p->node_names, 1, l->p->d, why));
    TRY(npz_writer_finish(writer, why));
done:
    npz_writer_close(writer);
    return status;
}

static lscm_status write_netcdf(const latents *l, const char *to, lscm_error *why)
{
    const netcdf_axis sample = {"sample", l->rows};
    const netcdf_axis node = {"node", l->p->d};
    const int32_t version = NETCDF_FORMAT_VERSION;
    const netcdf_array arrays[] = {
        {.group = "",
         .name = "z",
         .ndim = 2,
         .axes = {sample, node},
         .type = DTYPE_FLOAT64,
         .raw = l->z,
         .long_name = "causal variables"},
        {.group = "",
         .name = "z_sd",
         .ndim = 2,
         .axes = {sample, node},
         .type = DTYPE_FLOAT64,
         .raw = l->sd,
         .long_name = "causal variables: standard deviation"},
        {.group = "", .name = "node", .ndim = 1, .axes = {node}, .texts = l->p->node_names},
    };
    const netcdf_attribute attributes[] = {
        {.group = "", .name = "title", .text = "lscm causal variables"},
        {.group = "", .name = "lscm_version", .text = lscm_version()},
        {.group = "",
         .name = "format_version",
         .type = DTYPE_INT32,
         .count = 1,
         .numbers = &version},
    };
    const netcdf_content content = {arrays, l->p->node_names != NULL ? 3 : 2, attributes, 3};
    return netcdf_arrays_write(&content, to, l->what, why);
}

/* The header: `end` behind each name. */
static lscm_status put_names(FILE *file, const latents *l, const char *end, lscm_error *why)
{
    for (size_t j = 0; j < l->p->d; j++) {
        const char *name = lscm_posterior_node_name(l->p, j);
        size_t size = (name != NULL ? strlen(name) : NUMBER_TEXT) + strlen(end) + 1;
        char *cell = malloc(size);
        if (cell == NULL) {
            return fail_memory(why, size);
        }
        if (name != NULL) {
            (void)snprintf(cell, size, "%s%s", name, end);
        } else {
            (void)snprintf(cell, size, "z%zu%s", j, end);
        }
        (void)fputs(j > 0 || *end != '\0' ? "," : "", file);
        csv_put_cell(file, cell);
        free(cell);
    }
    return LSCM_OK;
}

static void put_numbers(FILE *file, size_t n, const double *numbers, bool first)
{
    char text[NUMBER_TEXT];
    for (size_t j = 0; j < n; j++) {
        (void)number_text(numbers[j], text);
        (void)fprintf(file, "%s%s", first && j == 0 ? "" : ",", text);
    }
}

static lscm_status write_csv(const latents *l, const char *to, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = l->p->d;
    FILE *file = fopen(to, "wb");
    if (file == NULL) {
        return fail(why, LSCM_WRITE, "%s: %s", l->what, strerror(errno));
    }
    TRY(put_names(file, l, "", why));
    TRY(put_names(file, l, "_sd", why));
    (void)putc('\n', file);
    for (size_t k = 0; k < l->rows && ferror(file) == 0; k++) {
        put_numbers(file, d, l->z + k * d, true);
        put_numbers(file, d, l->sd + k * d, false);
        (void)putc('\n', file);
    }
done:
    if ((ferror(file) != 0 || fflush(file) != 0) && status == LSCM_OK) {
        status = fail(why, LSCM_WRITE, "%s: %s", l->what, strerror(errno));
    }
    (void)fclose(file);
    return status;
}

lscm_status lscm_posterior_save_latents(const lscm_posterior *posterior, size_t rows,
                                        const double *z, const double *sd, const char *path,
                                        bool force, lscm_error *why)
{
    enum { FORMATS = 4 };
    static const struct {
        const char *ending;
        lscm_status (*write)(const latents *l, const char *to, lscm_error *why);
    } formats[FORMATS] = {
        {".npz", write_npz}, {".nc", write_netcdf}, {".nc4", write_netcdf}, {".csv", write_csv}};
    lscm_status status = LSCM_OK;
    output out = {0};
    char *what = NULL;
    const char *ending = strrchr(path, '.');
    size_t format = 0;
    while (format < FORMATS &&
           (ending == NULL || strcasecmp(ending, formats[format].ending) != 0)) {
        format++;
    }
    if (format == FORMATS || rows == 0) {
        return fail(why, LSCM_USAGE, "%s: causal variables go to .npz, .nc or .csv", path);
    }
    size_t size = strlen(path) + sizeof "writing ";
    what = malloc(size);
    if (what == NULL) {
        return fail_memory(why, size);
    }
    (void)snprintf(what, size, "writing %s", path);
    const latents l = {posterior, rows, z, sd, what};
    TRY(output_begin(&out, path, false, force, why));
    TRY(formats[format].write(&l, out.temporary, why));
    TRY(output_commit(&out, why));
done:
    output_end(&out);
    free(what);
    return status;
}
