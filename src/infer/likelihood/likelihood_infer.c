#include "infer/likelihood/likelihood_infer.h"
#include "base/clock.h"
#include "base/stages.h"
#include "base/streams.h"
#include "base/threads.h"
#include "base/tuned.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 10,  /* of fit and graphs */
    TRIED = 8,    /* graphs that the quadratic is held against */
    SHORT = 200,  /* draws of a round, to find the best graph by */
    MOVES = 400,  /* of a chain, for each pair of nodes */
    PATH = 1 << 8 /* streams of chains begin here, of rounds at 0 */
};
enum { BRIEF = 4 }; /* times fewer moves where few draws are wanted, and in a round */
enum {
    STAGE_H,
    STAGE_MAXIMUM,
    STAGE_H_THERE,
    STAGE_MORE,
    STAGE_ROUND,
    STAGE_CHAINS,
    STAGE_MISSES,
    STAGES
};
static const double POOR = 1; /* log p: odds that are off by e */

/* All that one inference works in. */
typedef struct work {
    likelihood_posterior *p;
    const anchored_input *in;
    const graph_posterior *g;
    likelihood_prior prior;
    likelihood_draw at;
    likelihood_draw *draws; /* (most) */
    size_t most, threads;
    uint32_t allowed[LIKELIHOOD_MOST], required[LIKELIHOOD_MOST];
    double *scratch; /* (threads, likelihood_scratch) */
    double *drawn;   /* (count): weights and nuisances of a draw */
    rng r;
    stages stages;
} work;

bool likelihood_applies(const anchored *a, const anchored_input *in, const graph_posterior *g)
{
    const linear_view *s = in->view;
    bool labelled = true;
    for (size_t j = 0; j < a->d; j++) {
        bool regressed = a->anchor.kind[j] == ANCHOR_NONE && a->anchor.samples[j] >= a->d + 2;
        labelled = labelled && (a->anchor.kind[j] == ANCHOR_VALUES || regressed);
    }
    return labelled && s->kind == VIEW_LINEAR && s->rank == s->d && s->d > 1 &&
           s->d <= LIKELIHOOD_MOST && s->x_noise > 0 && !(a->clip > 0) && a->spread != NULL &&
           in->leak == NULL && in->blur == NULL && in->reach == NULL && in->size == NULL &&
           !(g->prior[0].variance > 0);
}

static void lay_out(likelihood_posterior *p, work *w)
{
    size_t d = w->in->view->d;
    arena *a = &p->memory;
    likelihood_fit_lay_out(&p->fit, a, d);
    p->dof = arena_take(a, d, sizeof(double));
    p->effect = arena_take(a, d, sizeof(double));
    w->draws = arena_take(a, w->most, sizeof *w->draws);
    w->scratch = arena_take(a, w->threads * likelihood_scratch(d), sizeof(double));
    w->drawn = arena_take(a, likelihood_layout(d).count, sizeof(double));
}

static void take_knowledge(work *w)
{
    const families *f = &w->g->families;
    for (size_t i = 0; i < f->d; i++) {
        const family *own = &f->list[i];
        for (size_t c = 0; c < own->count; c++) {
            uint32_t bit = (uint32_t)1 << own->candidate[c];
            w->allowed[i] |= bit;
            w->required[i] |= (own->required >> c & 1) != 0 ? bit : 0;
        }
    }
    w->prior = (likelihood_prior){&w->g->grid, w->g->prior[0].dof, w->allowed, w->required};
}

/* ---- Where to start ---- */

