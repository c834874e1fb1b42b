/* Edges and order given z, W and s integrated out, by Gibbs steps on (order, parents), whose
 * posterior is prod_i score_i(pa_i) with pa_i among the nodes before i (dag.h):
 *
 *   - an edge j -> i, j before i, is there with probability  1 / (1 + exp(score without - with))
 *   - two neighbours a, b in the order take one of: a b, a -> b, b a, b -> a;
 *   - scale of the weights and share of edges (hyper.h) one of the points of their grid. */
#include "infer/graph/graph_chain.h"
#include "base/streams.h"

#include <math.h>
#include <string.h>

double chain_uniform(graph_chain *c)
{
    return rng_uniform(c->random, 2 * c->used++);
}

double chain_normal(graph_chain *c)
{
    return rng_normal(c->random, 2 * c->used++);
}

double chain_chi2(graph_chain *c, double dof)
{
    double chi2 = 2 * rng_gamma(c->random, 2 * c->used, dof / 2);
    c->used += RNG_GAMMA / 2;
    return chi2;
}

lscm_status chain_report(const graph_chain *c, const char *what, size_t done, size_t total,
                         const lscm_progress *progress, lscm_error *why)
{
    bool stopped = false;
    if (progress != NULL && progress->report != NULL &&
        !progress->report(progress->self, what, done, total)) {
#pragma omp atomic write
        *c->stopped = true;
    }
#pragma omp atomic read
    stopped = *c->stopped;
    return stopped ? fail(why, LSCM_STOPPED, "stopped on request") : LSCM_OK;
}

void graph_chain_lay_out(graph_chain *c, arena *a)
{
    size_t d = c->d;
    c->parents = arena_take(a, d, sizeof *c->parents);
    c->score = arena_take(a, d, sizeof(double));
    c->order = arena_take(a, d, sizeof *c->order);
    c->position = arena_take(a, d, sizeof *c->position);
    c->w = arena_take(a, d * d, sizeof(double));
    c->sigma = arena_take(a, d, sizeof(double));
    c->intercept = arena_take(a, d, sizeof(double));
    c->effect = arena_take(a, d, sizeof(double));
}

void graph_chain_begin(graph_chain *c, const dag_draws *start, size_t number, rng r)
{
    size_t d = c->d;
    c->random = stream_part(r, 2 * number);
    c->mechanisms = stream_part(r, 2 * number + 1);
    memcpy(c->parents, start->parents + number * d, d * sizeof *c->parents);
    memcpy(c->order, start->order + number * d, d * sizeof *c->order);
    for (size_t k = 0; k < d; k++) {
        c->position[c->order[k]] = k;
    }
}

void graph_chain_copy(graph_chain *to, const graph_chain *from)
{
    size_t d = to->d;
    to->all.prior = from->all.prior;
    memcpy(to->parents, from->parents, d * sizeof *to->parents);
    memcpy(to->score, from->score, d * sizeof(double));
    memcpy(to->order, from->order, d * sizeof *to->order);
    memcpy(to->position, from->position, d * sizeof *to->position);
    memcpy(to->w, from->w, d * d * sizeof(double));
    memcpy(to->sigma, from->sigma, d * sizeof(double));
    memcpy(to->intercept, from->intercept, d * sizeof(double));
    memcpy(to->effect, from->effect, d * sizeof(double));
}

double graph_chain_score(const graph_chain *c, size_t i, uint32_t parents)
{
    const family *f = &c->all.family[i];
    return (parents & f->required) == f->required ? mechanisms_score(&c->all, i, parents)
                                                  : -INFINITY;
}

/* The bit of `parent` among the candidates of node i, or 0. */
static uint32_t bit_of(const graph_chain *c, size_t i, size_t parent)
{
    const family *f = &c->all.family[i];
    for (size_t k = 0; k < f->count; k++) {
        if (f->candidate[k] == parent) {
            return (uint32_t)1 << k;
        }
    }
    return 0;
}

