/* The checkpoint of a run while it goes on. */
#ifndef LSCM_INFER_RUN_RUN_FILES_H
#define LSCM_INFER_RUN_RUN_FILES_H

#include "base/status.h"

/* One atomic file of `bytes` bytes with a fingerprint of what made it and a checksum. */
lscm_status checkpoint_write(const char *folder, uint64_t fingerprint, const void *state,
                             size_t bytes, lscm_error *why);
/* LSCM_MISSING when there is none; LSCM_USAGE when it was made by other data or settings. */
lscm_status checkpoint_read(const char *folder, uint64_t fingerprint, void *state, size_t bytes,
                            lscm_error *why);
void checkpoint_remove(const char *folder);
/* 64 bits of any bytes, to be chained. */
uint64_t fingerprint_add(uint64_t fingerprint, const void *bytes, size_t count);

#endif
