/* libzip writes when the archive is closed, pulling each entry through a source function; what goes
 * wrong in there (a bad number, a wish to stop) is kept in the writer and handed out afterwards.
 */
#include "data/npy/npz_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

enum { DOS_1980 = 0x21 };

typedef struct npz_entry {
    npz_writer *writer;
    npy_stream stream;
    const char *piece; /* what is left of the stream's last piece */
    size_t left;
} npz_entry;

struct npz_writer {
    zip_t *zip;
    const char *what;
    lscm_status status; /* of the first entry that failed, with its sentence in why */
    lscm_error *why;    /* of npz_writer_finish, while it runs */
    npz_entry entries[NPZ_ENTRIES];
    size_t count;
    uint32_t *cells[NPZ_TEXTS]; /* texts */
    size_t texts;
};

static zip_int64_t pull(npz_entry *entry, char *out, zip_uint64_t bytes)
{
    npz_writer *writer = entry->writer;
    zip_uint64_t given = 0;
    while (given < bytes) {
        if (entry->left == 0) {
            const void *piece = NULL;
            writer->status = npy_stream_next(&entry->stream, &piece, &entry->left, writer->why);
            if (writer->status != LSCM_OK) {
                return -1;
            }
            if (entry->left == 0) {
                break;
            }
            entry->piece = piece;
        }
        size_t n = bytes - given < entry->left ? (size_t)(bytes - given) : entry->left;
        memcpy(out + given, entry->piece, n);
        entry->piece += n;
        entry->left -= n;
        given += n;
    }
    return (zip_int64_t)given;
}

/* The sentence is ours, so libzip only learns that there is one. */
static zip_int64_t report(void *data, zip_uint64_t size)
{
    int codes[2] = {ZIP_ER_READ, 0};
    if (size < sizeof codes) {
        return -1;
    }
    memcpy(data, codes, sizeof codes);
    return (zip_int64_t)sizeof codes;
}

static zip_int64_t serve(void *self, void *data, zip_uint64_t size, zip_source_cmd_t command)
{
    npz_entry *entry = self;
    switch (command) {
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                              -1);
    case ZIP_SOURCE_STAT: {
        zip_stat_t *about = data;
        zip_stat_init(about);
        about->size = npy_stream_size(&entry->stream);
        about->valid = ZIP_STAT_SIZE;
        return (zip_int64_t)sizeof *about;
    }
    case ZIP_SOURCE_READ:
        return pull(entry, data, size);
    case ZIP_SOURCE_ERROR:
        return report(data, size);
    case ZIP_SOURCE_CLOSE:
        npy_stream_end(&entry->stream);
        return 0;
    case ZIP_SOURCE_OPEN:
    case ZIP_SOURCE_FREE:
        return 0;
    default:
        return -1;
    }
}

static lscm_status fail_write(npz_writer *writer, lscm_error *why)
{
    zip_error_t *error = zip_get_error(writer->zip);
    if (zip_error_system_type(error) == ZIP_ET_SYS && zip_error_code_system(error) != 0) {
        return fail(why, LSCM_WRITE, "%s: %s", writer->what,
                    strerror(zip_error_code_system(error)));
    }
    if (zip_error_code_zip(error) == ZIP_ER_OK) { /* libzip is silent only when memory is short */
        return fail(why, LSCM_MEMORY, "%s: out of memory", writer->what);
    }
    return fail(why, LSCM_WRITE, "%s: %s", writer->what, zip_error_strerror(error));
}

lscm_status npz_writer_add(npz_writer *writer, const char *name, npy_stream stream, lscm_error *why)
{
    npz_entry *entry = &writer->entries[writer->count++];
    char file[32];
    *entry = (npz_entry){.writer = writer, .stream = stream};
    (void)snprintf(file, sizeof file, "%s.npy", name);
    zip_source_t *source = zip_source_function(writer->zip, serve, entry);
    zip_int64_t index = source == NULL ? -1 : zip_file_add(writer->zip, file, source, 0);
    if (index < 0) {
        zip_source_free(source);
        return fail_write(writer, why);
    }
    if (zip_set_file_compression(writer->zip, (zip_uint64_t)index, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(writer->zip, (zip_uint64_t)index, 0, DOS_1980, 0) != 0) {
        return fail_write(writer, why);
    }
    return LSCM_OK;
}

lscm_status npz_writer_add_texts(npz_writer *writer, const char *name, char *const *texts, int ndim,
                                 size_t count, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    npy_header header;
    uint32_t **cells = &writer->cells[writer->texts];
    if (texts != NULL) {
        writer->texts++;
        TRY(npy_texts_pack(texts, ndim, count, name, &header, cells, why));
        TRY(npz_writer_add(writer, name, npy_stream_of_memory(header, *cells), why));
    }
done:
    return status;
}

lscm_status npz_writer_open(npz_writer **out, const char *to, const char *what, lscm_error *why)
{
    int code = 0;
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return fail_memory(why, sizeof **out);
    }
    (*out)->what = what;
    (*out)->zip = zip_open(to, ZIP_CREATE | ZIP_TRUNCATE, &code);
    if ((*out)->zip == NULL) {
        return fail(why, LSCM_WRITE, "%s: %s", what, strerror(errno));
    }
    return LSCM_OK;
}

lscm_status npz_writer_finish(npz_writer *writer, lscm_error *why)
{
    writer->why = why;
    if (zip_close(writer->zip) != 0) {
        return writer->status != LSCM_OK ? writer->status : fail_write(writer, why);
    }
    writer->zip = NULL;
    return LSCM_OK;
}

void npz_writer_close(npz_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    if (writer->zip != NULL) {
        zip_discard(writer->zip);
    }
    for (size_t i = 0; i < writer->texts; i++) {
        free(writer->cells[i]);
    }
    free(writer);
}
