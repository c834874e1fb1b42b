#include "infer/anchored/anchored_missing.h"

#include "base/stages.h"
#include "base/streams.h"
#include "base/tuned.h"
#include "infer/anchored/anchored_infer.h"
#include "infer/encoder/encoder.h"
#include "infer/sample/sample.h"

#include <math.h>
#include <string.h>

enum { ROUND_FIRST, ROUNDS_MORE, STAGES };

/* What the rounds that count have said. */
typedef struct pool {
    size_t rounds;                                          /* that have a share of the draws */
    double laws;                                            /* rounds whose laws of z count */
    double *w, *sigma, *intercept, *effect, *log_p, *log_q; /* as in anchored */
    size_t *order;
    double *edge_prob;       /* (d, d): summed, .. */
    double *z, *squares;     /* (rows, d): mean of z by the laws of its row; squares about it */
    double *var;             /* (rows, d): .. its variance, summed */
    double *mean, *variance; /* (rows, d): of the round in hand */
    double r_hat, ess;
    arena memory;
} pool;

static void lay_out(pool *p, const anchored_input *in)
{
    arena *a = &p->memory;
    size_t d = in->view->d;
    size_t n = in->view->rows * d;
    double **rows[] = {&p->z, &p->squares, &p->var, &p->mean, &p->variance};
    double **vectors[] = {&p->sigma, &p->intercept, &p->effect};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        *rows[k] = arena_take(a, n, sizeof(double));
    }
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = arena_take(a, in->draws * d, sizeof(double));
    }
    p->w = arena_take(a, in->draws * d * d, sizeof(double));
    p->log_p = arena_take(a, in->draws, sizeof(double));
    p->log_q = arena_take(a, in->draws, sizeof(double));
    p->order = arena_take(a, in->draws * d, sizeof *p->order);
    p->edge_prob = arena_take(a, d * d, sizeof(double));
}

/* One array of `width` numbers a draw: draws first .. past - 1, to the pool or back. */
static void copy(double *pooled, double *own, size_t width, size_t first, size_t past, bool back)
{
    for (size_t k = first * width; k < past * width; k++) {
        *(back ? own + k : pooled + k) = back ? pooled[k] : own[k];
    }
}

static void copy_draws(const pool *p, const anchored *a, size_t first, size_t past, bool back)
{
    size_t d = a->d;
    copy(p->w, a->w, d * d, first, past, back);
    copy(p->sigma, a->sigma, d, first, past, back);
    copy(p->intercept, a->intercept, d, first, past, back);
    copy(p->effect, a->effect, d, first, past, back);
    copy(p->log_p, a->log_p, 1, first, past, back);
    copy(p->log_q, a->log_q, 1, first, past, back);
    for (size_t k = first * d; k < past * d; k++) {
        *(back ? a->order + k : p->order + k) = back ? p->order[k] : a->order[k];
    }
}

/* z of the round in hand: means about each other, for they may be far from 0 (Welford). */
static void add_laws(pool *p, const anchored *a)
{
    p->laws++;
    for (size_t k = 0; k < a->rows * a->d; k++) {
        double away = p->mean[k] - p->z[k];
        p->z[k] += away / p->laws;
        p->squares[k] += away * (p->mean[k] - p->z[k]);
        p->var[k] += p->variance[k];
    }
}

/* The share of this round. */
static void add_round(pool *p, const anchored *a)
{
    size_t fills = tuned_missing_fills();
    copy_draws(p, a, a->draws * p->rounds / fills, a->draws * (p->rounds + 1) / fills, false);
    for (size_t k = 0; k < a->d * a->d; k++) {
        p->edge_prob[k] += a->edge_prob[k] / (double)fills;
    }
    add_laws(p, a);
    p->r_hat = fmax(p->r_hat, a->r_hat);
    p->ess = p->rounds == 0 ? a->ess : fmin(p->ess, a->ess);
    p->rounds++;
}

/* Whether z of rows is known worse than the mechanisms resolve, for what is missing. */
static bool matters(const pool *p, const anchored *a)
{
    bool any = false;
    for (size_t j = 0; j < a->d; j++) {
        double sum = 0;
        for (size_t row = 0; row < a->rows; row++) {
            sum += p->variance[row * a->d + j] / (double)a->rows;
        }
        any = any || !(sqrt(sum) <= tuned_rows_matter() * a->sigma[j]);
    }
    return any;
}

