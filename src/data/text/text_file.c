/* zlib reads what is not packed as it is, so there is one way for both. */
#include "data/text/text_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

struct text_file {
    const char *path;
    gzFile file;
};

enum { BUFFER = 1 << 18, AT_ONCE = 1 << 30 };

lscm_status text_file_open(text_file **out, const char *path, lscm_error *why)
{
    struct stat about;
    *out = NULL;
    if (stat(path, &about) != 0) {
        return fail(why, errno == ENOENT ? LSCM_MISSING : LSCM_READ, "%s: %s", path,
                    strerror(errno));
    }
    if (!S_ISREG(about.st_mode)) {
        return fail(why, LSCM_READ, "%s: is not a regular file; give the name of a CSV file", path);
    }
    text_file *file = calloc(1, sizeof *file);
    if (file == NULL) {
        return fail_memory(why, sizeof *file);
    }
    errno = 0;
    *file = (text_file){path, gzopen(path, "rb")};
    if (file->file == NULL) {
        int code = errno;
        free(file);
        return code != 0 ? fail(why, LSCM_READ, "%s: %s", path, strerror(code))
                         : fail_memory(why, BUFFER);
    }
    (void)gzbuffer(file->file, BUFFER);
    *out = file;
    return LSCM_OK;
}

static lscm_status fail_reading(const text_file *file, lscm_error *why)
{
    int code = Z_OK;
    (void)gzerror(file->file, &code);
    if (code == Z_ERRNO) {
        return fail(why, LSCM_READ, "%s: %s", file->path, strerror(errno));
    }
    if (code == Z_MEM_ERROR) {
        return fail_memory(why, BUFFER);
    }
    return fail(why, LSCM_FORMAT,
                "%s: cannot be unpacked: it is cut short or damaged; fetch or pack it again",
                file->path);
}

lscm_status text_file_read(text_file *file, char *out, size_t size, size_t *count, lscm_error *why)
{
    *count = 0;
    while (*count < size) {
        size_t part = size - *count < AT_ONCE ? size - *count : AT_ONCE;
        int got = gzread(file->file, out + *count, (unsigned)part);
        if (got < 0) {
            return fail_reading(file, why);
        }
        if (got == 0) {
            int code = Z_OK; /* a packed file that is cut short ends like any other but for this */
            (void)gzerror(file->file, &code);
            return code == Z_OK ? LSCM_OK : fail_reading(file, why);
        }
        *count += (size_t)got;
    }
    return LSCM_OK;
}

lscm_status text_file_rewind(text_file *file, lscm_error *why)
{
    return gzrewind(file->file) == 0 ? LSCM_OK : fail_reading(file, why);
}

void text_file_close(text_file *file)
{
    if (file != NULL) {
        (void)gzclose(file->file);
        free(file);
    }
}
