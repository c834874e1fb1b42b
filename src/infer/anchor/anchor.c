/* Anchors of all nodes, a block of nodes at a time (as many as fit in memory): sums over the rows
 * of each node, regression, refinement where it is needed; then actuator noise, over all nodes.
 */
#include "infer/anchor/anchor_values.h"

#include "base/threads.h"
#include "infer/anchor/anchor_work.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <string.h>

static const double SHARED = 1e6;    /* operations that are worth a second thread */
enum { BLOCK_BYTES = 384 << 20 };    /* of the Gram matrices of a block of nodes */
static const double CONSTANT = 1e-9; /* sd of values, relative to the largest, that is none */

static void lay_out_scratch(anchor_scratch *w, arena *a, size_t r, size_t nodes)
{
    size_t number = sizeof(double);
    w->gram = arena_take(a, r * r, number);
    w->inverse = arena_take(a, r * r, number);
    w->copy = arena_take(a, r * r, number);
    w->eigen = arena_take(a, 1 + 6 * r + 2 * r * r, number);
    w->integer = arena_take(a, 3 + 5 * r, sizeof(int));
    w->scale = arena_take(a, r, number);
    w->sum = arena_take(a, r, number);
    w->cross = arena_take(a, r, number);
    w->slope = arena_take(a, r, number);
    w->other = arena_take(a, r, number);
    w->value = arena_take(a, r, number);
    w->y = arena_take(a, ANCHOR_PIECE * r, number);
    w->v = arena_take(a, ANCHOR_PIECE * nodes, number);
    w->sums = arena_take(a, 2 * nodes, number);
    w->left = arena_take(a, (size_t)ANCHOR_PIECE * ANCHOR_TILE, number);
    w->right = arena_take(a, (size_t)ANCHOR_PIECE * ANCHOR_TILE, number);
}

static void lay_out_block(node_block *b, arena *a, size_t r, size_t nodes, size_t pieces)
{
    size_t number = sizeof(double);
    size_t slots = nodes * b->folds;
    size_t tile = b->tile * b->tile;
    size_t part = nodes * (r + 2) > tile ? nodes * (r + 2) : tile;
    b->piece = arena_take(a, pieces, sizeof(size_t));
    b->fold = arena_take(a, (pieces + 1) * nodes, 1); /* the last may be tried in vain */
    b->gram = arena_take(a, slots * b->span, number);
    b->sum = arena_take(a, slots * r, number);
    b->cross = arena_take(a, slots * (r + 2), number);
    b->rows = arena_take(a, slots, number);
    b->b = arena_take(a, r * nodes, number);
    b->a = arena_take(a, nodes, number);
    b->parts = arena_take(a, ANCHOR_CHUNK * part, number);
    b->totals = arena_take(a, ANCHOR_CHUNK * r, number);
    b->weight = arena_take(a, slots * ANCHOR_CHUNK, number);
}

static void lay_out_work(anchor_work *w, arena *a)
{
    size_t d = w->s->d;
    size_t r = w->s->rank;
    size_t number = sizeof(double);
    anchor_scratch unplaced = {0};
    w->node = arena_take(a, d, sizeof(size_t));
    w->all = arena_take(a, r * r, number);
    w->parts = arena_take(a, anchor_slices(r) * r * r, number);
    w->share = arena_take(a, d, number);
    w->doubt = arena_take(a, d, number);
    w->mean = arena_take(a, w->threads * r, number);
    w->constant = arena_take(a, d, sizeof(bool));
    w->fits.centre = arena_take(a, r, number);
    w->fits.v_centre = arena_take(a, d, number);
    w->fits.fit = arena_take(a, d, sizeof(node_fit));
    w->fits.slope = arena_take(a, d * r, number);
    w->fits.mean = arena_take(a, d * r, number);
    w->fits.tilt = arena_take(a, d * r, number);
    lay_out_block(&w->block, a, r, w->largest, w->sets.pieces);
    w->block.scratch = arena_take(a, w->threads, sizeof(anchor_scratch));
    for (size_t t = 0; t < w->threads; t++) {
        lay_out_scratch(w->block.scratch != NULL ? w->block.scratch + t : &unplaced, a, r,
                        w->largest);
    }
}

