/* Features that never change (the black around a picture) tell nothing about z: the network is
 * spared them, and the stored decoder says them by its last bias. */
#include "infer/biols/biols_state.h"

#include <math.h>
#include <string.h>

/* Notes which of the n rows of x (n, features) differ from the first row of all. */
static void compare(biols *b, size_t n, const double *x, bool *moves)
{
    for (size_t r = 0; r < n; r++) {
        for (size_t i = 0; i < b->features; i++) {
            moves[i] = moves[i] || !(x[r * b->features + i] == b->still[i]);
        }
    }
}

static double *lay_out(biols *b, arena *a, size_t block, bool **moves)
{
    b->kept = arena_take(a, b->features, sizeof *b->kept);
    b->still = arena_take(a, b->features, sizeof *b->still);
    *moves = arena_take(a, b->features, sizeof **moves);
    return arena_take(a, block * b->features, sizeof(double));
}

lscm_status biols_find_still(biols *b, const lscm_dataset *data, lscm_error *why)
{
    enum { BLOCK = 256 };
    lscm_status status = LSCM_OK;
    bool *moves = NULL;
    (void)lay_out(b, &b->columns, BLOCK, &moves);
    TRY(arena_open(&b->columns, why));
    double *x = lay_out(b, &b->columns, BLOCK, &moves);
    TRY(lscm_dataset_read(data, LSCM_X, 0, 1, b->still, why));
    for (size_t first = 0; first < b->N; first += BLOCK) {
        size_t n = b->N - first < BLOCK ? b->N - first : BLOCK;
        TRY(lscm_dataset_read(data, LSCM_X, first, n, x, why));
        compare(b, n, x, moves);
    }
    b->D = 0;
    for (size_t i = 0; i < b->features; i++) {
        if (moves[i]) {
            b->kept[b->D++] = i;
        }
    }
    if (b->D == 0) {
        status = fail(why, LSCM_VALUE, "%s: all rows of 'x' are the same", data->path);
    }
done:
    return status;
}

/* What the last bias must be for the decoder to give c. */
static double bias_for(const biols *b, double c)
{
    const double least = 1e-9; /* a sigmoid never reaches 0 or 1 */
    if (b->settings.decoder != LSCM_DECODER_IMAGE) {
        return c;
    }
    c = fmin(fmax(c, least), 1 - least);
    return log(c / (1 - c));
}

void biols_put_last(const biols *b, const float *last, double *matrix, double *bias)
{
    size_t hidden = b->shape.layer[b->shape.layers - 1].in;
    memset(matrix, 0, hidden * b->features * sizeof *matrix);
    for (size_t h = 0; h < hidden; h++) {
        for (size_t k = 0; k < b->D; k++) {
            matrix[h * b->features + b->kept[k]] = (double)last[h * b->D + k];
        }
    }
    if (b->D < b->features) {
        for (size_t i = 0; i < b->features; i++) {
            bias[i] = bias_for(b, b->still[i]);
        }
        for (size_t k = 0; k < b->D; k++) {
            bias[b->kept[k]] = 0;
        }
    }
}
