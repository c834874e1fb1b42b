/* Draws of mechanisms that bend. Given the kind, with A = C C', h = C^-1 S_bi and q,
 *
 *     s^2 ~ q/chi2(nu + n - 1),   b ~ C'^-1 (h + s N(0, I)),   c ~ N(mean_i - sum b mean_g, s^2/n).
 *
 * Draws that have the same parents and level share their regressions, so they are taken in turn.
 */
#include "infer/mechanism/bend_parts.h"

#include "base/threads.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KIND = 0, GAMMA = 2, INTERCEPT = GAMMA + RNG_GAMMA, NORMAL = 256 };
_Static_assert(NORMAL + FAMILY_MOST * CURVE_WIDTH +
                       BEND_TOGETHER * BEND_TOGETHER / 2 * CURVE_PAIRS <
                   BEND_NUMBERS,
               "a draw has numbers enough");

/* Draws of one node, those with the same parents and level side by side. */
typedef struct drawn {
    uint32_t parents, draw;
    uint8_t place, kind;
} drawn;

static int by_parents(const void *a, const void *b)
{
    const drawn *x = a;
    const drawn *y = b;
    int order = (x->parents > y->parents) - (x->parents < y->parents);
    order = order != 0 ? order : (x->place > y->place) - (x->place < y->place);
    order = order != 0 ? order : (x->kind > y->kind) - (x->kind < y->kind);
    return order != 0 ? order : (x->draw > y->draw) - (x->draw < y->draw);
}

static bool alike(const drawn *a, const drawn *b)
{
    return a->parents == b->parents && a->place == b->place;
}

typedef struct draw_room {
    drawn *list;        /* (count) */
    bend_select_room s; /* of regressions */
    double *coef;       /* (width) */
} draw_room;

static void lay_out_room(draw_room *room, arena *a, size_t count, size_t width)
{
    room->list = arena_take(a, count, sizeof *room->list);
    bend_select_lay_out(&room->s, a, width);
    room->coef = arena_take(a, width, sizeof(double));
}

typedef struct draw_work {
    uint8_t *kind;   /* (count, d) */
    uint64_t *terms; /* (count d + 1): how many, then where they begin */
} draw_work;

static void list_draws(const bend_draws *draws, const draw_work *work, size_t i, drawn *list)
{
    for (size_t k = 0; k < draws->count; k++) {
        size_t at = k * draws->d + i;
        list[k] = (drawn){draws->parents[at], (uint32_t)k, draws->place[at], work->kind[at]};
    }
    qsort(list, draws->count, sizeof *list, by_parents);
}

static double uniform_of(const bends *b, rng r, size_t draw, size_t i, size_t number)
{
    return rng_uniform(r, (draw * b->d + i) * BEND_NUMBERS + number);
}

/* ---- Kinds ---- */

/* log P(kind, rows) up to what all have. */
static void weigh_kinds(const bends *b, const bend_family *f, const drawn *of,
                        const dag_prior *prior, const bend_select_room *room, double *out)
{
    size_t parents = (size_t)__builtin_popcount(of->parents);
    double least = bend_least(f, prior);
    for (size_t kind = 0; kind < BEND_KINDS; kind++) {
        out[kind] = bend_log_prior(f, b->reach, of->parents, kind);
        if (out[kind] > -INFINITY) {
            size_t n = bend_functions(f, of->parents, kind, room->place);
            bend_fit fit = bend_fit_of(f, of->place, kind, room->place, n, least, room->a);
            out[kind] += bend_log_evidence(f, prior, parents, fit.rest, fit.log_det);
        }
    }
}

static uint8_t pick(const double *log_weight, double u)
{
    double top = -INFINITY;
    double total = 0;
    double sum = 0;
    size_t kind = 0;
    for (size_t k = 0; k < BEND_KINDS; k++) {
        top = fmax(top, log_weight[k]);
    }
    for (size_t k = 0; k < BEND_KINDS; k++) {
        total += exp(log_weight[k] - top);
    }
    for (size_t k = 0; k < BEND_KINDS && !(u * total < sum); k++) {
        double own = exp(log_weight[k] - top);
        kind = own > 0 ? k : kind;
        sum += own;
    }
    return (uint8_t)kind;
}

/* Terms of a family with these parents. */
static size_t terms_of(const bend_family *f, uint32_t parents, size_t kind)
{
    size_t curves = (size_t)__builtin_popcount(parents);
    size_t pairs = (size_t)__builtin_popcount(parents & f->together);
    pairs = kind > BEND_CURVES && pairs > 1 ? pairs * (pairs - 1) / 2 : 0;
    return kind > 0 ? curves + pairs : 0;
}