/* Draw k of a, in units of the sums. */
static void take_start(work *w, const anchored *a, size_t k)
{
    size_t d = a->d;
    likelihood_at at = likelihood_layout(d);
    const likelihood_sums *s = &w->p->sums;
    double *theta = w->p->fit.theta;
    w->at = (likelihood_draw){.ridge = w->g->prior[k].ridge,
                              .hole = w->g->prior[k].hole,
                              .log_odds = w->g->prior[k].log_odds};
    for (size_t j = 0; j < d; j++) {
        double shift = a->shift[j] - s->v_mean[j];
        double centre = a->intercept[k * d + j] - s->v_mean[j];
        for (size_t c = 0; c < d; c++) {
            double slope = a->slope[c * d + j];
            double weight = a->w[(k * d + c) * d + j];
            shift += s->y_mean[c] * slope;
            centre += weight * s->v_mean[c];
            theta[c * d + j] = slope * s->y_unit[c] / s->unit[j];
            theta[at.weight + c * d + j] = weight * s->unit[c] / s->unit[j];
            w->at.parents[j] |= weight != 0 ? (uint32_t)1 << c : 0;
        }
        theta[at.shift + j] = shift / s->unit[j];
        theta[at.centre + j] = centre / s->unit[j];
        theta[at.log_sigma + j] = log(a->sigma[k * d + j] / s->unit[j]);
        double tau = a->effect[k * d + j] / a->sigma[k * d + j];
        w->p->effect[j] = tau * tau;
    }
}

/* Whether any node is without an anchor. Its slope is then the plain regression of its labels, and
 * mechanisms start from the z of that. */
static bool start_again(work *w, const anchored *a)
{
    bool any = false;
    for (size_t j = 0; j < a->d; j++) {
        if (a->anchor.kind[j] == ANCHOR_NONE) {
            any = true;
            if (!likelihood_regress_labels(&w->p->sums, j, w->p->fit.theta, w->p->fit.work)) {
                return false;
            }
        }
    }
    for (size_t i = 0; i < a->d && any; i++) {
        if (!likelihood_regress_node(&w->p->sums, i, w->at.parents[i], w->p->fit.theta,
                                     w->p->fit.work)) {
            return false;
        }
    }
    return true;
}

/* The best of the draws, and whether it has effects of sets. */
static size_t best_draw(const anchored *a, bool *effects)
{
    size_t best = 0;
    for (size_t k = 1; k < a->draws; k++) {
        best = a->log_p[k] > a->log_p[best] ? k : best;
    }
    *effects = false;
    for (size_t j = 0; j < a->d; j++) {
        *effects = *effects || a->effect[best * a->d + j] > 0;
    }
    return best;
}

/* ---- Time ---- */

/* Moves of each chain, for each pair of nodes. */
static size_t sweeps_of(const anchored_input *in)
{
    return in->steps > 0 ? in->steps : in->brief ? MOVES / BRIEF : MOVES;
}

/* What is ahead: H twice; the chain of a round, by what the evidence of a graph takes (of two for
 * every other move, and of all slabs for one in d), tried where L is 0 yet; then all chains. */
static void expect(work *w)
{
    enum { TIMES = 16 };
    size_t d = w->p->sums.d;
    size_t chains = anchored_chains(w->in);
    size_t together = chains < w->threads ? chains : w->threads;
    size_t each = MOVES / BRIEF;
    double moves = (double)(each * d * d);
    double more = (double)(sweeps_of(w->in) * BRIEF) / MOVES;
    double begun = clock_seconds();
    for (size_t k = 0; k < TIMES; k++) {
        (void)likelihood_evidence(&w->p->fit.quadratic, &w->prior, w->at.parents, w->at.ridge,
                                  w->at.hole, w->scratch);
    }
    double once = (clock_seconds() - begun) / TIMES;
    stages_begin(&w->stages, STAGES, w->in->progress);
    w->p->fit.progress = &w->stages.own;
    stages_expect_like(&w->stages, STAGE_H_THERE, STAGE_H, 1);
    stages_expect(&w->stages, STAGE_ROUND,
                  moves * once * (1 + (double)w->prior.grid->slabs / (double)d));
    stages_expect_like(&w->stages, STAGE_CHAINS, STAGE_ROUND,
                       more * (double)chains / (double)together);
    stages_expect_like(&w->stages, STAGE_MISSES, STAGE_MORE, TRIED);
}

/* ---- Rounds ---- */

