/* Rows by intervention set (distinct mask), sets in the order of their first row, rows ascending
 * inside. Sets are cut into pieces of at most ANCHOR_PIECE rows; a set that is the only one of a
 * node is halved as well (every second row), so that one half can be predicted from the other.
 * Linear in the number of rows.
 */
#include "data/design/design.h"
#include "infer/anchor/anchor_state.h"

#include <string.h>

typedef struct numbering {
    size_t slots;
    size_t *slot;   /* (slots): 1 + number of a set, 0 when free; slots a power of two */
    size_t *first;  /* (rows): a row of each set */
    size_t *set_of; /* (rows): set of a row; SIZE_MAX when it is in none */
} numbering;

static void lay_out_numbering(numbering *w, arena *a, size_t rows)
{
    w->slots = 2;
    while (w->slots < 2 * rows) {
        w->slots *= 2;
    }
    w->slot = arena_take(a, w->slots, sizeof(size_t));
    w->first = arena_take(a, rows, sizeof(size_t));
    w->set_of = arena_take(a, rows, sizeof(size_t));
}

/* Numbers the rows; returns the number of sets. */
static size_t number_rows(numbering *w, const linear_view *s, const uint8_t *keep)
{
    size_t d = s->d;
    size_t count = 0;
    size_t before = SIZE_MAX; /* the last row that has a set: often of the same one */
    for (size_t i = 0; i < s->rows; i++) {
        const uint8_t *mask = s->mask + i * d;
        w->set_of[i] = SIZE_MAX;
        if ((keep != NULL && keep[i] == 0) || memchr(mask, 1, d) == NULL) {
            continue;
        }
        if (before != SIZE_MAX && memcmp(mask, s->mask + before * d, d) == 0) {
            w->set_of[i] = w->set_of[before];
        } else {
            size_t at = (size_t)mask_hash(mask, d, 0) & (w->slots - 1);
            while (w->slot[at] != 0 &&
                   memcmp(s->mask + w->first[w->slot[at] - 1] * d, mask, d) != 0) {
                at = (at + 1) & (w->slots - 1);
            }
            if (w->slot[at] == 0) {
                w->first[count] = i;
                w->slot[at] = ++count;
            }
            w->set_of[i] = w->slot[at] - 1;
        }
        before = i;
    }
    return count;
}

static void lay_out(row_sets *sets, arena *a, size_t d)
{
    sets->row = arena_take(a, sets->rows, sizeof(size_t));
    sets->start = arena_take(a, sets->sets + 1, sizeof(size_t));
    sets->samples = arena_take(a, d, sizeof(size_t));
    sets->sets_of = arena_take(a, d, sizeof(size_t));
    sets->piece = arena_take(a, sets->rows / ANCHOR_PIECE + 3 * sets->sets, sizeof(row_piece));
}

/* Counting sort: start gets the ends of the sets before it, then moves to them. */
static void sort_rows(row_sets *sets, const numbering *w, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        if (w->set_of[i] != SIZE_MAX) {
            sets->start[w->set_of[i] + 1]++;
        }
    }
    for (size_t k = 0; k < sets->sets; k++) {
        sets->start[k + 1] += sets->start[k];
    }
    for (size_t i = rows; i-- > 0;) {
        if (w->set_of[i] != SIZE_MAX) {
            sets->row[--sets->start[w->set_of[i] + 1]] = i;
        }
    }
    memmove(sets->start, sets->start + 1, sets->sets * sizeof(size_t));
    sets->start[sets->sets] = sets->rows;
}

static void cut(row_sets *sets, const linear_view *s)
{
    for (size_t k = 0; k < sets->sets; k++) {
        const uint8_t *mask = s->mask + sets->row[sets->start[k]] * s->d;
        size_t rows = sets->start[k + 1] - sets->start[k];
        for (size_t j = 0; j < s->d; j++) {
            sets->samples[j] += mask[j] != 0 ? rows : 0;
            sets->sets_of[j] += mask[j] != 0 ? 1 : 0;
        }
    }
    for (size_t k = 0; k < sets->sets; k++) {
        const uint8_t *mask = s->mask + sets->row[sets->start[k]] * s->d;
        size_t step = 1;
        for (size_t j = 0; j < s->d; j++) {
            step = mask[j] != 0 && sets->sets_of[j] == 1 ? 2 : step;
        }
        for (size_t half = 0; half < step; half++) {
            size_t at = sets->start[k] + half;
            while (at < sets->start[k + 1]) {
                size_t left = (sets->start[k + 1] - at + step - 1) / step;
                size_t count = left < ANCHOR_PIECE ? left : ANCHOR_PIECE;
                sets->piece[sets->pieces++] = (row_piece){at, count, step, k, half};
                at += count * step;
            }
        }
    }
}

lscm_status row_sets_of(row_sets *out, const linear_view *s, const uint8_t *keep, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    row_sets sets = {0};
    arena scratch = {0};
    numbering w = {0};
    lay_out_numbering(&w, &scratch, s->rows);
    TRY(arena_open(&scratch, why));
    lay_out_numbering(&w, &scratch, s->rows);
    sets.sets = number_rows(&w, s, keep);
    for (size_t i = 0; i < s->rows; i++) {
        sets.rows += w.set_of[i] != SIZE_MAX ? 1 : 0;
    }
    lay_out(&sets, &sets.memory, s->d);
    TRY(arena_open(&sets.memory, why));
    lay_out(&sets, &sets.memory, s->d);
    sort_rows(&sets, &w, s->rows);
    cut(&sets, s);
    *out = sets;
    sets.memory = (arena){0};
done:
    arena_close(&sets.memory);
    arena_close(&scratch);
    return status;
}

void row_sets_close(row_sets *sets)
{
    arena_close(&sets->memory);
}
