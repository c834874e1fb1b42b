#include "infer/anchored/anchored_noise.h"

#include "base/node_name.h"
#include "base/streams.h"
#include "base/tuned.h"
#include "infer/anchored/anchored_infer.h"
#include "infer/anchored/rounds.h"
#include "infer/evidence/evidence.h"

#include <math.h>
#include <string.h>

typedef struct noise_work {
    const anchored_input *in;
    noise_grid grid;
    rng random;
    double *weight;      /* (d, rows) */
    double *sd;          /* (d): of noise, in units of its scale, in the round that is next */
    size_t *point;       /* (d): the same of its law */
    double *gains;       /* (d, 2^d), where sets leave directions open; or NULL */
    noise_shapes shapes; /* (draws, d) */
    double evidence;
    double *parts;   /* (d, part): scratch of a node */
    uint32_t *batch; /* (d, rows), and .. */
    uint32_t *row;   /* .. which rows these are */
    size_t part;
    arena kept, memory;
} noise_work;

static void lay_out(noise_work *w)
{
    const linear_view *s = w->in->view;
    size_t n = w->in->draws * s->d;
    w->weight = arena_take(&w->kept, s->rows * s->d, sizeof(double));
    w->sd = arena_take(&w->kept, s->d, sizeof(double));
    w->shapes.dof = arena_take(&w->kept, n, sizeof(double));
    w->shapes.share = arena_take(&w->kept, n, sizeof(double));
    w->shapes.ratio = arena_take(&w->kept, n, sizeof(double));
}

/* Whether two nodes are set together or not at all, in every set, and few enough are there to ask
 * what laws of noise say of directions. */
static bool leaves_open(const anchored_input *in)
{
    const design *s = &in->view->design;
    bool any = false;
    for (size_t i = 0; i < s->d && s->d <= NOISE_GAIN_NODES && in->order == NULL; i++) {
        for (size_t j = 0; j < i; j++) {
            any = any || design_alike(s, i, j);
        }
    }
    return any;
}

static void lay_out_scratch(noise_work *w)
{
    const linear_view *s = w->in->view;
    w->part = 3 * s->rows + 2 * design_batches(&s->design);
    w->parts = arena_take(&w->memory, s->d, w->part * sizeof(double));
    w->batch = arena_take(&w->memory, s->d * s->rows, sizeof *w->batch);
    w->row = arena_take(&w->memory, s->d * s->rows, sizeof *w->row);
    w->point = arena_take(&w->memory, s->d, sizeof *w->point);
    w->gains = leaves_open(w->in)
                   ? arena_take(&w->memory, s->d, ((size_t)1 << s->d) * sizeof(double))
                   : NULL;
}

/* What a draw leaves of node i, and scratch. */
typedef struct node_residuals {
    noise_rows rows;
    noise_state state;
    const uint32_t *row; /* (rows) */
    double *weight, *x, *own;
} node_residuals;

static node_residuals residuals_of(const noise_work *w, const anchored *a, size_t draw, size_t i)
{
    const linear_view *s = w->in->view;
    size_t d = s->d;
    double *e = w->parts + i * w->part;
    uint32_t *batch = w->batch + i * s->rows;
    uint32_t *row = w->row + i * s->rows;
    const mechanism_model m = {.d = d,
                               .w = a->w + draw * d * d,
                               .intercept = a->intercept + draw * d,
                               .sigma = a->sigma + draw * d,
                               .bent = a->bent.terms > 0 ? &a->bent : NULL,
                               .draw = draw};
    size_t n = 0;
    for (size_t r = 0; r < s->rows; r++) {
        if (row_counts(w->in->keep, r) && !design_is_set(&s->design, r, i)) {
            e[n] = mechanism_residual(&m, i, a->z + r * d);
            batch[n] = (uint32_t)design_batch(&s->design, r);
            row[n++] = (uint32_t)r;
        }
    }
    return (node_residuals){
        .rows = {n, design_batches(&s->design), e, batch},
        .state = {.sigma = m.sigma[i] / w->sd[i], .effect = a->effect[draw * d + i]},
        .row = row,
        .weight = e + s->rows,
        .x = e + 2 * s->rows,
        .own = e + 3 * s->rows};
}