static void draw_kinds(const bends *b, const dag_prior *prior, rng r, const bend_draws *draws,
                       size_t i, const draw_room *room, const draw_work *work)
{
    const bend_family *f = &b->list[i];
    double weight[BEND_KINDS];
    list_draws(draws, work, i, room->list);
    for (size_t k = 0; k < draws->count; k++) {
        const drawn *of = &room->list[k];
        size_t at = of->draw * b->d + i;
        if (of->parents == 0) {
            continue;
        }
        if (k == 0 || !alike(of, of - 1)) {
            weigh_kinds(b, f, of, prior, &room->s, weight);
        }
        work->kind[at] = pick(weight, uniform_of(b, r, of->draw, i, KIND));
        work->terms[at + 1] = terms_of(f, of->parents, work->kind[at]);
    }
}

/* ---- Functions ---- */

/* Coefficients and noise; the factor is bend_fit's. */
static double draw_coefficients(const bend_fit *fit, size_t n, double dof, rng r, uint64_t first,
                                double *coef)
{
    size_t side = n + 1;
    double s = sqrt(fit->rest / (2 * rng_gamma(r, first + GAMMA, dof / 2)));
    for (size_t k = 0; k < n; k++) {
        coef[k] = fit->a[n * side + k] + s * rng_normal(r, first + NORMAL + k);
    }
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)n, fit->a, (int)side,
                coef, 1);
    return s;
}

/* A term's place among those of its draw. */
static void put_term(bent_mechanisms *to, uint64_t at, size_t p, int32_t q, const double *coef,
                     size_t n)
{
    to->parent[2 * at] = (int32_t)p;
    to->parent[2 * at + 1] = q;
    memset(to->coef + at * CURVE_WIDTH, 0, CURVE_WIDTH * sizeof *coef);
    memcpy(to->coef + at * CURVE_WIDTH, coef, n * sizeof *coef);
}

/* Of node p with a family: others are 0 wherever they are, and so are their coefficients. */
static size_t curves_there(const bends *b, const bend_family *f, size_t p)
{
    size_t there = b->basis[p].knots > 0 ? b->basis[p].knots - 1 : 0;
    return there < f->curves ? there : f->curves;
}

/* What coefficients (n), in the order of bend_functions, are as terms and as average slopes. */
static void put_terms(const bends *b, const bend_family *f, uint32_t parents, bool pairs,
                      const double *coef, uint64_t at, bent_mechanisms *to, double *w)
{
    for (uint32_t left = parents; left != 0; left &= left - 1) {
        size_t p = f->candidate[__builtin_ctz(left)];
        put_term(to, at++, p, BENT_ALONE, coef, curves_there(b, f, p));
        w[p * b->d] = cblas_ddot((int)f->curves, coef, 1, b->slope + p * CURVE_WIDTH, 1);
        coef += f->curves;
    }
    uint32_t acting = pairs ? parents & f->together : 0;
    for (uint32_t left = acting; left != 0; left &= left - 1) {
        size_t p = f->candidate[__builtin_ctz(left)];
        for (uint32_t other = left & (left - 1); other != 0; other &= other - 1) {
            size_t q = f->candidate[__builtin_ctz(other)];
            const double *by_p = b->product + (p * b->d + q) * CURVE_PAIRS;
            const double *by_q = b->product + (q * b->d + p) * CURVE_PAIRS;
            put_term(to, at++, p, (int32_t)q, coef, CURVE_PAIRS);
            for (size_t k = 0; k < CURVE_PAIRS; k++) {
                w[p * b->d] += coef[k] * by_p[k];
                w[q * b->d] += coef[k] * by_q[CURVE_SWAPPED[k]];
            }
            coef += CURVE_PAIRS;
        }
    }
}

static double tau_of(const family *f, size_t place)
{
    double tau = 0;
    for (size_t l = 0; l < f->levels; l++) {
        tau = f->level[l].place == place ? f->level[l].tau : tau;
    }
    return tau;
}

