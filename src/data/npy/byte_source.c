#include "data/npy/byte_source.h"

#include "data/npy/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SKIP_BYTES = 1 << 18, READ_MOST = 1 << 30 };

struct byte_source {
    char *where;
    uint64_t size;
    int fd; /* the plain file or the spool; -1 for an entry that is read through libzip */
    zip_t *zip;
    zip_uint64_t index;
    bool stored;
    zip_file_t *entry; /* NULL until read */
    uint64_t position; /* in the entry */
};

lscm_status open_regular(const char *path, const char *where, int *fd, uint64_t *size,
                         lscm_error *why)
{
    struct stat about;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0) {
        return fail(why, errno == ENOENT ? LSCM_MISSING : LSCM_READ, "%s: %s", where,
                    strerror(errno));
    }
    if (fstat(*fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        (void)close(*fd);
        *fd = -1;
        return fail(why, LSCM_READ, "%s is not a regular file", where);
    }
    *size = (uint64_t)about.st_size;
    return LSCM_OK;
}

/* NULL, and a sentence, when memory is short. */
static byte_source *make(const char *where, lscm_error *why)
{
    byte_source *source = calloc(1, sizeof *source);
    char *copy = strdup(where);
    if (source == NULL || copy == NULL) {
        free(source);
        free(copy);
        (void)fail_memory(why, sizeof *source + strlen(where) + 1);
        return NULL;
    }
    source->where = copy;
    source->fd = -1;
    return source;
}

lscm_status byte_source_file(byte_source **out, const char *path, const char *where,
                             lscm_error *why)
{
    byte_source *source = make(where, why);
    *out = NULL;
    if (source == NULL) {
        return LSCM_MEMORY;
    }
    lscm_status status = open_regular(path, where, &source->fd, &source->size, why);
    if (status != LSCM_OK) {
        byte_source_close(source);
        return status;
    }
    *out = source;
    return LSCM_OK;
}

static lscm_status check_entry(const zip_stat_t *about, const char *where, lscm_error *why)
{
    const zip_uint64_t need =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if ((about->valid & need) != need) {
        return fail(why, LSCM_FORMAT, "%s has a damaged directory entry", where);
    }
    if (about->encryption_method != ZIP_EM_NONE) {
        return fail(why, LSCM_FORMAT, "%s is encrypted; save it without a password", where);
    }
    if (about->comp_method != ZIP_CM_STORE && about->comp_method != ZIP_CM_DEFLATE) {
        return fail(why, LSCM_FORMAT,
                    "%s is compressed in a way (method %d) that NumPy does not use; save it with "
                    "numpy.savez or numpy.savez_compressed",
                    where, (int)about->comp_method);
    }
    if (about->comp_method == ZIP_CM_STORE && about->comp_size != about->size) {
        return fail(why, LSCM_FORMAT, "%s has a damaged directory entry: its sizes disagree",
                    where);
    }
    return LSCM_OK;
}

lscm_status byte_source_entry(byte_source **out, zip_t *zip, zip_uint64_t index, const char *where,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    zip_stat_t about;
    *out = NULL;
    zip_stat_init(&about);
    if (zip_stat_index(zip, index, 0, &about) != 0) {
        about.valid = 0;
    }
    TRY(check_entry(&about, where, why));
    byte_source *source = make(where, why);
    if (source == NULL) {
        return LSCM_MEMORY;
    }
    source->zip = zip;
    source->index = index;
    source->size = about.size;
    source->stored = about.comp_method == ZIP_CM_STORE;
    *out = source;
done:
    return status;
}

const char *byte_source_where(const byte_source *source)
{
    return source->where;
}

uint64_t byte_source_size(const byte_source *source)
{
    return source->size;
}

static void close_entry(byte_source *source)
{
    if (source->entry != NULL) {
        (void)zip_fclose(source->entry);
    }
    source->entry = NULL;
    source->position = 0;
}

void byte_source_close(byte_source *source)
{
    if (source == NULL) {
        return;
    }
    close_entry(source);
    if (source->fd >= 0) {
        (void)close(source->fd);
    }
    free(source->where);
    free(source);
}

static lscm_status fail_early(const byte_source *source, lscm_error *why)
{
    return fail(why, LSCM_READ, "%s ends before its last byte; the file is truncated or damaged",
                source->where);
}

