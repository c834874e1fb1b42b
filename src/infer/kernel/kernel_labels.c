/* Which rows label which node, and which of them are held out: whole intervention sets (distinct
 * masks) in a random order, as long as at least half of the set's nodes have not yet a fifth of
 * their sets there; then one for every node that has none. Nodes with fewer than 5 sets have one
 * row in five held out instead.
 */
#include "base/streams.h"
#include "base/tuned.h"
#include "data/design/design.h"
#include "infer/kernel/kernel_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SMALL = 1e-12; /* variance of labels, of their mean square: they are constant */

static void lay_out(kernel_labels *l, arena *a)
{
    size_t d = l->f->d;
    l->role = arena_take(a, l->f->rows * d, 1);
    l->usable = arena_take(a, d, sizeof *l->usable);
    l->count = arena_take(a, d, sizeof *l->count);
    l->held = arena_take(a, d, sizeof *l->held);
    l->mean = arena_take(a, d, sizeof *l->mean);
    l->variance = arena_take(a, d, sizeof *l->variance);
}

/* count, held, mean, variance and usable of all nodes from their roles; nodes that cannot be used
 * lose theirs. */
static void count_all(kernel_labels *l)
{
    const features *f = l->f;
    for (size_t j = 0; j < f->d; j++) {
        double first = 0;
        double sum = 0;
        double squares = 0;
        l->count[j] = 0;
        l->held[j] = 0;
        for (size_t row = 0; row < f->rows; row++) {
            uint8_t role = l->role[row * f->d + j];
            double v = f->values[row * f->d + j];
            if (role == 0) {
                continue;
            }
            first = l->count[j] == 0 ? v : first;
            l->count[j]++;
            l->held[j] += role == KERNEL_HELD ? 1 : 0;
            sum += v - first; /* about one of them: offsets do not cancel */
            squares += (v - first) * (v - first);
        }
        double n = fmax((double)l->count[j], 1);
        l->mean[j] = first + sum / n;
        l->variance[j] = fmax(squares / n - sum / n * (sum / n), 0);
        double size = l->mean[j] * l->mean[j] + l->variance[j];
        l->usable[j] = l->count[j] >= tuned_kernel_least_labels() && l->variance[j] > SMALL * size;
        for (size_t row = 0; row < f->rows && !l->usable[j]; row++) {
            l->role[row * f->d + j] = 0;
        }
    }
}

typedef struct sets {
    mask_row *row;  /* (rows), by set */
    size_t *start;  /* (count + 1) */
    size_t count;   /* sets with a target */
    size_t *of;     /* (d): sets of a node */
    size_t *out;    /* (d): of these, held out */
    uint8_t *taken; /* (count): held out */
} sets;

static lscm_status sets_open(sets *s, arena *a, const features *f, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (int placing = 0; placing < 2; placing++) {
        if (placing) {
            TRY(arena_open(a, why));
        }
        s->row = arena_take(a, f->rows, sizeof *s->row);
        s->start = arena_take(a, f->rows + 1, sizeof *s->start);
        s->of = arena_take(a, f->d, sizeof *s->of);
        s->out = arena_take(a, f->d, sizeof *s->out);
        s->taken = arena_take(a, f->rows, 1);
    }
done:
    return status;
}

static const uint8_t *mask_of(const sets *s, const features *f, size_t set)
{
    return f->mask + s->row[s->start[set]].row * f->d;
}

static void find_sets(sets *s, const features *f, uint64_t seed)
{
    size_t rows = 0;
    for (size_t row = 0; row < f->rows; row++) {
        const uint8_t *mask = f->mask + row * f->d;
        if (memchr(mask, 1, f->d) != NULL) {
            s->row[rows++] = (mask_row){mask_hash(mask, f->d, seed), row};
        }
    }
    mask_rows_sort(s->row, rows);
    for (size_t k = 0; k < rows; k++) {
        if (k == 0 || s->row[k].hash != s->row[k - 1].hash) {
            s->start[s->count++] = k;
        }
    }
    s->start[s->count] = rows;
    for (size_t set = 0; set < s->count; set++) {
        for (size_t j = 0; j < f->d; j++) {
            s->of[j] += mask_of(s, f, set)[j];
        }
    }
}

static void take(sets *s, const features *f, size_t set)
{
    s->taken[set] = 1;
    for (size_t j = 0; j < f->d; j++) {
        s->out[j] += mask_of(s, f, set)[j];
    }
}