/* Whether residuals of a draw speak for such laws, summed over nodes. */
static double evidence_of(const noise_work *w, const anchored *a)
{
    double sum = 0;
#pragma omp parallel for schedule(dynamic) reduction(+ : sum)
    for (size_t i = 0; i < a->d; i++) {
        node_residuals r = residuals_of(w, a, a->draws / 2, i);
        sum += noise_evidence(&w->grid, &r.rows, &r.state, r.weight, r.x, r.own);
    }
    return sum;
}

/* The law of each node and what its rows count in the next round, given a draw. */
static void draw_laws(noise_work *w, const anchored *a, size_t round)
{
    size_t rows = w->in->view->rows;
    size_t draw = (size_t)rng_below(w->random, round, a->draws);
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < a->d; i++) {
        node_residuals r = residuals_of(w, a, draw, i);
        noise_draw(&w->grid, &r.rows, &r.state, r.weight, r.x, r.own, w->random,
                   1 + (round * a->d + i) * NOISE_PARTS);
        for (size_t k = 0; k < rows; k++) {
            w->weight[i * rows + k] = 1;
        }
        for (size_t k = 0; k < r.rows.count; k++) {
            w->weight[i * rows + r.row[k]] = r.weight[k];
        }
        w->point[i] = r.state.point;
    }
    for (size_t i = 0; i < a->d; i++) {
        w->sd[i] = sqrt(noise_variance(&w->grid.point[w->point[i]]));
    }
}

static lscm_status between(void *self, const anchored *a, size_t round, anchored_input *in,
                           bool *enough, lscm_error *why)
{
    noise_work *w = self;
    bool asked = in->settings->noise_law != LSCM_NOISE_KIND_AUTO;
    bool known = a->sampler == SAMPLER_EXACT || a->sampler == SAMPLER_MCMC;
    lscm_status status = LSCM_OK;
    if (round == 0) {
        w->evidence = evidence_of(w, a);
        *enough = a->clip > 0 || !(asked || (known && w->evidence > tuned_noise_least()));
    }
    if (*enough) {
        return LSCM_OK;
    }
    if (round == 0 && w->gains != NULL) {
        TRY(noise_gains(w->gains, &w->grid, w->in, a->z, why));
        in->gains = w->gains;
    }
    draw_laws(w, a, round);
    if (round + 1 == tuned_noise_settle() && in->mechanism == LSCM_MECHANISM_AUTO) {
        in->mechanism = a->bends ? LSCM_MECHANISM_JOINT : LSCM_MECHANISM_LINEAR;
    }
    in->weight = w->weight;
    in->noise_sd = w->sd;
done:
    return status;
}

/* The laws that this round was of. */
static void take_laws(void *self, anchored *a, size_t first, size_t past)
{
    noise_work *w = self;
    for (size_t k = first * a->d; k < past * a->d; k++) {
        const noise_point *p = &w->grid.point[w->point[k % a->d]];
        w->shapes.dof[k] = p->dof;
        w->shapes.share[k] = p->share;
        w->shapes.ratio[k] = p->ratio;
    }
}

static bool may_be_other(const anchored_input *in)
{
    return in->settings->noise_law != LSCM_NOISE_KIND_GAUSSIAN &&
           in->settings->noise != LSCM_NOISE_EQUAL;
}

/* Without rounds that count degrees of freedom are 0. */
static bool any_other(const noise_shapes *shapes, size_t n)
{
    bool any = false;
    for (size_t k = 0; k < n; k++) {
        any = any || shapes->share[k] > 0 || (shapes->dof[k] > 0 && isfinite(shapes->dof[k]));
    }
    return any;
}

