#include "base/clock.h"
#include "base/stages.h"
#include "base/streams.h"
#include "base/tuned.h"
#include "infer/anchored/anchored_errors.h"
#include "infer/anchored/anchored_infer.h"
#include "infer/encoder/encoder.h"
#include "infer/graph/graph.h"
#include "infer/likelihood/likelihood.h"
#include "infer/run/run.h"
#include "infer/sample/sample.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void lay_out(anchored *a, const anchored_input *in, double **psi, double **sorted)
{
    arena *m = &a->memory;
    size_t d = a->d;
    size_t r = a->rank;
    double **vectors[] = {&a->unit, &a->shift, sorted};
    double **draws[] = {&a->sigma, &a->intercept, &a->effect};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = arena_take(m, d, sizeof(double));
    }
    for (size_t k = 0; k < sizeof draws / sizeof draws[0]; k++) {
        *draws[k] = arena_take(m, in->draws * d, sizeof(double));
    }
    a->z = arena_take(m, a->rows * d, sizeof(double));
    a->slope = arena_take(m, r * d, sizeof(double));
    a->spread = d <= ANCHORED_JOINT ? arena_take(m, d * (r + 1) * (r + 1), sizeof(double)) : NULL;
    a->w = arena_take(m, in->draws * d * d, sizeof(double));
    a->order = arena_take(m, in->draws * d, sizeof *a->order);
    a->log_p = arena_take(m, in->draws, sizeof(double));
    a->log_q = arena_take(m, in->draws, sizeof(double));
    a->edge_prob = arena_take(m, d * d, sizeof(double));
    *psi = arena_take(m, d * d, sizeof(double));
}

/* ---- Draws given a known encoder ---- */

static void draw_mechanisms(anchored *a, const graph_posterior *g, uint64_t seed)
{
    size_t d = a->d;
    const rng r = stream_of(seed, STREAM_MECHANISMS);
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < a->draws; k++) {
        mechanisms all = g->mechanisms;
        all.prior = g->prior[k];
        a->log_p[k] = hyper_log_prior(&g->grid, &g->prior[k]) - lgamma((double)d + 1);
        for (size_t i = 0; i < d; i++) {
            uint32_t parents = g->parents[k * d + i];
            mechanism m = mechanisms_draw(&all, i, parents, r, k * d + i, a->w + k * d * d + i);
            a->sigma[k * d + i] = m.sigma;
            a->intercept[k * d + i] = m.intercept;
            a->effect[k * d + i] = m.effect;
            a->log_p[k] += mechanisms_score(&all, i, parents);
        }
        /* the draws are from p itself: q is p, normalised where the sum over graphs is known */
        a->log_q[k] = a->log_p[k] - (isfinite(g->result.log_evidence) ? g->result.log_evidence : 0);
    }
    memcpy(a->order, g->order, a->draws * d * sizeof *a->order);
    memcpy(a->edge_prob, g->edge_prob, d * d * sizeof(double));
}

/* What becomes of these where mechanisms may bend. */
static lscm_status draw_bends(anchored *a, const graph_posterior *g, uint64_t seed, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bend_draws draws = {.count = a->draws,
                        .d = a->d,
                        .w = a->w,
                        .sigma = a->sigma,
                        .intercept = a->intercept,
                        .effect = a->effect};
    TRY(graph_draw_bends(g, stream_of(seed, STREAM_MECHANISMS), stream_of(seed, STREAM_BENDS),
                         &draws, why));
    a->bent = draws.bent;
    a->bent_memory = draws.memory;
    a->bends = true;
done:
    return status;
}

/* sigma is the sd of noise, which has a scale where rows count for what its law has them count. */
static void scale_noise(anchored *a, const anchored_input *in)
{
    for (size_t k = 0; k < a->draws * a->d && in->noise_sd != NULL; k++) {
        a->sigma[k] *= in->noise_sd[k % a->d];
    }
}

