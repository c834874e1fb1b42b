#include "data/npy/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static const char *folder(void)
{
    const char *named = getenv("TMPDIR");
    return named != NULL && named[0] != '\0' ? named : "/tmp";
}

static void size_text(char *out, size_t size, uint64_t bytes)
{
    bool giga = bytes >= 1000000000U;
    (void)snprintf(out, size, "%.1f %s", (double)bytes / (giga ? 1e9 : 1e6), giga ? "GB" : "MB");
}

static lscm_status check_space(uint64_t bytes, const char *where, lscm_error *why)
{
    struct statvfs disk;
    uint64_t there = 0;
    if (statvfs(folder(), &disk) != 0) {
        return fail(why, LSCM_READ, "%s must be inflated to disk, but %s: %s; set TMPDIR", where,
                    folder(), strerror(errno));
    }
    if (__builtin_mul_overflow((uint64_t)disk.f_bavail, (uint64_t)disk.f_frsize, &there) ||
        there >= bytes) {
        return LSCM_OK;
    }
    char need[32];
    char have[32];
    size_text(need, sizeof need, bytes);
    size_text(have, sizeof have, there);
    return fail(why, LSCM_READ, "%s inflates to %s but only %s are free in %s; set TMPDIR", where,
                need, have, folder());
}

lscm_status spool_open(int *fd, uint64_t bytes, const char *where, lscm_error *why)
{
    static const char name[] = "lscm-XXXXXX";
    lscm_status status = LSCM_OK;
    size_t size = strlen(folder()) + 1 + sizeof name;
    char *path = malloc(size);
    *fd = -1;
    if (path == NULL) {
        return fail_memory(why, size);
    }
    TRY(check_space(bytes, where, why));
    (void)snprintf(path, size, "%s/%s", folder(), name);
    *fd = mkstemp(path);
    if (*fd < 0) {
        TRY(fail(why, LSCM_READ, "%s must be inflated to disk, but %s: %s; set TMPDIR", where,
                 folder(), strerror(errno)));
    }
    (void)unlink(path);
    (void)fcntl(*fd, F_SETFD, FD_CLOEXEC);
done:
    free(path);
    return status;
}

lscm_status spool_write(int fd, const void *from, size_t bytes, const char *where, lscm_error *why)
{
    const char *at = from;
    while (bytes > 0) {
        ssize_t n = write(fd, at, bytes);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return fail(why, LSCM_READ, "%s must be inflated to disk, but %s: %s; set TMPDIR",
                        where, folder(), strerror(errno));
        }
        at += n;
        bytes -= (size_t)n;
    }
    return LSCM_OK;
}
