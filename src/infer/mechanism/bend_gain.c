/* Gains of all parent sets. Curved kinds by elimination, candidate by candidate: with M the matrix
 * of the node and the functions not yet decided on, given those taken in,
 *
 *     leave a candidate out: drop its rows;    take it in: M <- M - M_b M_bb^-1 M_b',
 *
 * 3 curves^3 multiplications a set (family_table.c). Kinds with pairs, of the few candidates
 * that have any, one Cholesky factor each (bend_fit.c): their evidence has one top over the grid of
 * G and H, so the grid is climbed from the G that is best without pairs and the least H, and what
 * is less likely than others by e^-bends_passed_over is not looked behind.
 */
#include "infer/mechanism/bend_parts.h"

#include "base/simd.h"
#include "base/threads.h"
#include "base/tuned.h"

#include <math.h>
#include <string.h>

enum { STRAIGHT = 0 };

static inline size_t triangle(size_t row)
{
    return row * (row + 1) / 2;
}

/* ---- Elimination ---- */

/* The node, then `block` functions of each candidate: lower triangles, row after row, one for each
 * number of candidates left to decide on, with the rows of the one that was decided on last. */
typedef struct walk_room {
    size_t block;
    double *least; /* (1 + count curves): prior precision of each row */
    double *m[FAMILY_MOST + 1];
} walk_room;

typedef struct walk_out {
    double *rest, *log_det; /* (2^count) */
} walk_out;

static void lay_out_walk(walk_room *w, arena *a, size_t count, size_t curves)
{
    w->least = arena_take(a, 1 + count * curves, sizeof(double));
    for (size_t r = 0; r <= count; r++) {
        size_t most = r < count ? r + 1 : r;
        w->m[r] = arena_take(a, triangle(1 + most * curves), sizeof(double));
    }
}

/* M at the beginning, with the precisions of a kind on it. */
static void begin(const bend_family *f, size_t level, size_t kind, double scale, walk_room *w)
{
    const double *scatter = f->scatter + level * f->width * f->width;
    double *m = w->m[f->count];
    w->block = kind == STRAIGHT ? 1 : f->curves;
    for (size_t a = 0; a <= f->count * w->block; a++) {
        size_t row = a == 0 ? f->width - 1 : (a - 1) / w->block * f->curves + (a - 1) % w->block;
        for (size_t b = 0; b <= a; b++) {
            size_t column =
                b == 0 ? f->width - 1 : (b - 1) / w->block * f->curves + (b - 1) % w->block;
            m[triangle(a) + b] = scatter[row * f->width + column];
        }
        w->least[a] = a == 0 ? scale : f->precision[row] * bend_scale(f, row, kind);
        m[triangle(a) + a] += w->least[a];
    }
}

/* Takes the last block of `from` in, of r candidates; what is left of the others comes to `work`.
 * Returns log |M_bb|. A pivot no larger than its prior is that of a combination of others, up to
 * rounding: it tells nothing more. */
CLONED static double take_in(const double *from, size_t r, size_t block, const double *least,
                             double *work)
{
    size_t side = 1 + r * block;
    double product = 1;
    double log_det = 0;
    memcpy(work, from, triangle(side) * sizeof *work);
    for (size_t v = side; v-- > side - block;) {
        const double *row = work + triangle(v);
        bool tells = row[v] > least[v];
        double pivot = tells ? row[v] : least[v];
        product *= pivot;
        if (!(product > 1e-100 && product < 1e100)) {
            log_det += log(product);
            product = 1;
        }
        for (size_t a = 0; a < v && tells; a++) {
            double share = row[a] / pivot;
            double *to = work + triangle(a);
            for (size_t b = 0; b <= a; b++) {
                to[b] -= share * row[b];
            }
        }
    }
    return log_det + log(product);
}

/* All sets of the first r candidates, those behind decided on: at[r'] is the triangle of the first
 * r' as it is then. Sets are walked over like a binary counter. */
static void walk(const walk_room *w, size_t count, const walk_out *out)
{
    const double *at[FAMILY_MOST + 1];
    double log_det[FAMILY_MOST + 1];
    for (size_t r = 0; r <= count; r++) {
        at[r] = w->m[count];
        log_det[r] = 0;
    }
    for (size_t set = 0; set < (size_t)1 << count; set++) {
        if (set > 0) {
            size_t b = (size_t)__builtin_ctzll(set);
            double sum = log_det[b + 1] + take_in(at[b + 1], b + 1, w->block, w->least, w->m[b]);
            for (size_t below = 0; below <= b; below++) {
                at[below] = w->m[b];
                log_det[below] = sum;
            }
        }
        out->rest[set] = at[0][0];
        out->log_det[set] = log_det[0];
    }
}