/* Covariance of the encoder as the anchors have it. */
static void take_spread(anchored *a)
{
    size_t n = a->rank + 1;
    if (a->spread != NULL && a->anchor.covariance != NULL) {
        memcpy(a->spread, a->anchor.covariance, a->d * n * n * sizeof(double));
    }
}

/* ---- Draws of everything together ---- */

/* True where the error of the encoder could show in a graph: it moves z_j by standard_error, the
 * graph sees sigma_j / sqrt(rows). */
static bool encoder_matters(const anchored *a, const graph_posterior *g)
{
    bool matters = false;
    if (a->rank != a->d || a->d > ANCHORED_JOINT || a->anchor.covariance == NULL) {
        return false;
    }
    for (size_t j = 0; j < a->d; j++) {
        double seen = a->sigma[j] / sqrt(fmax(g->families.list[j].rows, 1));
        matters = matters || a->anchor.kind[j] == ANCHOR_NONE ||
                  !(a->anchor.standard_error[j] <= tuned_joint_matters() * seen);
    }
    return matters;
}

static void take_moments(anchored *a, const joint_draws *draws)
{
    size_t d = a->d;
    size_t r = a->rank;
    size_t n = r + 1;
    double share = 1 / (double)a->draws;
    memset(a->shift, 0, d * sizeof(double));
    memset(a->slope, 0, r * d * sizeof(double));
    memset(a->spread, 0, d * n * n * sizeof(double));
    for (size_t k = 0; k < a->draws; k++) {
        cblas_daxpy((int)d, share, draws->shift + k * d, 1, a->shift, 1);
        cblas_daxpy((int)(r * d), share, draws->slope + k * r * d, 1, a->slope, 1);
    }
    for (size_t k = 0; k < a->draws; k++) {
        for (size_t j = 0; j < d; j++) {
            double *cov = a->spread + j * n * n;
            for (size_t p = 0; p < n; p++) {
                double left =
                    p == 0 ? draws->shift[k * d + j] - a->shift[j]
                           : draws->slope[(k * r + p - 1) * d + j] - a->slope[(p - 1) * d + j];
                for (size_t q = 0; q < n; q++) {
                    double right =
                        q == 0 ? draws->shift[k * d + j] - a->shift[j]
                               : draws->slope[(k * r + q - 1) * d + j] - a->slope[(q - 1) * d + j];
                    cov[p * n + q] += share * left * right;
                }
            }
        }
    }
}

static void lay_out_joint(joint_draws *draws, dag_draws *start, const anchored *a, arena *m)
{
    start->parents = arena_take(m, start->count * a->d, sizeof *start->parents);
    start->order = arena_take(m, start->count * a->d, sizeof *start->order);
    draws->shift = arena_take(m, a->draws * a->d, sizeof(double));
    draws->slope = arena_take(m, a->draws * a->rank * a->d, sizeof(double));
}

static bool any_unlabelled(const anchored *a)
{
    bool any = false;
    for (size_t j = 0; j < a->d; j++) {
        any = any || a->anchor.kind[j] == ANCHOR_NONE;
    }
    return any;
}