static void lay_out(anchor *out, arena *a)
{
    size_t d = out->d;
    size_t r = out->rank;
    size_t number = sizeof(double);
    size_t each = (r + 1) * (r + 1);
    out->kind = arena_take(a, d, sizeof(anchor_kind));
    out->samples = arena_take(a, d, sizeof(size_t));
    out->intercept = arena_take(a, d, number);
    out->slope = arena_take(a, r * d, number);
    out->residual = arena_take(a, d, number);
    out->standard_error = arena_take(a, d, number);
    out->r2 = arena_take(a, d, number);
    out->noise = arena_take(a, d, number);
    out->label_noise = arena_take(a, d, number);
    out->covariance = each <= ANCHOR_COVARIANCE_BYTES / number / (d > 0 ? d : 1)
                          ? arena_take(a, d * each, number)
                          : NULL;
}

static lscm_status open_work(anchor_work *w, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t r = w->s->rank;
    node_block *b = &w->block;
    TRY(row_sets_of(&w->sets, &w->s->design, w->keep, why));
    b->s = w->s;
    b->sets = &w->sets;
    b->folds = r <= ANCHOR_FOLDS_TO ? ANCHOR_FOLDS : 2;
    b->tile = r < ANCHOR_TILE ? r : ANCHOR_TILE;
    b->tiles = r > 0 ? (r + b->tile - 1) / b->tile : 0;
    b->span = b->tiles * (b->tiles + 1) / 2 * b->tile * b->tile;
    for (size_t j = 0; j < w->s->d; j++) {
        w->active += r > 0 && w->sets.samples[j] >= r + 2 ? 1 : 0;
    }
    size_t fitting = BLOCK_BYTES / sizeof(double) / (b->folds * b->span + 1) + 1;
    w->largest = w->active < fitting ? w->active : fitting;
    w->threads = (size_t)omp_get_max_threads();
    b->shared = (double)w->s->rows * (double)r * (double)(r + w->s->d) > SHARED;
    w->fits.d = w->s->d;
    w->fits.r = r;
    w->fits.x_noise = w->s->x_noise;
    lay_out_work(w, &w->memory);
    TRY(arena_open(&w->memory, why));
    lay_out_work(w, &w->memory);
    b->centre = w->fits.centre;
    b->v_centre = w->fits.v_centre;
    for (size_t j = 0, at = 0; j < w->s->d; j++) {
        if (r > 0 && w->sets.samples[j] >= r + 2) {
            w->node[at++] = j;
        }
    }
done:
    return status;
}

static void close_work(anchor_work *w)
{
    row_sets_close(&w->sets);
    arena_close(&w->memory);
}

/* Adds a row to the sums: y (r) to centre; v (d) at the targets, and its largest size. */
static void add_row(const linear_view *s, size_t row, double *restrict centre,
                    double *restrict v_centre, double *restrict largest)
{
    const double *y = s->y + row * s->rank;
    const double *v = design_values(&s->design, row);
    for (size_t c = 0; c < s->rank; c++) {
        centre[c] += y[c];
    }
    for (size_t j = 0; j < s->d; j++) {
        v_centre[j] += v[j];
        largest[j] = fabs(v[j]) > largest[j] ? fabs(v[j]) : largest[j];
    }
}

/* Which nodes' values do not vary at the targets: rows are asked until all are seen to. */
static void find_constant(anchor_work *w, const double *largest)
{
    const linear_view *s = w->s;
    size_t left = s->d;
    for (size_t j = 0; j < s->d; j++) {
        w->constant[j] = true;
    }
    for (size_t p = 0; p < w->sets.rows && left > 0; p++) {
        const uint8_t *target = design_targets(&s->design, w->sets.row[p]);
        const double *v = design_values(&s->design, w->sets.row[p]);
        for (size_t j = 0; j < s->d; j++) {
            double away = fabs(v[j] - w->fits.v_centre[j]);
            if (w->constant[j] && target[j] != 0 && !(away <= CONSTANT * largest[j])) {
                w->constant[j] = false;
                left--;
            }
        }
    }
}

/* Means of y over the kept rows, and of v at the targets; whether v varies there. */
static void find_centres(anchor_work *w)
{
    const linear_view *s = w->s;
    double *largest = w->share; /* of |v|; free until the end */
    for (size_t i = 0; i < s->rows; i++) {
        if (row_counts(w->keep, i)) {
            w->rows++;
            add_row(s, i, w->fits.centre, w->fits.v_centre, largest);
        }
    }
    for (size_t c = 0; c < s->rank; c++) {
        w->fits.centre[c] /= fmax(w->rows, 1);
    }
    for (size_t j = 0; j < s->d; j++) {
        w->fits.v_centre[j] /= fmax((double)w->sets.samples[j], 1);
    }
    find_constant(w, largest);
    memset(w->share, 0, s->d * sizeof(double));
}

