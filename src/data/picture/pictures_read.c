/* Pictures as a data set: see pictures.h.
 *
 * Opening looks at the header of every picture, so that what is missing, no picture or of another
 * size is said at once; pictures are decoded when their rows are asked for, side by side. Memory:
 * the list, and 8 bytes per pixel for each thread.
 */
#include "data/npy/npy.h"
#include "data/picture/jpeg_picture.h"
#include "data/picture/picture.h"
#include "data/picture/pictures.h"
#include "data/picture/png_picture.h"

#include <dirent.h>
#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* LEAST_SHARE: pictures for a thread; for fewer, waiting for it may take longer than the work */
enum { PATH_MOST = 4200, LEAST_SHARE = 32 };

typedef struct pictures_source {
    row_source base;
    pictures_list list;
    char *list_path; /* of the CSV, for sentences */
    char *folder;    /* before the names of files: "shots/" or "" */
    png_size size;
    lscm_dataset *truth; /* truth.npz, or NULL */
} pictures_source;

/* Where the picture of a row is; false when the path is too long. */
static bool path_of(const pictures_source *s, size_t row, char path[PATH_MOST])
{
    const char *file = s->list.files[row];
    int length = snprintf(path, PATH_MOST, "%s%s", file[0] == '/' ? "" : s->folder, file);
    return length > 0 && length < PATH_MOST;
}

/* ---- One row */

/* By what is in the file, whatever its name says. */
static lscm_status size_of(const char *path, png_size *size, lscm_error *why)
{
    return jpeg_picture_is(path) ? jpeg_picture_size(path, size, why)
                                 : png_picture_size(path, size, why);
}

static lscm_status look(const pictures_source *s, size_t row, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char path[PATH_MOST];
    char text[2][PNG_SIZE_TEXT];
    png_size size = {0};
    struct stat about;
    const char *file = s->list.files[row];
    bool short_enough = path_of(s, row, path);
    if (!short_enough || (stat(path, &about) != 0 && (errno == ENOENT || errno == ENOTDIR))) {
        return fail(why, LSCM_MISSING,
                    "%s: line %zu lists the picture '%.200s', but there is no such file",
                    s->list_path, s->list.lines[row], file);
    }
    TRY(size_of(path, &size, why));
    if (size.height != s->size.height || size.width != s->size.width ||
        size.channels != s->size.channels) {
        status = fail(why, LSCM_SHAPE,
                      "%s: the picture is of %s, but '%.200s' is of %s; all must be alike: "
                      "save them in one size, all grey or all in colour",
                      path, png_size_text(size, text[0]), s->list.files[0],
                      png_size_text(s->size, text[1]));
    }
done:
    return status;
}

static lscm_status decode(const pictures_source *s, size_t row, void *scratch, float *out,
                          lscm_error *why)
{
    char path[PATH_MOST];
    (void)path_of(s, row, path); /* short enough: it was looked at */
    return jpeg_picture_is(path) ? jpeg_picture_read(path, s->size, scratch, out, why)
                                 : png_picture_read(path, s->size, scratch, out, why);
}

/* ---- Many rows: threads only find the first that fails; doing it again gives its sentence. */

static lscm_status look_at_all(const pictures_source *s, lscm_error *why)
{
    ptrdiff_t rows = (ptrdiff_t)s->list.rows;
    ptrdiff_t bad = rows;
#pragma omp parallel for schedule(dynamic, 64) reduction(min : bad)
    for (ptrdiff_t row = 0; row < rows; row++) {
        if (row < bad && look(s, (size_t)row, NULL) != LSCM_OK) {
            bad = row;
        }
    }
    return bad < rows ? look(s, (size_t)bad, why) : LSCM_OK;
}

static lscm_status decode_rows(const pictures_source *s, size_t first, size_t count, float *out,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t numbers = s->size.height * s->size.width * s->size.channels;
    size_t bytes = png_picture_scratch(s->size);
    size_t worth = count / LEAST_SHARE;
    int threads = omp_get_max_threads();
    threads = worth < 1 ? 1 : worth < (size_t)threads ? (int)worth : threads;
    ptrdiff_t bad = (ptrdiff_t)count;
    char *scratch = malloc((size_t)threads * bytes);
    if (scratch == NULL) {
        return fail_memory(why, (size_t)threads * bytes);
    }
#pragma omp parallel for num_threads(threads) schedule(dynamic, 4) reduction(min : bad)
    for (ptrdiff_t i = 0; i < (ptrdiff_t)count; i++) {
        char *mine = scratch + (size_t)omp_get_thread_num() * bytes;
        float *picture = out + (size_t)i * numbers;
        if (i < bad && decode(s, first + (size_t)i, mine, picture, NULL) != LSCM_OK) {
            bad = i;
        }
    }
    if (bad < (ptrdiff_t)count) {
        size_t row = (size_t)bad;
        TRY(decode(s, first + row, scratch, out + row * numbers, why));
    }
done:
    free(scratch);
    return status;
}

