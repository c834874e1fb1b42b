/* Room on the disk for a netCDF file, before it is written: HDF5 does not survive a full disk (it
 * can end the whole program when it closes a file whose last bytes do not fit), so it must not meet
 * one. Where the file system cannot reserve space, nothing is reserved and nothing promised. */
#define _GNU_SOURCE /* fallocate; posix_fallocate would fill the file byte by byte instead */
#include "data/netcdf/netcdf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

lscm_status netcdf_reserve(const netcdf_file *file, const char *to, uint64_t bytes, bool quietly,
                           lscm_error *why)
{
    int fd = open(to, O_WRONLY | O_CLOEXEC);
    int code = fd < 0 ? errno : EINTR;
    while (code == EINTR) {
        int done = fallocate(fd, quietly ? FALLOC_FL_KEEP_SIZE : 0, 0, (off_t)bytes);
        code = done == 0 ? 0 : errno;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    if (code == 0 || code == EOPNOTSUPP || code == ENOSYS || code == EINVAL || code == ENODEV) {
        return LSCM_OK;
    }
    return fail(why, LSCM_WRITE, "%s: there is no room for %.1f MB (%s); free some space",
                file->path, (double)bytes / 1e6, strerror(code));
}

void netcdf_release(const char *to)
{
    struct stat info;
    if (stat(to, &info) == 0) {
        (void)!truncate(to, info.st_size); /* what lies behind the end of the file */
    }
}
