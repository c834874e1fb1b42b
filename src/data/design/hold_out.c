#include "data/design/hold_out.h"

#include "base/rng.h"
#include "base/streams.h"
#include "base/tuned.h"
#include "data/design/mask_list.h"

#include <stdlib.h>

/* ---- Sets in an order of their own ---- */

typedef struct ranked_set {
    uint64_t hash; /* of seed and targets */
    uint32_t set;
} ranked_set;

static int by_hash(const void *left, const void *right)
{
    const ranked_set *a = left;
    const ranked_set *b = right;
    if (a->hash != b->hash) {
        return a->hash < b->hash ? -1 : 1;
    }
    return a->set < b->set ? -1 : a->set > b->set;
}

typedef struct choice {
    const design *s;
    ranked_set *order;  /* (sets) */
    size_t *all, *left; /* (d): of each node, rows or sets; how many of them are not held out */
    uint8_t *taken;     /* (sets): held out */
    size_t least;       /* rows that each target must keep */
    arena memory;
} choice;

static void lay_out(choice *c, arena *a)
{
    c->order = arena_take(a, c->s->sets, sizeof *c->order);
    c->all = arena_take(a, c->s->d, sizeof *c->all);
    c->left = arena_take(a, c->s->d, sizeof *c->left);
    c->taken = arena_take(a, c->s->sets, 1);
}

static lscm_status choice_open(choice *c, const design *s, uint64_t seed, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    *c = (choice){.s = s};
    lay_out(c, &c->memory);
    TRY(arena_open(&c->memory, why));
    lay_out(c, &c->memory);
    for (size_t k = 0; k < s->sets; k++) {
        c->order[k] = (ranked_set){mask_hash(s->target + k * s->d, s->d, seed), (uint32_t)k};
    }
    qsort(c->order, s->sets, sizeof *c->order, by_hash);
done:
    return status;
}

static const uint8_t *targets_of(const choice *c, size_t set)
{
    return c->s->target + set * c->s->d;
}

/* Takes `many` rows, or sets, of this set's targets. */
static void take(choice *c, size_t set, size_t many)
{
    for (size_t j = 0; j < c->s->d; j++) {
        c->left[j] -= targets_of(c, set)[j] != 0 ? many : 0;
    }
}

/* ---- Rows ---- */

static bool can_spare(const choice *c, size_t set, size_t rows)
{
    size_t d = c->s->d;
    for (size_t j = 0; j < d; j++) {
        size_t left = c->left[j] - rows;
        if (targets_of(c, set)[j] != 0 && (2 * left < c->all[j] || left < c->least)) {
            return false;
        }
    }
    return !design_untouched(c->s, set);
}

static void hold_sets(choice *c, size_t wanted, uint8_t *keep, held_rows *out)
{
    const design *s = c->s;
    for (size_t k = 0; k < s->sets; k++) {
        size_t set = c->order[k].set;
        size_t rows = design_set_rows(s, set);
        if (out->rows + rows > wanted || !can_spare(c, set, rows)) {
            continue;
        }
        take(c, set, rows);
        out->sets++;
        out->rows += rows;
        for (size_t at = s->first[set]; at < s->first[set + 1]; at++) {
            keep[s->row[at]] = 0;
        }
    }
}

static void hold_some(choice *c, double share, uint8_t *keep, held_rows *out)
{
    const design *s = c->s;
    size_t n = 0;
    for (size_t k = 0; k < s->sets; k++) {
        size_t set = c->order[k].set;
        for (size_t at = s->first[set]; at < s->first[set + 1] && !design_untouched(s, set); at++) {
            bool due = (size_t)((double)(n + 1) * share) > (size_t)((double)n * share);
            n++;
            if (due && can_spare(c, set, 1)) {
                take(c, set, 1);
                out->rows++;
                keep[s->row[at]] = 0;
            }
        }
    }
}

lscm_status hold_out_rows(const design *s, uint64_t seed, double share, size_t least, uint8_t *keep,
                          held_rows *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    choice c;
    size_t touched = 0;
    TRY(choice_open(&c, s, seed, why));
    for (size_t k = 0; k < s->sets; k++) {
        touched += design_untouched(s, k) ? 0 : design_set_rows(s, k);
    }
    design_count(s, NULL, c.all, NULL);
    memcpy(c.left, c.all, s->d * sizeof *c.left);
    memset(keep, 1, s->rows);
    c.least = least;
    *out = (held_rows){0};
    hold_sets(&c, (size_t)(share * (double)touched), keep, out);
    if (out->rows == 0) {
        hold_some(&c, share, keep, out);
    }
done:
    arena_close(&c.memory);
    return status;
}