static void toggle(graph_chain *c, size_t i, uint32_t bit)
{
    uint32_t other = c->parents[i] ^ bit;
    double score = graph_chain_score(c, i, other);
    if (chain_uniform(c) < 1 / (1 + exp(c->score[i] - score))) {
        c->parents[i] = other;
        c->score[i] = score;
    }
}

/* Positions k and k + 1. */
static void turn_pair(graph_chain *c, size_t k)
{
    size_t a = c->order[k];
    size_t b = c->order[k + 1];
    uint32_t in_b = bit_of(c, b, a);
    uint32_t in_a = bit_of(c, a, b);
    uint32_t with_b = c->parents[b] | in_b;
    uint32_t without_b = c->parents[b] & ~in_b;
    double apart = graph_chain_score(c, b, without_b);
    double log_weight[4] = {
        c->score[a] + apart, in_b != 0 ? c->score[a] + graph_chain_score(c, b, with_b) : -INFINITY,
        c->score[a] + apart,
        in_a != 0 ? graph_chain_score(c, a, c->parents[a] | in_a) + apart : -INFINITY};
    double most = fmax(fmax(log_weight[0], log_weight[1]), log_weight[3]);
    double sum[4];
    double total = 0;
    if (!(most > -INFINITY)) {
        return;
    }
    for (size_t i = 0; i < 4; i++) {
        total += exp(log_weight[i] - most);
        sum[i] = total;
    }
    double u = chain_uniform(c) * total;
    size_t pick = u < sum[0] ? 0 : u < sum[1] ? 1 : u < sum[2] ? 2 : 3;
    c->parents[b] = pick == 1 ? with_b : without_b;
    c->parents[a] |= pick == 3 ? in_a : 0;
    c->score[a] = graph_chain_score(c, a, c->parents[a]);
    c->score[b] = graph_chain_score(c, b, c->parents[b]);
    if (pick >= 2) {
        c->order[k] = b;
        c->order[k + 1] = a;
        c->position[a] = k + 1;
        c->position[b] = k;
    }
}

/* Scale of the weights and share of edges given the graph. */
static void draw_prior(graph_chain *c)
{
    double score[HYPER_MOST];
    size_t points = c->grid != NULL ? hyper_points(c->grid) : 1;
    if (points > 1) {
        hyper_scores(c->grid, &c->all, c->parents, score);
        hyper_take(c->grid, hyper_pick(score, points, chain_uniform(c)), &c->all.prior);
    }
}

void graph_chain_move(graph_chain *c)
{
    draw_prior(c);
    for (size_t i = 0; i < c->d; i++) {
        c->score[i] = graph_chain_score(c, i, c->parents[i]);
    }
    for (size_t i = 0; i < c->d; i++) {
        const family *f = &c->all.family[i];
        for (size_t k = 0; k < f->count; k++) {
            if (c->position[f->candidate[k]] < c->position[i]) {
                toggle(c, i, (uint32_t)1 << k);
            }
        }
    }
    for (size_t k = 0; k + 1 < c->d && !c->order_given; k++) {
        turn_pair(c, k);
    }
}

void graph_chain_draw(graph_chain *c)
{
    for (size_t i = 0; i < c->d; i++) {
        for (size_t j = 0; j < c->d; j++) {
            c->w[j * c->d + i] = 0;
        }
        mechanism m =
            mechanisms_draw(&c->all, i, c->parents[i], c->mechanisms, c->drawn++, c->w + i);
        c->sigma[i] = m.sigma;
        c->intercept[i] = m.intercept;
        c->effect[i] = m.effect;
    }
    if (c->equal) {
        double dof = 0;
        double sum = c->all.law->pool(&c->all, c->parents, c->w, &dof);
        c->all.prior.variance = sum / chain_chi2(c, dof);
        for (size_t i = 0; i < c->d; i++) {
            double sigma = sqrt(c->all.prior.variance);
            c->effect[i] *= sigma / c->sigma[i];
            c->sigma[i] = sigma;
        }
    }
}
