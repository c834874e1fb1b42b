/* A temporary file without a name, for what must be inflated before it can be read in any order. */
#ifndef LSCM_DATA_NPY_SPOOL_H
#define LSCM_DATA_NPY_SPOOL_H

#include "base/status.h"

/* Opens it in $TMPDIR, or /tmp, after making sure that `bytes` are free there. It goes away when fd
 * is closed. */
lscm_status spool_open(int *fd, uint64_t bytes, const char *where, lscm_error *why);
lscm_status spool_write(int fd, const void *from, size_t bytes, const char *where, lscm_error *why);

#endif