/* ---- Gains ---- */

typedef struct gain_room {
    walk_room walk;
    walk_out kind;    /* (2^count) each */
    double *straight; /* (2^count): log evidence */
    double *best;     /* (2^count): .. of the best curved kind */
    uint8_t *curve;   /* (2^count): .. and its G */
    bend_select_room pairs;
} gain_room;

static void lay_out_room(gain_room *g, arena *a, const bend_family *f)
{
    size_t sets = (size_t)1 << f->count;
    lay_out_walk(&g->walk, a, f->count, f->curves);
    g->kind.rest = arena_take(a, sets, sizeof(double));
    g->kind.log_det = arena_take(a, sets, sizeof(double));
    g->straight = arena_take(a, sets, sizeof(double));
    g->best = arena_take(a, sets, sizeof(double));
    g->curve = arena_take(a, sets, sizeof *g->curve);
    bend_select_lay_out(&g->pairs, a, f->width);
}

/* log(e^a + e^b) */
static double add_logs(double a, double b)
{
    double top = fmax(a, b);
    return top > -INFINITY ? top + log1p(exp(fmin(a, b) - top)) : top;
}

/* log |L| of each candidate's functions in a kind. */
static void prior_dets(const bend_family *f, size_t kind, double *out)
{
    size_t block = kind == STRAIGHT ? 1 : f->curves;
    for (size_t c = 0; c < f->count; c++) {
        out[c] = 0;
        for (size_t k = 0; k < block; k++) {
            size_t at = c * f->curves + k;
            out[c] += log(f->precision[at] * bend_scale(f, at, kind));
        }
    }
}

/* Adds a curved kind to the gains of all sets, or sets what it is compared with. */
static void add_curved(const bends *b, const bend_family *f, size_t level, size_t kind,
                       const dag_prior *prior, gain_room *g, double *gain)
{
    double least = bend_least(f, prior);
    double own[FAMILY_MOST];
    begin(f, level, kind, least, &g->walk);
    walk(&g->walk, f->count, &g->kind);
    prior_dets(f, kind, own);
    for (size_t set = 0; set < (size_t)1 << f->count; set++) {
        double log_det = g->kind.log_det[set];
        for (uint32_t left = (uint32_t)set; left != 0; left &= left - 1) {
            log_det -= own[__builtin_ctz(left)];
        }
        size_t parents = (size_t)__builtin_popcountll(set);
        double evidence =
            bend_log_evidence(f, prior, parents, fmax(g->kind.rest[set], least), log_det);
        double share = bend_log_prior(f, b->reach, (uint32_t)set, kind);
        if (kind == STRAIGHT) {
            g->straight[set] = evidence;
            g->best[set] = evidence;
            gain[set] = share;
        } else {
            if (evidence > g->best[set] || kind == 1) {
                g->best[set] = evidence;
                g->curve[set] = (uint8_t)(kind - 1);
            }
            gain[set] = add_logs(gain[set], share + evidence - g->straight[set]);
        }
    }
    gain[0] = 0;
}

/* Kinds with pairs of one family, as far as they are known. */
typedef struct climb {
    const bend_family *f;
    const dag_prior *prior;
    const bend_select_room *room;
    size_t level;
    uint32_t set;
    double best;                              /* log evidence: the largest so far */
    double evidence[BEND_CURVES][BEND_PAIRS]; /* NAN: not known */
} climb;

/* Whether this kind may matter. */
static bool look(climb *c, size_t curve, size_t pair)
{
    double *own = &c->evidence[curve][pair];
    if (isnan(*own)) {
        size_t kind = 1 + BEND_CURVES + curve * BEND_PAIRS + pair;
        size_t n = bend_functions(c->f, c->set, kind, c->room->place);
        bend_fit fit = bend_fit_of(c->f, c->level, kind, c->room->place, n,
                                   bend_least(c->f, c->prior), c->room->a);
        *own = bend_log_evidence(c->f, c->prior, (size_t)__builtin_popcount(c->set), fit.rest,
                                 fit.log_det);
        c->best = fmax(c->best, *own);
    }
    return *own > c->best - tuned_bends_passed_over();
}

/* All that may matter, from one kind on. */
static void look_around(climb *c, size_t curve, size_t pair)
{
    for (size_t step = 0; step < 4; step++) {
        size_t to = curve + (step == 0) - (step == 1);
        size_t and = pair + (step == 2) - (step == 3);
        if (to < BEND_CURVES && and < BEND_PAIRS && isnan(c->evidence[to][and]) &&
            look(c, to, and)) {
            look_around(c, to, and);
        }
    }
}