static lscm_status infer_jointly(anchored *a, const anchored_input *in, const graph_posterior *g,
                                 lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = a->d;
    size_t chains = anchored_chains(in);
    size_t sweeps = anchored_sweeps(in);
    view_scatter sums = {0};
    arena memory = {0};
    joint_draws draws = {.count = a->draws,
                         .order = a->order,
                         .w = a->w,
                         .sigma = a->sigma,
                         .intercept = a->intercept,
                         .effect = a->effect,
                         .log_p = a->log_p};
    bool unlabelled = any_unlabelled(a);
    joint_settings settings = {chains, unlabelled ? tuned_sample_unlabelled() * sweeps : sweeps};
    joint_problem problem = {
        .view = in->view,
        .keep = in->keep,
        .anchor = &a->anchor,
        .slope = a->slope,
        .scatter = &sums,
        .mechanisms = g->mechanisms,
        .equal = g->prior[0].variance > 0,
        .grid = &g->grid,
        .order = in->order,
        .noisy = unlabelled && anchored_rows_noisy(a, in) &&
                 in->view->rows * d * tuned_sample_unlabelled() <= tuned_rows_most(),
        .interchangeable = in->order == NULL && in->forbidden == NULL && in->required == NULL};
    problem.mechanisms.prior = g->prior[0];
    dag_draws start = {.count = chains, .d = d};
    TRY(view_scatter_of(&sums, in->view, in->keep, g->families.levels > 1, why));
    lay_out_joint(&draws, &start, a, &memory);
    TRY(arena_open(&memory, why));
    lay_out_joint(&draws, &start, a, &memory);
    /* starts spread over the graphs drawn with the encoder as it is */
    for (size_t k = 0; k < chains; k++) {
        size_t from = k * a->draws / chains;
        memcpy(start.parents + k * d, g->parents + from * d, d * sizeof *start.parents);
        memcpy(start.order + k * d, g->order + from * d, d * sizeof *start.order);
    }
    TRY(joint_sample(&problem, &settings, &start,
                     stream_of((uint64_t)in->settings->seed, STREAM_JOINT), &draws, in->progress,
                     why));
    take_moments(a, &draws);
    anchored_take_edges(a, &g->mechanisms, chains, 0, draws.shift);
    memcpy(a->log_q, a->log_p, a->draws * sizeof(double));
    a->sampler = SAMPLER_JOINT;
    anchor_apply(in->view, a->shift, a->slope, a->z);
done:
    view_scatter_close(&sums);
    arena_close(&memory);
    return status;
}

/* ---- By the likelihood, z integrated out ---- */

/* Where x has no noise to speak of, chains over the encoder are exact; but they know of no effects
 * of sets, and get stuck where labels leave a node without an anchor. */
static bool noise_matters(const anchored *a, const graph_posterior *g)
{
    bool effects = false;
    for (size_t j = 0; j < a->d; j++) {
        size_t having = 0;
        for (size_t k = 0; k < a->draws; k++) {
            having += a->effect[k * a->d + j] > 0 ? 1 : 0;
        }
        effects = effects || 2 * having > a->draws;
    }
    return anchored_noise_matters(a) || ((effects || any_unlabelled(a)) && encoder_matters(a, g));
}

/* Draws, z and its sd; `sampler` stays what it was where the likelihood is no quadratic. */
static lscm_status infer_likely(anchored *a, const anchored_input *in, const graph_posterior *g,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena memory = {0};
    dag_draws none = {0};
    likelihood_posterior p = {0};
    joint_draws draws = {.count = a->draws,
                         .order = a->order,
                         .w = a->w,
                         .sigma = a->sigma,
                         .intercept = a->intercept,
                         .log_p = a->log_p};
    lay_out_joint(&draws, &none, a, &memory);
    TRY(arena_open(&memory, why));
    lay_out_joint(&draws, &none, a, &memory);
    TRY(likelihood_infer(&p, a, in, g, &draws, a->effect, why));
    a->seconds_brief = -p.seconds_spared;
    if (!p.good) {
        goto done;
    }
    (void)arena_take(&a->rows_memory, a->rows * a->d, sizeof(double));
    TRY(arena_open(&a->rows_memory, why));
    a->z_sd = arena_take(&a->rows_memory, a->rows * a->d, sizeof(double));
    take_moments(a, &draws);
    anchored_take_edges(a, &g->mechanisms, anchored_chains(in), 0, draws.shift);
    memcpy(a->log_q, a->log_p, a->draws * sizeof(double));
    anchor_apply(in->view, a->shift, a->slope, a->z);
    TRY(likelihood_rows(&p, in->view, a->spread, a->z, a->z_sd, why));
    a->sampler = SAMPLER_LIKELIHOOD;
done:
    likelihood_close(&p);
    arena_close(&memory);
    return status;
}

