/* The posterior by Markov chains over orders (order_chain.h); with an order given, exactly.
 *
 * Chain 0 starts cold, from an order that is given or greedily, the others at random and hot, beta
 * rising from near 0 to 1 over the first quarter. Then a chain that stands lower than the best by
 * far more than chains vary starts again from there: orders that unlikely are starts, not samples.
 * From the middle on, places are recorded evenly. Each draw has a recorded order of its own and
 * parents drawn given it; where every graph is to count once it goes on from there (edge_walk.h),
 * and edges are told by the draws. Else edge probabilities are averages over them of P(j
 * in pa_i | order) = 1 - e^(total_i(U - j) - total_i(U)), parents summed out (Rao-Blackwell); R-hat
 * and ESS are those of these numbers, the worst over edges that are in doubt. Chains that start
 * again agree with the best by that alone: then R-hat is that of the places until there, and the
 * one after it is told beside it. The same numbers for any number of threads.
 */
#include "base/stages.h"
#include "base/tuned.h"
#include "infer/graph/convergence.h"
#include "infer/graph/dag.h"
#include "infer/graph/edge_walk.h"
#include "infer/graph/order_chain.h"
#include "infer/graph/subset_sums.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { SEGMENTS = 64 }; /* of a run, between two reports */
enum { STAGE_SCORES, STAGE_CHAINS, STAGES };

/* How many of them until chains are compared, and until orders are recorded. */
static size_t compared(void)
{
    return tuned_order_warm() + tuned_order_compared();
}

static size_t burnt(void)
{
    return compared() + tuned_order_settled();
}

typedef struct mcmc {
    const dag_problem *p;
    const family *families; /* (d) */
    size_t d;
    const dag_draws *draws;
    dag_result *out;
    const size_t *start; /* (d) or NULL */
    size_t chains, steps, recorded;
    order_space space;
    parent_sets *sets;          /* (d) */
    order_chain *chain;         /* (chains) */
    double *sum, *squares;      /* (chains): of scores while they are compared */
    uint32_t *position;         /* (chains, recorded, d) */
    double **scratch, **series; /* (threads): subset_entries(most); (most, chains, recorded) */
    double *r_hat, *ess;        /* (d): the worst of each node's edges */
    size_t most, edges, threads;
    stages stages;
    arena memory;
} mcmc;

static void lay_out(mcmc *m)
{
    arena *a = &m->memory;
    size_t d = m->d;
    m->sets = arena_take(a, d, sizeof *m->sets);
    m->space.total = arena_take(a, d, sizeof *m->space.total);
    m->chain = arena_take(a, m->chains, sizeof *m->chain);
    m->sum = arena_take(a, m->chains, sizeof(double));
    m->squares = arena_take(a, m->chains, sizeof(double));
    m->position = arena_take(a, m->chains * m->recorded * d, sizeof *m->position);
    m->scratch = arena_take(a, m->threads, sizeof *m->scratch);
    m->series = arena_take(a, m->threads, sizeof *m->series);
    m->r_hat = arena_take(a, d, sizeof(double));
    m->ess = arena_take(a, d, sizeof(double));
    order_space_lay_out(&m->space, a, m->edges);
    for (size_t i = 0; i < d; i++) {
        parent_sets unplaced;
        size_t count = m->families[i].count;
        double *total = arena_take(a, subset_entries(count), sizeof(double));
        parent_sets_lay_out(m->sets != NULL ? &m->sets[i] : &unplaced, a, count);
        if (m->space.total != NULL) {
            m->space.total[i] = total;
        }
    }
    for (size_t c = 0; c < m->chains; c++) {
        order_chain unplaced;
        order_chain_lay_out(m->chain != NULL ? &m->chain[c] : &unplaced, a, d);
    }
    for (size_t t = 0; t < m->threads; t++) {
        double *scratch = arena_take(a, subset_entries(m->most), sizeof(double));
        double *series = arena_take(a, m->most * m->chains * m->recorded, sizeof(double));
        if (m->scratch != NULL && m->series != NULL) {
            m->scratch[t] = scratch;
            m->series[t] = series;
        }
    }
}