static void draw_node(const bends *b, const family *fam, const dag_prior *prior, rng r,
                      bend_draws *draws, size_t i, const draw_room *room, const draw_work *work)
{
    const bend_family *f = &b->list[i];
    bend_fit fit = {0};
    size_t n = 0;
    const drawn *last = NULL; /* whom `fit` is of */
    list_draws(draws, work, i, room->list);
    for (size_t k = 0; k < draws->count; k++) {
        const drawn *of = &room->list[k];
        size_t at = of->draw * b->d + i;
        size_t kind = work->kind[at];
        if (kind == 0) {
            continue;
        }
        if (last == NULL || last->kind != kind || !alike(of, last)) {
            n = bend_functions(f, of->parents, kind, room->s.place);
            fit =
                bend_fit_of(f, of->place, kind, room->s.place, n, bend_least(f, prior), room->s.a);
            last = of;
        }
        const uint64_t first = at * BEND_NUMBERS;
        double dof = prior->dof + (double)__builtin_popcount(of->parents) + fmax(f->rows, 1) - 1;
        double s = draw_coefficients(&fit, n, dof, r, first, room->coef);
        const double *mean = f->mean + of->place * f->width;
        double c = mean[f->width - 1] + f->middle +
                   s / sqrt(f->heft[of->place]) * rng_normal(r, first + INTERCEPT);
        for (size_t g = 0; g < n; g++) {
            c -= room->coef[g] * mean[room->s.place[g]];
        }
        draws->sigma[at] = s;
        draws->intercept[at] = c;
        draws->effect[at] = s * tau_of(fam, of->place);
        put_terms(b, f, of->parents, kind > BEND_CURVES, room->coef, draws->bent.first[at],
                  &draws->bent, draws->w + of->draw * b->d * b->d + i);
    }
}

/* ---- All nodes ---- */

static void lay_out_bent(bent_mechanisms *m, arena *a)
{
    m->basis = arena_take(a, m->d, sizeof *m->basis);
    m->first = arena_take(a, m->draws * m->d + 1, sizeof *m->first);
    m->parent = arena_take(a, m->terms, 2 * sizeof *m->parent);
    m->coef = arena_take(a, m->terms, CURVE_WIDTH * sizeof(double));
}

/* Where the terms of each begin, from how many each has. */
static lscm_status make_room(const bends *b, bend_draws *draws, const draw_work *work,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bent_mechanisms *m = &draws->bent;
    size_t all = draws->count * b->d;
    for (size_t k = 0; k < all; k++) {
        work->terms[k + 1] += work->terms[k];
    }
    *m = (bent_mechanisms){.draws = draws->count, .d = b->d, .terms = work->terms[all]};
    lay_out_bent(m, &draws->memory);
    TRY(arena_open(&draws->memory, why));
    lay_out_bent(m, &draws->memory);
    memcpy(m->basis, b->basis, b->d * sizeof *m->basis);
    memcpy(m->first, work->terms, (all + 1) * sizeof *m->first);
done:
    return status;
}

/* One pass over all nodes: kinds, or what they are. */
static lscm_status pass(const bends *b, const families *f, const dag_prior *prior, rng r,
                        bend_draws *draws, const draw_work *work, bool kinds, lscm_error *why)
{
    bool failed = false;
    threads_blas_single();
#pragma omp parallel
    {
        draw_room room;
        arena memory = {0};
        lscm_error own;
        lay_out_room(&room, &memory, draws->count, b->most);
        bool ready = arena_open(&memory, &own) == LSCM_OK;
        lay_out_room(&room, &memory, draws->count, b->most);
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < b->d; i++) {
            if (!ready) {
#pragma omp atomic write
                failed = true;
            } else if (kinds) {
                draw_kinds(b, prior, r, draws, i, &room, work);
            } else {
                draw_node(b, &f->list[i], prior, r, draws, i, &room, work);
            }
        }
        arena_close(&memory);
    }
    threads_blas_restore();
    return failed ? fail_memory(why, b->most * b->most * sizeof(double)) : LSCM_OK;
}

lscm_status bends_draw(const bends *b, const families *f, const dag_prior *prior, rng r,
                       bend_draws *draws, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    draw_work work = {0};
    arena memory = {0};
    for (int round = 0; round < 2; round++) {
        work.kind = arena_take(&memory, draws->count, b->d);
        work.terms = arena_take(&memory, draws->count * b->d + 1, sizeof *work.terms);
        if (round == 0) {
            TRY(arena_open(&memory, why));
        }
    }
    TRY(pass(b, f, prior, r, draws, &work, true, why));
    TRY(make_room(b, draws, &work, why));
    TRY(pass(b, f, prior, r, draws, &work, false, why));
done:
    arena_close(&memory);
    return status;
}
