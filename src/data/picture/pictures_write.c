/* A folder of pictures from a data set: see pictures.h. Rows become 0000.png, 0001.png, ...;
 * numbers in [0, 1] are rounded to the nearest of k/65535, whole numbers of 8 and 16 bits are kept.
 * Pictures of a decoder are black and white where they are a little beyond.
 */
#include "data/npy/npy.h"
#include "data/picture/picture.h"
#include "data/picture/pictures.h"
#include "data/picture/png_picture.h"
#include "data/text/text.h"

#include <errno.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MOST = 4200, LEAST_DIGITS = 4 };

typedef struct pictures_out {
    const lscm_dataset *data;
    const char *to;
    meter *m;
    int digits; /* of the names of files */
    png_size size;
} pictures_out;

static lscm_status begin(pictures_out *out, const lscm_dataset *data, const char *to, meter *m,
                         lscm_error *why)
{
    const array_shape *x = &data->shape[LSCM_X];
    *out = (pictures_out){.data = data, .to = to, .m = m, .digits = LEAST_DIGITS};
    if (!x->present || x->ndim < 3 || (x->ndim == 4 && x->dims[3] != 1 && x->dims[3] != 3)) {
        return fail(why, LSCM_SHAPE,
                    "%s: x of %s holds no pictures, grey or in colour; it must be N x H x W or "
                    "N x H x W x 3",
                    m->what, data->path);
    }
    for (int field = LSCM_TARGETS; field <= LSCM_VALUES; field++) {
        if (!data->shape[field].present) {
            return fail(why, LSCM_MISSING, "%s: %s has no '%s', which %s holds", m->what,
                        data->path, FIELD_NAMES[field], PICTURES_LIST);
        }
    }
    for (size_t rows = data->rows - 1; rows >= 10000; rows /= 10) {
        out->digits++;
    }
    out->size = (png_size){x->dims[1], x->dims[2], x->ndim == 4 ? x->dims[3] : 1};
    return LSCM_OK;
}

static lscm_status path_in(const pictures_out *out, const char *name, char path[PATH_MOST],
                           lscm_error *why)
{
    int length = snprintf(path, PATH_MOST, "%s/%s", out->to, name);
    return length > 0 && length < PATH_MOST
               ? LSCM_OK
               : fail(why, LSCM_WRITE, "%s: the path is too long", out->m->what);
}

static void name_of(const pictures_out *out, size_t row, char name[32])
{
    (void)snprintf(name, 32, "%0*zu.png", out->digits, row);
}

/* ---- interventions.csv */

/* `file` and the nodes, by name or by number; names that could not be read again are refused. */
static lscm_status write_header(const pictures_out *out, FILE *file, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    csv_names table = {0};
    char *const *names = out->data->node_names;
    static const char *const taken[] = {"file", "target"};
    if (names != NULL) {
        TRY(csv_names_open(&table, names, out->data->nodes, out->m->what, why));
    }
    for (size_t i = 0; names != NULL && i < sizeof taken / sizeof taken[0]; i++) {
        if (csv_names_find(&table, taken[i]) < out->data->nodes) {
            TRY(fail(why, LSCM_VALUE,
                     "%s: a node is named '%s', which means something else in %s; rename it with "
                     "--names",
                     out->m->what, taken[i], PICTURES_LIST));
        }
    }
    (void)fputs("file", file);
    for (size_t i = 0; i < out->data->nodes; i++) {
        (void)putc(',', file);
        if (names != NULL) {
            csv_put_cell(file, names[i]);
        } else {
            (void)fprintf(file, "%zu", i);
        }
    }
    (void)putc('\n', file);
done:
    csv_names_close(&table);
    return status;
}

/* Rows of `walk`, a block of targets; values (rows, nodes) are what do() set. */
static void write_lines(const pictures_out *out, const row_blocks *walk, const double *targets,
                        const double *values, FILE *file)
{
    size_t d = out->data->nodes;
    char text[NUMBER_TEXT];
    for (size_t row = 0; row < walk->count; row++) {
        name_of(out, walk->first + row, text);
        (void)fputs(text, file);
        for (size_t i = row * d; i < (row + 1) * d; i++) {
            (void)putc(',', file);
            if (targets[i] != 0) {
                (void)fwrite(text, 1, number_text(values[i], text), file);
            }
        }
        (void)putc('\n', file);
    }
}

static lscm_status write_list(const pictures_out *out, FILE *file, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const lscm_dataset *data = out->data;
    size_t row_bytes = shape_row_bytes(&data->shape[LSCM_VALUES]);
    double *numbers = NULL; /* (2, block, d): targets, values */
    void *raw = NULL;       /* (block, d): values as stored */
    row_blocks walk = {0};
    TRY(write_header(out, file, why));
    TRY(blocks_begin(&walk, data, LSCM_TARGETS, out->m, why));
    size_t most = walk.block_rows * data->nodes;
    numbers = calloc(most + 1, 2 * sizeof *numbers);
    raw = malloc(walk.block_rows * row_bytes);
    if (numbers == NULL || raw == NULL) {
        status = fail_memory(why, 2 * most * sizeof *numbers);
        goto done;
    }
    for (;;) {
        TRY(blocks_next(&walk, why));
        if (walk.count == 0) {
            break;
        }
        size_t count = walk.count * data->nodes;
        dtype_to_double(data->shape[LSCM_TARGETS].type, walk.raw, count, numbers);
        TRY(dataset_read_raw(data, LSCM_VALUES, walk.first, walk.count, raw, why));
        TRY(dataset_check_rows(data, LSCM_VALUES, walk.first, walk.count, raw, false, why));
        dtype_to_double(data->shape[LSCM_VALUES].type, raw, count, numbers + most);
        write_lines(out, &walk, numbers, numbers + most, file);
        TRY(meter_add(out->m, walk.count * row_bytes, why));
    }
done:
    blocks_end(&walk);
    free(numbers);
    free(raw);
    return status;
}