/* ---- Values ---- */

lscm_status hold_out_values(const design *s, uint64_t seed, uint8_t *held, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const size_t one_in = tuned_held_out_one_in();
    rng pick = stream_of(seed, STREAM_HOLD_OUT);
    choice c;
    TRY(choice_open(&c, s, seed, why));
    design_count(s, NULL, NULL, c.all);
    for (size_t k = 0; k < s->sets; k++) {
        size_t set = c.order[k].set;
        for (size_t at = s->first[set]; at < s->first[set + 1]; at++) {
            for (size_t j = 0; j < s->d; j++) {
                uint64_t index = (c.all[j] >= one_in ? k : s->rows + s->row[at]) * s->d + j;
                held[s->row[at] * s->d + j] = targets_of(&c, set)[j] != 0 &&
                                              rng_uniform(pick, 2 * index) * (double)one_in < 1;
            }
        }
    }
done:
    arena_close(&c.memory);
    return status;
}

/* ---- Labels ---- */

static bool has_many(const choice *c, size_t j)
{
    return c->all[j] >= tuned_kernel_few_sets();
}

static size_t out_of(const choice *c, size_t j)
{
    return c->all[j] - c->left[j];
}

static void take_set(choice *c, size_t set)
{
    c->taken[set] = 1;
    take(c, set, 1);
}

static void choose_labels(choice *c)
{
    const design *s = c->s;
    for (size_t k = 0; k < s->sets; k++) {
        size_t set = c->order[k].set;
        size_t in_need = 0;
        size_t nodes = 0;
        for (size_t j = 0; j < s->d; j++) {
            bool many = targets_of(c, set)[j] != 0 && has_many(c, j);
            nodes += many ? 1 : 0;
            in_need += many && out_of(c, j) < c->all[j] / tuned_kernel_held_one_in() ? 1 : 0;
        }
        if (nodes > 0 && 2 * in_need >= nodes) {
            take_set(c, set);
        }
    }
    for (size_t j = 0; j < s->d; j++) {
        for (size_t k = 0; k < s->sets && has_many(c, j) && out_of(c, j) == 0; k++) {
            if (targets_of(c, c->order[k].set)[j] != 0) {
                take_set(c, c->order[k].set);
            }
        }
    }
}

/* One of every few rows in which node j is set. */
static void hold_rows_of(const choice *c, size_t j, rng r, uint8_t *held)
{
    const design *s = c->s;
    const size_t one_in = tuned_kernel_held_one_in();
    size_t seen = 0;
    uint64_t pick = 0;
    for (size_t row = 0; row < s->rows; row++) {
        if (!design_is_set(s, row, j)) {
            continue;
        }
        if (seen % one_in == 0) {
            pick = rng_below(r, j * s->rows + seen, one_in);
        }
        held[row * s->d + j] = seen++ % one_in == pick;
    }
}

lscm_status hold_out_labels(const design *s, uint64_t seed, uint8_t *held, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    choice c;
    TRY(choice_open(&c, s, seed, why));
    design_count(s, NULL, NULL, c.all);
    memcpy(c.left, c.all, s->d * sizeof *c.left);
    choose_labels(&c);
    for (size_t row = 0; row < s->rows; row++) {
        for (size_t j = 0; j < s->d; j++) {
            held[row * s->d + j] = design_is_set(s, row, j) && c.taken[s->set[row]] != 0;
        }
    }
    for (size_t j = 0; j < s->d; j++) {
        if (!has_many(&c, j)) {
            hold_rows_of(&c, j, stream_of(seed, STREAM_KERNEL_LABELS), held);
        }
    }
done:
    arena_close(&c.memory);
    return status;
}

/* ---- Folds ---- */

void hold_out_folds(const design *s, const uint32_t *order, size_t count, size_t folds,
                    uint8_t *fold)
{
    for (size_t j = 0; j < s->d; j++) {
        size_t met = 0;
        for (size_t k = 0; k < count; k++) {
            if (s->target[order[k] * s->d + j] != 0) {
                fold[order[k] * s->d + j] = (uint8_t)(met++ % folds);
            }
        }
    }
}
