/* A folder of its own for the files of a test program: made and removed with everything in it by
 * the group's setup and teardown.
 *
 *     return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
 */
#ifndef LSCM_TESTS_SCRATCH_H
#define LSCM_TESTS_SCRATCH_H

#include "testing.h"

#include <dirent.h>
#include <unistd.h>

static char scratch_folder[] = "/tmp/lscm_test_XXXXXX";

static inline int scratch_make(void **state)
{
    (void)state;
    return mkdtemp(scratch_folder) != NULL ? 0 : -1;
}

/* The path of a file there; `out` has 300 bytes. */
static inline char *scratch_path(char *out, const char *name)
{
    (void)snprintf(out, 300, "%s/%s", scratch_folder, name);
    return out;
}

static inline int scratch_remove(void **state)
{
    (void)state;
    DIR *folder = opendir(scratch_folder);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char path[300];
        (void)unlink(scratch_path(path, entry->d_name));
    }
    (void)closedir(folder);
    return rmdir(scratch_folder);
}

static inline void scratch_write(const char *path, const char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static inline void scratch_write_text(const char *path, const char *text)
{
    scratch_write(path, text, strlen(text));
}

/* The whole file, with a zero behind it; the caller frees it. */
static inline char *scratch_read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_t count = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(count + 1, 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
    return text;
}

#endif