static void hold_sets(sets *s, const features *f)
{
    for (size_t set = 0; set < s->count; set++) {
        const uint8_t *mask = mask_of(s, f, set);
        size_t in_need = 0;
        size_t nodes = 0;
        for (size_t j = 0; j < f->d; j++) {
            bool many = mask[j] != 0 && s->of[j] >= tuned_kernel_few_sets();
            nodes += many ? 1 : 0;
            in_need += many && s->out[j] < s->of[j] / tuned_kernel_held_one_in() ? 1 : 0;
        }
        if (nodes > 0 && 2 * in_need >= nodes) {
            take(s, f, set);
        }
    }
    for (size_t j = 0; j < f->d; j++) {
        for (size_t set = 0;
             set < s->count && s->of[j] >= tuned_kernel_few_sets() && s->out[j] == 0; set++) {
            if (mask_of(s, f, set)[j] != 0) {
                take(s, f, set);
            }
        }
    }
}

static void give_roles(kernel_labels *l, const sets *s, uint64_t seed)
{
    const features *f = l->f;
    for (size_t set = 0; set < s->count; set++) {
        for (size_t k = s->start[set]; k < s->start[set + 1]; k++) {
            size_t row = s->row[k].row;
            for (size_t j = 0; j < f->d; j++) {
                uint8_t role = s->taken[set] != 0 && s->of[j] >= tuned_kernel_few_sets()
                                   ? KERNEL_HELD
                                   : KERNEL_TRAIN;
                l->role[row * f->d + j] = f->mask[row * f->d + j] != 0 ? role : 0;
            }
        }
    }
    rng r = stream_of(seed, STREAM_KERNEL_LABELS);
    for (size_t j = 0; j < f->d; j++) {
        size_t seen = 0;
        uint64_t pick = 0;
        for (size_t row = 0; row < f->rows && s->of[j] < tuned_kernel_few_sets(); row++) {
            uint8_t *role = l->role + row * f->d + j;
            if (*role == 0) {
                continue;
            }
            if (seen % tuned_kernel_held_one_in() == 0) { /* one of the next five */
                pick = rng_below(r, j * f->rows + seen, tuned_kernel_held_one_in());
            }
            *role = seen % tuned_kernel_held_one_in() == pick ? KERNEL_HELD : KERNEL_TRAIN;
            seen++;
        }
    }
}

lscm_status kernel_labels_of(kernel_labels *out, const features *f, uint64_t seed, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    kernel_labels l = {.f = f};
    arena scratch = {0};
    sets s = {0};
    lay_out(&l, &l.memory);
    TRY(arena_open(&l.memory, why));
    lay_out(&l, &l.memory);
    TRY(sets_open(&s, &scratch, f, why));
    find_sets(&s, f, seed);
    hold_sets(&s, f);
    give_roles(&l, &s, seed);
    count_all(&l);
    *out = l;
    l.memory = (arena){0};
done:
    arena_close(&scratch);
    arena_close(&l.memory);
    return status;
}

void kernel_labels_close(kernel_labels *l)
{
    arena_close(&l->memory);
}

void kernel_labels_lit(kernel_labels *l, const kernel_space *s, const double *radius)
{
    for (size_t row = 0; row < l->f->rows; row++) {
        if (!kernel_lit(s, radius[row])) {
            memset(l->role + row * l->f->d, 0, l->f->d);
        }
    }
    count_all(l);
}

void kernel_labels_only(kernel_labels *l, const uint32_t *rows, size_t n)
{
    for (size_t row = 0, k = 0; row < l->f->rows; row++) {
        if (k < n && rows[k] == row) {
            k++;
        } else {
            memset(l->role + row * l->f->d, 0, l->f->d);
        }
    }
    count_all(l);
}

size_t kernel_labels_rows(const kernel_labels *l, size_t j, unsigned roles, uint32_t *rows)
{
    size_t n = 0;
    for (size_t row = 0; row < l->f->rows; row++) {
        if ((l->role[row * l->f->d + j] & roles) != 0) {
            rows[n++] = (uint32_t)row;
        }
    }
    return n;
}

static int ascending(const void *left, const void *right)
{
    const uint32_t *a = left;
    const uint32_t *b = right;
    return *a < *b ? -1 : *a > *b;
}

void kernel_sort(uint32_t *rows, size_t n)
{
    qsort(rows, n, sizeof *rows, ascending);
}

size_t kernel_some(uint32_t *rows, size_t n, size_t most, rng r, uint64_t first)
{
    if (n <= most) {
        return n;
    }
    for (size_t k = 0; k < most; k++) {
        size_t other = k + (size_t)rng_below(r, first + k, n - k);
        uint32_t kept = rows[k];
        rows[k] = rows[other];
        rows[other] = kept;
    }
    kernel_sort(rows, most);
    return most;
}

double kernel_shift(const kernel_labels *l, kernel_family family, size_t j)
{
    return family == KERNEL_HOMOGENEOUS ? 0 : l->mean[j];
}
