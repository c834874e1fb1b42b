/* Output under a temporary name beside its place, ".NAME.XXXXXX.tmp", and then renamed: in the same
 * folder, so renaming is atomic and the same disk is written. Permissions are what umask gives.
 *
 * Promise: what is not ours is never removed. Without force the final step cannot replace anything
 * that appeared in the meantime; a folder is replaced only when all it holds could have been
 * written as a data folder, and only such files are removed, never through a symbolic link.
 */
#include "base/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char PICTURE_LIST[] = "interventions.csv";
enum { NAME_MOST = 200, TRIES = 100 }; /* a file name may have 255 bytes: leave room for ours */

/* Where the last part of the path begins. */
static size_t base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

static lscm_status fail_errno(lscm_error *why, const char *path, const char *what)
{
    int code = errno;
    const char *remedy = code == ENOSPC || code == EDQUOT    ? "; free some space"
                         : code == EACCES || code == EROFS   ? "; choose a folder you may write in"
                         : code == ENOENT || code == ENOTDIR ? "; make its folder first"
                         : code == ENAMETOOLONG              ? "; choose a shorter name"
                                                             : "";
    return fail(why, LSCM_WRITE, "%s: %s (%s)%s", path, what, strerror(code), remedy);
}

/* Something that could have been written as a data folder? `pictures`: one with their list, whose
 * names are numbers. */
static bool folder_member(const char *name, bool pictures)
{
    size_t length = strlen(name);
    size_t digits = strspn(name, "0123456789");
    if (pictures) {
        return strcmp(name, PICTURE_LIST) == 0 || strcmp(name, "truth.npz") == 0 ||
               (digits > 0 && strcmp(name + digits, ".png") == 0);
    }
    return strcmp(name, "recipe.json") == 0 ||
           (length > 4 && strcmp(name + length - 4, ".npy") == 0);
}

typedef enum sweep { SWEEP_LOOK, SWEEP_MEMBERS, SWEEP_ALL } sweep;

/* Goes over a folder: looks for what may not be removed, or removes the regular files that may, and
 * the folder. Returns false with the offending name in `odd` (NULL: see errno). */
static bool sweep_folder(const char *path, sweep how, char *odd, size_t size)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    bool fine = dir != NULL;
    bool pictures = fine && faccessat(fd, PICTURE_LIST, F_OK, 0) == 0;
    odd[0] = '\0';
    if (dir == NULL) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return false;
    }
    for (struct dirent *entry = readdir(dir); fine && entry != NULL; entry = readdir(dir)) {
        struct stat info;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        fine = fstatat(fd, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
               S_ISREG(info.st_mode) &&
               (how == SWEEP_ALL || folder_member(entry->d_name, pictures)) &&
               (how == SWEEP_LOOK || unlinkat(fd, entry->d_name, 0) == 0);
        if (!fine) {
            (void)snprintf(odd, size, "%s", entry->d_name);
        }
    }
    (void)closedir(dir);
    return fine && (how == SWEEP_LOOK || rmdir(path) == 0);
}

static lscm_status check_existing_folder(const char *path, bool force, lscm_error *why)
{
    char odd[256];
    if (!force) {
        return fail(why, LSCM_EXISTS,
                    "%s: this folder exists already; choose another name or replace it with "
                    "--force",
                    path);
    }
    if (!sweep_folder(path, SWEEP_LOOK, odd, sizeof odd)) {
        if (odd[0] == '\0') {
            return fail_errno(why, path, "the folder that exists there cannot be read");
        }
        return fail(why, LSCM_EXISTS,
                    "%s: this folder holds '%s', which is not part of a data folder, so it is not "
                    "replaced even with --force; choose another name or remove it yourself",
                    path, odd);
    }
    return LSCM_OK;
}

/* What stands in the place already may be replaced? */
static lscm_status check_place(const char *path, bool folder, bool force, lscm_error *why)
{
    struct stat info;
    if (lstat(path, &info) != 0) {
        return errno == ENOENT ? LSCM_OK : fail_errno(why, path, "cannot be written");
    }
    if (S_ISLNK(info.st_mode)) {
        return fail(why, LSCM_EXISTS,
                    "%s: this is a symbolic link, which is not replaced; name the place it points "
                    "to",
                    path);
    }
    if (folder && S_ISDIR(info.st_mode)) {
        return check_existing_folder(path, force, why);
    }
    if (folder) {
        return fail(why, LSCM_EXISTS,
                    "%s: a folder is to be written, but a file has that name; choose another name",
                    path);
    }
    if (S_ISDIR(info.st_mode)) {
        return fail(why, LSCM_EXISTS,
                    "%s: a file is to be written, but a folder has that name; choose another name",
                    path);
    }
    if (!S_ISREG(info.st_mode)) {
        return fail(why, LSCM_EXISTS, "%s: this is not a regular file; choose another name", path);
    }
    if (!force) {
        return fail(why, LSCM_EXISTS,
                    "%s: this file exists already; choose another name or replace it with --force",
                    path);
    }
    return LSCM_OK;
}

