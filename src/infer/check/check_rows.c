#include "infer/check/check_rows.h"

#include "base/tuned.h"
#include "infer/check/check_told.h"
#include "infer/mechanism/mechanism.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The ways of a draw's node: straight, bent, with causes that act together. */
static int kind_of(const anchored *a, size_t draw, size_t i)
{
    const bent_mechanisms *b = &a->bent;
    int kind = a->bends && bent_bends(b, draw, i) ? 1 : 0;
    for (uint64_t k = b->first != NULL ? b->first[draw * a->d + i] : 0;
         kind == 1 && k < b->first[draw * a->d + i + 1]; k++) {
        kind = b->parent[2 * k + 1] != BENT_ALONE ? 2 : kind;
    }
    return kind;
}

bool check_same_node(const anchored *a, size_t one, size_t other, size_t i)
{
    for (size_t j = 0; j < a->d; j++) {
        size_t at = j * a->d + i;
        if ((a->w[one * a->d * a->d + at] != 0) != (a->w[other * a->d * a->d + at] != 0)) {
            return false;
        }
    }
    return kind_of(a, one, i) == kind_of(a, other, i);
}

bool check_same_draw(const anchored *a, size_t one, size_t other)
{
    bool same = true;
    for (size_t i = 0; i < a->d && same; i++) {
        same = check_same_node(a, one, other, i);
    }
    return same;
}

static size_t draws_looked_at(const anchored *a)
{
    return a->draws < tuned_check_draws() ? a->draws : tuned_check_draws();
}

static void lay_out(check_rows *t)
{
    size_t d = t->d;
    bool read_off = t->in->blur != NULL;
    arena *m = &t->memory;
    t->first = arena_take(m, t->sets + 1, sizeof *t->first);
    t->centre = arena_take(m, d, sizeof(double));
    t->unit = arena_take(m, d, sizeof(double));
    t->z = arena_take(m, t->n * d, sizeof(double));
    t->tau = arena_take(m, d, sizeof(double));
    t->shared = arena_take(m, d, sizeof(double));
    t->unsure = arena_take(m, d, sizeof(double));
    t->noise = arena_take(m, d, sizeof(double));
    t->basis = arena_take(m, d, sizeof *t->basis);
    t->graphs.draw = arena_take(m, draws_looked_at(t->in->a), sizeof *t->graphs.draw);
    t->graphs.share = arena_take(m, draws_looked_at(t->in->a), sizeof(double));
    if (read_off) {
        t->told = arena_take(m, t->n * d, sizeof(double));
        t->about = arena_take(m, t->n * d, sizeof(double));
        t->law = arena_take(m, t->sets * d * d, sizeof(double));
        t->doubt = arena_take(m, t->sets * d * d, sizeof(double));
        t->error = arena_take(m, d * d, sizeof(double));
    } else {
        t->told = t->z;
    }
}

/* Every so many rows of each set, all of small data. */
static size_t stride_of(const design *by)
{
    return 1 + (by->rows - 1) / tuned_check_rows();
}

/* The end of the batch that begins at place `from` of the rows set by set. */
static size_t batch_end(const design *by, size_t from)
{
    size_t to = from;
    while (to < by->rows && design_batch(by, by->row[to]) == design_batch(by, by->row[from])) {
        to++;
    }
    return to;
}

static size_t count_rows(const design *by)
{
    size_t stride = stride_of(by);
    size_t n = 0;
    size_t to = 0;
    for (size_t from = 0; from < by->rows; from = to) {
        to = batch_end(by, from);
        n += (to - from + stride - 1) / stride;
    }
    return n;
}

static void take_rows(check_rows *t)
{
    const design *by = &t->in->view->design;
    size_t d = t->d;
    size_t stride = stride_of(by);
    size_t at = 0;
    size_t to = 0;
    for (size_t set = 0; set < t->sets; set++) {
        size_t from = to;
        bool any = from < by->rows && design_batch(by, by->row[from]) == set;
        to = any ? batch_end(by, from) : from;
        t->first[set] = at;
        for (size_t k = from; k < to; k += stride, at++) {
            memcpy(t->z + at * d, t->in->z + by->row[k] * d, d * sizeof(double));
            for (size_t i = 0; i < d && t->in->amiss != NULL; i++) {
                if (check_is_set(t, set, i)) {
                    t->z[at * d + i] = design_value(by, by->row[k], i);
                }
            }
        }
    }
    t->first[t->sets] = at;
    for (size_t i = 0; i < d; i++) {
        column_spread s = {0};
        for (size_t k = 0; k < t->n; k++) {
            spread_add(&s, t->z[k * d + i]);
        }
        t->centre[i] = s.mean;
        t->unit[i] = sqrt(s.squares / s.n);
        bool still = !(t->unit[i] > 1e-12 * fabs(s.mean)); /* rounding */
        t->unit[i] = still ? 0 : t->unit[i];
        for (size_t k = 0; k < t->n; k++) {
            t->z[k * d + i] = still ? 0 : (t->z[k * d + i] - s.mean) / t->unit[i];
        }
    }
}