/* ---- Pictures */

/* A row of x to samples of 16 bits; the index of a number further outside [0, 1] than `beyond`, or
 * `count`. */
static size_t to_samples(dtype type, double beyond, const void *raw, size_t count,
                         uint16_t *samples)
{
    enum { PIECE = 256 };
    double numbers[PIECE];
    if (type == DTYPE_UINT16) {
        memcpy(samples, raw, count * sizeof *samples);
        return count;
    }
    double white = type == DTYPE_UINT8 ? 255 : 1;
    for (size_t first = 0; first < count; first += PIECE) {
        size_t n = count - first < PIECE ? count - first : PIECE;
        dtype_to_double(type, (const char *)raw + first * dtype_size(type), n, numbers);
        for (size_t i = 0; i < n; i++) {
            if (!(numbers[i] >= -beyond && numbers[i] <= white + beyond)) {
                return first + i;
            }
            double light = fmin(fmax(numbers[i], 0), white);
            samples[first + i] = (uint16_t)(light * (65535 / white) + 0.5);
        }
    }
    return count;
}

/* Row `row` of the data, which stands at raw. */
static lscm_status write_picture(const pictures_out *out, size_t row, const void *raw,
                                 uint16_t *samples, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char name[32];
    char path[PATH_MOST];
    dtype type = out->data->shape[LSCM_X].type;
    size_t count = out->size.height * out->size.width * out->size.channels;
    double beyond = out->data->decoded ? DECODED_BEYOND : 0;
    size_t bad = to_samples(type, beyond, raw, count, samples);
    if (bad < count) {
        double number = 0;
        dtype_to_double(type, (const char *)raw + bad * dtype_size(type), 1, &number);
        TRY(fail(why, LSCM_VALUE,
                 "%s: x is %g in row %zu, but a picture holds numbers from 0 (black) to 1 (white); "
                 "scale x, or write .nc or .npz",
                 out->m->what, number, row));
    }
    name_of(out, row, name);
    TRY(path_in(out, name, path, why));
    TRY(png_picture_write(path, out->m->what, out->size, samples, why));
done:
    return status;
}

/* Threads only find the first row that fails; doing it again gives its sentence. */
static lscm_status write_block(const pictures_out *out, const row_blocks *walk, uint16_t *samples,
                               int threads, lscm_error *why)
{
    size_t numbers = out->size.height * out->size.width * out->size.channels;
    size_t bytes = shape_row_bytes(&out->data->shape[LSCM_X]);
    const char *raw = walk->raw;
    ptrdiff_t bad = (ptrdiff_t)walk->count;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4) reduction(min : bad)
    for (ptrdiff_t i = 0; i < (ptrdiff_t)walk->count; i++) {
        uint16_t *mine = samples + (size_t)omp_get_thread_num() * numbers;
        size_t row = (size_t)i;
        if (i < bad &&
            write_picture(out, walk->first + row, raw + row * bytes, mine, NULL) != LSCM_OK) {
            bad = i;
        }
    }
    if (bad < (ptrdiff_t)walk->count) {
        size_t row = (size_t)bad;
        return write_picture(out, walk->first + row, raw + row * bytes, samples, why);
    }
    return LSCM_OK;
}

static lscm_status write_pictures(const pictures_out *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    int threads = omp_get_max_threads();
    size_t numbers = out->size.height * out->size.width * out->size.channels;
    uint16_t *samples = malloc((size_t)threads * numbers * sizeof *samples);
    row_blocks walk = {0};
    if (samples == NULL) {
        return fail_memory(why, (size_t)threads * numbers * sizeof *samples);
    }
    TRY(blocks_begin(&walk, out->data, LSCM_X, out->m, why));
    for (;;) {
        TRY(blocks_next(&walk, why));
        if (walk.count == 0) {
            break;
        }
        TRY(write_block(out, &walk, samples, threads, why));
    }
done:
    blocks_end(&walk);
    free(samples);
    return status;
}

/* What the pictures and the list do not hold. */
static lscm_status write_truth(const pictures_out *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char path[PATH_MOST];
    lscm_dataset truth = *out->data;
    bool known = truth.recipe != NULL;
    for (int field = LSCM_Z; field < LSCM_FIELDS; field++) {
        known = known || truth.shape[field].present;
    }
    for (int field = LSCM_X; field <= LSCM_VALUES; field++) {
        truth.shape[field].present = false;
    }
    truth.node_names = NULL;
    truth.feature_names = NULL;
    truth.banded = false;
    if (known) {
        TRY(path_in(out, PICTURES_TRUTH, path, why));
        TRY(npz_write(&truth, path, out->m, why));
    }
done:
    return status;
}

lscm_status pictures_write(const lscm_dataset *data, const char *to, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    pictures_out out;
    char path[PATH_MOST];
    FILE *file = NULL;
    TRY(begin(&out, data, to, m, why));
    TRY(path_in(&out, PICTURES_LIST, path, why));
    file = fopen(path, "wb");
    if (file == NULL) {
        TRY(fail(why, LSCM_WRITE, "%s: %s", m->what, strerror(errno)));
    }
    TRY(write_list(&out, file, why));
    TRY(write_pictures(&out, why));
    TRY(write_truth(&out, why));
done:
    if (file != NULL) {
        bool failed = ferror(file) != 0;
        failed = fclose(file) != 0 || failed;
        if (failed && status == LSCM_OK) {
            status = fail(why, LSCM_WRITE, "%s: %s", m->what, strerror(errno));
        }
    }
    return status;
}
