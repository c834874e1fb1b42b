#include "infer/sample/latent_chain.h"
#include "base/streams.h"

#include "base/threads.h"
#include "base/tuned.h"
#include "infer/graph/graph.h"
#include "infer/marginal/marginal.h"
#include "infer/sample/censor.h"
#include "infer/sample/clip.h"
#include "infer/sample/sample_chains.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct latent_chain {
    const latent_problem *p;
    graph_chain g;
    families families; /* every level of what sets have of their own */
    size_t *level;     /* (d): the one that was drawn, .. */
    family *own;       /* (d): .. and the families there */
    double *offset;    /* (sets, d): what sets have of their own */
    double *residual;  /* (d, d): I - W */
    collapse *rows;
    collapse_parameters model;
    censored censored;
    double *z;             /* (rows, d) */
    double *sum, *squares; /* (rows, d): of z and z^2 over kept draws, about the anchors' z */
    double kept;
    double fit, fit_squares; /* of censor_fit over the last sweeps of settling */
    double actuator_noise;   /* s_I at the start */
    rng offset_random;
    uint64_t offsets; /* drawn so far */
    arena memory;
} latent_chain;

static void lay_out(latent_chain *c)
{
    const linear_view *s = c->p->view;
    arena *a = &c->memory;
    size_t n = s->rows * s->d;
    graph_chain_lay_out(&c->g, a);
    c->level = arena_take(a, s->d, sizeof *c->level);
    c->own = arena_take(a, s->d, sizeof *c->own);
    c->offset = arena_take(a, design_batches(&s->design) * s->d, sizeof(double));
    c->residual = arena_take(a, s->d * s->d, sizeof(double));
    c->z = arena_take(a, n, sizeof(double));
    c->sum = arena_take(a, n, sizeof(double));
    c->squares = arena_take(a, n, sizeof(double));
}

/* ---- Starting ---- */

static lscm_status begin_noisy(latent_chain *c, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const linear_view *s = c->p->view;
    TRY(collapse_open(&c->rows, s, why));
    TRY(collapse_parameters_open(&c->model, s->d, s->rank, why));
    c->model.order = c->g.order;
    c->model.x_noise = s->x_noise;
    c->model.own = c->offset;
    c->model.actuator_noise = c->actuator_noise = c->p->anchor->actuator_noise;
done:
    return status;
}

/* Values beyond their bounds are all that is not known. */
static lscm_status begin_clipped(latent_chain *c, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const linear_view *s = c->p->view;
    double *tolerance = calloc(s->d, sizeof *tolerance);
    if (tolerance == NULL) {
        return fail_memory(why, s->d * sizeof *tolerance);
    }
    clip_bounds(c->p->clip, c->p->reach, c->p->anchor, tolerance);
    for (size_t j = 0; j < s->d; j++) {
        tolerance[j] = c->p->clip - tolerance[j];
    }
    TRY(censor_find(&c->censored, &s->design, c->z, c->p->clip, tolerance, c->p->unknown, why));
    c->censored.own = c->offset;
    censor_start(&c->censored, c->z);
done:
    free(tolerance);
    return status;
}

/* Scatters of this z, rows counting what they are worth. */
static lscm_status update(latent_chain *c, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(c->g.all.law->update(&c->families, c->z, why)); /* counts the rows again, too */
    c->g.all.law->weigh(&c->families, 1 / c->p->graph->dispersion);
    for (size_t i = 0; i < c->g.d; i++) {
        const family *f = &c->families.list[i];
        double u = f->levels > 1 ? chain_uniform(&c->g) : 0;
        c->level[i] = c->g.all.law->level(f, &c->g.all.prior, c->g.parents[i], u);
        c->own[i] = family_of_level(f, c->level[i]);
    }
done:
    return status;
}

/* W, s, c given z and graph; then what sets have of their own. */
static void draw_mechanisms(latent_chain *c)
{
    size_t d = c->g.d;
    graph_chain_draw(&c->g);
    if (c->families.levels == 1) {
        return;
    }
    for (size_t k = 0; k < d * d; k++) {
        c->residual[k] = (k % (d + 1) == 0 ? 1 : 0) - c->g.w[k];
    }
    set_means_draw(&c->families.sets,
                   &(set_residuals){c->residual, c->g.intercept, c->g.sigma, c->own},
                   c->offset_random, c->offsets++, c->offset);
}