/* z and its sd: of rows that lack something by their laws, with the encoder's doubt. */
static lscm_status take_rows(pool *p, const linear_view *s, anchored *a, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double *sd = p->variance;
    double *doubt = p->mean; /* both are free by now */
    encoder_z(s, a, a->z, sd);
    for (size_t row = 0; row < s->rows; row++) {
        if (!linear_view_lacks(s, row)) {
            continue;
        }
        encoder_doubt(a, s->y + row * s->rank, doubt);
        for (size_t j = 0; j < s->d; j++) {
            size_t at = row * s->d + j;
            if (s->kind == VIEW_OBSERVED && s->mask[at] == 0) {
                continue;
            }
            double own = (p->var[at] + p->squares[at]) / p->laws;
            a->z[at] = p->z[at];
            sd[at] = sqrt(own + (s->kind == VIEW_LINEAR ? doubt[j] : 0));
        }
    }
    if (a->z_sd == NULL) {
        (void)arena_take(&a->rows_memory, s->rows * s->d, sizeof(double));
        TRY(arena_open(&a->rows_memory, why));
        a->z_sd = arena_take(&a->rows_memory, s->rows * s->d, sizeof(double));
    }
    memcpy(a->z_sd, sd, s->rows * s->d * sizeof *sd);
done:
    return status;
}

/* The law by one of its draws. */
static fill_law law_of(const anchored *a, size_t draw)
{
    return (fill_law){.model = {.d = a->d,
                                .w = a->w + draw * a->d * a->d,
                                .intercept = a->intercept + draw * a->d,
                                .sigma = a->sigma + draw * a->d},
                      .effect = a->effect + draw * a->d,
                      .shift = a->shift,
                      .slope = a->slope,
                      .actuator_noise = a->anchor.actuator_noise};
}

static void take_all(pool *p, anchored *a)
{
    copy_draws(p, a, 0, a->draws, true);
    memcpy(a->edge_prob, p->edge_prob, a->d * a->d * sizeof(double));
    a->r_hat = p->r_hat;
    a->ess = a->edge_ess = p->ess;
}

static size_t rounds_to_settle(const linear_view *s)
{
    return s->kind == VIEW_OBSERVED ? tuned_missing_settle_observed() : tuned_missing_settle();
}

size_t anchored_rounds(const linear_view *s)
{
    return rounds_to_settle(s) + tuned_missing_fills();
}

/* The rounds in turn, `a` that of the last: what they say is in `p`, if there is more than one. */
static lscm_status run_rounds(pool *p, anchored *a, linear_view *s, const anchored_input *in,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const rng random = stream_of((uint64_t)in->settings->seed, STREAM_FILL);
    size_t settle = rounds_to_settle(s);
    size_t count = anchored_rounds(s);
    stages rounds;
    stages_begin(&rounds, STAGES, in->progress);
    stages_expect(&rounds, ROUNDS_MORE, (double)NAN); /* whether there are any */
    anchored_input full = *in;
    full.progress = &rounds.own;
    anchored_input rough = *in; /* fits that settle have one draw to give */
    rough.progress = &rounds.part;
    rough.draws = tuned_judge_draws();
    rough.brief = true;
    for (size_t k = 0; k < count; k++) {
        anchored_close(a);
        *a = (anchored){0};
        TRY(anchored_infer(a, k > 0 && k < settle ? &rough : &full, why));
        const fill_law law = law_of(a, rng_below(random, k, a->draws));
        TRY(fill_draw(s, &law, stream_part(random, 4 * k), p->mean, p->variance, why));
        if (k == 0 && !matters(p, a)) {
            add_laws(p, a); /* one round is all: its draws stand as they are */
            goto done;
        }
        if (k == 0) { /* all others take as long as the first */
            full.progress = &rounds.part;
            stages_expect_like(&rounds, ROUNDS_MORE, ROUND_FIRST, (double)(count - 1));
            stages_enter(&rounds, ROUNDS_MORE);
        }
        if (k >= settle) {
            add_round(p, a);
        }
        if (!stages_report(&rounds, "missing entries", k, count - 1)) {
            return fail(why, LSCM_STOPPED, "missing entries: stopped on request");
        }
    }
    take_all(p, a);
done:
    return status;
}

lscm_status anchored_infer_missing(anchored *out, linear_view *s, const anchored_input *in,
                                   lscm_error *why)
{
    lscm_status status = LSCM_OK;
    anchored a = {0};
    pool p = {0};
    if (s->mask == NULL) {
        return anchored_infer(out, in, why);
    }
    lay_out(&p, in);
    TRY(arena_open(&p.memory, why));
    lay_out(&p, in);
    TRY(run_rounds(&p, &a, s, in, why));
    TRY(take_rows(&p, s, &a, why));
    *out = a;
    a = (anchored){0};
done:
    anchored_close(&a);
    arena_close(&p.memory);
    return status;
}