/* tau of each node, all else as it is: the best of its levels. True where one changes. */
static bool choose_effects(work *w)
{
    likelihood_fit *f = &w->p->fit;
    bool changed = false;
    for (size_t i = 0; i < f->sums->d; i++) {
        const family *own = &w->g->families.list[i];
        double before = w->p->effect[i];
        double best = -INFINITY;
        double chosen = before;
        for (size_t l = 0; l < own->levels; l++) {
            w->p->effect[i] = own->level[l].tau * own->level[l].tau;
            double value = own->level[l].log_prior +
                           likelihood_value(f->sums, &f->fixed, f->theta, NULL, f->work);
            chosen = value > best ? w->p->effect[i] : chosen;
            best = fmax(best, value);
        }
        w->p->effect[i] = chosen;
        changed = changed || chosen != before;
    }
    return changed;
}

static bool fit_graph(work *w, bool effects)
{
    likelihood_fit *f = &w->p->fit;
    double value = 0;
    for (size_t i = 0; i < f->sums->d; i++) {
        w->p->dof[i] = w->prior.dof + (double)__builtin_popcount(w->at.parents[i]);
    }
    f->fixed = (likelihood_fixed){w->p->effect, w->p->dof, w->at.ridge};
    likelihood_information(f);
    stages_enter(&w->stages, STAGE_MAXIMUM);
    if (f->stopped || !likelihood_maximise(f, w->at.parents, &value) ||
        (effects && choose_effects(w) && !likelihood_maximise(f, w->at.parents, &value))) {
        return false;
    }
    stages_enter(&w->stages, STAGE_H_THERE);
    likelihood_information(f);
    stages_enter(&w->stages, STAGE_MORE);
    return !f->stopped && likelihood_maximise(f, w->at.parents, &value) && likelihood_expand(f);
}

/* Fit and graphs in turn, until the best graph is the one that was fitted. */
static bool settle(work *w, bool effects)
{
    size_t d = w->p->sums.d;
    for (size_t round = 0; round < ROUNDS; round++) {
        if (!fit_graph(w, effects)) {
            return false;
        }
        size_t count = SHORT < w->most ? SHORT : w->most;
        likelihood_draw next = w->at;
        stages_enter(&w->stages, STAGE_ROUND);
        likelihood_chain(&w->p->fit.quadratic, &w->prior, MOVES / BRIEF * d * d,
                         stream_part(w->r, round), &next, w->draws, count, w->scratch);
        size_t best = 0;
        for (size_t k = 1; k < count; k++) {
            best = w->draws[k].score > w->draws[best].score ? k : best;
        }
        next = w->draws[best];
        bool same = memcmp(next.parents, w->at.parents, sizeof next.parents) == 0 &&
                    next.ridge == w->at.ridge;
        if (same) {
            return true;
        }
        w->at = next;
        if (round + 1 < ROUNDS) {
            stages_enter(&w->stages, STAGE_H);
        }
    }
    return true;
}

/* Graphs among the draws, fitted themselves: by how much the quadratic is off, on average. */
static double misses(work *w, size_t count)
{
    likelihood_fit *f = &w->p->fit;
    const likelihood_quadratic *q = &f->quadratic;
    size_t n = likelihood_layout(q->d).count;
    double sum = 0;
    for (size_t k = 0; k < TRIED; k++) {
        const likelihood_draw *draw = w->draws + (2 * k + 1) * count / TRIED / 2;
        double value = 0;
        memcpy(f->theta, q->theta, n * sizeof(double));
        if (!likelihood_maximise(f, draw->parents, &value)) {
            return INFINITY;
        }
        sum += fabs(value - q->value - likelihood_told(q, draw->parents, w->scratch)) / TRIED;
    }
    memcpy(f->theta, q->theta, n * sizeof(double));
    return sum;
}

/* ---- Draws ---- */

static void take_order(size_t d, const uint32_t *parents, size_t *order)
{
    uint32_t before = 0;
    for (size_t n = 0; n < d; n++) {
        size_t next = 0;
        while ((before >> next & 1) != 0 || (parents[next] & ~before) != 0) {
            next++;
        }
        order[n] = next;
        before |= (uint32_t)1 << next;
    }
}

/* Draw k from graph k, in the units of the data. Its tau is that of draw k given z: the maximum has
 * one, and how far it is known matters to a set that was never seen, hardly to the weights. */