/* About a second or two on one core for the usual candidates, whatever d. */
static size_t choose_steps(size_t d, bool brief)
{
    size_t sweeps = tuned_order_steps() / d;
    sweeps = sweeps < tuned_order_sweeps_least() ? tuned_order_sweeps_least() : sweeps;
    sweeps = sweeps > tuned_order_sweeps_most() ? tuned_order_sweeps_most() : sweeps;
    return d * (brief ? sweeps - sweeps / 4 : sweeps);
}

/* Places are recorded while chains are compared, and again, over those, from the middle on: from
 * step `start`, evenly over `span` of them. */
static bool is_recorded(const mcmc *m, size_t segment, size_t *start, size_t *span)
{
    size_t each = m->steps / SEGMENTS;
    bool comparing = segment >= tuned_order_warm() && segment < compared();
    *start = each * (comparing ? tuned_order_warm() : burnt());
    *span = comparing ? each * tuned_order_compared() : m->steps - *start;
    return comparing || segment >= burnt();
}

static void run_segment(mcmc *m, size_t c, size_t segment)
{
    order_chain *chain = &m->chain[c];
    size_t from = m->steps / SEGMENTS * segment;
    size_t to = segment + 1 == SEGMENTS ? m->steps : m->steps / SEGMENTS * (segment + 1);
    double share = (double)segment / (double)tuned_order_warm();
    double beta = segment >= tuned_order_warm() ? 1
                  : c == 0                      ? tuned_order_coldest()
                                                : pow(tuned_order_hottest(), 1 - share);
    size_t start = 0;
    size_t span = 0;
    size_t next = 0; /* first record due after step `from` */
    bool recorded = is_recorded(m, segment, &start, &span);
    while (recorded && next < m->recorded && start + (next + 1) * span / m->recorded <= from) {
        next++;
    }
    for (size_t step = from; step < to; step++) {
        order_chain_move(chain, beta);
        if (segment >= tuned_order_warm() && segment < compared()) {
            m->sum[c] += chain->score;
            m->squares[c] += chain->score * chain->score;
        }
        while (recorded && next < m->recorded &&
               start + (next + 1) * span / m->recorded <= step + 1) {
            memcpy(m->position + (c * m->recorded + next) * m->d, chain->position,
                   m->d * sizeof *m->position);
            next++;
        }
    }
}

static uint32_t mask_before(const family *f, const uint32_t *position)
{
    uint32_t mask = 0;
    for (size_t k = 0; k < f->count; k++) {
        mask |= (uint32_t)(position[f->candidate[k]] < position[f->node]) << k;
    }
    return mask;
}

/* Edge probabilities of node i, and how well they are known. */
static void summarise(const mcmc *m, size_t i, double *series)
{
    const family *f = &m->families[i];
    const double *total = m->space.total[i];
    size_t n = m->chains * m->recorded;
    m->r_hat[i] = 1;
    m->ess[i] = (double)n;
    for (size_t t = 0; t < n; t++) {
        uint32_t within = mask_before(f, m->position + t * m->d);
        for (size_t k = 0; k < f->count; k++) {
            uint32_t bit = (uint32_t)1 << k;
            double p = (within & bit) != 0 ? -expm1(total[within & ~bit] - total[within]) : 0;
            series[k * n + t] = p > 0 ? p : 0;
        }
    }
    for (size_t k = 0; k < f->count; k++) {
        const double *x = series + k * n;
        double sum = 0;
        for (size_t t = 0; t < n; t++) {
            sum += x[t];
        }
        double p = sum / (double)n;
        m->out->edge_prob[f->candidate[k] * m->d + i] = p;
        if (p * (1 - p) > tuned_order_doubt()) {
            m->r_hat[i] = fmax(m->r_hat[i], split_r_hat(x, m->chains, m->recorded));
            m->ess[i] = fmin(m->ess[i], effective_samples(x, m->chains, m->recorded));
        }
    }
}

