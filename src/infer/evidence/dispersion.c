#include "infer/evidence/dispersion.h"

#include "data/design/design.h"

#include <stdlib.h>

/* Sets met so far, by a hash of their masks. */
typedef struct mask_slot {
    uint64_t hash;
    bool used;
} mask_slot;

/* The slot of this mask; `slots` when the table is full. */
static size_t find(mask_slot *table, size_t slots, uint64_t hash)
{
    for (size_t k = 0; k < slots; k++) {
        size_t at = (size_t)((hash + k) % slots);
        if (!table[at].used || table[at].hash == hash) {
            table[at] = (mask_slot){hash, true};
            return at;
        }
    }
    return slots;
}

/* F of one node from sums (slots, d) of e, of e^2, and of rows in which the node is free; 0 when
 * there are too few sets to tell. */
static double f_of(const double *sum, const double *squares, const double *rows, size_t slots,
                   size_t d, size_t i, double *dof)
{
    double n = 0;
    double sets = 0;
    double all = 0;
    double between = 0;
    double within = 0;
    for (size_t k = i; k < slots * d; k += d) {
        n += rows[k];
        sets += rows[k] > 0 ? 1 : 0;
        all += sum[k];
    }
    for (size_t k = i; k < slots * d; k += d) {
        if (rows[k] > 0) {
            double mean = sum[k] / rows[k];
            between += rows[k] * (mean - all / n) * (mean - all / n);
            within += squares[k] - rows[k] * mean * mean;
        }
    }
    bool enough = sets >= 3 && n > 2 * sets && within > 0;
    *dof += enough ? sets - 1 : 0;
    return enough ? between / (sets - 1) / (within / (n - sets)) : 0;
}

lscm_status dispersion_of(double *out, double *dof, const anchored_input *in, const double *z,
                          const mechanism_model *model, lscm_error *why)
{
    enum { SLOTS = 4096 };
    lscm_status status = LSCM_OK;
    const linear_view *s = in->view;
    size_t d = s->d;
    double total = 0;
    double nodes = 0;
    double *sum = calloc(3 * (size_t)SLOTS * d, sizeof *sum);
    double *squares = sum + (size_t)SLOTS * d;
    double *rows = squares + (size_t)SLOTS * d;
    mask_slot *table = calloc(SLOTS, sizeof *table);
    *out = 1;
    *dof = 0;
    if (sum == NULL || table == NULL) {
        status = fail_memory(why, 3 * (size_t)SLOTS * d * sizeof *sum);
        goto done;
    }
    for (size_t k = 0; k < s->rows; k++) {
        const uint8_t *mask = s->mask + k * d;
        size_t at = find(table, SLOTS, mask_hash(mask, d, 0)) * d;
        if (at == SLOTS * d) {
            goto done; /* so many sets that rows hardly share one */
        }
        for (size_t i = 0; i < d; i++) {
            if (mask[i] != 0 || (in->keep != NULL && in->keep[k] == 0)) {
                continue;
            }
            double e = mechanism_residual(model, i, z + k * d);
            sum[at + i] += e;
            squares[at + i] += e * e;
            rows[at + i] += 1;
        }
    }
    for (size_t i = 0; i < d; i++) {
        double f = f_of(sum, squares, rows, SLOTS, d, i, dof);
        total += f;
        nodes += f > 0 ? 1 : 0;
    }
    *out = nodes > 0 ? total / nodes : 1;
done:
    free(sum);
    free(table);
    return status;
}