/* ---- All together ---- */

/* What takes its time: graphs given the encoder, then whatever is drawn or integrated with them. */
enum { PART_GRAPHS, PART_SAMPLER, PARTS };

/* Whether the noise of x may matter; how much is only known once there are graphs. */
static bool may_sample(const anchored_input *in)
{
    return in->view->kind == VIEW_LINEAR && in->view->x_noise > 0;
}

static lscm_status find_encoder(anchored *a, const anchored_input *in, double *psi, double *sorted,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const linear_view *s = in->view;
    int d = (int)a->d;
    int r = (int)a->rank;
    double noise = s->x_noise * s->x_noise;
    memcpy(a->shift, a->anchor.intercept, a->d * sizeof(double));
    if (s->kind != VIEW_LINEAR) {
        memcpy(a->slope, a->anchor.slope, a->rank * a->d * sizeof(double));
        memcpy(a->z, s->y, s->rows * s->d * sizeof(double));
    } else {
        TRY(encoder_complete(s, in->keep, &a->anchor, a->slope, why));
        anchor_apply(s, a->shift, a->slope, a->z);
    }
    encoder_units(s, &a->anchor, in->keep, a->z, a->unit, sorted);
    if (r > 0) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, d, d, r, noise, a->slope, d, a->slope,
                    d, 0, psi, d);
    }
done:
    return status;
}

/* Without a single anchor there is nothing to start from. */
static lscm_status refuse_unanchored(const anchored *a, lscm_error *why)
{
    size_t most = 0;
    for (size_t j = 0; j < a->d; j++) {
        most = a->anchor.samples[j] > most ? a->anchor.samples[j] : most;
        if (a->anchor.kind[j] != ANCHOR_NONE) {
            return LSCM_OK;
        }
    }
    if (a->rank == 0) {
        return fail(why, LSCM_VALUE, "x is constant: there is nothing to find in it");
    }
    if (most < a->rank + 2) {
        return fail(
            why, LSCM_VALUE,
            "no node can be anchored: one needs at least %zu rows in which do() set it, and "
            "the most that there are is %zu; take more, or --method biols",
            a->rank + 2, most);
    }
    return fail(why, LSCM_VALUE,
                "no node can be anchored: x does not follow the values that do() set, or nodes are "
                "always set together; are values and targets those of these rows?");
}

/* How far the graphs are to be trusted. */
static void take_trust(anchored *a, const graph_posterior *g)
{
    a->sampler = g->exact ? SAMPLER_EXACT : SAMPLER_MCMC;
    a->r_hat = g->result.r_hat;
    a->r_hat_kept = g->result.r_hat_kept;
    a->replaced = g->result.replaced;
    a->crowded = g->crowded;
    a->hub = g->hub;
    a->ess = a->edge_ess = g->result.ess;
    a->log_evidence = g->result.log_evidence;
    a->dispersion = g->dispersion;
    a->hole = g->prior[g->draws / 2].hole;
    a->conditional = g->conditional != NULL && g->prior[g->draws / 2].unit == g->conditional;
    a->ridge = g->prior[g->draws / 2].ridge;
    a->log_odds = g->prior[g->draws / 2].log_odds;
}

/* Whether x may say nothing of z at its bounds, which is drawn there by mechanisms that are
 * straight. Else z that was read off beyond its reach is, where mechanisms bend, what it was read
 * as: rows count for as much less as that makes slopes uneven (graph/graph_weigh.c). */
static bool z_is_drawn(const anchored *a, const anchored_input *in)
{
    return a->clip > 0 && (in->reach == NULL || in->saturated || in->settings->clip > 0);
}