/* Of all nodes, from the places recorded last; returns the worst R-hat. */
static double summarise_all(const mcmc *m)
{
    double r_hat = 1;
    memset(m->out->edge_prob, 0, m->d * m->d * sizeof(double));
#pragma omp parallel for schedule(dynamic) num_threads((int)m->threads)
    for (size_t i = 0; i < m->d; i++) {
        summarise(m, i, m->series[omp_get_thread_num()]);
    }
    for (size_t i = 0; i < m->d; i++) {
        r_hat = fmax(r_hat, m->r_hat[i]);
    }
    return r_hat;
}

/* Chains far below the best go on from the best's order. What they say of each other is from
 * before.
 */
static void compare(mcmc *m)
{
    size_t steps = m->steps / SEGMENTS * tuned_order_compared();
    double n = (double)steps;
    size_t best = 0;
    for (size_t c = 1; c < m->chains; c++) {
        best = m->sum[c] > m->sum[best] ? c : best;
    }
    double top = m->sum[best] / n;
    double sd = sqrt(fmax(m->squares[best] / n - top * top, 0));
    m->out->replaced = 0;
    for (size_t c = 0; c < m->chains; c++) {
        if (!(m->sum[c] / n > top - tuned_order_far() - tuned_order_far_sd() * sd)) {
            order_chain_adopt(&m->chain[c], &m->chain[best]);
            m->out->replaced++;
        }
    }
    if (m->out->replaced > 0 && m->out->edge_prob != NULL) {
        m->out->r_hat = summarise_all(m);
    }
}

static lscm_status report(mcmc *m, uint64_t done, uint64_t total, lscm_error *why)
{
    return stages_report(&m->stages, "orders", done, total)
               ? LSCM_OK
               : fail(why, LSCM_STOPPED, "orders: stopped on request");
}

/* Scores of all parent sets. Of the threads the first reports. */
static lscm_status fill(mcmc *m, lscm_error *why)
{
    size_t filled = 0;
    bool stopped = false;
    order_space_fill(&m->space);
#pragma omp parallel for schedule(dynamic) num_threads((int)m->threads)
    for (size_t i = 0; i < m->d; i++) {
        size_t done = 0;
        bool told = false;
#pragma omp atomic read
        told = stopped;
        if (told) {
            continue;
        }
#pragma omp atomic capture
        done = filled++;
        if (omp_get_thread_num() == 0 &&
            !stages_report(&m->stages, "candidate parents", done, m->d)) {
#pragma omp atomic write
            stopped = true;
        }
        parent_sets_fill(&m->sets[i], m->p->mechanisms, &m->families[i], m->space.total[i],
                         m->scratch[omp_get_thread_num()]);
    }
    return stopped ? fail(why, LSCM_STOPPED, "candidate parents: stopped on request") : LSCM_OK;
}

static lscm_status run_chains(mcmc *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t k = 0; k < m->d; k++) {
        m->chain[0].mark[m->start != NULL ? m->start[k] : k] = (uint32_t)k;
    }
    for (size_t c = 0; c < m->chains; c++) {
        m->chain[c].space = &m->space;
        m->chain[c].r = m->p->r;
        /* draws take the numbers from 0 on */
        m->chain[c].next = (uint64_t)(c + 1) << 48;
        if (!order_chain_start(&m->chain[c], c == 0)) {
            return fail(why, LSCM_VALUE,
                        "the required edges go round in a circle, so no graph has them all; take "
                        "one of them back");
        }
    }
    for (size_t segment = 0; segment < SEGMENTS; segment++) {
        TRY(report(m, segment, SEGMENTS, why));
#pragma omp parallel for schedule(dynamic)
        for (size_t c = 0; c < m->chains; c++) {
            run_segment(m, c, segment);
        }
        if (segment + 1 == compared()) {
            compare(m);
        }
    }
    TRY(report(m, SEGMENTS, SEGMENTS, why));
done:
    return status;
}

