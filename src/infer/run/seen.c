#include "infer/run/seen.h"

#include "data/dataset/dataset.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct range {
    double least, most;
} range;

enum { SEEN_SET, SEEN_FREE, SEEN_KINDS };

static void widen(range *r, double value)
{
    if (isfinite(value)) {
        r->least = fmin(r->least, value);
        r->most = fmax(r->most, value);
    }
}

static json_t *range_json(const range *r)
{
    return r->least <= r->most ? json_pack("[f, f]", r->least, r->most) : json_null();
}

/* A block of rows from `first` on; ranges (d, SEEN_KINDS). */
static void take_block(range *ranges, const lscm_posterior *p, size_t first, size_t count,
                       const double *targets, const double *values)
{
    for (size_t k = 0; k < count * p->d; k++) {
        double z = p->z[first * p->d + k];
        bool set = targets[k] != 0;
        range *own = ranges + k % p->d * SEEN_KINDS;
        widen(&own[set ? SEEN_SET : SEEN_FREE], set && values != NULL ? values[k] : z);
    }
}

static lscm_status take_rows(range *ranges, const lscm_dataset *data, const lscm_posterior *p,
                             lscm_error *why)
{
    enum { BLOCK_NUMBERS = 1 << 16 };
    lscm_status status = LSCM_OK;
    bool valued = data->shape[LSCM_VALUES].present;
    size_t most = (size_t)BLOCK_NUMBERS / p->d + 1;
    double *targets = malloc(2 * most * p->d * sizeof *targets);
    if (targets == NULL) {
        return fail_memory(why, 2 * most * p->d * sizeof *targets);
    }
    double *values = targets + most * p->d;
    for (size_t first = 0; first < p->rows; first += most) {
        size_t count = p->rows - first < most ? p->rows - first : most;
        TRY(lscm_dataset_read(data, LSCM_TARGETS, first, count, targets, why));
        if (valued) {
            TRY(lscm_dataset_read(data, LSCM_VALUES, first, count, values, why));
        }
        take_block(ranges, p, first, count, targets, valued ? values : NULL);
    }
done:
    free(targets);
    return status;
}

lscm_status seen_put(json_t *summary, const lscm_dataset *data, const lscm_posterior *p,
                     lscm_error *why)
{
    lscm_status status = LSCM_OK;
    json_t *seen = json_object();
    range *ranges = malloc(p->d * SEEN_KINDS * sizeof *ranges);
    if (ranges == NULL) {
        status = fail_memory(why, p->d * SEEN_KINDS * sizeof *ranges);
        goto done;
    }
    for (size_t k = 0; k < p->d * SEEN_KINDS; k++) {
        ranges[k] = (range){INFINITY, -INFINITY};
    }
    TRY(take_rows(ranges, data, p, why));
    for (size_t i = 0; i < p->d; i++) {
        char number[32];
        const range *own = ranges + i * SEEN_KINDS;
        (void)snprintf(number, sizeof number, "%zu", i);
        (void)json_object_set_new(seen, p->node_names != NULL ? p->node_names[i] : number,
                                  json_pack("{s:o, s:o}", "set", range_json(&own[SEEN_SET]), "free",
                                            range_json(&own[SEEN_FREE])));
    }
    (void)json_object_set(summary, "seen", seen);
done:
    free(ranges);
    json_decref(seen);
    return status;
}