static void take_draw(work *w, size_t k, const joint_draws *out, double *effect)
{
    const likelihood_sums *s = &w->p->sums;
    size_t d = s->d;
    likelihood_at at = likelihood_layout(d);
    double *theta = w->drawn;
    likelihood_weights(&w->p->fit.quadratic, w->draws + k, stream_part(w->r, PATH), k,
                       theta + at.weight, theta, w->scratch);
    take_order(d, w->draws[k].parents, out->order + k * d);
    out->log_p[k] = w->draws[k].score;
    for (size_t j = 0; j < d; j++) {
        double shift = s->v_mean[j] + s->unit[j] * theta[at.shift + j];
        double centre = s->v_mean[j] + s->unit[j] * theta[at.centre + j];
        for (size_t c = 0; c < d; c++) {
            double slope = theta[c * d + j] * s->unit[j] / s->y_unit[c];
            double weight = theta[at.weight + c * d + j] * s->unit[j] / s->unit[c];
            shift -= s->y_mean[c] * slope;
            centre -= weight * s->v_mean[c];
            out->slope[(k * d + c) * d + j] = slope;
            out->w[(k * d + c) * d + j] = weight;
        }
        out->shift[k * d + j] = shift;
        out->intercept[k * d + j] = centre;
        double tau = effect[k * d + j] / out->sigma[k * d + j];
        out->sigma[k * d + j] = s->unit[j] * exp(theta[at.log_sigma + j]);
        effect[k * d + j] = out->sigma[k * d + j] * tau;
    }
}

static void run_chains(work *w, size_t chains, size_t count)
{
    size_t d = w->p->sums.d;
    size_t moves = sweeps_of(w->in) * d * d;
#pragma omp parallel for schedule(dynamic, 1)
    for (size_t c = 0; c < chains; c++) {
        size_t first = c * count / chains;
        size_t after = (c + 1) * count / chains;
        likelihood_draw at = w->at;
        double *scratch = w->scratch + (size_t)omp_get_thread_num() * likelihood_scratch(d);
        likelihood_chain(&w->p->fit.quadratic, &w->prior, moves, stream_part(w->r, PATH + 1 + c),
                         &at, w->draws + first, after - first, scratch);
    }
}

lscm_status likelihood_infer(likelihood_posterior *out, const anchored *a, const anchored_input *in,
                             const graph_posterior *g, const joint_draws *draws, double *effect,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    likelihood_posterior p = {0};
    work w = {.p = &p, .in = in, .g = g, .most = draws->count};
    bool effects = false;
    size_t start = best_draw(a, &effects);
    w.threads = (size_t)omp_get_max_threads();
    w.r = stream_of((uint64_t)in->settings->seed, STREAM_LIKELIHOOD);
    threads_blas_single();
    lay_out(&p, &w);
    TRY(arena_open(&p.memory, why));
    lay_out(&p, &w);
    TRY(likelihood_sums_of(&p.sums, in->view, in->keep, a->unit, a->anchor.label_noise, effects,
                           why));
    p.fit.sums = &p.sums;
    take_knowledge(&w);
    take_start(&w, a, start);
    expect(&w);
    if (start_again(&w, a) && settle(&w, effects) && p.fit.quadratic.positive) {
        stages_enter(&w.stages, STAGE_CHAINS);
        run_chains(&w, anchored_chains(in), draws->count);
        stages_enter(&w.stages, STAGE_MISSES);
        p.good = misses(&w, draws->count) <= POOR;
        p.seconds_spared = stages_took(&w.stages, STAGE_CHAINS) * (BRIEF - 1) / BRIEF;
    }
    if (p.fit.stopped) {
        status = fail(why, LSCM_STOPPED, "likelihood: stopped on request");
        goto done;
    }
    for (size_t k = 0; k < draws->count && p.good; k++) {
        take_draw(&w, k, draws, effect);
    }
    *out = p;
    out->fit.progress = NULL; /* it was here */
    out->fit.sums = &out->sums;
    out->fit.fixed.effect = out->effect;
    p.memory = (arena){0};
    p.sums.memory = (arena){0};
done:
    threads_blas_restore();
    likelihood_close(&p);
    return status;
}

void likelihood_close(likelihood_posterior *p)
{
    likelihood_sums_close(&p->sums);
    arena_close(&p->memory);
}
