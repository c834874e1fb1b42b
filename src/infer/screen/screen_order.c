/* A causal order that fits: each node regressed on all near nodes before it, by the sweep operator,
 * which prices every single exchange of neighbours in O(1) and carries it out in O(m^2). Sweeping k
 * with pivot p = a_kk:  a_ij -= a_ik a_kj / p,  a_ik = +- a_ik / p  (in, out),  a_kk = -1/p.
 */
#include "base/tuned.h"
#include "infer/mechanism/mechanism.h"
#include "infer/screen/screen_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_NEAR = 255 };

double sweep_score(const sweep *s, double rss, size_t inside)
{
    return s->n > 1 && rss > 0 ? -0.5 * s->n * log(rss) - 0.5 * (double)inside * log(s->n) : 0;
}

double sweep_now(const sweep *s)
{
    return sweep_score(s, s->a[(s->m + 1) * (s->m + 1) - 1], s->inside);
}

double sweep_change(const sweep *s, size_t k)
{
    size_t w = s->m + 1;
    const double *own = s->a + s->m * w;
    double rss = own[s->m];
    double pivot = s->a[k * w + k];
    size_t inside = s->in[k] != 0 ? s->inside - 1 : s->inside + 1;
    /* a node that others determine is not swept, and changes nothing but the count */
    bool fixed = s->in[k] == 2 || (s->in[k] == 0 && !(pivot > 0));
    double after = fixed ? rss : fmax(rss - own[k] * own[k] / pivot, 1e-9 * rss);
    return sweep_score(s, after, inside) - sweep_now(s);
}

void sweep_toggle(sweep *s, size_t k)
{
    const double collinear = 1e-13;
    size_t w = s->m + 1;
    double *row = s->a + k * w;
    double pivot = row[k];
    bool enters = s->in[k] == 0;
    s->inside = enters ? s->inside + 1 : s->inside - 1;
    if (s->in[k] == 2 || (enters && !(pivot > collinear))) {
        s->in[k] = enters ? 2 : 0;
        return;
    }
    s->in[k] = enters ? 1 : 0;
    for (size_t i = 0; i < w; i++) {
        double by = s->a[i * w + k] / pivot;
        if (i != k) {
            for (size_t j = 0; j < w; j++) {
                s->a[i * w + j] -= by * row[j];
            }
        }
    }
    for (size_t i = 0; i < w; i++) {
        double value = enters ? row[i] / pivot : -row[i] / pivot;
        row[i] = value;
        s->a[i * w + k] = value;
    }
    row[k] = -1 / pivot;
}

void sweep_eliminate(sweep *s)
{
    for (;;) {
        double best = 0;
        size_t worst = s->m;
        for (size_t k = 0; k < s->m; k++) {
            double change = s->in[k] != 0 ? sweep_change(s, k) : -1;
            if (change > best) {
                best = change;
                worst = k;
            }
        }
        if (worst == s->m) {
            return;
        }
        sweep_toggle(s, worst);
    }
}

static void copy(sweep *to, const sweep *from)
{
    to->m = from->m;
    to->n = from->n;
    to->inside = from->inside;
    memcpy(to->a, from->a, (from->m + 1) * (from->m + 1) * sizeof *to->a);
    memcpy(to->in, from->in, from->m);
}

/* Walks node i over the positions before (step -1) or after (+1) its own; returns the best change
 * of score and its position. */
static double walk(const sweep *sweeps, sweep *spare, size_t d, const uint8_t *slot,
                   const size_t *order, size_t at, int step, size_t *best_at)
{
    size_t i = order[at];
    double others = 0;
    double best = 0;
    double now = sweep_now(&sweeps[i]);
    copy(spare, &sweeps[i]);
    for (size_t p = at; step < 0 ? p > 0 : p + 1 < d;) {
        p = step < 0 ? p - 1 : p + 1;
        size_t j = order[p];
        size_t mine = slot[i * d + j];
        size_t its = slot[j * d + i];
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

void screen_order(sweep *sweeps, sweep *spare, const screen_data *s, const uint8_t *slot,
                  size_t *order, size_t *position)
{
    size_t d = s->d;
    bool moved = true;
    begin(sweeps, s, order, position);
    for (size_t pass = 0; pass < tuned_screen_passes() && moved; pass++) {
        moved = false;
        for (size_t i = 0; i < d; i++) {
            size_t at = 0;
            while (order[at] != i) {
                at++;
            }
            size_t before = at;
            size_t after = at;
            double left = walk(sweeps, spare, d, slot, order, at, -1, &before);
            double right = walk(sweeps, spare, d, slot, order, at, 1, &after);
            if (fmax(left, right) > 1e-6) {
                move(sweeps, d, slot, order, at, left >= right ? before : after);
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