static lscm_status begin(latent_chain *c, size_t number, rng r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const latent_problem *p = c->p;
    const linear_view *s = p->view;
    size_t d = s->d;
    c->g.d = d;
    lay_out(c);
    TRY(arena_open(&c->memory, why));
    lay_out(c);
    memcpy(c->z, p->z, s->rows * d * sizeof(double));
    latent_rows rows = {&s->design, c->z, NULL, p->effects};
    c->g.all = p->graph->mechanisms;
    c->g.all.prior = p->graph->prior[0];
    c->g.grid = &p->graph->grid;
    TRY(c->g.all.law->gather(&c->families, &rows, &p->graph->lists, why));
    c->g.all.family = c->own;
    c->offset_random = stream_part(r, 4 * number + 3);
    c->g.equal = p->graph->prior[0].variance > 0;
    c->g.order_given = p->order_given;
    graph_chain_begin(&c->g, p->start, number, stream_part(r, 2 * number));
    TRY(p->clip > 0 ? begin_clipped(c, why) : begin_noisy(c, why));
    TRY(update(c, why));
    draw_mechanisms(c);
done:
    return status;
}

static void close_chain(latent_chain *c)
{
    collapse_close(c->rows);
    collapse_parameters_close(&c->model);
    censor_close(&c->censored);
    families_close(&c->families);
    arena_close(&c->memory);
}

/* ---- Sweeping ---- */

/* s_I from what z misses the values by, with the weight of one more row as at the start. */
static void draw_actuator(latent_chain *c)
{
    double rows = 0;
    double rest = design_missed(&c->p->view->design, c->z, &rows);
    c->model.actuator_noise =
        sqrt((rest + c->actuator_noise * c->actuator_noise) / chain_chi2(&c->g, rows + 2));
}

static lscm_status sweep(latent_chain *c, uint64_t number, rng r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = c->g.d;
    if (c->p->clip > 0) {
        mechanism_model model = graph_chain_model(&c->g);
        censor_draw(&c->censored, &model, tuned_latent_inner(), r, tuned_latent_inner() * number,
                    c->z);
    } else {
        memcpy(c->model.w, c->g.w, d * d * sizeof(double));
        memcpy(c->model.c, c->g.intercept, d * sizeof(double));
        memcpy(c->model.sigma, c->g.sigma, d * sizeof(double));
        collapse_draw_decoder(c->rows, c->z, &c->model, r, 2 * number);
        collapse_draw_z(c->rows, &c->model, r, 2 * number + 1, c->z);
        if (c->model.actuator_noise > 0) {
            draw_actuator(c);
        }
    }
    TRY(update(c, why));
    graph_chain_move(&c->g);
    draw_mechanisms(c);
done:
    return status;
}

static void keep_draw(latent_chain *c, size_t at, anchored *out)
{
    size_t d = c->g.d;
    size_t n = c->p->view->rows * d;
    memcpy(out->w + at * d * d, c->g.w, d * d * sizeof(double));
    memcpy(out->sigma + at * d, c->g.sigma, d * sizeof(double));
    memcpy(out->intercept + at * d, c->g.intercept, d * sizeof(double));
    memcpy(out->effect + at * d, c->g.effect, d * sizeof(double));
    memcpy(out->order + at * d, c->g.order, d * sizeof *out->order);
    out->log_p[at] = 0;
    for (size_t i = 0; i < d; i++) {
        out->log_p[at] += c->g.score[i];
    }
    for (size_t k = 0; k < n; k++) {
        double moved = c->z[k] - c->p->z[k];
        c->sum[k] += moved;
        c->squares[k] += moved * moved;
    }
    c->kept += 1;
}

static lscm_status step(latent_chain *c, size_t number, rng r, size_t k, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    rng own = stream_part(r, 4 * number + 2);
    TRY(sweep(c, k, own, why));
    TRY(chain_report(&c->g, "sampling z and graph", k, c->p->sweeps,
                     number == 0 ? c->p->progress : NULL, why));
done:
    return status;
}

static size_t settling(const latent_problem *p)
{
    return p->sweeps / tuned_sample_burnt();
}

/* Which draws a chain makes. */
typedef struct chain_share {
    size_t first, count;
} chain_share;

static chain_share share_of(const latent_problem *p, size_t number, size_t draws)
{
    size_t first = draws * number / p->chains;
    return (chain_share){first, draws * (number + 1) / p->chains - first};
}

/* The last half of settling says how well a chain with censored entries fits, and its weights wait
 * where those of the draws will be: they say how far chains agree. */
static lscm_status settle(latent_chain *c, size_t number, rng r, const anchored *out,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t burn = settling(c->p);
    size_t half = burn / 2;
    double share = 1 / (double)(burn - half);
    chain_share own = share_of(c->p, number, out->draws);
    size_t kept = 0;
    TRY(begin(c, number, r, why));
    for (size_t k = 0; k < burn; k++) {
        TRY(step(c, number, r, k, why));
        if (c->p->clip > 0 && k >= half) {
            mechanism_model model = graph_chain_model(&c->g);
            double fit = censor_fit(&c->censored, &model, c->z) / c->p->graph->dispersion;
            c->fit += share * fit;
            c->fit_squares += share * fit * fit;
            while (kept < own.count && (k - half) * own.count >= kept * (burn - half)) {
                memcpy(out->w + (own.first + kept++) * c->g.d * c->g.d, c->g.w,
                       c->g.d * c->g.d * sizeof(double));
            }
        }
    }
done:
    return status;
}

