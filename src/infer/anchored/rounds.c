#include "infer/anchored/rounds.h"

#include "base/stages.h"
#include "base/tuned.h"
#include "infer/anchored/anchored_infer.h"

#include <math.h>
#include <string.h>

enum { ROUND_FIRST, ROUNDS_MORE, STAGES };

/* What the rounds that count have said. */
typedef struct pool {
    size_t rounds, most; /* that have a share of the draws; how many will */
    double *w, *sigma, *intercept, *effect, *log_p, *log_q; /* as in anchored */
    size_t *order;
    double *edge_prob;     /* (d, d): summed */
    bent_mechanisms *bent; /* (rounds that count): of each, whole, .. */
    arena *bent_memory;    /* .. and its arrays */
    double r_hat, ess;
    arena memory;
} pool;

static void lay_out(pool *p, const anchored_input *in)
{
    arena *a = &p->memory;
    size_t d = in->view->d;
    double **vectors[] = {&p->sigma, &p->intercept, &p->effect};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = arena_take(a, in->draws * d, sizeof(double));
    }
    p->w = arena_take(a, in->draws * d * d, sizeof(double));
    p->log_p = arena_take(a, in->draws, sizeof(double));
    p->log_q = arena_take(a, in->draws, sizeof(double));
    p->order = arena_take(a, in->draws * d, sizeof *p->order);
    p->edge_prob = arena_take(a, d * d, sizeof(double));
    p->bent = arena_take(a, p->most, sizeof *p->bent);
    p->bent_memory = arena_take(a, p->most, sizeof *p->bent_memory);
}

static void pool_close(pool *p)
{
    for (size_t k = 0; k < p->rounds; k++) {
        arena_close(&p->bent_memory[k]);
    }
    arena_close(&p->memory);
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

static size_t share_start(const pool *p, const anchored *a, size_t round)
{
    return a->draws * round / p->most;
}

/* The share of this round, whose mechanisms that bend become the pool's. */
static void add_round(pool *p, anchored *a)
{
    copy_draws(p, a, share_start(p, a, p->rounds), share_start(p, a, p->rounds + 1), false);
    for (size_t k = 0; k < a->d * a->d; k++) {
        p->edge_prob[k] += a->edge_prob[k] / (double)p->most;
    }
    p->bent[p->rounds] = a->bent;
    p->bent_memory[p->rounds] = a->bent_memory;
    a->bent_memory = (arena){0};
    p->r_hat = fmax(p->r_hat, a->r_hat);
    p->ess = p->rounds == 0 ? a->ess : fmin(p->ess, a->ess);
    p->rounds++;
}

/* ---- Mechanisms that bend, of all rounds ---- */

static void lay_out_bent(bent_mechanisms *m, arena *a)
{
    m->basis = arena_take(a, m->d, sizeof *m->basis);
    m->first = arena_take(a, m->draws * m->d + 1, sizeof *m->first);
    m->parent = arena_take(a, m->terms, 2 * sizeof *m->parent);
    m->coef = arena_take(a, m->terms, CURVE_WIDTH * sizeof *m->coef);
}

/* The terms of the draws that round k has a share of. */
static void join_round(const pool *p, const anchored *a, size_t k, bent_mechanisms *to)
{
    const bent_mechanisms *from = &p->bent[k];
    size_t begin = share_start(p, a, k) * a->d;
    size_t end = share_start(p, a, k + 1) * a->d;
    for (size_t at = begin; at < end; at++) {
        uint64_t next = to->first[at];
        size_t count = from->terms > 0 ? from->first[at + 1] - from->first[at] : 0;
        if (count > 0) {
            uint64_t first = from->first[at];
            memcpy(to->parent + 2 * next, from->parent + 2 * first, 2 * count * sizeof *to->parent);
            memcpy(to->coef + CURVE_WIDTH * next, from->coef + CURVE_WIDTH * first,
                   count * CURVE_WIDTH * sizeof *to->coef);
        }
        to->first[at + 1] = next + count;
    }
}

/* Curves are of the same z in every round. */
static lscm_status take_bent(const pool *p, anchored *a, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bent_mechanisms all = {.draws = a->draws, .d = a->d};
    const bent_mechanisms *any = NULL;
    arena memory = {0};
    for (size_t k = 0; k < p->rounds; k++) {
        const bent_mechanisms *own = &p->bent[k];
        if (own->terms > 0) {
            all.terms += own->first[share_start(p, a, k + 1) * a->d] -
                         own->first[share_start(p, a, k) * a->d];
            any = own;
        }
    }
    a->bent = (bent_mechanisms){0};
    a->bends = any != NULL;
    if (any == NULL) {
        return LSCM_OK;
    }
    lay_out_bent(&all, &memory);
    TRY(arena_open(&memory, why));
    lay_out_bent(&all, &memory);
    for (size_t i = 0; i < a->d; i++) {
        all.basis[i] = any->basis[i];
    }
    for (size_t k = 0; k < p->rounds; k++) {
        join_round(p, a, k, &all);
    }
    a->bent = all;
    a->bent_memory = memory;
done:
    return status;
}

/* ---- All together ---- */

static lscm_status take_all(const pool *p, anchored *a, lscm_error *why)
{
    copy_draws(p, a, 0, a->draws, true);
    copy(p->edge_prob, a->edge_prob, a->d * a->d, 0, 1, true);
    a->r_hat = p->r_hat;
    a->ess = a->edge_ess = p->ess;
    return take_bent(p, a, why);
}

static lscm_status run(const rounds *r, pool *p, anchored *a, const anchored_input *in,
                       lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t count = r->settle + r->count;
    bool enough = false;
    stages parts;
    stages_begin(&parts, STAGES, in->progress);
    stages_expect(&parts, ROUNDS_MORE, (double)NAN); /* whether there are any */
    anchored_input now = *in;
    now.progress = &parts.own;
    for (size_t k = 0; k < count; k++) {
        bool rough = k > 0 && k < r->settle; /* fits that settle have one draw to give */
        now.draws = rough ? tuned_judge_draws() : in->draws;
        now.brief = rough;
        if (k > 0 || a->d == 0) {
            anchored_close(a);
            *a = (anchored){0};
            TRY(anchored_infer(a, &now, why));
        }
        if (k >= r->settle && r->counts != NULL) {
            r->counts(r->self, a, share_start(p, a, p->rounds), share_start(p, a, p->rounds + 1));
        }
        TRY(r->between(r->self, a, k, &now, &enough, why));
        if (k == 0 && enough) { /* one round is all: its draws stand as they are */
            goto done;
        }
        if (k == 0) { /* all others take as long as the first */
            now.progress = &parts.part;
            stages_expect_like(&parts, ROUNDS_MORE, ROUND_FIRST, (double)(count - 1));
            stages_enter(&parts, ROUNDS_MORE);
        }
        if (k >= r->settle) {
            add_round(p, a);
        }
        if (!stages_report(&parts, r->what, k, count - 1)) {
            return fail(why, LSCM_STOPPED, "%s: stopped on request", r->what);
        }
    }
    TRY(take_all(p, a, why));
done:
    return status;
}

lscm_status rounds_run(const rounds *r, anchored *a, const anchored_input *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    pool p = {.most = r->count};
    lay_out(&p, in);
    TRY(arena_open(&p.memory, why));
    lay_out(&p, in);
    TRY(run(r, &p, a, in, why));
done:
    pool_close(&p);
    return status;
}
