/* Walking over the rows of a field, checked, in blocks of about half a megabyte:
 *
 *     row_blocks walk;
 *     TRY(blocks_begin(&walk, data, LSCM_X, &meter, why));
 *     for (;;) {
 *         TRY(blocks_next(&walk, why));
 *         if (walk.count == 0) { break; }
 *         ... walk.raw holds rows walk.first .. walk.first + walk.count - 1 in their own dtype
 *     }
 *     done: blocks_end(&walk);
 */
#ifndef LSCM_DATA_DATASET_BLOCKS_H
#define LSCM_DATA_DATASET_BLOCKS_H

#include "data/dataset/dataset_handle.h"

/* What a long operation has done so far, over all of its fields; counted in bytes. */
typedef struct meter {
    const lscm_progress *progress; /* may be NULL */
    const char *what;              /* "writing data.nc" */
    uint64_t done, total;
} meter;

/* Total of all streamed fields that are present. */
meter meter_over(const lscm_dataset *data, const lscm_progress *progress, const char *what);
/* Adds and reports; LSCM_STOPPED when the caller wants to stop. */
lscm_status meter_add(meter *m, uint64_t bytes, lscm_error *why);

typedef struct row_blocks {
    const lscm_dataset *data;
    lscm_field field;
    meter *progress;   /* may be NULL */
    size_t block_rows; /* rows per block */
    size_t past;       /* rows before this one */
    size_t first, count;
    bool holes; /* entries of x may be missing: the walker's to set */
    void *raw;  /* (count, row), owned */
} row_blocks;

lscm_status blocks_begin(row_blocks *walk, const lscm_dataset *data, lscm_field field,
                         meter *progress, lscm_error *why);
/* Before the first: only rows [first, past). */
void blocks_within(row_blocks *walk, size_t first, size_t past);
/* The next block, read and checked (dataset_check_rows); count is 0 after the last. */
lscm_status blocks_next(row_blocks *walk, lscm_error *why);
void blocks_end(row_blocks *walk);
/* Rows [first, past) for nothing but the checks. */
lscm_status blocks_check(const lscm_dataset *data, lscm_field field, size_t first, size_t past,
                         meter *progress, lscm_error *why);

#endif
