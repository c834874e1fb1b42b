/* What is spread over memory as one run of bytes, and back: the state of a computation for a
 * checkpoint. Whoever has it lists it, in an order that never changes. */
#ifndef LSCM_BASE_PIECES_H
#define LSCM_BASE_PIECES_H

#include <stddef.h>

typedef struct piece {
    void *at;
    size_t bytes;
} piece;

size_t pieces_bytes(const piece *pieces, size_t count);
void pieces_get(const piece *pieces, size_t count, void *out);
void pieces_set(const piece *pieces, size_t count, const void *from);

#endif
