#include "infer/run/trainee.h"

size_t trainee_bytes(const trainee *t)
{
    piece pieces[PIECES];
    return pieces_bytes(pieces, t->pieces(t->self, pieces));
}

lscm_status trainee_get(const trainee *t, void *state, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    piece pieces[PIECES];
    size_t count = t->pieces(t->self, pieces);
    if (t->collect != NULL) {
        TRY(t->collect(t->self, why));
    }
    pieces_get(pieces, count, state);
done:
    return status;
}

void trainee_set(const trainee *t, const void *state)
{
    piece pieces[PIECES];
    size_t count = t->pieces(t->self, pieces);
    pieces_set(pieces, count, state);
    if (t->restored != NULL) {
        t->restored(t->self);
    }
}
