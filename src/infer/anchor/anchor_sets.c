/* The kept rows of sets with a target, set after set in the order in which they are met. Sets are
 * cut into pieces of at most ANCHOR_PIECE rows; a set that is the only one of a node is halved as
 * well (every second row), so that one half can be predicted from the other.
 */
#include "infer/anchor/anchor_state.h"

#include <stdlib.h>

static void lay_out(row_sets *sets, arena *a, const design *s)
{
    sets->row = arena_take(a, s->rows, sizeof *sets->row);
    sets->set = arena_take(a, s->sets, sizeof *sets->set);
    sets->start = arena_take(a, s->sets + 1, sizeof(size_t));
    sets->samples = arena_take(a, s->d, sizeof(size_t));
    sets->sets_of = arena_take(a, s->d, sizeof(size_t));
    sets->fold = arena_take(a, s->sets, s->d);
    sets->piece = arena_take(a, s->rows / ANCHOR_PIECE + 3 * s->sets, sizeof(row_piece));
}

/* met (sets) is scratch, 0. */
static void list_sets(row_sets *sets, const design *s, const uint8_t *keep, size_t *met)
{
    for (size_t i = 0; i < s->rows; i++) {
        if (row_counts(keep, i) && met[s->set[i]]++ == 0 && !design_untouched(s, s->set[i])) {
            sets->set[sets->sets++] = s->set[i];
        }
    }
    for (size_t k = 0; k < sets->sets; k++) {
        for (size_t at = s->first[sets->set[k]]; at < s->first[sets->set[k] + 1]; at++) {
            sets->row[sets->rows] = s->row[at];
            sets->rows += row_counts(keep, s->row[at]) ? 1 : 0;
        }
        sets->start[k + 1] = sets->rows;
    }
}

static void cut(row_sets *sets, const design *s)
{
    for (size_t k = 0; k < sets->sets; k++) {
        const uint8_t *target = s->target + sets->set[k] * s->d;
        size_t step = 1;
        for (size_t j = 0; j < s->d; j++) {
            step = target[j] != 0 && sets->sets_of[j] == 1 ? 2 : step;
        }
        for (size_t half = 0; half < step; half++) {
            size_t at = sets->start[k] + half;
            while (at < sets->start[k + 1]) {
                size_t left = (sets->start[k + 1] - at + step - 1) / step;
                size_t count = left < ANCHOR_PIECE ? left : ANCHOR_PIECE;
                sets->piece[sets->pieces++] = (row_piece){at, count, step, sets->set[k], half};
                at += count * step;
            }
        }
    }
}

lscm_status row_sets_of(row_sets *out, const design *s, const uint8_t *keep, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    row_sets sets = {0};
    size_t *met = calloc(s->sets + 1, sizeof *met);
    if (met == NULL) {
        status = fail_memory(why, s->sets * sizeof *met);
        goto done;
    }
    lay_out(&sets, &sets.memory, s);
    TRY(arena_open(&sets.memory, why));
    lay_out(&sets, &sets.memory, s);
    list_sets(&sets, s, keep, met);
    hold_out_folds(s, sets.set, sets.sets, ANCHOR_FOLDS, sets.fold);
    design_count(s, keep, sets.samples, sets.sets_of);
    cut(&sets, s);
    *out = sets;
    sets.memory = (arena){0};
done:
    free(met);
    arena_close(&sets.memory);
    return status;
}

void row_sets_close(row_sets *sets)
{
    arena_close(&sets->memory);
}
