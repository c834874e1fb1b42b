/* Opening and saving data sets: the ending of the path chooses the format from the table of
 * formats.h; besides there are
 *
 *     a folder, or no ending   BIOLS layout
 *     .pngs                    a folder of pictures; read under any name, by what is in it
 *
 * What is not a regular file is refused before anything opens it, since reading a pipe would wait
 * for ever. Output appears under its name only when it is whole.
 */
#include "base/output.h"
#include "data/csv/csv.h"
#include "data/format/formats.h"
#include "data/h5ad/h5ad.h"
#include "data/netcdf/netcdf.h"
#include "data/npy/npy.h"
#include "data/picture/picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

typedef struct file_format {
    const char *ending;
    const char *name;
    format_reader *read;
    format_writer *write;
} file_format;

/* Options that say which column is what are refused where there are no columns to name. */
static lscm_status refuse_columns(const lscm_dataset *data, const lscm_open_options *options,
                                  lscm_error *why)
{
    const char *option = options->target_column != NULL  ? "--target-column"
                         : options->value_column != NULL ? "--value-column"
                         : options->control != NULL      ? "--control"
                                                         : NULL;
    return option == NULL ? LSCM_OK
                          : fail(why, LSCM_USAGE,
                                 "%s: %s is for tables with a column of targets; %s has them in "
                                 "a form of its own (docs/formats.md)",
                                 data->path, option, data->format);
}

/* .. and so is --ignore where nothing but arrays is there. */
static lscm_status refuse_table(const lscm_dataset *data, const lscm_open_options *options,
                                lscm_error *why)
{
    if (options->ignore != NULL) {
        return fail(
            why, LSCM_USAGE,
            "%s: --ignore leaves columns of a table out; %s has arrays, of which nothing can "
            "be left out",
            data->path, data->format);
    }
    return refuse_columns(data, options, why);
}

lscm_status read_netcdf(lscm_dataset *data, const lscm_open_options *options, lscm_error *why)
{
    lscm_status status = refuse_table(data, options, why);
    return status == LSCM_OK ? netcdf_open(data, why) : status;
}

lscm_status read_npz(lscm_dataset *data, const lscm_open_options *options, lscm_error *why)
{
    lscm_status status = refuse_table(data, options, why);
    return status == LSCM_OK ? npz_open(data, why) : status;
}

lscm_status read_h5ad(lscm_dataset *data, const lscm_open_options *options, lscm_error *why)
{
    return h5ad_open(data, options, why);
}

static lscm_status read_folder(lscm_dataset *data, const lscm_open_options *options,
                               lscm_error *why)
{
    lscm_status status = refuse_table(data, options, why);
    return status == LSCM_OK ? folder_open(data, why) : status;
}

static const char PICTURES_NAME[] = "picture folder";

lscm_status read_csv(lscm_dataset *data, const lscm_open_options *options, lscm_error *why)
{
    if (!options->truth_only && pictures_is_list(data->path, options->ignore)) {
        data->format = PICTURES_NAME;
        return pictures_open_list(data, options, why);
    }
    return csv_open(data, options, why);
}

static lscm_status read_pictures(lscm_dataset *data, const lscm_open_options *options,
                                 lscm_error *why)
{
    return pictures_open(data, options, why);
}

lscm_status write_csv(const lscm_dataset *data, const char *to, meter *m, lscm_error *why)
{
    return csv_write(data, to, ',', m, why);
}

lscm_status write_tsv(const lscm_dataset *data, const char *to, meter *m, lscm_error *why)
{
    return csv_write(data, to, '\t', m, why);
}

#define ROW(ending, name, reader, writer) {ending, name, reader, writer},
static const file_format TABLE[] = {FORMATS(ROW)};
#undef ROW
enum { ENDINGS = sizeof TABLE / sizeof TABLE[0], KNOWN_TEXT = 256 };

static const file_format FOLDER = {"", "BIOLS folder", read_folder, folder_write};
static const file_format PICTURES = {".pngs", PICTURES_NAME, read_pictures, pictures_write};