static lscm_status run_chain(latent_chain *c, size_t number, rng r, anchored *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t sweeps = c->p->sweeps;
    size_t burn = settling(c->p);
    chain_share own = share_of(c->p, number, out->draws);
    size_t kept = 0;
    for (size_t k = burn; k < sweeps; k++) {
        TRY(step(c, number, r, k, why));
        while (kept < own.count && (k - burn) * own.count >= kept * (sweeps - burn)) {
            keep_draw(c, own.first + kept++, out);
        }
    }
done:
    return status;
}

/* ---- Leaving worse modes ---- */

static lscm_status go_on_from(latent_chain *to, const latent_chain *from, lscm_error *why)
{
    size_t d = to->g.d;
    memcpy(to->z, from->z, to->p->view->rows * d * sizeof(double));
    graph_chain_copy(&to->g, &from->g);
    memcpy(to->offset, from->offset, design_batches(&to->p->view->design) * d * sizeof(double));
    return update(to, why);
}

/* Odds of e^20 are beyond doubt, if the fits do not waver by as much themselves. */
static lscm_status leave_worse(latent_chain *chain, size_t chains, size_t *replaced,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const latent_chain *best = chain;
    for (size_t k = 1; k < chains; k++) {
        best = chain[k].fit > best->fit ? &chain[k] : best;
    }
    double wavers = sqrt(fmax(best->fit_squares - best->fit * best->fit, 0));
    for (size_t k = 0; k < chains; k++) {
        if (chain[k].fit < best->fit - fmax(tuned_latent_far(), tuned_latent_far_sd() * wavers)) {
            TRY(go_on_from(&chain[k], best, why));
            *replaced += 1;
        }
    }
done:
    return status;
}

/* ---- All together ---- */

static void collect(const latent_problem *p, const latent_chain *chain, anchored *out, double *z_sd)
{
    size_t n = p->view->rows * p->view->d;
    double kept = 0;
    for (size_t c = 0; c < p->chains; c++) {
        kept += chain[c].kept;
    }
    for (size_t k = 0; k < n; k++) {
        double sum = 0;
        double squares = 0;
        for (size_t c = 0; c < p->chains; c++) {
            sum += chain[c].sum[k];
            squares += chain[c].squares[k];
        }
        out->z[k] = p->z[k] + sum / kept;
        z_sd[k] = sqrt(fmax(squares / kept - sum / kept * (sum / kept), 0));
    }
    out->censored = chain[0].censored.count;
}

/* How far the draws agree; before: R-hat of the chains as they settled, where some were replaced.
 */
static void take_agreement(const latent_problem *p, anchored *out, size_t replaced, double before)
{
    anchored_take_edges(out, &p->graph->mechanisms, p->chains, replaced, p->series);
    out->r_hat = replaced > 0 ? before : out->r_hat;
}

static lscm_status first_failure(const lscm_error *failed, size_t chains, lscm_error *why)
{
    for (size_t k = 0; k < chains; k++) {
        if (failed[k].status != LSCM_OK) {
            if (why != NULL) {
                *why = failed[k];
            }
            return failed[k].status;
        }
    }
    return LSCM_OK;
}

lscm_status latent_sample(const latent_problem *p, rng r, anchored *out, double *z_sd,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    latent_chain *chain = calloc(p->chains, sizeof *chain);
    lscm_error *failed = calloc(p->chains, sizeof *failed);
    size_t replaced = 0;
    double before = 1;
    bool stopped = false;
    threads_blas_single();
    if (chain == NULL || failed == NULL) {
        status = fail_memory(why, p->chains * (sizeof *chain + sizeof *failed));
        goto done;
    }
#pragma omp parallel for schedule(dynamic)
    for (size_t k = 0; k < p->chains; k++) {
        chain[k].p = p;
        chain[k].g.stopped = &stopped;
        failed[k].status = settle(&chain[k], k, r, out, &failed[k]);
    }
    TRY(first_failure(failed, p->chains, why));
    if (p->clip > 0) {
        anchored_take_edges(out, &p->graph->mechanisms, p->chains, 0, p->series);
        before = out->r_hat;
        TRY(leave_worse(chain, p->chains, &replaced, why));
    }
#pragma omp parallel for schedule(dynamic)
    for (size_t k = 0; k < p->chains; k++) {
        failed[k].status = run_chain(&chain[k], k, r, out, &failed[k]);
    }
    TRY(first_failure(failed, p->chains, why));
    collect(p, chain, out, z_sd);
    take_agreement(p, out, replaced, before);
done:
    for (size_t k = 0; k < p->chains && chain != NULL; k++) {
        close_chain(&chain[k]);
    }
    threads_blas_restore();
    free(chain);
    free(failed);
    return status;
}
