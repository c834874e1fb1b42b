/* All rows of x, targets and values, each checked, by all processes of the data's team; the first
 * fault by rank is named. */
#include "data/dataset/split.h"

static lscm_status check_share(const lscm_dataset *data, meter *m, lscm_error *why)
{
    static const lscm_field fields[] = {LSCM_TARGETS, LSCM_X, LSCM_VALUES};
    lscm_status status = LSCM_OK;
    row_share share =
        split_share(data->team, split_rank(data->team), split_rows(data->rows, 1, data->rows));
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (data->shape[fields[i]].present) {
            TRY(blocks_check(data, fields[i], share.first, share.end, m, why));
        }
    }
done:
    return status;
}

lscm_status check_assist(const lscm_dataset *data, meter *m, lscm_error *why)
{
    return lscm_comm_agree(data->team->comm, check_share(data, m, why), why);
}

lscm_status check_pass(const lscm_dataset *data, const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    meter m = meter_over(data, progress, "checking");
    m.total /= (uint64_t)split_size(data->team);
    TRY(split_call(data->team, SPLIT_CHECK, why));
    status = check_share(data, &m, why);
    if (data->team != NULL) {
        TRY(lscm_comm_agree(data->team->comm, status, why));
    }
done:
    return status;
}
