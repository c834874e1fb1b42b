/* A causal order that fits, by what do() tells apart: each node regressed on all near nodes before
 * it. Where nothing was ever set all orders fit alike.
 */
#include "base/tuned.h"
#include "infer/mechanism/mechanism.h"
#include "infer/screen/screen_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Walks node i over the positions before (step -1) or after (+1) its own; returns the best change
 * of score and its position. */
static double walk(screen_work *w, size_t at, int step, size_t *best_at)
{
    size_t d = w->s.d;
    const size_t *order = w->order;
    const sweep *sweeps = w->sweeps;
    sweep *spare = &w->spare;
    size_t i = order[at];
    double others = 0;
    double best = 0;
    double now = sweep_now(&sweeps[i]);
    sweep_copy(spare, &sweeps[i]);
    for (size_t p = at; step < 0 ? p > 0 : p + 1 < d;) {
        p = step < 0 ? p - 1 : p + 1;
        size_t j = order[p];
        size_t mine = w->slot[i * d + j];
        size_t its = w->slot[j * d + i];
        if (mine == NOT_NEAR && its == NOT_NEAR) {
            continue;
        }
        others += its != NOT_NEAR ? sweep_change(&sweeps[j], its) : 0;
        if (mine != NOT_NEAR) {
            sweep_toggle(spare, mine);
        }
        double change = others + sweep_now(spare) - now;
        if (change > best) {
            best = change;
            *best_at = p;
        }
    }
    return best;
}

static void move(sweep *sweeps, size_t d, const uint8_t *slot, size_t *order, size_t from,
                 size_t to)
{
    size_t i = order[from];
    for (size_t p = from; p != to;) {
        size_t next = to < from ? p - 1 : p + 1;
        size_t j = order[next];
        if (slot[i * d + j] != NOT_NEAR) {
            sweep_toggle(&sweeps[i], slot[i * d + j]);
        }
        if (slot[j * d + i] != NOT_NEAR) {
            sweep_toggle(&sweeps[j], slot[j * d + i]);
        }
        order[p] = j;
        p = next;
    }
    order[to] = i;
}

/* Puts in what stands before each node. */
static void begin(sweep *sweeps, const screen_data *s, const size_t *order, size_t *position)
{
    size_t d = s->d;
    for (size_t k = 0; k < d; k++) {
        position[order[k]] = k;
    }
    for (size_t i = 0; i < d; i++) {
        for (size_t k = 0; k < sweeps[i].m; k++) {
            if (position[s->near[i * s->near_most + k]] < position[i]) {
                sweep_toggle(&sweeps[i], k);
            }
        }
    }
}

void screen_order(screen_work *w)
{
    size_t d = w->s.d;
    size_t *order = w->order;
    bool moved = true;
    for (size_t i = 0; i < d; i++) {
        sweep_begin(&w->sweeps[i], &w->f.list[i]);
    }
    begin(w->sweeps, &w->s, order, w->position);
    for (size_t pass = 0; pass < tuned_screen_passes() && moved; pass++) {
        moved = false;
        for (size_t i = 0; i < d; i++) {
            size_t at = 0;
            while (order[at] != i) {
                at++;
            }
            size_t before = at;
            size_t after = at;
            double left = walk(w, at, -1, &before);
            double right = walk(w, at, 1, &after);
            if (fmax(left, right) > 1e-6) {
                move(w->sweeps, d, w->slot, order, at, left >= right ? before : after);
                moved = true;
            }
        }
    }
}

/* Sums over the rows in which j is intervened on and i is free. */
typedef struct pair_sums {
    double n, j, i, jj, ii, ji;
} pair_sums;

typedef struct reach_work {
    pair_sums *pair; /* (d, GRAM_WIDEST): by near node of i */
} reach_work;

static void add_pairs(void *self, families *f, size_t i, const gram_chunk *chunk)
{
    reach_work *w = self;
    const family *fam = &f->list[i];
    const double *z_i = chunk->z_t + i * GRAM_CHUNK;
    const double *free_i = chunk->free_t + i * GRAM_CHUNK;
    for (size_t k = 0; k < fam->count; k++) {
        const double *z_j = chunk->z_t + fam->candidate[k] * GRAM_CHUNK;
        const double *free_j = chunk->free_t + fam->candidate[k] * GRAM_CHUNK;
        pair_sums s = w->pair[i * GRAM_WIDEST + k];
        for (size_t r = 0; r < chunk->rows; r++) {
            double in = free_i[r] * (1 - free_j[r]);
            s.n += in;
            s.j += in * z_j[r];
            s.i += in * z_i[r];
            s.jj += in * z_j[r] * z_j[r];
            s.ii += in * z_i[r] * z_i[r];
            s.ji += in * z_j[r] * z_i[r];
        }
        w->pair[i * GRAM_WIDEST + k] = s;
    }
}

/* 0 .. 1: does z_i follow z_j where j is set? */
static double follows(const pair_sums *s)
{
    if (s->n < 4) {
        return 0;
    }
    double jj = s->jj - s->j * s->j / s->n;
    double ii = s->ii - s->i * s->i / s->n;
    double ji = s->ji - s->j * s->i / s->n;
    double r2 = jj > 0 && ii > 0 ? fmin(ji * ji / (jj * ii), 1 - 1e-12) : 0;
    double gain = -0.5 * s->n * log1p(-r2) - 2;
    return gain > 0 ? fmin(gain / tuned_screen_sure(), 1) : 0;
}

typedef struct ranked {
    double key;
    size_t node;
} ranked;

static int by_key(const void *left, const void *right)
{
    const ranked *a = left;
    const ranked *b = right;
    if (a->key != b->key) {
        return a->key > b->key ? -1 : 1;
    }
    return a->node < b->node ? -1 : 1;
}

lscm_status screen_reach(const screen_data *s, families *f, size_t *order, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = s->d;
    reach_work w = {calloc(d * GRAM_WIDEST, sizeof *w.pair)};
    ranked *rank = calloc(d, sizeof *rank);
    if (w.pair == NULL || rank == NULL) {
        status = fail_memory(why, d * GRAM_WIDEST * sizeof *w.pair);
        goto done;
    }
    gram_walk(f, s->z, add_pairs, &w);
    double total = 0;
    double set = 0;
    for (size_t i = 0; i < d; i++) {
        for (size_t k = 0; k < f->list[i].count; k++) {
            double follow = follows(&w.pair[i * GRAM_WIDEST + k]);
            rank[f->list[i].candidate[k]].key += follow;
            rank[i].key -= follow;
            total += follow;
        }
        set += s->free[i] < (double)s->rows ? 1 : 0;
    }
    for (size_t i = 0; i < d; i++) {
        /* of a node that was never set it is not known what it reaches: the average */
        rank[i].key += s->free[i] < (double)s->rows ? 0 : total / fmax(set, 1);
        rank[i].node = i;
    }
    qsort(rank, d, sizeof *rank, by_key);
    for (size_t k = 0; k < d; k++) {
        order[k] = rank[k].node;
    }
done:
    free(w.pair);
    free(rank);
    return status;
}
