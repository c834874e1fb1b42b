/* Saving and opening runs: the folder around posterior.nc. Each file is replaced whole or not at
 * all. */
#include "result/store/run_folder.h"

#include "base/output.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *run_path(const char *folder, const char *name)
{
    size_t length = strlen(folder);
    while (length > 1 && folder[length - 1] == '/') {
        length--;
    }
    size_t size = length + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL) {
        (void)snprintf(path, size, "%.*s/%s", (int)length, folder, name);
    }
    return path;
}

static const char *const FILES[] = {RUN_POSTERIOR, RUN_CONFIG,     RUN_SUMMARY,
                                    RUN_TRACE,     RUN_CHECKPOINT, RUN_REPORT};

/* `found` is true where a file of a run is there; with `remove` there is none afterwards. */
static lscm_status look_for_run(const char *folder, bool remove, bool *found, lscm_error *why)
{
    *found = false;
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        char *path = run_path(folder, FILES[i]);
        if (path == NULL) {
            return fail_memory(why, strlen(folder));
        }
        bool there = access(path, F_OK) == 0;
        lscm_status status = there && remove && unlink(path) != 0
                                 ? fail(why, LSCM_WRITE, "%s: %s", path, strerror(errno))
                                 : LSCM_OK;
        free(path);
        if (status != LSCM_OK) {
            return status;
        }
        *found = *found || there;
    }
    return LSCM_OK;
}

lscm_status run_folder_begin(const char *folder, bool force, bool resume, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    struct stat info;
    bool found = false;
    if (resume && stat(folder, &info) != 0) {
        return fail(why, LSCM_MISSING, "%s: there is nothing to resume: %s", folder,
                    strerror(errno));
    }
    if (mkdir(folder, 0777) == 0) {
        return LSCM_OK;
    }
    if (errno != EEXIST) {
        return fail(why, LSCM_WRITE, "%s: the run folder cannot be made: %s", folder,
                    strerror(errno));
    }
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return fail(why, LSCM_EXISTS, "%s is a file; a run needs a folder", folder);
    }
    if (!resume) {
        TRY(look_for_run(folder, force, &found, why));
    }
    if (found && !force) {
        return fail(why, LSCM_EXISTS,
                    "%s holds a run already; --force replaces it, --resume continues it", folder);
    }
done:
    return status;
}

static lscm_status save_text(const char *text, const char *to, const char *what, lscm_error *why)
{
    FILE *file = fopen(to, "wb");
    if (file == NULL) {
        return fail(why, LSCM_WRITE, "%s: %s", what, strerror(errno));
    }
    bool bad = fputs(text, file) < 0;
    bad = fclose(file) != 0 || bad;
    return bad ? fail(why, LSCM_WRITE, "%s: %s", what, strerror(errno)) : LSCM_OK;
}

/* `text` NULL: the posterior itself. */
static lscm_status save_file(const lscm_posterior *p, const char *folder, const char *name,
                             const char *text, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    output out = {0};
    size_t size = strlen(folder) + strlen(name) + sizeof "writing /";
    char *path = run_path(folder, name);
    char *what = malloc(size);
    if (path == NULL || what == NULL) {
        status = fail_memory(why, 2 * size);
        goto done;
    }
    (void)snprintf(what, size, "writing %s", path);
    TRY(output_begin(&out, path, false, true, why));
    TRY(text != NULL ? save_text(text, out.temporary, what, why)
                     : posterior_write(p, out.temporary, what, why));
    TRY(output_commit(&out, why));
done:
    output_end(&out);
    free(what);
    free(path);
    return status;
}

lscm_status posterior_save(const lscm_posterior *posterior, const char *folder, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(save_file(posterior, folder, RUN_CONFIG, lscm_posterior_config(posterior), why));
    TRY(save_file(posterior, folder, RUN_SUMMARY, lscm_posterior_summary(posterior), why));
    TRY(save_file(posterior, folder, RUN_POSTERIOR, NULL, why));
done:
    return status;
}

