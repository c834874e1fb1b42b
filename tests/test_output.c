/* Output that appears whole or not at all: what is refused, what is replaced, what is left. */
#include "base/output.h"

#include "testing.h"

#include "home.h"

#include <sys/stat.h>

static bool holds(const char *path, const char *text)
{
    char found[64] = "";
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    (void)!fread(found, 1, sizeof found - 1, file);
    (void)fclose(file);
    return strcmp(found, text) == 0;
}

static bool exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static void a_file_appears_when_committed(void **state)
{
    (void)state;
    lscm_error why;
    output out;
    struct stat info;
    mode_t mask = umask(027);
    assert_ok(output_begin(&out, at("a.nc"), false, false, &why));
    assert_false(exists(at("a.nc")));
    assert_int_equal(strncmp(out.temporary, at(".a.nc."), strlen(at(".a.nc."))), 0);
    assert_string_equal(out.temporary + strlen(out.temporary) - 4, ".tmp");
    put(out.temporary, "data");
    assert_ok(output_commit(&out, &why));
    output_end(&out);
    output_end(&out);
    (void)umask(mask);
    assert_true(holds(at("a.nc"), "data"));
    assert_int_equal(entries(), 1);
    assert_int_equal(stat(at("a.nc"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
}

static void a_failure_leaves_nothing(void **state)
{
    (void)state;
    lscm_error why;
    output out;
    assert_ok(output_begin(&out, at("a.nc"), false, false, &why));
    put(out.temporary, "half");
    output_end(&out);
    assert_ok(output_begin(&out, at("folder/"), true, false, &why));
    char inside[600];
    (void)snprintf(inside, sizeof inside, "%s/x.npy", out.temporary);
    put(inside, "half");
    output_end(&out);
    assert_int_equal(entries(), 0);
}

static void what_exists_needs_force(void **state)
{
    (void)state;
    lscm_error why;
    output out;
    put(at("a.nc"), "old");
    assert_fails(output_begin(&out, at("a.nc"), false, false, &why), LSCM_EXISTS, "--force");
    assert_ok(output_begin(&out, at("a.nc"), false, true, &why));
    put(out.temporary, "new");
    assert_true(holds(at("a.nc"), "old"));
    assert_ok(output_commit(&out, &why));
    output_end(&out);
    assert_true(holds(at("a.nc"), "new"));
    assert_int_equal(entries(), 1);
}

/* Somebody else was quicker: theirs stays. */
static void what_appears_meanwhile_is_kept(void **state)
{
    (void)state;
    lscm_error why;
    output out;
    assert_ok(output_begin(&out, at("a.nc"), false, false, &why));
    put(at("a.nc"), "theirs");
    assert_fails(output_commit(&out, &why), LSCM_EXISTS, "exists already");
    output_end(&out);
    assert_true(holds(at("a.nc"), "theirs"));
    assert_ok(output_begin(&out, at("folder"), true, false, &why));
    assert_int_equal(mkdir(at("folder"), 0700), 0);
    assert_fails(output_commit(&out, &why), LSCM_EXISTS, "exists already");
    output_end(&out);
    assert_int_equal(entries(), 2);
}

static void a_folder_is_replaced_whole(void **state)
{
    (void)state;
    lscm_error why;
    output out;
    char inside[600];
    assert_int_equal(mkdir(at("f"), 0700), 0);
    put(at("f/x_samples.npy"), "old");
    put(at("f/w.npy"), "old");
    put(at("f/recipe.json"), "{}");
    assert_fails(output_begin(&out, at("f"), true, false, &why), LSCM_EXISTS, "--force");
    assert_ok(output_begin(&out, at("f///"), true, true, &why));
    (void)snprintf(inside, sizeof inside, "%s/x_samples.npy", out.temporary);
    put(inside, "new");
    assert_ok(output_commit(&out, &why));
    output_end(&out);
    assert_true(holds(at("f/x_samples.npy"), "new"));
    assert_false(exists(at("f/w.npy")));
    assert_int_equal(entries(), 1);
}

static void a_folder_of_other_things_is_never_replaced(void **state)
{
    (void)state;
    lscm_error why;
    output out;
    assert_int_equal(mkdir(at("f"), 0700), 0);
    put(at("f/x_samples.npy"), "old");
    put(at("f/thesis.txt"), "dear");
    assert_fails(output_begin(&out, at("f"), true, true, &why), LSCM_EXISTS, "thesis.txt");
    assert_int_equal(unlink(at("f/thesis.txt")), 0);
    assert_int_equal(mkdir(at("f/sub.npy"), 0700), 0);
    assert_fails(output_begin(&out, at("f"), true, true, &why), LSCM_EXISTS, "sub.npy");
    assert_int_equal(rmdir(at("f/sub.npy")), 0);
    assert_int_equal(symlink("x_samples.npy", at("f/link.npy")), 0);
    assert_fails(output_begin(&out, at("f"), true, true, &why), LSCM_EXISTS, "link.npy");
    assert_true(holds(at("f/x_samples.npy"), "old"));
    assert_int_equal(entries(), 1);
}

/* The old folder changed between beginning and end: nothing of it is lost. */
static void a_late_stranger_in_a_folder_is_kept(void **state)
{
    (void)state;
    lscm_error why;
    output out;
    assert_int_equal(mkdir(at("f"), 0700), 0);
    assert_ok(output_begin(&out, at("f"), true, true, &why));
    put(at("f/thesis.txt"), "dear");
    assert_fails(output_commit(&out, &why), LSCM_EXISTS, "thesis.txt");
    output_end(&out);
    assert_true(holds(at("f/thesis.txt"), "dear"));
    assert_int_equal(entries(), 1);
}

static void links_are_neither_followed_nor_replaced(void **state)
{
    (void)state;
    lscm_error why;
    output out;
    put(at("a.nc"), "old");
    assert_int_equal(mkdir(at("f"), 0700), 0);
    assert_int_equal(symlink("a.nc", at("file.nc")), 0);
    assert_int_equal(symlink("f", at("folder")), 0);
    assert_int_equal(symlink("nowhere", at("dangling.nc")), 0);
    assert_fails(output_begin(&out, at("file.nc"), false, true, &why), LSCM_EXISTS, "symbolic");
    assert_fails(output_begin(&out, at("dangling.nc"), false, false, &why), LSCM_EXISTS,
                 "symbolic");
    assert_fails(output_begin(&out, at("folder/"), true, true, &why), LSCM_EXISTS, "symbolic");
    /* but a link on the way to the place is fine */
    assert_ok(output_begin(&out, at("folder/b.nc"), false, false, &why));
    assert_ok(output_commit(&out, &why));
    output_end(&out);
    assert_true(exists(at("f/b.nc")));
}

static void wrong_places_are_named(void **state)
{
    (void)state;
    lscm_error why;
    output out;
    char name[400];
    put(at("file"), "x");
    assert_int_equal(mkdir(at("dir.nc"), 0700), 0);
    assert_int_equal(mkfifo(at("pipe.nc"), 0600), 0);
    assert_fails(output_begin(&out, at("none/a.nc"), false, false, &why), LSCM_WRITE,
                 "there is no folder");
    assert_fails(output_begin(&out, at("file/a.nc"), false, false, &why), LSCM_WRITE, "a.nc");
    assert_fails(output_begin(&out, at("dir.nc"), false, true, &why), LSCM_EXISTS,
                 "a folder has that name");
    assert_fails(output_begin(&out, at("file"), true, true, &why), LSCM_EXISTS,
                 "a file has that name");
    assert_fails(output_begin(&out, at("pipe.nc"), false, true, &why), LSCM_EXISTS,
                 "not a regular file");
    assert_fails(output_begin(&out, "", false, false, &why), LSCM_USAGE, "not a name");
    assert_fails(output_begin(&out, "/", true, true, &why), LSCM_USAGE, "not a name");
    assert_fails(output_begin(&out, at("."), true, true, &why), LSCM_USAGE, "not a name");
    assert_fails(output_begin(&out, at(".."), true, true, &why), LSCM_USAGE, "not a name");
    memset(name, 'n', sizeof name);
    name[300] = '\0';
    assert_fails(output_begin(&out, at(name), false, false, &why), LSCM_WRITE, "shorter name");
    if (geteuid() != 0) { /* root may write everywhere */
        assert_int_equal(chmod(at("dir.nc"), 0500), 0);
        assert_fails(output_begin(&out, at("dir.nc/a.nc"), false, false, &why), LSCM_WRITE,
                     "you may write in");
    }
    assert_int_equal(entries(), 3);
}

/* The longest names a file system takes leave no room for ours. */
static void long_names_fit(void **state)
{
    (void)state;
    lscm_error why;
    output out;
    char name[256];
    memset(name, 'n', sizeof name);
    name[255] = '\0';
    assert_ok(output_begin(&out, at(name), false, false, &why));
    assert_ok(output_commit(&out, &why));
    output_end(&out);
    assert_true(exists(at(name)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_AT_HOME(a_file_appears_when_committed),
        TEST_AT_HOME(a_failure_leaves_nothing),
        TEST_AT_HOME(what_exists_needs_force),
        TEST_AT_HOME(what_appears_meanwhile_is_kept),
        TEST_AT_HOME(a_folder_is_replaced_whole),
        TEST_AT_HOME(a_folder_of_other_things_is_never_replaced),
        TEST_AT_HOME(a_late_stranger_in_a_folder_is_kept),
        TEST_AT_HOME(links_are_neither_followed_nor_replaced),
        TEST_AT_HOME(wrong_places_are_named),
        TEST_AT_HOME(long_names_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
