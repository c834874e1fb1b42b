#include "data/design/hold_out.h"
#include "base/streams.h"

#include "base/rng.h"
#include "base/tuned.h"
#include "data/design/mask_rows.h"

#include <stdlib.h>
#include <string.h>

lscm_status hold_out(const uint8_t *mask, size_t rows, size_t d, uint64_t seed, uint8_t *held,
                     size_t *sets, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const size_t one_in = tuned_held_out_one_in();
    rng pick = stream_of(seed, STREAM_HOLD_OUT);
    mask_row *order = calloc(rows, sizeof *order);
    if (order == NULL) {
        status = fail_memory(why, rows * sizeof *order);
        goto done;
    }
    memset(sets, 0, d * sizeof *sets);
    for (size_t n = 0; n < rows; n++) {
        order[n] = (mask_row){mask_hash(mask + n * d, d, seed), n};
    }
    mask_rows_sort(order, rows);
    for (size_t n = 0; n < rows; n++) {
        bool begins = n == 0 || order[n].hash != order[n - 1].hash;
        for (size_t j = 0; j < d && begins; j++) {
            sets[j] += mask[order[n].row * d + j];
        }
    }
    for (size_t n = 0, set = 0; n < rows; n++) {
        set += n > 0 && order[n].hash != order[n - 1].hash ? 1 : 0;
        for (size_t j = 0; j < d; j++) {
            size_t at = order[n].row * d + j;
            uint64_t index = (sets[j] >= one_in ? set : rows + order[n].row) * d + j;
            held[at] = mask[at] != 0 && rng_uniform(pick, 2 * index) * (double)one_in < 1;
        }
    }
done:
    free(order);
    return status;
}
