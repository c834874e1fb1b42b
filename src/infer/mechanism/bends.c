#include "infer/mechanism/bend_parts.h"

#include "base/threads.h"
#include "base/tuned.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void lay_out(bends *b, arena *a)
{
    size_t d = b->d;
    b->basis = arena_take(a, d, sizeof *b->basis);
    b->rough = arena_take(a, d, CURVE_WIDTH * sizeof(double));
    b->slope = arena_take(a, d, CURVE_WIDTH * sizeof(double));
    b->product = b->reach == BEND_JOINT ? arena_take(a, d * d, CURVE_PAIRS * sizeof(double)) : NULL;
    b->list = arena_take(a, d, sizeof *b->list);
}

/* Families with pairs of these candidates. */
static void size_up(bends *b, const families *f)
{
    b->most = 0;
    for (size_t i = 0; i < b->d; i++) {
        bend_family *own = &b->list[i];
        size_t pairs = (size_t)__builtin_popcount(own->together);
        own->node = i;
        own->count = f->list[i].count;
        own->candidate = f->list[i].candidate;
        own->levels = 1;
        for (size_t l = 0; l < f->list[i].levels; l++) {
            size_t place = f->list[i].level[l].place;
            own->levels = place + 1 > own->levels ? place + 1 : own->levels;
        }
        pairs = pairs > 1 ? pairs * (pairs - 1) / 2 : 0;
        own->curves = own->count > BEND_MANY ? BEND_FEWER : CURVE_WIDTH;
        own->width = own->count * own->curves + pairs * CURVE_PAIRS + 1;
        b->most = own->width > b->most ? own->width : b->most;
    }
}

static uint32_t first_of(const bend_family *f)
{
    return ((uint32_t)1 << (f->count < BEND_TOGETHER ? f->count : BEND_TOGETHER)) - 1;
}

/* What is asked of every node in turn, by however many threads; room is each thread's own. */
typedef void (*bend_task)(bends *b, families *f, size_t i, const dag_prior *prior,
                          const bend_select_room *room);

static lscm_status for_all(bends *b, families *f, const dag_prior *prior, bend_task task,
                           lscm_error *why)
{
    bool failed = false;
    threads_blas_single();
#pragma omp parallel
    {
        bend_select_room room;
        arena memory = {0};
        lscm_error own;
        bend_select_lay_out(&room, &memory, b->most);
        bool ready = arena_open(&memory, &own) == LSCM_OK;
        bend_select_lay_out(&room, &memory, b->most);
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < b->d; i++) {
            if (ready) {
                task(b, f, i, prior, &room);
            } else {
#pragma omp atomic write
                failed = true;
            }
        }
        arena_close(&memory);
    }
    threads_blas_restore();
    return failed ? fail_memory(why, b->most * b->most * sizeof(double)) : LSCM_OK;
}

/* Which candidates may act together, where there are too many for all pairs. */
static void choose_together(bends *b, families *f, size_t i, const dag_prior *prior,
                            const bend_select_room *room)
{
    bend_family *own = &b->list[i];
    size_t order[FAMILY_MOST];
    uint32_t chosen = 0;
    (void)f;
    if (own->count <= BEND_TOGETHER) {
        own->together = first_of(own);
        return;
    }
    (void)bend_select(own, b->reach, prior, BEND_TOGETHER, room, order);
    for (size_t k = 0; k < BEND_TOGETHER; k++) {
        chosen |= (uint32_t)1 << order[k];
    }
    own->together = chosen;
}

/* Leaves out what sets hardly have of their own once good parents may bend. */
static void thin(bends *b, families *f, size_t i, const dag_prior *prior,
                 const bend_select_room *room)
{
    const bend_family *own = &b->list[i];
    family *fam = &f->list[i];
    size_t order[FAMILY_MOST];
    double score[FAMILY_LEVELS];
    bool keep[FAMILY_LEVELS];
    double best = -INFINITY;
    uint32_t parents = 0;
    size_t better = bend_select(own, b->reach, prior, BEND_TOGETHER, room, order);
    for (size_t k = 0; k < better; k++) {
        parents |= (uint32_t)1 << order[k];
    }
    for (size_t l = 0; l < fam->levels; l++) {
        const family_level *level = &fam->level[l];
        score[l] = bend_best(own, level->place, b->reach, parents, prior, room) + level->log_prior -
                   0.5 * (log(family_heft(fam, l)) + level->log_spread);
        best = fmax(best, score[l]);
    }
    for (size_t l = 0; l < fam->levels; l++) {
        keep[l] = score[l] - best >= log(tuned_effect_least());
    }
    families_keep_levels(f, i, keep);
}

/* ---- Whether gains of all families are worth telling ---- */

typedef struct draw_of {
    uint32_t parents, draw;
} draw_of;

static int by_parents(const void *a, const void *b)
{
    const draw_of *x = a;
    const draw_of *y = b;
    int order = (x->parents > y->parents) - (x->parents < y->parents);
    return order != 0 ? order : (x->draw > y->draw) - (x->draw < y->draw);
}

static double log_mean(const double *sum, size_t count)
{
    double top = -INFINITY;
    double total = 0;
    for (size_t k = 0; k < count; k++) {
        top = fmax(top, sum[k]);
    }
    for (size_t k = 0; k < count; k++) {
        total += exp(sum[k] - top);
    }
    return top + log(total / (double)count);
}