/* Draw k: of chain k mod chains, evenly over its records. */
static void draw_graph(const mcmc *m, size_t k)
{
    size_t d = m->d;
    size_t per_chain = (m->draws->count + m->chains - 1) / m->chains;
    size_t record = (k / m->chains) * m->recorded / per_chain;
    const uint32_t *position = m->position + (k % m->chains * m->recorded + record) * d;
    for (size_t i = 0; i < d; i++) {
        uint64_t first = ((uint64_t)k * d + i) * 2;
        uint32_t within = mask_before(&m->families[i], position);
        m->draws->order[k * d + position[i]] = i;
        m->draws->parents[k * d + i] =
            parent_sets_draw(&m->sets[i], within, m->space.total[i][within],
                             rng_uniform(m->p->r, first), rng_uniform(m->p->r, first + 1));
    }
}

/* Chains that were replaced agree by that alone. */
static void judge(mcmc *m)
{
    if (m->out->edge_prob == NULL) {
        return;
    }
    if (m->out->replaced > 0) {
        m->out->ess = fmin(m->out->ess, (double)(m->chains - m->out->replaced));
    } else {
        m->out->r_hat = m->out->r_hat_kept;
    }
}

/* edge_prob, and how far the chains agree on it. */
static void find_edges(mcmc *m)
{
    m->out->r_hat_kept = summarise_all(m);
    m->out->ess = (double)(m->chains * m->recorded);
    for (size_t i = 0; i < m->d; i++) {
        m->out->ess = fmin(m->out->ess, m->ess[i]);
    }
    judge(m);
}

static void finish(mcmc *m)
{
    m->out->log_evidence = (double)NAN;
    if (m->out->edge_prob != NULL) {
        find_edges(m);
    } else {
        m->out->r_hat = m->out->r_hat_kept = m->out->ess = (double)NAN;
    }
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < m->draws->count; k++) {
        draw_graph(m, k);
    }
}

size_t dag_chains(int64_t asked)
{
    return asked > 0 ? (size_t)asked : tuned_chains();
}

static void choose_lengths(mcmc *m, const dag_mcmc_settings *settings)
{
    m->start = settings->start;
    m->chains = dag_chains((int64_t)settings->chains);
    m->steps = settings->steps > 0 ? settings->steps : choose_steps(m->d, settings->brief);
    m->recorded = (m->draws->count + m->chains - 1) / m->chains;
    m->recorded = m->recorded > tuned_order_recorded() ? m->recorded : tuned_order_recorded();
    m->steps = m->steps > 2 * m->recorded ? m->steps : 2 * m->recorded;
    m->threads = (size_t)omp_get_max_threads();
    for (size_t i = 0; i < m->d; i++) {
        size_t count = m->families[i].count;
        m->edges += count;
        m->most = count > m->most ? count : m->most;
    }
}

lscm_status dag_mcmc(const dag_problem *problem, const dag_mcmc_settings *settings,
                     const dag_draws *draws, dag_result *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const mechanisms *all = problem->mechanisms;
    mcmc m = {.p = problem, .families = all->family, .d = all->d, .draws = draws, .out = out};
    if (problem->order != NULL) {
        return dag_exact(problem, draws, out, why);
    }
    if (m.d == 0) {
        return fail(why, LSCM_VALUE, "there are no nodes");
    }
    TRY(mechanisms_check(all, why));
    choose_lengths(&m, settings);
    m.space = (order_space){.d = m.d, .families = m.families};
    lay_out(&m);
    TRY(arena_open(&m.memory, why));
    lay_out(&m);
    stages_begin(&m.stages, STAGES, problem->progress);
    TRY(fill(&m, why));
    stages_enter(&m.stages, STAGE_CHAINS);
    TRY(run_chains(&m, why));
    finish(&m);
    if (settings->uniform) {
        TRY(edge_walk_draws(problem, m.sets, draws, m.chains, out, why));
        judge(&m);
    }
done:
    arena_close(&m.memory);
    return status;
}
