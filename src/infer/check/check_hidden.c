#include "infer/check/check_hidden.h"

#include "base/tuned.h"
#include "infer/check/check_scatter.h"
#include "infer/check/regression.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

typedef struct scratch {
    check_scatter s;
    regression r;    /* columns 1, parents, e_a, z_b; its gram is free + share * set */
    double *part[2]; /* (wide, wide): rows in which a is free; was set */
    double *solution;
    size_t *parent; /* (d): of b */
    size_t *place;  /* (d): in the order of a graph */
    uint8_t *has;   /* (d): parents in use */
    double *spare;  /* (d): best without this parent */
    arena memory;
} scratch;

/* b with its parents, and perhaps a hidden cause of it and a. */
typedef struct pair_case {
    size_t a, b, count; /* parents, and others that might be */
    size_t in_graph;    /* the first so many of them are parents */
    double rows[2];     /* where a is free; was set */
    double hidden;      /* variance of e_a */
    double level;       /* log likelihood that is the intercepts' */
    double error;       /* as if so many times fewer rows spoke */
    double best;
} pair_case;

static void lay_out(scratch *q, const check_rows *t)
{
    size_t d = t->d;
    size_t wide = d + 3;
    arena *m = &q->memory;
    check_scatter_lay_out(&q->s, m, t);
    q->r.gram = arena_take(m, wide * wide, sizeof(double));
    q->r.factor = arena_take(m, wide * wide, sizeof(double));
    q->part[0] = arena_take(m, wide * wide, sizeof(double));
    q->part[1] = arena_take(m, wide * wide, sizeof(double));
    q->solution = arena_take(m, wide, sizeof(double));
    q->spare = arena_take(m, d, sizeof(double));
    q->r.column = arena_take(m, wide, sizeof *q->r.column);
    q->parent = arena_take(m, d, sizeof *q->parent);
    q->place = arena_take(m, d, sizeof *q->place);
    q->has = arena_take(m, d, 1);
}

/* Products of 1, the parents, e_a and z_b, with intercepts of sets tau over the noise. */
static void sum_pair(const check_rows *t, scratch *q, pair_case *c, double tau)
{
    size_t both = q->s.both;
    size_t wide = c->count + 3;
    size_t node[2 + 64]; /* no family is that large */
    size_t seen = c->count + 1;
    double sets = 0;
    q->r.wide = wide;
    memcpy(node, q->parent, c->count * sizeof *node);
    node[c->count] = check_caused(&q->s, t, c->b);
    memset(q->part[0], 0, wide * wide * sizeof(double));
    memset(q->part[1], 0, wide * wide * sizeof(double));
    c->rows[0] = c->rows[1] = c->hidden = c->level = 0;
    for (size_t set = 0; set < t->sets; set++) {
        if (check_is_set(t, set, c->b)) {
            continue;
        }
        bool is_set = check_is_set(t, set, c->a);
        const double *mean = q->s.mean + set * both;
        const double *scatter = q->s.scatter + set * both * both;
        double *sum = q->part[is_set ? 1 : 0];
        double n = check_rows_in(t, set);
        double whole = n / (1 + n * tau * tau);
        sets++;
        c->rows[is_set ? 1 : 0] += n;
        c->level -= log1p(n * tau * tau) / 2;
        sum[0] += whole;
        for (size_t k = 0; k < seen; k++) { /* columns 1 .. count, and the last */
            size_t at = k < c->count ? 1 + k : wide - 1;
            sum[at] += whole * mean[node[k]];
            for (size_t l = 0; l < seen; l++) {
                size_t to = l < c->count ? 1 + l : wide - 1;
                sum[at * wide + to] +=
                    scatter[node[k] * both + node[l]] + whole * mean[node[k]] * mean[node[l]];
            }
            if (!is_set) {
                sum[at * wide + wide - 2] += q->s.with[set * both + node[k]];
                sum[(wide - 2) * wide + at] += q->s.with[set * both + node[k]];
            }
        }
        sum[(wide - 2) * wide + wide - 2] += is_set ? 0 : q->s.own[set];
        c->hidden += is_set ? 0 : q->s.own[set];
    }
    for (size_t part = 0; part < 2; part++) {
        for (size_t k = 1; k < wide; k++) {
            q->part[part][k * wide] = q->part[part][k];
        }
    }
    c->hidden /= fmax(c->rows[0], 1);
    c->level -= tau > 0 ? log(fmax(sets, 1)) / 2 : 0;
}

