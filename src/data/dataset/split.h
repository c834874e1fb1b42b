/* A pass over the rows of a data set, split between the processes of a job that all have it open.
 * Process 0 leads: it alone fits, and calls the others in for a pass. Until then they wait.
 *
 *     process 0                                the others, in split_serve
 *     split_call(job), what the job needs  ->  the same
 *     its own rows                             their own rows
 *     lscm_comm_agree                     <->  lscm_comm_agree
 *     their results, in order of rank     <-   results
 *     split_end(status)                    ->  return that status
 *
 * Rows are cut into stretches, in the same way for any number of processes; sums are made stretch
 * by stretch and added in the order of the rows. So they are the same, to the last bit, for any
 * number of processes on like machines.
 */
#ifndef LSCM_DATA_DATASET_SPLIT_H
#define LSCM_DATA_DATASET_SPLIT_H

#include "backend/comm.h"
#include "data/dataset/blocks.h"

typedef struct team {
    lscm_comm *comm;
    size_t passes; /* over x that were split */
} team;

typedef enum split_job {
    SPLIT_END,
    SPLIT_CHECK,  /* check_pass.c */
    SPLIT_LABELS, /* linear_view_labels.c */
    SPLIT_SIGNAL, /* linear_view_stream.c */
    SPLIT_MOMENTS /* moments.c */
} split_job;

enum { SPLIT_STRETCHES = 64 };

/* Stretches of `length` rows, the last may be shorter. */
typedef struct stretches {
    size_t rows, length, count;
} stretches;

/* The stretches [from, past) of a process, and their rows [first, end). */
typedef struct row_share {
    size_t from, past;
    size_t first, end;
} row_share;

/* At most `most` stretches, their length a multiple of `block`. */
stretches split_rows(size_t rows, size_t block, size_t most);
/* What a process of the team takes: all, without one. */
row_share split_share(const team *t, int rank, stretches s);
int split_rank(const team *t);
int split_size(const team *t);

/* The leader's: others are called to a job, or sent home with the status of the whole, which they
 * and the leader return. Without a team nothing happens. */
lscm_status split_call(team *t, split_job job, lscm_error *why);
lscm_status split_end(team *t, lscm_status status, lscm_error *why);
/* The others': jobs of the leader until the end. */
lscm_status split_serve(const lscm_dataset *data, const lscm_progress *progress, lscm_error *why);
/* Both: fails where the processes have opened different data. */
lscm_status split_begin(const lscm_dataset *data, lscm_error *why);

/* All rows of x, targets and values as dataset_check_rows has it. */
lscm_status check_pass(const lscm_dataset *data, const lscm_progress *progress, lscm_error *why);

/* What the others do in a job; each is beside what the leader does. */
lscm_status check_assist(const lscm_dataset *data, meter *m, lscm_error *why);
lscm_status signal_labels_assist(const lscm_dataset *data, meter *m, lscm_error *why);
lscm_status signal_reduce_assist(const lscm_dataset *data, meter *m, lscm_error *why);
lscm_status moments_assist(const lscm_dataset *data, meter *m, lscm_error *why);

#endif