/* Adds the kinds with pairs to a gain; `best` is the log evidence of the best curved kind, with the
 * `curve`th G, and `straight` that of none. */
static double add_pairs(climb *c, bend_reach reach, size_t curve, double straight, double gain)
{
    double *known = &c->evidence[0][0];
    for (size_t k = 0; k < (size_t)BEND_CURVES * BEND_PAIRS; k++) {
        known[k] = NAN;
    }
    if (look(c, curve, 0)) {
        look_around(c, curve, 0);
    }
    for (size_t k = 0; k < (size_t)BEND_CURVES * BEND_PAIRS; k++) {
        if (!isnan(known[k])) {
            double share = bend_log_prior(c->f, reach, c->set, 1 + BEND_CURVES + k);
            gain = add_logs(gain, share + known[k] - straight);
        }
    }
    return gain;
}

/* Adds the kinds with pairs, where there are any. */
static void add_together(const bends *b, const bend_family *f, size_t level, const dag_prior *prior,
                         const gain_room *g, double *gain)
{
    for (uint32_t set = f->together; set != 0; set = (set - 1) & f->together) {
        climb c = {f, prior, &g->pairs, level, set, g->best[set], {{0}}};
        if ((set & (set - 1)) != 0) {
            gain[set] = add_pairs(&c, b->reach, g->curve[set], g->straight[set], gain[set]);
        }
    }
}

double bend_gain_of(const bends *b, const bend_family *f, size_t level, const dag_prior *prior,
                    const bend_select_room *room, uint32_t set)
{
    size_t parents = (size_t)__builtin_popcount(set);
    double straight = 0;
    double gain = bend_log_prior(f, b->reach, set, STRAIGHT);
    size_t curve = 0;
    climb c = {f, prior, room, level, set, -INFINITY, {{0}}};
    if (set == 0) {
        return 0;
    }
    for (size_t kind = STRAIGHT; kind <= BEND_CURVES; kind++) {
        size_t n = bend_functions(f, set, kind, room->place);
        bend_fit fit = bend_fit_of(f, level, kind, room->place, n, bend_least(f, prior), room->a);
        double evidence = bend_log_evidence(f, prior, parents, fit.rest, fit.log_det);
        if (kind == STRAIGHT) {
            straight = evidence;
            continue;
        }
        gain = add_logs(gain, bend_log_prior(f, b->reach, set, kind) + evidence - straight);
        curve = evidence > c.best ? kind - 1 : curve;
        c.best = fmax(c.best, evidence);
    }
    bool pairs = b->reach == BEND_JOINT && parents > 1 && (set & ~f->together) == 0;
    return pairs ? add_pairs(&c, b->reach, curve, straight, gain) : gain;
}

static lscm_status fill(bends *b, size_t i, const dag_prior *prior, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bend_family *f = &b->list[i];
    gain_room room;
    arena memory = {0};
    lay_out_room(&room, &memory, f);
    TRY(arena_open(&memory, why));
    lay_out_room(&room, &memory, f);
    for (size_t l = 0; l < f->levels; l++) {
        for (size_t kind = 0; kind <= BEND_CURVES && f->gain[l] != NULL; kind++) {
            add_curved(b, f, l, kind, prior, &room, f->gain[l]);
        }
        if (f->gain[l] != NULL && b->reach == BEND_JOINT) {
            add_together(b, f, l, prior, &room, f->gain[l]);
        }
    }
done:
    arena_close(&memory);
    return status;
}

static void lay_out(bends *b, arena *a, const families *f)
{
    for (size_t i = 0; i < b->d; i++) {
        bend_family *own = &b->list[i];
        memset(own->gain, 0, sizeof own->gain);
        for (size_t l = 0; l < f->list[i].levels; l++) {
            size_t place = f->list[i].level[l].place;
            own->gain[place] = arena_take(a, (size_t)1 << own->count, sizeof(double));
        }
    }
}

lscm_status bend_gains(bends *b, const families *f, const dag_prior *prior, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bool failed = false;
    lay_out(b, &b->gains, f);
    TRY(arena_open(&b->gains, why));
    lay_out(b, &b->gains, f);
    threads_blas_single();
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < b->d; i++) {
        lscm_error own;
        if (fill(b, i, prior, &own) != LSCM_OK) {
#pragma omp atomic write
            failed = true;
        }
    }
    threads_blas_restore();
    if (failed) {
        status = fail_memory(why, b->most * b->most * sizeof(double));
    }
done:
    return status;
}