/* What the solution leaves of z_b in one part of the rows. */
static double left_of(const scratch *q, const double *sum, size_t count)
{
    size_t wide = q->r.wide;
    double left = sum[wide * wide - 1];
    for (size_t k = 0; k < count; k++) {
        const double *row = sum + q->r.column[k] * wide;
        left -= 2 * q->solution[k] * row[wide - 1];
        for (size_t l = 0; l < count; l++) {
            left += q->solution[k] * q->solution[l] * row[q->r.column[l]];
        }
    }
    return left;
}

/* Log likelihood at its maximum with the parents in use, less what each of them costs. The weight
 * of rows in which do() set a follows from delta, which follows from it: a few rounds. */
static double score(const scratch *q, const pair_case *c, bool hidden)
{
    enum { ROUNDS = 4 };
    size_t wide = q->r.wide;
    size_t count = 0;
    double n = c->rows[0] + c->rows[1];
    double share = 1;
    double log_likelihood = -INFINITY;
    q->r.column[count++] = 0;
    for (size_t p = 0; p < c->count; p++) {
        if (q->has[p] != 0) {
            q->r.column[count++] = 1 + p;
        }
    }
    double parameters = (double)(count - 1) + (hidden ? 1 : 0);
    if (hidden) {
        q->r.column[count++] = wide - 2;
    }
    for (size_t round = 0; round < (hidden ? ROUNDS : 1); round++) {
        for (size_t k = 0; k < wide * wide; k++) {
            q->r.gram[k] = q->part[0][k] + share * q->part[1][k];
        }
        regression_solve(&q->r, count, q->solution);
        double delta = hidden ? q->solution[count - 1] : 0;
        double free = left_of(q, q->part[0], count);
        double set = left_of(q, q->part[1], count);
        double v = (free + share * set) / n;
        if (!(v > 0)) {
            return -INFINITY;
        }
        double more = 1 + delta * delta * c->hidden / v;
        v = (free + set / more) / n; /* its maximum, had `more` been known */
        share = 1 / more;
        log_likelihood = -n / 2 * (log(v) + 1) - c->rows[1] / 2 * log(more);
    }
    return (log_likelihood + c->level) / c->error - parameters * log(n) / 2;
}

static double try_hidden(const scratch *q, pair_case *c)
{
    double found = score(q, c, true);
    c->best = fmax(c->best, found);
    for (size_t p = 0; p < c->count; p++) {
        q->spare[p] = q->has[p] == 0 ? fmax(q->spare[p], found) : q->spare[p];
    }
    return found;
}

/* Parents go one by one as long as that is better; all that were tried count. */
static void drop_parents(const scratch *q, pair_case *c)
{
    double now = try_hidden(q, c);
    for (;;) {
        size_t drop = c->count;
        double best = now;
        for (size_t p = 0; p < c->count; p++) {
            if (q->has[p] == 0) {
                continue;
            }
            q->has[p] = 0;
            double found = try_hidden(q, c);
            q->has[p] = 1;
            drop = found > best ? p : drop;
            best = fmax(best, found);
        }
        if (drop == c->count) {
            return;
        }
        q->has[drop] = 0;
        now = best;
    }
}

/* The best without a hidden cause: that the graph lacks weak parents, or has some too many, is no
 * sign of one. They come and go one by one as long as that is better; q->has keeps them. */
static double find_parents(const scratch *q, const pair_case *c)
{
    for (size_t p = 0; p < c->count; p++) {
        q->has[p] = p < c->in_graph ? 1 : 0;
    }
    double now = score(q, c, false);
    for (;;) {
        size_t turn = c->count;
        double best = now;
        for (size_t p = 0; p < c->count; p++) {
            q->has[p] ^= 1;
            double found = score(q, c, false);
            q->has[p] ^= 1;
            turn = found > best ? p : turn;
            best = fmax(best, found);
        }
        if (turn == c->count) {
            return now;
        }
        q->has[turn] ^= 1;
        now = best;
    }
}

/* The gain, and q->spare less the same. */
static double weigh_pair(const check_rows *t, scratch *q, pair_case *c)
{
    double without = -INFINITY;
    c->best = -INFINITY;
    for (size_t p = 0; p < c->count; p++) {
        q->spare[p] = -INFINITY;
    }
    for (size_t own = 0; own < (t->tau[c->b] > 0 ? 2 : 1); own++) {
        sum_pair(t, q, c, own == 0 ? 0 : t->tau[c->b]);
        if (!(c->rows[0] > (double)c->in_graph + 8) || !(c->hidden > 0)) {
            return NAN;
        }
        for (size_t way = 0; way < 2; way++) { /* from all, and from h in the place of a */
            without = fmax(without, find_parents(q, c));
            for (size_t p = 0; p < c->count; p++) {
                q->has[p] = way == 1 && q->parent[p] == c->a ? 0 : q->has[p];
            }
            drop_parents(q, c);
        }
    }
    for (size_t p = 0; p < c->count; p++) {
        q->spare[p] -= without;
    }
    return c->best - without;
}