static lscm_status check_parent(const char *path, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    struct stat info;
    size_t base = base_of(path);
    char *parent = base > 0 ? strndup(path, base) : strdup(".");
    if (parent == NULL) {
        return fail_memory(why, base);
    }
    if (stat(parent, &info) != 0) {
        if (errno == ENOENT) {
            TRY(fail(why, LSCM_WRITE, "%s: there is no folder '%s'; make it first", path, parent));
        }
        TRY(fail_errno(why, path, "cannot be written"));
    }
    if (!S_ISDIR(info.st_mode)) {
        TRY(fail(why, LSCM_WRITE, "%s: '%s' is not a folder", path, parent));
    }
done:
    free(parent);
    return status;
}

/* Names that differ between processes, moments and calls; making the file decides who has it. */
static void draw_suffix(char *six, const void *salt, int try)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t bits = (uint64_t)now.tv_nsec + ((uint64_t)getpid() << 32) + (uint64_t)(uintptr_t)salt +
                    (uint64_t)try;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    for (int i = 0; i < 6; i++) {
        six[i] = letters[bits % 36];
        bits /= 36;
    }
}

/* Makes an empty file or folder beside `path` and returns its name; NULL, and why, if it cannot. */
static char *make_temporary(const char *path, bool folder, lscm_error *why)
{
    size_t base = base_of(path);
    size_t size = strlen(path) + 16;
    char *name = malloc(size);
    if (name == NULL) {
        (void)fail_memory(why, size);
        return NULL;
    }
    int length = snprintf(name, size, "%.*s.%.*s.", (int)base, path, (int)NAME_MOST, path + base);
    for (int try = 0; try < TRIES; try++) {
        char six[7] = "";
        draw_suffix(six, name, try);
        (void)snprintf(name + length, size - (size_t)length, "%s.tmp", six);
        int fd =
            folder ? mkdir(name, 0777) : open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            if (!folder) {
                (void)close(fd);
            }
            return name;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    (void)fail_errno(why, path, "cannot be written");
    free(name);
    return NULL;
}

lscm_status output_begin(output *out, const char *path, bool folder, bool force, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t length = strlen(path);
    *out = (output){.folder = folder, .force = force};
    while (length > 1 && path[length - 1] == '/') {
        length--;
    }
    out->path = strndup(path, length);
    if (out->path == NULL) {
        status = fail_memory(why, length);
        goto done;
    }
    const char *name = out->path + base_of(out->path);
    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        TRY(fail(why, LSCM_USAGE, "'%s' is not a name for a file or folder to write", path));
    }
    TRY(check_parent(out->path, why));
    TRY(check_place(out->path, folder, force, why));
    out->temporary = make_temporary(out->path, folder, why);
    status = out->temporary != NULL ? LSCM_OK : LSCM_WRITE;
done:
    if (status != LSCM_OK) {
        output_end(out);
    }
    return status;
}

/* link() refuses to replace; file systems without hard links get rename(), which would. */
static lscm_status commit_file(output *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (!out->force && link(out->temporary, out->path) == 0) {
        (void)unlink(out->temporary);
        return LSCM_OK;
    }
    TRY(check_place(out->path, false, out->force, why));
    if (rename(out->temporary, out->path) != 0) {
        TRY(fail_errno(why, out->path, "could not be put in its place"));
    }
done:
    return status;
}

/* rename() replaces an empty folder at most, so an old one is moved away first. */
static lscm_status commit_folder(output *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char *old = NULL;
    char odd[256];
    struct stat info;
    if (lstat(out->path, &info) == 0) {
        TRY(check_place(out->path, true, out->force, why));
        old = make_temporary(out->path, true, why);
        if (old == NULL) {
            return LSCM_WRITE;
        }
        if (rename(out->path, old) != 0) {
            status = fail_errno(why, out->path, "the old folder could not be moved away");
            (void)rmdir(old);
            goto done;
        }
    }
    if (rename(out->temporary, out->path) != 0) {
        status = fail_errno(why, out->path, "could not be put in its place");
        if (old != NULL) {
            (void)rename(old, out->path);
        }
        goto done;
    }
    if (old != NULL && !sweep_folder(old, SWEEP_MEMBERS, odd, sizeof odd)) {
        status = fail(why, LSCM_WRITE, "%s: written, but what was there before is left in '%s'",
                      out->path, old);
    }
    free(out->temporary);
    out->temporary = NULL;
done:
    free(old);
    return status;
}

lscm_status output_commit(output *out, lscm_error *why)
{
    lscm_status status = out->folder ? commit_folder(out, why) : commit_file(out, why);
    if (status == LSCM_OK) {
        free(out->temporary);
        out->temporary = NULL;
    }
    return status;
}

void output_end(output *out)
{
    char odd[256];
    if (out->temporary != NULL && out->folder) {
        (void)sweep_folder(out->temporary, SWEEP_ALL, odd, sizeof odd);
    } else if (out->temporary != NULL) {
        (void)unlink(out->temporary);
    }
    free(out->temporary);
    free(out->path);
    *out = (output){0};
}