static void fit_block(anchor_work *w, anchor *out)
{
    node_block *b = &w->block;
    size_t coarse = 0;
    block_fold(b);
    block_moments(b, false);
    block_grams(b);
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : coarse) if (b->shared)
    for (size_t k = 0; k < b->count; k++) {
        coarse += anchor_fit_node(w, out, k, b->scratch + omp_get_thread_num()) ? 1 : 0;
    }
    for (size_t step = 0; coarse > 0 && step < 2; step++) {
        block_moments(b, true);
#pragma omp parallel for schedule(dynamic, 1) if (b->shared)
        for (size_t k = 0; k < b->count; k++) {
            if (out->kind[b->node[k]] == ANCHOR_VALUES) {
                anchor_refine_node(w, k, b->scratch + omp_get_thread_num());
            }
        }
    }
#pragma omp parallel for schedule(dynamic, 1) if (b->shared)
    for (size_t k = 0; k < b->count; k++) {
        if (out->kind[b->node[k]] == ANCHOR_VALUES) {
            anchor_measure_node(w, out, k, b->scratch + omp_get_thread_num());
        }
    }
}

static void finish(anchor_work *w, anchor *out)
{
    size_t r = w->s->rank;
    out->actuator_noise = anchor_shares(&w->fits, out->kind, w->share, w->doubt);
#pragma omp parallel for schedule(dynamic, 1) if (w->block.shared)
    for (size_t j = 0; j < out->d; j++) {
        if (out->kind[j] != ANCHOR_NONE) {
            anchor_finish(out, &w->fits, j, w->share[j], w->doubt[j],
                          w->mean + (size_t)omp_get_thread_num() * r);
        }
    }
}

static void fit_blocks(anchor_work *w, anchor *out)
{
    for (size_t first = 0; first < w->active; first += w->largest) {
        w->block.node = w->node + first;
        w->block.count = w->active - first < w->largest ? w->active - first : w->largest;
        fit_block(w, out);
    }
}

/* No node has an anchor. */
static bool is_without(const anchor *a)
{
    bool none = true;
    for (size_t j = 0; j < a->d; j++) {
        none = none && a->kind[j] == ANCHOR_NONE;
    }
    return none;
}

/* Nodes that do() set to the same values wherever it set them have the same reading, in whatever
 * directions there are: it is no one's. */
static void drop_alike(const anchor_work *w, anchor *a)
{
    const double rounding = 1e-10;
    int r = (int)a->rank;
    for (size_t j = 0; j < a->d; j++) {
        for (size_t k = 0; k < a->d; k++) {
            const double *one = w->fits.slope + j * a->rank;
            const double *other = w->fits.slope + k * a->rank;
            double both = cblas_ddot(r, one, 1, other, 1);
            double apart = cblas_ddot(r, one, 1, one, 1) * cblas_ddot(r, other, 1, other, 1);
            if (j != k && a->kind[j] == ANCHOR_VALUES && a->samples[k] == a->samples[j] &&
                apart > 0 && !(apart - both * both > rounding * apart)) {
                a->kind[j] = ANCHOR_NONE;
            }
        }
    }
}

lscm_status anchor_of(anchor *out, const linear_view *s, const uint8_t *keep, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    anchor all = {.d = s->d, .rank = s->rank};
    anchor_work w = {.s = s, .keep = keep};
    threads_blas_single();
    lay_out(&all, &all.memory);
    TRY(arena_open(&all.memory, why));
    lay_out(&all, &all.memory);
    TRY(open_work(&w, why));
    find_centres(&w);
    for (size_t j = 0; j < s->d; j++) {
        all.kind[j] = ANCHOR_NONE;
        all.samples[j] = w.sets.samples[j];
        all.r2[j] = NAN;
    }
    if (w.active > 0) {
        anchor_covariance(&w.block, keep, w.rows, w.parts, w.all);
    }
    fit_blocks(&w, &all);
    if (is_without(&all)) { /* what labels say in the directions there are is better than nothing */
        w.rough = true;
        fit_blocks(&w, &all);
        drop_alike(&w, &all);
        all.rough = !is_without(&all);
    }
    finish(&w, &all);
    *out = all;
    all.memory = (arena){0};
done:
    threads_blas_restore();
    close_work(&w);
    arena_close(&all.memory);
    return status;
}
