/* An NPZ file being written: NPY entries stored one after the other, zip64 where they are large,
 * dated 1980 so that the same arrays give the same bytes.
 *
 *     TRY(npz_writer_open(&writer, to, "writing data.npz", why));
 *     TRY(npz_writer_add(writer, "w", npy_stream_of_memory(header, w), why));
 *     TRY(npz_writer_finish(writer, why));
 *     done: npz_writer_close(writer);
 */
#ifndef LSCM_DATA_NPY_NPZ_WRITER_H
#define LSCM_DATA_NPY_NPZ_WRITER_H

#include "data/npy/npy_dataset.h"

enum { NPZ_ENTRIES = 24, NPZ_TEXTS = 4 }; /* at most */

typedef struct npz_writer npz_writer;

/* `what` opens every sentence, and stays the caller's. */
lscm_status npz_writer_open(npz_writer **out, const char *to, const char *what, lscm_error *why);
/* Nothing is read from the stream before npz_writer_finish. */
lscm_status npz_writer_add(npz_writer *writer, const char *name, npy_stream stream,
                           lscm_error *why);
/* `count` texts as an array of one dimension or none; nothing when `texts` is NULL. */
lscm_status npz_writer_add_texts(npz_writer *writer, const char *name, char *const *texts, int ndim,
                                 size_t count, lscm_error *why);
/* Writes the file. */
lscm_status npz_writer_finish(npz_writer *writer, lscm_error *why);
void npz_writer_close(npz_writer *writer); /* NULL is fine */

#endif