/* What graphs given the encoder leave open, where that matters. */
static lscm_status infer_together(anchored *a, const anchored_input *in, const graph_posterior *g,
                                  lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (likelihood_applies(a, in, g) && noise_matters(a, g)) {
        TRY(infer_likely(a, in, g, why));
    }
    bool open = a->sampler != SAMPLER_LIKELIHOOD;
    if (open && in->view->kind == VIEW_LINEAR && !(a->clip > 0) && encoder_matters(a, g)) {
        TRY(infer_jointly(a, in, g, why));
    }
    if (open && anchored_rows_matter(a, in)) {
        TRY(anchored_infer_rows(a, in, g, why));
    }
done:
    return status;
}

lscm_status anchored_infer(anchored *out, const anchored_input *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const linear_view *s = in->view;
    anchored a = {.d = s->d, .rank = s->rank, .rows = s->rows, .draws = in->draws};
    graph_posterior g = {0};
    double *psi = NULL;
    double *sorted = NULL;
    uint8_t *inside = NULL;
    double begun = clock_seconds();
    if (s->kind != VIEW_LINEAR) {
        TRY(encoder_identity(&a.anchor, s, in->keep, why));
    } else {
        TRY(anchor_of(&a.anchor, s, in->keep, why));
    }
    lay_out(&a, in, &psi, &sorted);
    TRY(arena_open(&a.memory, why));
    lay_out(&a, in, &psi, &sorted);
    TRY(refuse_unanchored(&a, why));
    TRY(find_encoder(&a, in, psi, sorted, why));
    a.clip = in->settings->clip;
    for (size_t j = 0; j < s->d && in->reach != NULL; j++) {
        a.clip = fmax(a.clip, in->reach[j]);
    }
    if (s->kind == VIEW_LINEAR && a.clip == 0 && anchored_rows_few(s)) {
        TRY(clip_find(&a.clip, &(latent_rows){&s->design, a.z, in->keep, false}, a.anchor.noise,
                      why));
    }
    a.seconds_anchor = clock_seconds() - begun;

    double anchored_at = clock_seconds();
    const double *noise = in->blur != NULL ? in->blur : s->x_noise > 0 ? psi : NULL;
    anchored_input with = *in;
    stages parts;
    stages_begin(&parts, PARTS, in->progress);
    stages_expect(&parts, PART_SAMPLER, may_sample(in) ? (double)NAN : 0);
    with.progress = &parts.own;
    with.mechanism = z_is_drawn(&a, in) ? LSCM_MECHANISM_LINEAR : in->mechanism;
    if (a.clip > 0 && (in->reach == NULL || in->saturated) && anchored_rows_matter(&a, in)) {
        TRY(anchored_rows_known(&a, in, &inside, why));
        with.keep = inside;
    }
    TRY(graph_posterior_of(&g, &with, a.z, a.unit, noise, in->blur != NULL ? a.d * a.d : 0, why));
    take_trust(&a, &g);
    draw_mechanisms(&a, &g, (uint64_t)in->settings->seed);
    if (g.bent) {
        TRY(draw_bends(&a, &g, (uint64_t)in->settings->seed, why));
    }
    scale_noise(&a, in);
    take_spread(&a);
    with.keep = in->keep;
    stages_enter(&parts, PART_SAMPLER);
    a.seconds_search = stages_took(&parts, PART_GRAPHS);
    /* all of these take mechanisms to be straight, and noise to be normal */
    if (!g.bent && in->weight == NULL) {
        TRY(infer_together(&a, &with, &g, why));
    }
    if (in->leak != NULL) {
        TRY(anchored_take_errors(&a, &g, in, why));
    }
    a.seconds_graph = clock_seconds() - anchored_at;
    a.seconds_brief += clock_seconds() - begun;
    *out = a;
    a.memory = a.rows_memory = a.bent_memory = (arena){0};
    a.anchor.memory = (arena){0};
done:
    free(inside);
    graph_posterior_close(&g);
    anchored_close(&a);
    return status;
}