static lscm_status read_file(const byte_source *source, uint64_t at, char *out, size_t bytes,
                             lscm_error *why)
{
    while (bytes > 0) {
        size_t ask = bytes < (size_t)READ_MOST ? bytes : (size_t)READ_MOST;
        ssize_t n = pread(source->fd, out, ask, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return fail(why, LSCM_READ, "%s: %s", source->where, strerror(errno));
        }
        if (n == 0) {
            return fail_early(source, why);
        }
        out += n;
        at += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return LSCM_OK;
}

/* ---- Entries ---- */

static lscm_status fail_entry(const byte_source *source, lscm_error *why)
{
    zip_error_t *error =
        source->entry != NULL ? zip_file_get_error(source->entry) : zip_get_error(source->zip);
    if (zip_error_code_zip(error) == ZIP_ER_CRC) {
        return fail(why, LSCM_FORMAT,
                    "%s is damaged: its checksum is wrong; copy or save the file again",
                    source->where);
    }
    return fail(why, LSCM_READ, "%s could not be read from the zip file: %s", source->where,
                zip_error_strerror(error));
}

static lscm_status open_entry(byte_source *source, lscm_error *why)
{
    close_entry(source);
    source->entry = zip_fopen_index(source->zip, source->index, 0);
    return source->entry != NULL ? LSCM_OK : fail_entry(source, why);
}

/* libzip compares the checksum when it is asked for a byte after the last. */
static lscm_status check_end(byte_source *source, lscm_error *why)
{
    char beyond = 0;
    zip_int64_t n = zip_fread(source->entry, &beyond, 1);
    if (n > 0) {
        return fail(why, LSCM_FORMAT, "%s is damaged: it is longer than the zip directory says",
                    source->where);
    }
    return n == 0 ? LSCM_OK : fail_entry(source, why);
}

/* The next bytes of the entry. */
static lscm_status read_on(byte_source *source, char *out, size_t bytes, lscm_error *why)
{
    while (bytes > 0) {
        size_t ask = bytes < (size_t)READ_MOST ? bytes : (size_t)READ_MOST;
        zip_int64_t n = zip_fread(source->entry, out, ask);
        if (n < 0) {
            return fail_entry(source, why);
        }
        if (n == 0) {
            return fail_early(source, why);
        }
        out += n;
        source->position += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return source->position == source->size ? check_end(source, why) : LSCM_OK;
}

/* Reads on to position `to`, giving the bytes to fd, or to nobody when that is -1. */
static lscm_status pass_on(byte_source *source, uint64_t to, int fd, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char *buffer = malloc(SKIP_BYTES);
    if (buffer == NULL) {
        return fail_memory(why, SKIP_BYTES);
    }
    while (source->position < to) {
        uint64_t left = to - source->position;
        size_t ask = left < (uint64_t)SKIP_BYTES ? (size_t)left : (size_t)SKIP_BYTES;
        TRY(read_on(source, buffer, ask, why));
        if (fd >= 0) {
            TRY(spool_write(fd, buffer, ask, source->where, why));
        }
    }
done:
    free(buffer);
    return status;
}

static lscm_status spool(byte_source *source, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    int fd = -1;
    TRY(spool_open(&fd, source->size, source->where, why));
    TRY(open_entry(source, why));
    TRY(pass_on(source, source->size, fd, why));
    close_entry(source);
    source->fd = fd;
    fd = -1;
done:
    if (fd >= 0) {
        (void)close(fd);
    }
    return status;
}

lscm_status byte_source_scatter(byte_source *source, lscm_error *why)
{
    return source->fd >= 0 || source->stored ? LSCM_OK : spool(source, why);
}

static lscm_status go_to(byte_source *source, uint64_t at, lscm_error *why)
{
    if (at == source->position) {
        return LSCM_OK;
    }
    if (!source->stored) {
        return pass_on(source, at, -1, why);
    }
    if (zip_fseek(source->entry, (zip_int64_t)at, SEEK_SET) != 0) {
        return fail_entry(source, why);
    }
    source->position = at;
    return LSCM_OK;
}

lscm_status byte_source_read(byte_source *source, uint64_t at, void *out, size_t bytes,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (at > source->size || bytes > source->size - at) {
        return fail_early(source, why);
    }
    if (source->fd < 0 && source->entry == NULL) {
        TRY(open_entry(source, why));
    }
    if (source->fd < 0 && !source->stored && at < source->position) {
        TRY(spool(source, why));
    }
    if (source->fd >= 0) {
        return read_file(source, at, out, bytes, why);
    }
    TRY(go_to(source, at, why));
    TRY(read_on(source, out, bytes, why));
done:
    return status;
}