/* Adds what a node gains, at the level where that is most, to the sum of each graph. */
static void add_node(const bends *b, const family *fam, const dag_prior *prior, size_t i,
                     const bend_asking *asking, const bend_select_room *room, draw_of *list,
                     double *sum)
{
    double gain = 0;
    for (size_t k = 0; k < asking->count; k++) {
        list[k] = (draw_of){asking->parents[k * b->d + i], (uint32_t)k};
    }
    qsort(list, asking->count, sizeof *list, by_parents);
    for (size_t k = 0; k < asking->count; k++) {
        bool again = k > 0 && list[k].parents == list[k - 1].parents;
        for (size_t l = 0; l < fam->levels && !again; l++) {
            double own =
                bend_gain_of(b, &b->list[i], fam->level[l].place, prior, room, list[k].parents);
            gain = l == 0 ? own : fmax(gain, own);
        }
        sum[list[k].draw] += gain;
    }
}

/* No less than what graphs gain once levels are weighed. */
static lscm_status ask(const bends *b, const families *f, const dag_prior *prior,
                       const bend_asking *asking, bool *enough, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bend_select_room room;
    draw_of *list = NULL;
    double *sum = NULL;
    arena memory = {0};
    for (int pass = 0; pass < 2; pass++) {
        bend_select_lay_out(&room, &memory, b->most);
        list = arena_take(&memory, asking->count, sizeof *list);
        sum = arena_take(&memory, asking->count, sizeof *sum);
        if (pass == 0) {
            TRY(arena_open(&memory, why));
        }
    }
    threads_blas_single();
    for (size_t i = 0; i < b->d; i++) {
        add_node(b, &f->list[i], prior, i, asking, &room, list, sum);
    }
    threads_blas_restore();
    *enough = log_mean(sum, asking->count) > asking->least;
done:
    arena_close(&memory);
    return status;
}

/* ---- All together ---- */

static bool too_many(const families *f)
{
    bool any = false;
    for (size_t i = 0; i < f->d; i++) {
        any = any || f->list[i].count > BEND_TOGETHER;
    }
    return any;
}

void bends_lend(const bends *b, families *f, bool gain)
{
    for (size_t i = 0; i < b->d; i++) {
        f->list[i].gain = gain ? b->list[i].gain : NULL;
        f->list[i].gain_of = ((uint32_t)1 << f->list[i].count) - 1;
    }
}

lscm_status bends_of(bends *out, families *f, const latent_rows *rows, bend_reach reach,
                     const dag_prior *prior, const bend_asking *asking, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bends b = {.d = f->d,
               .reach = reach,
               .weight = f->node_weight,
               .row_weight = f->weight,
               .worth = f->worth,
               .told = true};
    lay_out(&b, &b.memory);
    TRY(arena_open(&b.memory, why));
    lay_out(&b, &b.memory);
    TRY(bend_curves(&b, rows, why));
    size_up(&b, f);
    if (reach == BEND_JOINT) {
        if (too_many(f)) {
            TRY(bend_sums(&b, rows, prior, why));
        }
        TRY(for_all(&b, f, prior, choose_together, why));
        size_up(&b, f);
    }
    TRY(bend_sums(&b, rows, prior, why));
    if (asking != NULL) {
        TRY(ask(&b, f, prior, asking, &b.told, why));
    }
    if (b.told) {
        TRY(for_all(&b, f, prior, thin, why));
        TRY(bend_gains(&b, f, prior, why));
        bends_lend(&b, f, true);
    }
    *out = b;
    b = (bends){0};
done:
    bends_close(&b);
    return status;
}

double bends_evidence(const families *f, const uint32_t *parents, size_t count)
{
    double top = -INFINITY;
    double sum = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t k = 0; k < count; k++) {
            double own = 0;
            for (size_t i = 0; i < f->d; i++) {
                own += family_gain(&f->list[i], 0, parents[k * f->d + i]);
            }
            if (pass == 0) {
                top = fmax(top, own);
            } else {
                sum += exp(own - top);
            }
        }
    }
    return count > 0 ? top + log(sum / (double)count) : 0;
}

double bends_mean(const bends *b, size_t i, const int32_t *parent, const double *coef)
{
    const bend_family *f = &b->list[i];
    const double *mean = f->mean;
    for (size_t c = 0; c < f->count; c++, mean += f->curves) {
        if (parent[1] < 0 && f->candidate[c] == (size_t)parent[0]) {
            return cblas_ddot((int)f->curves, coef, 1, mean, 1);
        }
    }
    for (size_t p = 0; p < f->count; p++) {
        for (size_t q = p + 1; q < f->count; q++) {
            if ((f->together >> p & f->together >> q & 1) == 0) {
                continue;
            }
            if (f->candidate[p] == (size_t)parent[0] && f->candidate[q] == (size_t)parent[1]) {
                return cblas_ddot(CURVE_PAIRS, coef, 1, mean, 1);
            }
            mean += CURVE_PAIRS;
        }
    }
    return 0;
}

void bends_close(bends *b)
{
    arena_close(&b->gains);
    arena_close(&b->sums);
    arena_close(&b->memory);
    *b = (bends){0};
}