/* ".nc, .npz, .csv": a reader, or else a writer, knows them. */
static const char *known(bool reader, char out[KNOWN_TEXT])
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < ENDINGS && used < KNOWN_TEXT; i++) {
        bool again = i > 0 && strcmp(TABLE[i].name, TABLE[i - 1].name) == 0;
        if (!again && (reader ? TABLE[i].read != not_read : TABLE[i].write != not_written)) {
            used += (size_t)snprintf(out + used, KNOWN_TEXT - used, "%s%s", used > 0 ? ", " : "",
                                     TABLE[i].ending);
        }
    }
    return out;
}

static const char FOLDERS_READ[] = "and a folder in the BIOLS layout or of pictures";
static const char FOLDERS_WRITTEN[] = ".pngs, and none for a BIOLS folder";

lscm_status not_read(lscm_dataset *data, const lscm_open_options *options, lscm_error *why)
{
    char text[KNOWN_TEXT];
    (void)options;
    return fail(why, LSCM_USAGE, "%s: %s can be written but not read; known are %s, %s", data->path,
                data->format, known(true, text), FOLDERS_READ);
}

lscm_status not_written(const lscm_dataset *data, const char *to, meter *m, lscm_error *why)
{
    char text[KNOWN_TEXT];
    (void)data;
    (void)to;
    return fail(why, LSCM_USAGE, "%s: this format can be read but not written; known are %s, %s",
                m->what, known(false, text), FOLDERS_WRITTEN);
}

/* The ending of the last part of a path, "" when it has none; a dot in front only hides it. What is
 * packed has two: ".csv.gz". */
static const char *ending_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    if (dot == NULL || dot == name) {
        return "";
    }
    const char *before = dot;
    while (strcasecmp(dot, ".gz") == 0 && before > name + 1) {
        before--;
        if (*before == '.') {
            return before;
        }
    }
    return dot;
}

/* NULL when unknown. */
static const file_format *format_of(const char *ending)
{
    for (int i = 0; i < ENDINGS; i++) {
        if (strcasecmp(ending, TABLE[i].ending) == 0) {
            return &TABLE[i];
        }
    }
    return NULL;
}