lscm_status lscm_posterior_save(const lscm_posterior *posterior, const char *folder, bool force,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bool found = false;
    TRY(force ? LSCM_OK : look_for_run(folder, false, &found, why));
    if (found) {
        return fail(why, LSCM_EXISTS, "%s holds a run already; name another folder, or force it",
                    folder);
    }
    TRY(run_folder_begin(folder, force, false, why));
    status = posterior_save(posterior, folder, why);
    if (status != LSCM_OK) {
        (void)rmdir(folder); /* goes only when nothing is in it */
    }
done:
    return status;
}

static bool is_file(const char *folder, const char *name)
{
    struct stat info;
    char *path = run_path(folder, name);
    bool there = path != NULL && stat(path, &info) == 0 && S_ISREG(info.st_mode);
    free(path);
    return there;
}

/* A run that is there and whole? */
static lscm_status check_folder(const char *folder, lscm_error *why)
{
    struct stat info;
    if (stat(folder, &info) != 0) {
        return errno == ENOENT || errno == ENOTDIR
                   ? fail(why, LSCM_MISSING, "%s: there is no such run folder", folder)
                   : fail(why, LSCM_READ, "%s: cannot be read (%s)", folder, strerror(errno));
    }
    if (!S_ISDIR(info.st_mode)) {
        return fail(why, LSCM_FORMAT, "%s: this is not a run folder, as lscm fit makes it", folder);
    }
    if (is_file(folder, RUN_POSTERIOR)) {
        return LSCM_OK;
    }
    if (is_file(folder, RUN_CHECKPOINT)) {
        return fail(why, LSCM_MISSING,
                    "%s: the fit did not finish; continue it with lscm fit --resume", folder);
    }
    return fail(why, LSCM_MISSING,
                "%s: there is no " RUN_POSTERIOR " in this folder; make a run with lscm fit",
                folder);
}

/* The whole of a small file in new memory, with its end. */
static lscm_status read_text(const char *path, char **text, lscm_error *why)
{
    enum { MOST = 1 << 24 };
    lscm_status status = LSCM_OK;
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    size_t got = 0;
    if (file == NULL) {
        return fail(why, LSCM_READ, "%s: cannot be opened (%s)", path, strerror(errno));
    }
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size < 0 || size > MOST) {
        TRY(fail(why, LSCM_FORMAT, "%s: this is too large to be part of a run", path));
    }
    rewind(file);
    bytes = calloc((size_t)size + 1, 1);
    if (bytes == NULL) {
        status = fail_memory(why, (size_t)size + 1);
        goto done;
    }
    got = fread(bytes, 1, (size_t)size, file);
    if (got != (size_t)size) {
        TRY(fail(why, LSCM_READ, "%s: cannot be read", path));
    }
    *text = bytes;
    bytes = NULL;
done:
    free(bytes);
    (void)fclose(file);
    return status;
}

/* A JSON object, as its text. */
static lscm_status read_json(const char *folder, const char *name, char **text, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    json_error_t error = {0};
    json_t *object = NULL;
    char *path = run_path(folder, name);
    if (path == NULL) {
        return fail_memory(why, strlen(folder));
    }
    if (!is_file(folder, name)) {
        TRY(fail(why, LSCM_MISSING, "%s: this part of the run is missing; fit again", path));
    }
    TRY(read_text(path, text, why));
    object = json_loads(*text, 0, &error);
    if (!json_is_object(object)) {
        TRY(fail(why, LSCM_FORMAT, "%s: this is not a JSON object%s%s", path,
                 object == NULL ? ": " : "", error.text));
    }
done:
    json_decref(object);
    free(path);
    return status;
}

lscm_status lscm_posterior_open(lscm_posterior **out, const char *folder, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_posterior *p = NULL;
    char *path = run_path(folder, RUN_POSTERIOR);
    *out = NULL;
    if (path == NULL) {
        return fail_memory(why, strlen(folder));
    }
    TRY(check_folder(folder, why));
    TRY(posterior_read(&p, path, why));
    TRY(read_json(folder, RUN_CONFIG, &p->config, why));
    TRY(read_json(folder, RUN_SUMMARY, &p->summary, why));
    TRY(posterior_diagnose(p, why));
    *out = p;
    p = NULL;
done:
    lscm_posterior_free(p);
    free(path);
    return status;
}
