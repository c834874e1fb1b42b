/* Who takes which rows, and the calls between the leader and the others: see split.h. */
#include "data/dataset/split.h"

stretches split_rows(size_t rows, size_t block, size_t most)
{
    size_t blocks = (rows + block - 1) / block;
    size_t each = (blocks + most - 1) / most;
    stretches s = {.rows = rows, .length = (each > 0 ? each : 1) * block};
    s.count = (rows + s.length - 1) / s.length;
    return s;
}

int split_rank(const team *t)
{
    return t != NULL ? lscm_comm_rank(t->comm) : 0;
}

int split_size(const team *t)
{
    return t != NULL ? lscm_comm_size(t->comm) : 1;
}

row_share split_share(const team *t, int rank, stretches s)
{
    size_t size = (size_t)split_size(t);
    size_t k = (size_t)rank;
    row_share share = {.from = s.count * k / size, .past = s.count * (k + 1) / size};
    share.first = share.from * s.length;
    share.end = share.past * s.length < s.rows ? share.past * s.length : s.rows;
    return share;
}

lscm_status split_call(team *t, split_job job, lscm_error *why)
{
    int number = (int)job;
    return split_size(t) > 1 ? comm_broadcast(t->comm, &number, sizeof number, why) : LSCM_OK;
}

lscm_status split_end(team *t, lscm_status status, lscm_error *why)
{
    lscm_error broken = {0};
    if (split_size(t) == 1) {
        return status;
    }
    if (split_call(t, SPLIT_END, &broken) != LSCM_OK) {
        return status; /* nobody is there to be told */
    }
    return lscm_comm_agree(t->comm, status, why);
}

static uint64_t mark_of(const lscm_dataset *data)
{
    uint64_t mark = 14695981039346656037U;
    const size_t shape[3] = {data->rows, data->nodes, lscm_dataset_features(data)};
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
        mark = (mark ^ shape[i]) * 1099511628211U;
    }
    for (const char *at = data->path; *at != '\0'; at++) {
        mark = (mark ^ (unsigned char)*at) * 1099511628211U;
    }
    return mark;
}

lscm_status split_begin(const lscm_dataset *data, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_comm *comm = data->team != NULL ? data->team->comm : NULL;
    uint64_t mark = mark_of(data);
    TRY(comm_broadcast(comm, &mark, sizeof mark, why));
    if (mark != mark_of(data)) {
        status = fail(why, LSCM_USAGE,
                      "%s: processes that were started together must open the same data; start "
                      "fits of different data one by one",
                      data->path);
    }
    status = lscm_comm_agree(comm, status, why);
done:
    return status;
}

lscm_status split_serve(const lscm_dataset *data, const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    static lscm_status (*const jobs[])(const lscm_dataset *, meter *, lscm_error *) = {
        [SPLIT_CHECK] = check_assist,
        [SPLIT_LABELS] = signal_labels_assist,
        [SPLIT_SIGNAL] = signal_reduce_assist,
        [SPLIT_MOMENTS] = moments_assist,
    };
    meter m = meter_over(data, progress, "reading");
    for (;;) {
        int job = SPLIT_END;
        TRY(comm_broadcast(data->team->comm, &job, sizeof job, why));
        if (job == SPLIT_END) {
            return lscm_comm_agree(data->team->comm, LSCM_OK, why);
        }
        /* a failure is the leader's to act on: all have agreed on it */
        status = jobs[job](data, &m, why);
        if (status == LSCM_PEER) {
            break;
        }
    }
done:
    return status;
}