static lscm_status read_rows(row_source *self, lscm_field field, size_t first, size_t count,
                             void *raw, lscm_error *why)
{
    const pictures_source *s = (const pictures_source *)(const void *)self;
    size_t d = s->list.nodes;
    switch (field) {
    case LSCM_X:
        return decode_rows(s, first, count, raw, why);
    case LSCM_TARGETS:
        memcpy(raw, s->list.targets + first * d, count * d);
        return LSCM_OK;
    case LSCM_VALUES:
        memcpy(raw, s->list.values + first * d, count * d * sizeof(double));
        return LSCM_OK;
    default:
        return dataset_read_raw(s->truth, field, first, count, raw, why);
    }
}

static void close_source(row_source *self)
{
    pictures_source *s = (pictures_source *)(void *)self;
    pictures_list_close(&s->list);
    lscm_dataset_free(s->truth);
    free(s->list_path);
    free(s->folder);
    free(s);
}

/* ---- What the list and the folder say of each other */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every picture of the folder is in `sorted` (rows)? */
static lscm_status find_unlisted(const pictures_source *s, const char **sorted, const char *folder,
                                 lscm_error *why)
{
    lscm_status status = LSCM_OK;
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        return fail(why, LSCM_READ, "%s: cannot be read (%s)", folder, strerror(errno));
    }
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        const char *name = entry->d_name;
        if (pictures_is_name(name) &&
            bsearch(&name, sorted, s->list.rows, sizeof *sorted, by_text) == NULL) {
            TRY(fail(why, LSCM_MISSING,
                     "%s does not list the picture '%.200s'; add a line (with empty cells if "
                     "nothing was done), or move the picture away",
                     s->list_path, name));
        }
    }
done:
    (void)closedir(dir);
    return status;
}

/* No picture is listed twice; none of `folder` (NULL: any will do) is left out. */
static lscm_status compare(const pictures_source *s, const char *folder, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t rows = s->list.rows;
    const char **sorted = malloc(rows * sizeof *sorted);
    if (sorted == NULL) {
        return fail_memory(why, rows * sizeof *sorted);
    }
    for (size_t i = 0; i < rows; i++) {
        sorted[i] = s->list.files[i];
    }
    qsort(sorted, rows, sizeof *sorted, by_text);
    for (size_t i = 1; i < rows; i++) {
        if (strcmp(sorted[i - 1], sorted[i]) == 0) {
            TRY(fail(why, LSCM_VALUE, "%s lists the picture '%.200s' twice", s->list_path,
                     sorted[i]));
        }
    }
    if (folder != NULL) {
        TRY(find_unlisted(s, sorted, folder, why));
    }
done:
    free(sorted);
    return status;
}

/* ---- Opening */

/* z, w, sigma, order and the recipe. */
static lscm_status open_truth(lscm_dataset *data, pictures_source *s, lscm_error *why)
{
    static const lscm_field truth[] = {LSCM_Z, LSCM_W, LSCM_SIGMA, LSCM_ORDER};
    lscm_status status = LSCM_OK;
    char path[PATH_MOST];
    struct stat about;
    int length = snprintf(path, sizeof path, "%s%s", s->folder, PICTURES_TRUTH);
    if (length < 0 || (size_t)length >= sizeof path || stat(path, &about) != 0) {
        return LSCM_OK;
    }
    TRY(dataset_new(&s->truth, path, "NPZ", why));
    TRY(npz_open(s->truth, why));
    for (size_t i = 0; i < sizeof truth / sizeof truth[0]; i++) {
        data->shape[truth[i]] = s->truth->shape[truth[i]];
        data->whole[truth[i]] = s->truth->whole[truth[i]];
        s->truth->whole[truth[i]] = NULL;
    }
    data->recipe = s->truth->recipe;
    s->truth->recipe = NULL;
done:
    return status;
}

