#include "infer/problem/anchored_draws.h"

void anchored_close(anchored *a)
{
    arena_close(&a->noise_memory);
    arena_close(&a->bent_memory);
    anchor_close(&a->anchor);
    arena_close(&a->memory);
    arena_close(&a->rows_memory);
}
