/* Where the results of an experiment that is one fit go: a table and a picture, both or neither. */
#include "experiments/reproduce.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "DIR/NAMEending", malloc'ed. */
static char *join(const char *folder, const char *name, const char *ending)
{
    size_t size = strlen(folder) + strlen(name) + strlen(ending) + 2;
    char *path = malloc(size);
    if (path != NULL) {
        (void)snprintf(path, size, "%s/%s%s", folder, name, ending);
    }
    return path;
}

lscm_status make_folder(const char *path, bool *made, lscm_error *why)
{
    struct stat info;
    *made = mkdir(path, 0777) == 0;
    if (!*made && (errno != EEXIST || stat(path, &info) != 0 || !S_ISDIR(info.st_mode))) {
        return cli_explain(why, LSCM_WRITE, "%s: this folder cannot be made (%s)", path,
                           strerror(errno));
    }
    if (access(path, W_OK | X_OK) != 0) {
        return cli_explain(why, LSCM_WRITE,
                           "%s: cannot be written in (%s); choose a folder you may write in", path,
                           strerror(errno));
    }
    return LSCM_OK;
}

lscm_status results_begin(results *r, const char *folder, const char *name, bool force,
                          lscm_error *why)
{
    struct stat info;
    *r = (results){.folder = strdup(folder),
                   .csv = join(folder, name, ".csv"),
                   .png = join(folder, name, ".png"),
                   .force = force};
    if (r->folder == NULL || r->csv == NULL || r->png == NULL) {
        return cli_explain(why, LSCM_MEMORY, "out of memory");
    }
    for (int k = 0; k < 2; k++) {
        const char *path = k == 0 ? r->csv : r->png;
        if (lstat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
            return cli_explain(why, LSCM_EXISTS,
                               "%s: this is not a regular file and is not replaced; choose another "
                               "folder",
                               path);
        }
        if (!r->force && access(path, F_OK) == 0) {
            return cli_explain(why, LSCM_EXISTS,
                               "%s: this file exists already; choose another folder or replace it "
                               "with --force",
                               path);
        }
    }
    return make_folder(r->folder, &r->made, why);
}

void results_end(results *r, lscm_status status)
{
    if (status != LSCM_OK && r->made) {
        (void)rmdir(r->folder);
    }
    free(r->folder);
    free(r->csv);
    free(r->png);
}

static lscm_status put_csv(const char *path, void (*write)(FILE *out, const void *self),
                           const void *self, lscm_error *why)
{
    FILE *file = fopen(path, "wx");
    bool fine = file != NULL;
    if (fine) {
        write(file, self);
        fine = ferror(file) == 0;
        fine = fclose(file) == 0 && fine;
    }
    return fine ? LSCM_OK : cli_explain(why, LSCM_WRITE, "%s: %s", path, strerror(errno));
}

lscm_status results_put(const results *r, void (*write)(FILE *out, const void *self),
                        const void *self, const lscm_dataset *figure, lscm_error *why)
{
    char temporary[64];
    (void)snprintf(temporary, sizeof temporary, ".%ld.tmp", (long)getpid());
    char *aside = join(r->folder, temporary, "");
    if (aside == NULL) {
        return cli_explain(why, LSCM_MEMORY, "out of memory");
    }
    lscm_status status = put_csv(aside, write, self, why);
    if (status == LSCM_OK && figure != NULL) {
        status = lscm_dataset_save(figure, r->png, r->force, NULL, why);
    }
    if (status == LSCM_OK && rename(aside, r->csv) != 0) {
        status = cli_explain(why, LSCM_WRITE, "%s: %s", r->csv, strerror(errno));
        if (figure != NULL) {
            (void)unlink(r->png);
        }
    }
    if (status != LSCM_OK) {
        (void)unlink(aside);
    } else if (figure == NULL && r->force) {
        (void)unlink(r->png); /* of what stood there before */
    }
    free(aside);
    return status;
}
