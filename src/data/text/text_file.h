/* A file of text that is read forward, or again from its beginning: as it is, or packed by gzip
 * (known by its first bytes, whatever it is called).
 */
#ifndef LSCM_DATA_TEXT_TEXT_FILE_H
#define LSCM_DATA_TEXT_TEXT_FILE_H

#include "base/status.h"

typedef struct text_file text_file;

/* *out is NULL when that fails; `path` must outlive it. */
lscm_status text_file_open(text_file **out, const char *path, lscm_error *why);
/* Up to `size` bytes; *count is less only at the end. */
lscm_status text_file_read(text_file *file, char *out, size_t size, size_t *count, lscm_error *why);
lscm_status text_file_rewind(text_file *file, lscm_error *why);
/* NULL is fine. */
void text_file_close(text_file *file);

#endif