static double shared_error(const check_rows *t, const check_family *f, size_t i)
{
    return f->left > 0 ? 1 + f->count * t->shared[i] / f->left : 1;
}

/* log(exp(a) + exp(b)) */
static double log_add(double a, double b)
{
    double most = fmax(a, b);
    return most > -INFINITY ? most + log(exp(a - most) + exp(b - most)) : -INFINITY;
}

/* Parents of b, then who might be one, too: of many nodes a alone. */
static void take_parents(const check_rows *t, const scratch *q, size_t g, pair_case *c)
{
    enum { MOST = 64, FEW = 20 };
    for (size_t part = 0; part < 2; part++) {
        for (size_t p = 0; p < t->d && c->count < MOST; p++) {
            bool parent = check_has(t, g, p, c->b);
            bool might = q->place[p] < q->place[c->b] && (t->d <= FEW || p == c->a);
            if (t->unit[p] > 0 && (part == 0 ? parent : might && !parent)) {
                q->parent[c->count++] = p;
                c->in_graph += part == 0 ? 1 : 0;
            }
        }
    }
}

static bool is_tried(const check_rows *t, const check_family *all, size_t g, size_t a, size_t b)
{
    const check_family *one = &all[g * t->d + a];
    const check_family *other = &all[g * t->d + b];
    return one->read_well && other->read_well && one->left > 0 && other->left > 0;
}

static void take_graph(check_hidden *out, const check_rows *t, scratch *q, const check_family *all,
                       size_t g)
{
    size_t d = t->d;
    double share = log(t->graphs.share[g]);
    const size_t *order = t->in->a->order + t->graphs.draw[g] * d;
    if (g == 0 || t->in->a->bends) {
        check_scatter_take(&q->s, t, all + g * d);
    }
    for (size_t k = 0; k < d; k++) {
        q->place[order[k]] = k;
    }
    for (size_t k = 0; k < d * d; k++) {
        size_t a = order[k / d];
        size_t b = k % d;
        if (b == 0) {
            check_scatter_rest(&q->s, t, &all[g * d + a], a);
        }
        if (q->place[a] >= q->place[b] || !is_tried(t, all, g, a, b)) {
            continue;
        }
        pair_case c = {.a = a, .b = b};
        take_parents(t, q, g, &c);
        c.error = fmax(shared_error(t, &all[g * d + a], a), shared_error(t, &all[g * d + b], b));
        double gain = weigh_pair(t, q, &c);
        if (isnan(gain)) {
            continue;
        }
        double *to = &out->gain[a < b ? a * d + b : b * d + a];
        *to = log_add(*to, share + gain);
        for (size_t p = 0; p < c.in_graph; p++) {
            double *spare = &out->spare[q->parent[p] * d + b];
            *spare = log_add(*spare, share + q->spare[p]);
        }
    }
}

lscm_status check_hidden_of(check_hidden *out, const check_rows *t, const check_family *all,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = t->d;
    scratch q = {.spare = NULL};
    for (size_t k = 0; k < d * d; k++) {
        out->gain[k] = out->spare[k] = -INFINITY;
    }
    out->pairs = 0;
    if (t->sets * d * d > tuned_check_pairs()) {
        return LSCM_OK;
    }
    lay_out(&q, t);
    TRY(arena_open(&q.memory, why));
    lay_out(&q, t);
    for (size_t g = 0; g < t->graphs.count; g++) {
        take_graph(out, t, &q, all, g);
    }
    for (size_t k = 0; k < d * d; k++) {
        out->pairs += out->gain[k] > -INFINITY ? 1 : 0;
    }
done:
    arena_close(&q.memory);
    return status;
}

double check_hidden_none(const check_hidden *h, size_t d)
{
    double odds = -INFINITY;
    for (size_t k = 0; k < d * d; k++) {
        odds = log_add(odds, h->gain[k]);
    }
    return h->pairs > 0 ? 1 / (1 + exp(odds - log((double)h->pairs))) : (double)NAN;
}