static void take_graphs(check_rows *t)
{
    const anchored *a = t->in->a;
    check_graphs *g = &t->graphs;
    size_t looked = draws_looked_at(a);
    for (size_t k = 0; k < looked; k++) {
        size_t draw = k * a->draws / looked;
        size_t at = 0;
        while (at < g->count && !check_same_draw(a, g->draw[at], draw)) {
            at++;
        }
        if (at == g->count) {
            g->draw[g->count++] = draw;
        }
        g->share[at] += 1 / (double)looked;
    }
    for (size_t k = 1; k < g->count; k++) {
        if (g->share[k] > g->share[0]) {
            double share = g->share[0];
            size_t draw = g->draw[0];
            g->share[0] = g->share[k];
            g->draw[0] = g->draw[k];
            g->share[k] = share;
            g->draw[k] = draw;
        }
    }
}

/* Curves in units: the fit's, or where it has none those of the rows. */
static lscm_status take_curves(check_rows *t, lscm_error *why)
{
    const anchored *a = t->in->a;
    double *values = malloc((t->n + 1) * sizeof *values);
    if (values == NULL) {
        return fail_memory(why, (t->n + 1) * sizeof *values);
    }
    for (size_t j = 0; j < t->d; j++) {
        curve_basis *basis = &t->basis[j];
        double unused[2][CURVE_WIDTH];
        double u = t->unit[j];
        for (size_t k = 0; k < t->n && !a->bends; k++) {
            values[k] = t->z[k * t->d + j];
        }
        if (!a->bends) {
            bend_basis_of(basis, values, u > 0 ? t->n : 0, unused[0], unused[1]);
            continue;
        }
        *basis = a->bent.basis[j];
        basis->knots = u > 0 ? basis->knots : 0;
        for (size_t k = 0; k < basis->knots; k++) {
            basis->knot[k] = (basis->knot[k] - t->centre[j]) / u;
            for (size_t c = 0; c < CURVE_WIDTH; c++) {
                basis->second[k][c] *= u * u;
            }
        }
    }
    free(values);
    return LSCM_OK;
}

/* Sets have intercepts of their own in more than half of the draws: their sd over the noise. */
static void take_noise(check_rows *t)
{
    const anchored *a = t->in->a;
    for (size_t i = 0; i < t->d; i++) {
        double own = 0;
        double sigma = 0;
        size_t with = 0;
        for (size_t k = 0; k < a->draws; k++) {
            double effect = a->effect[k * t->d + i];
            double s = a->sigma[k * t->d + i];
            own += effect / (double)a->draws;
            sigma += s / (double)a->draws;
            with += effect > 0 ? 1 : 0;
            t->noise[i] +=
                t->unit[i] > 0 ? s * s / (t->unit[i] * t->unit[i] * (double)a->draws) : 0;
        }
        t->tau[i] = 2 * with > a->draws && sigma > 0 ? own / sigma : 0;
    }
}

lscm_status check_rows_of(check_rows *out, const check_input *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const design *by = &in->view->design;
    check_rows t = {.in = in,
                    .n = count_rows(by),
                    .d = in->a->d,
                    .sets = design_batches(by),
                    .target = design_batch_targets(by, 0)};
    lay_out(&t);
    TRY(arena_open(&t.memory, why));
    lay_out(&t);
    take_rows(&t);
    take_graphs(&t);
    TRY(take_curves(&t, why));
    take_noise(&t);
    if (in->blur != NULL) {
        TRY(check_told_of(&t, why));
    }
    *out = t;
    t.memory = (arena){0};
done:
    arena_close(&t.memory);
    return status;
}

void check_rows_close(check_rows *t)
{
    arena_close(&t->memory);
}
