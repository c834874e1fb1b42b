/* An order whose sparse graph fits best: each node has, of the near nodes before it, the parents
 * that putting in and then taking out one at a time finds, and the score of an order is the sum of
 * theirs. Nodes take turns to be put where that is highest, until none moves (Andrews et al. 2023,
 * best order score search). With o the order of the others and v put before o_p it is
 *
 *     s(v | o_0 .. o_p-1) + sum_{q < p} s(o_q | o_0 .. o_q-1) + sum_{q >= p} s(o_q | .., v).
 */
#include "infer/screen/screen_parts.h"

#include "base/tuned.h"

#include <math.h>
#include <string.h>

/* The parents of i among the nodes that w->open has, in w->spare; returns the score. tried: whether
 * v was ever put in. */
static double grow(screen_work *w, size_t i, size_t v, bool *tried)
{
    sweep *s = &w->spare;
    size_t m = w->blank[i].m;
    const double *own = s->a + m * (m + 1);
    *tried = false;
    sweep_copy(s, &w->blank[i]);
    for (;;) {
        double most = 0;
        size_t best = m;
        for (size_t k = 0; k < m; k++) {
            double pivot = s->a[k * (m + 1) + k];
            if (s->in[k] == 0 && w->open[screen_near_of(w, i, k)] != 0 &&
                own[k] * own[k] > most * pivot) {
                most = own[k] * own[k] / pivot;
                best = k;
            }
        }
        if (best == m || !(sweep_change(s, best) > 0)) {
            break;
        }
        *tried = *tried || screen_near_of(w, i, best) == v;
        sweep_toggle(s, best);
    }
    sweep_eliminate(s);
    return sweep_now(s);
}

/* Takes node v out of the order and puts it where it is best; returns whether that is elsewhere. */
static bool place(screen_work *w, size_t v)
{
    size_t d = w->s.d;
    size_t *order = w->order;
    size_t at = 0;
    size_t best = 0;
    bool tried = false;
    while (order[at] != v) {
        at++;
    }
    memmove(order + at, order + at + 1, (d - 1 - at) * sizeof *order);
    memset(w->open, 0, d);
    /* change: of the score from v first, as far as it depends on the place */
    double change = 0;
    double now = 0;
    double most = -INFINITY;
    for (size_t p = 0; p < d; p++) {
        double total = change + grow(w, v, v, &tried);
        now = p == at ? total : now;
        if (total > most) {
            most = total;
            best = p;
        }
        if (p + 1 < d && w->slot[order[p] * d + v] != NOT_NEAR) {
            w->open[v] = 1;
            double with = grow(w, order[p], v, &tried);
            w->open[v] = 0;
            change += tried ? grow(w, order[p], v, &tried) - with : 0;
        }
        if (p + 1 < d) {
            w->open[order[p]] = 1;
        }
    }
    bool moved = most > now + 1e-6; /* more than rounding */
    best = moved ? best : at;
    memmove(order + best + 1, order + best, (d - 1 - best) * sizeof *order);
    order[best] = v;
    return moved;
}

void screen_place(screen_work *w)
{
    size_t d = w->s.d;
    bool moved = true;
    for (size_t i = 0; i < d; i++) {
        sweep_begin(&w->blank[i], &w->f.list[i]);
    }
    for (size_t pass = 0; pass < tuned_screen_passes() && moved; pass++) {
        moved = false;
        for (size_t v = 0; v < d; v++) {
            moved = place(w, v) || moved;
        }
    }
    memset(w->open, 0, d);
    for (size_t p = 0; p < d; p++) {
        size_t i = w->order[p];
        bool tried = false;
        w->position[i] = p;
        (void)grow(w, i, i, &tried);
        sweep_copy(&w->sweeps[i], &w->spare);
        w->open[i] = 1;
    }
}

double screen_fit(const screen_work *w)
{
    double sum = 0;
    for (size_t i = 0; i < w->s.d; i++) {
        sum += sweep_now(&w->sweeps[i]);
    }
    return sum;
}