/* Tables of Apache Arrow, for which there is no C library in Debian. */
static bool is_columnar(const char *ending)
{
    static const char *const ENDINGS_OF_ARROW[] = {".parquet", ".pq", ".feather", ".arrow", ".ipc"};
    for (size_t i = 0; i < sizeof ENDINGS_OF_ARROW / sizeof ENDINGS_OF_ARROW[0]; i++) {
        if (strcasecmp(ending, ENDINGS_OF_ARROW[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Looks at the path without opening it. */
static lscm_status choose_reader(const char *path, const file_format **format, lscm_error *why)
{
    char text[KNOWN_TEXT];
    struct stat info;
    const char *ending = ending_of(path);
    *format = format_of(ending);
    if (stat(path, &info) != 0) {
        return errno == ENOENT || errno == ENOTDIR
                   ? fail(why, LSCM_MISSING, "%s: there is no such file", path)
                   : fail(why, LSCM_READ, "%s: cannot be read (%s)", path, strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) {
        *format = pictures_are_in(path) ? &PICTURES : &FOLDER;
        return LSCM_OK;
    }
    if (!S_ISREG(info.st_mode)) {
        return fail(why, LSCM_READ, "%s: this is not a regular file; copy the data to one first",
                    path);
    }
    if (info.st_size == 0) {
        return fail(why, LSCM_FORMAT, "%s: the file is empty", path);
    }
    if (strcasecmp(ending, ".npy") == 0) {
        return fail(why, LSCM_USAGE,
                    "%s: an NPY file holds one array, but a data set needs 'x' and 'targets': give "
                    "an .npz file or the folder that holds the arrays",
                    path);
    }
    if (is_columnar(ending)) {
        return fail(why, LSCM_USAGE,
                    "%s: Parquet and Feather are read by the Python package with pyarrow: "
                    "python3 -c 'import lscm; lscm.open(\"%s\").save(\"data.nc\")' converts it",
                    path, path);
    }
    if (*ending == '\0') {
        return fail(why, LSCM_USAGE, "%s: the name has no ending; known are %s, %s", path,
                    known(true, text), FOLDERS_READ);
    }
    if (*format == NULL) {
        return fail(why, LSCM_USAGE, "%s: the ending '%s' is unknown; known are %s, %s", path,
                    ending, known(true, text), FOLDERS_READ);
    }
    return LSCM_OK;
}

static size_t count_names(const char *text)
{
    size_t count = 1;
    for (; *text != '\0'; text++) {
        count += *text == ',' ? 1 : 0;
    }
    return count;
}

/* "raf, mek,erk": one per node. That they differ and are not empty is checked at the end. */
static lscm_status apply_names(lscm_dataset *data, const char *text, lscm_error *why)
{
    static const char blanks[] = " \t";
    size_t count = count_names(text);
    if (count != data->nodes) {
        return fail(why, LSCM_USAGE, "%s: %zu names are given for %zu nodes; give one for each",
                    data->path, count, data->nodes);
    }
    if (data->node_names == NULL) {
        data->node_names = calloc(count, sizeof *data->node_names);
        if (data->node_names == NULL) {
            return fail_memory(why, count * sizeof *data->node_names);
        }
    }
    for (size_t i = 0; i < count; i++) {
        text += strspn(text, blanks);
        size_t length = strcspn(text, ",");
        size_t end = length;
        while (end > 0 && strchr(blanks, text[end - 1]) != NULL) {
            end--;
        }
        free(data->node_names[i]);
        data->node_names[i] = strndup(text, end);
        if (data->node_names[i] == NULL) {
            return fail_memory(why, end);
        }
        text += length + (text[length] == ',' ? 1 : 0);
    }
    return LSCM_OK;
}

lscm_status lscm_dataset_open(lscm_dataset **out, const char *path,
                              const lscm_open_options *options, lscm_error *why)
{
    static const lscm_open_options defaults = {0};
    lscm_status status = LSCM_OK;
    const file_format *format = NULL;
    lscm_dataset *data = NULL;
    *out = NULL;
    options = options != NULL ? options : &defaults;
    TRY(choose_reader(path, &format, why));
    TRY(dataset_new(&data, path, format->name, why));
    TRY(format->read(data, options, why));
    dataset_settle(data);
    if (options->names != NULL && data->nodes > 0) {
        TRY(apply_names(data, options->names, why));
    }
    if (options->truth != NULL) {
        TRY(csv_read_graph(data, options->truth, why));
    }
    TRY(options->x_only ? dataset_check_x(data, why)
                        : dataset_check_shapes(data, options->truth_only, why));
    *out = data;
    data = NULL;
done:
    lscm_dataset_free(data);
    return status;
}

/* "shots.pngs" or "shots.pngs/" */
static bool names_pictures(const char *path)
{
    size_t width = strlen(PICTURES.ending);
    size_t length = strlen(path);
    while (length > 0 && path[length - 1] == '/') {
        length--;
    }
    return length > width && path[length - width - 1] != '/' &&
           strncasecmp(path + length - width, PICTURES.ending, width) == 0;
}

static lscm_status choose_writer(const char *path, const file_format **format, lscm_error *why)
{
    const char *ending = ending_of(path);
    *format = names_pictures(path) ? &PICTURES : *ending == '\0' ? &FOLDER : format_of(ending);
    if (*path == '\0') {
        return fail(why, LSCM_USAGE, "the name of the output is empty");
    }
    if (*format == NULL) {
        char text[KNOWN_TEXT];
        return fail(why, LSCM_USAGE, "%s: the ending '%s' is unknown; known are %s, %s", path,
                    ending, known(false, text), FOLDERS_WRITTEN);
    }
    return LSCM_OK;
}

lscm_status lscm_dataset_save(const lscm_dataset *data, const char *path, bool force,
                              const lscm_progress *progress, lscm_error *why)
{
    static const char writing[] = "writing ";
    lscm_status status = LSCM_OK;
    const file_format *format = NULL;
    output out = {0};
    size_t size = sizeof writing + strlen(path);
    char *what = malloc(size);
    if (what == NULL) {
        status = fail_memory(why, size);
        goto done;
    }
    (void)snprintf(what, size, "%s%s", writing, path);
    meter m = meter_over(data, progress, what);
    TRY(choose_writer(path, &format, why));
    TRY(output_begin(&out, path, format == &FOLDER || format == &PICTURES, force, why));
    TRY(format->write(data, out.temporary, &m, why));
    TRY(output_commit(&out, why));
done:
    output_end(&out);
    free(what);
    return status;
}