lscm_status anchored_infer_noise(anchored *a, const anchored_input *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    noise_work w = {.in = in,
                    .grid = noise_grid_of(in->settings->noise_law),
                    .random = stream_of((uint64_t)in->settings->seed, STREAM_TAILS)};
    const rounds all = {.settle = tuned_noise_settle(),
                        .count = in->view->d > tuned_noise_many_nodes() ? tuned_noise_fewer()
                                                                        : tuned_noise_rounds(),
                        .what = "laws of noise",
                        .self = &w,
                        .between = between,
                        .counts = take_laws};
    if (!may_be_other(in)) {
        return LSCM_OK;
    }
    lay_out(&w);
    lay_out_scratch(&w);
    TRY(arena_open(&w.kept, why));
    TRY(arena_open(&w.memory, why));
    lay_out(&w);
    lay_out_scratch(&w);
    for (size_t i = 0; i < in->view->d; i++) {
        w.sd[i] = 1;
    }
    TRY(rounds_run(&all, a, in, why));
    a->noise_evidence = w.evidence;
    if (any_other(&w.shapes, in->draws * in->view->d)) {
        a->noise = w.shapes;
        a->noise_weight = w.weight;
        a->noise_sd = w.sd;
        a->noise_memory = w.kept;
        w.kept = (arena){0};
    }
done:
    arena_close(&w.kept);
    arena_close(&w.memory);
    return status;
}

void anchored_noise_unused(const fit *f, const char *why_not)
{
    static const char *const names[] = {"noise_law", NULL};
    if (f->settings.noise_law > LSCM_NOISE_KIND_GAUSSIAN) {
        belonging_unused(f, names, why_not);
    }
}

void anchored_noise_known(anchored_input *in, const anchored *a)
{
    in->weight = a->noise_weight;
    in->noise_sd = a->noise_sd;
}

/* ---- What is said of them ---- */

/* How many draws of node i are of either law, and the means of what these have. */
typedef struct node_law {
    double students, mixtures;
    double dof, share, ratio;
} node_law;

static node_law law_of(const anchored *a, size_t i)
{
    node_law l = {0};
    for (size_t k = i; k < a->draws * a->d; k += a->d) {
        double dof = a->noise.dof[k];
        if (isfinite(dof)) {
            l.students++;
            l.dof += dof;
        } else if (a->noise.share[k] > 0) {
            l.mixtures++;
            l.share += a->noise.share[k];
            l.ratio += a->noise.ratio[k];
        }
    }
    l.dof /= fmax(l.students, 1);
    l.share /= fmax(l.mixtures, 1);
    l.ratio /= fmax(l.mixtures, 1);
    return l;
}

static json_t *laws_json(const anchored *a, char *const *names)
{
    json_t *all = json_object();
    for (size_t i = 0; i < a->d; i++) {
        char room[NODE_NAME_ROOM];
        node_law l = law_of(a, i);
        if (2 * (l.students + l.mixtures) > (double)a->draws) {
            json_t *own = l.students >= l.mixtures
                              ? json_pack("{s:s, s:f}", "law", "student", "dof", l.dof)
                              : json_pack("{s:s, s:f, s:f}", "law", "mixture", "share", l.share,
                                          "ratio", l.ratio);
            (void)json_object_set_new(all, name_of(names, i, room, sizeof room), own);
        }
    }
    return all;
}

lscm_status anchored_noise_store(const anchored *a, lscm_posterior *p, char *const *names,
                                 json_t *summary, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t bytes = a->draws * a->d * sizeof(double);
    if (a->noise.dof == NULL) {
        return LSCM_OK;
    }
    TRY(posterior_add_noise(p, why));
    memcpy(p->noise.dof, a->noise.dof, bytes);
    memcpy(p->noise.share, a->noise.share, bytes);
    memcpy(p->noise.ratio, a->noise.ratio, bytes);
    (void)json_object_set_new(summary, "noise_evidence", json_real(a->noise_evidence));
    (void)json_object_set_new(summary, "noise_laws", laws_json(a, names));
done:
    return status;
}
