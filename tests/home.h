/* A folder of its own for every test, removed afterwards. Include it after testing.h. */
#ifndef LSCM_TESTS_HOME_H
#define LSCM_TESTS_HOME_H

#include <dirent.h>
#include <unistd.h>

static char home[] = "/tmp/lscm-test-XXXXXX";

/* A path inside; the last four answers stay valid. */
static inline const char *at(const char *name)
{
    static char paths[4][512];
    static int next;
    next = (next + 1) % 4;
    (void)snprintf(paths[next], sizeof paths[next], "%s/%s", home, name);
    return paths[next];
}

static inline int make_home(void **state)
{
    (void)state;
    memcpy(home + strlen(home) - 6, "XXXXXX", 6);
    return mkdtemp(home) != NULL ? 0 : -1;
}

static inline int remove_home(void **state)
{
    char command[64];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf '%s'", home);
    return system(command); /* NOLINT(cert-env33-c): a fixed path of our own */
}

/* How many entries the folder has: nothing temporary may stay. */
static inline int entries(void)
{
    int count = -2;
    DIR *dir = opendir(home);
    assert_non_null(dir);
    while (readdir(dir) != NULL) {
        count++;
    }
    (void)closedir(dir);
    return count;
}

static inline void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

#define TEST_AT_HOME(name) cmocka_unit_test_setup_teardown(name, make_home, remove_home)

#endif