static void describe(lscm_dataset *data, pictures_source *s)
{
    size_t n = data->rows = s->list.rows;
    size_t d = data->nodes = s->list.nodes;
    data->shape[LSCM_X] = (array_shape){true,
                                        DTYPE_FLOAT32,
                                        s->size.channels == 1 ? 3 : 4,
                                        {n, s->size.height, s->size.width, s->size.channels}};
    data->shape[LSCM_TARGETS] = (array_shape){true, DTYPE_UINT8, 2, {n, d}};
    data->shape[LSCM_VALUES] = (array_shape){true, DTYPE_FLOAT64, 2, {n, d}};
    data->node_names = s->list.names;
    s->list.names = NULL;
    data->note = s->list.note;
    s->list.note = NULL;
}

/* `folder` is NULL when the list itself was named. */
static lscm_status open_list(lscm_dataset *data, const char *list, const char *folder,
                             const lscm_open_options *options, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const char *slash = strrchr(list, '/');
    pictures_source *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return fail_memory(why, sizeof *s);
    }
    s->base = (row_source){read_rows, close_source};
    data->source = &s->base;
    s->list_path = strdup(list);
    s->folder = strndup(list, slash != NULL ? (size_t)(slash - list) + 1 : 0);
    if (s->list_path == NULL || s->folder == NULL) {
        status = fail_memory(why, strlen(list));
        goto done;
    }
    TRY(pictures_list_read(&s->list, s->list_path, options, why));
    TRY(compare(s, folder, why));
    char first[PATH_MOST];
    if (path_of(s, 0, first)) {
        (void)size_of(first, &s->size, NULL); /* if it cannot, look_at_all says why */
    }
    TRY(look_at_all(s, why));
    describe(data, s);
    if (folder != NULL) {
        TRY(open_truth(data, s, why));
    }
done:
    return status;
}

lscm_status pictures_open_list(lscm_dataset *data, const lscm_open_options *options,
                               lscm_error *why)
{
    return open_list(data, data->path, NULL, options, why);
}

/* Joins the folder and the name of a file in it. */
static bool join(const char *folder, const char *name, char path[PATH_MOST])
{
    size_t length = strlen(folder);
    bool slash = length > 0 && folder[length - 1] == '/';
    int used = snprintf(path, PATH_MOST, "%s%s%s", folder, slash ? "" : "/", name);
    return used > 0 && used < PATH_MOST;
}

static bool is_table(const char *name)
{
    const char *ending = strrchr(name, '.');
    return ending != NULL && name[0] != '.' &&
           (strcasecmp(ending, ".csv") == 0 || strcasecmp(ending, ".tsv") == 0);
}

/* The only table of the folder that lists pictures, where none is called PICTURES_LIST. */
static lscm_status find_list(const char *folder, const char *ignore, char list[PATH_MOST],
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char other[PATH_MOST];
    bool found = false;
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        return fail(why, LSCM_READ, "%s: cannot be read (%s)", folder, strerror(errno));
    }
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        if (!is_table(entry->d_name) || !join(folder, entry->d_name, other) ||
            !pictures_is_list(other, ignore)) {
            continue;
        }
        if (found) {
            TRY(fail(why, LSCM_USAGE,
                     "%s: holds two lists of pictures, '%.200s' and '%.200s'; give the one that is "
                     "meant in the place of the folder",
                     folder, list, other));
        }
        memcpy(list, other, sizeof other);
        found = true;
    }
    if (!found) {
        status = fail(why, LSCM_MISSING,
                      "%s: holds pictures but no %s, which says what was done for each: a line "
                      "'file' and the names of the nodes, then one for each picture with the value "
                      "where do() set it",
                      folder, PICTURES_LIST);
    }
done:
    (void)closedir(dir);
    return status;
}

lscm_status pictures_open(lscm_dataset *data, const lscm_open_options *options, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char list[PATH_MOST];
    struct stat about;
    if (!join(data->path, PICTURES_LIST, list)) {
        return fail(why, LSCM_READ, "%.100s...: the path is too long", data->path);
    }
    if (stat(list, &about) != 0 && errno == ENOENT) {
        TRY(find_list(data->path, options->ignore, list, why));
    }
    TRY(open_list(data, list, data->path, options, why));
done:
    return status;
}

bool pictures_are_in(const char *folder)
{
    char path[PATH_MOST];
    struct stat about;
    bool found = join(folder, PICTURES_LIST, path) && stat(path, &about) == 0;
    DIR *dir = found ? NULL : opendir(folder);
    for (struct dirent *entry = dir != NULL ? readdir(dir) : NULL; entry != NULL && !found;
         entry = readdir(dir)) {
        found = pictures_is_name(entry->d_name);
    }
    if (dir != NULL) {
        (void)closedir(dir);
    }
    return found && !(join(folder, "x_samples.npy", path) && stat(path, &about) == 0);
}
