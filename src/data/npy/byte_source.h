/* Bytes at any position of a plain file or of an entry of a zip file, read straight into the
 * caller's memory.
 *
 *     plain file     pread
 *     stored entry   libzip, which can go anywhere in it
 *     deflated       inflated going forward; going back inflates it once into an unlinked temporary
 *                    file, and preads from there
 *
 * An entry that was read through to its end has been checked: its length and its checksum.
 */
#ifndef LSCM_DATA_NPY_BYTE_SOURCE_H
#define LSCM_DATA_NPY_BYTE_SOURCE_H

#include "base/status.h"

#include <zip.h>

typedef struct byte_source byte_source;

/* Opens a regular file to read: its descriptor and size. Folders, devices and the like are refused,
 * and nothing waits for a pipe. `where` opens the sentence. */
lscm_status open_regular(const char *path, const char *where, int *fd, uint64_t *size,
                         lscm_error *why);

/* `where` ("data.npz: 'x'") opens every sentence and is copied. */
lscm_status byte_source_file(byte_source **out, const char *path, const char *where,
                             lscm_error *why);
/* The zip stays open as long as the source. */
lscm_status byte_source_entry(byte_source **out, zip_t *zip, zip_uint64_t index, const char *where,
                              lscm_error *why);
const char *byte_source_where(const byte_source *source);
uint64_t byte_source_size(const byte_source *source);

lscm_status byte_source_read(byte_source *source, uint64_t at, void *out, size_t bytes,
                             lscm_error *why);
/* Says that reading will go back and forth, so that what must be inflated is inflated now. */
lscm_status byte_source_scatter(byte_source *source, lscm_error *why);
void byte_source_close(byte_source *source); /* NULL is fine */

#endif
