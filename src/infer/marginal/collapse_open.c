/* The rows [1 y v_I] (n_t, q) of each set reduced to the triangle T (q, q) of their QR
 * factorisation: T'T has their second moments, and its first row is sqrt(n_t) times the means, so
 * that the others are centred. Long sets are reduced in blocks, T on top of each.
 */
#include "infer/marginal/collapse_state.h"

#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static void lay_out_parameters(collapse_parameters *p, arena *a)
{
    p->a = arena_take(a, p->d * p->rank, sizeof(double));
    p->b = arena_take(a, p->rank, sizeof(double));
    p->w = arena_take(a, p->d * p->d, sizeof(double));
    p->c = arena_take(a, p->d, sizeof(double));
    p->sigma = arena_take(a, p->d, sizeof(double));
}

lscm_status collapse_parameters_open(collapse_parameters *out, size_t d, size_t rank,
                                     lscm_error *why)
{
    lscm_status status = LSCM_OK;
    *out = (collapse_parameters){.d = d, .rank = rank};
    lay_out_parameters(out, &out->memory);
    TRY(arena_open(&out->memory, why));
    lay_out_parameters(out, &out->memory);
done:
    return status;
}

void collapse_parameters_close(collapse_parameters *p)
{
    arena_close(&p->memory);
}

void collapse_parameters_copy(collapse_parameters *to, const collapse_parameters *from)
{
    memcpy(to->a, from->a, from->d * from->rank * sizeof(double));
    memcpy(to->b, from->b, from->rank * sizeof(double));
    memcpy(to->w, from->w, from->d * from->d * sizeof(double));
    memcpy(to->c, from->c, from->d * sizeof(double));
    memcpy(to->sigma, from->sigma, from->d * sizeof(double));
    to->actuator_noise = from->actuator_noise;
    to->x_noise = from->x_noise;
}

/* Columns of the rows of set t: 1, y and its targets. */
static size_t width_of(const collapse *c, size_t t)
{
    size_t width = 1 + c->rank;
    for (size_t i = 0; i < c->d; i++) {
        width += c->design->target[t * c->d + i];
    }
    return width;
}

typedef struct sizes {
    size_t reduced, jobs;
} sizes;

/* Counts, and writes where c has memory. */
static sizes walk_sets(collapse *c)
{
    const design *s = c->design;
    sizes n = {0};
    for (size_t t = 0; t < s->sets; t++) {
        size_t rows = design_set_rows(s, t);
        size_t width = width_of(c, t);
        for (size_t at = 0; at < rows; at += COLLAPSE_BLOCK, n.jobs++) {
            if (c->memory.base != NULL) {
                size_t end = rows - at < COLLAPSE_BLOCK ? rows : at + COLLAPSE_BLOCK;
                c->job[n.jobs] = (collapse_job){t, s->first[t] + at, s->first[t] + end};
            }
        }
        n.reduced += rows < width ? rows : width;
        if (c->memory.base != NULL) {
            c->first[t + 1] = n.reduced;
        }
    }
    return n;
}

static void lay_out_slot(collapse_slot *t, arena *a, size_t d, size_t r, size_t rows)
{
    set_law *law = &t->law;
    law->active = arena_take(a, d, sizeof(size_t));
    law->scale = arena_take(a, d, sizeof(double));
    law->reach = arena_take(a, d * d, sizeof(double));
    law->effect = arena_take(a, d * r, sizeof(double));
    law->g = arena_take(a, d * r, sizeof(double));
    law->h = arena_take(a, d * d, sizeof(double));
    law->x = arena_take(a, d * d, sizeof(double));
    t->m = arena_take(a, rows * d, sizeof(double));
    t->z = arena_take(a, rows * (d + 1), sizeof(double));
    t->h = arena_take(a, rows * d, sizeof(double));
    t->up = arena_take(a, rows * d, sizeof(double));
    t->rest = arena_take(a, rows * r, sizeof(double));
    t->y = arena_take(a, rows * r, sizeof(double));
    t->v = arena_take(a, rows * d, sizeof(double));
    t->one = arena_take(a, rows, sizeof(double));
    t->gram = arena_take(a, (d + 1) * (d + 1), sizeof(double));
    t->cross = arena_take(a, (d + 1) * d, sizeof(double));
    t->xa = arena_take(a, d * r, sizeof(double));
    t->root = arena_take(a, d * d, sizeof(double));
}

static void lay_out(collapse *c, arena *a, sizes n)
{
    size_t d = c->d;
    size_t r = c->rank;
    size_t most = r > 2 ? r : 2;
    size_t rows = 1 + r + d > COLLAPSE_BLOCK ? 1 + r + d : COLLAPSE_BLOCK;
    size_t parameters = d * r + r + d * d + 2 * d + 2;
    c->targeted = arena_take(a, d, sizeof(size_t));
    c->first = arena_take(a, c->design->sets + 1, sizeof(size_t));
    c->one = arena_take(a, n.reduced, sizeof(double));
    c->y = arena_take(a, n.reduced * r, sizeof(double));
    c->v = arena_take(a, n.reduced * d, sizeof(double));
    c->job = arena_take(a, n.jobs, sizeof *c->job);
    c->slot = arena_take(a, c->team, sizeof *c->slot);
    for (size_t k = 0; k < c->team; k++) {
        collapse_slot measured;
        lay_out_slot(c->slot != NULL ? &c->slot[k] : &measured, a, d, r, rows);
    }
    c->sums = arena_take(a, COLLAPSE_GROUPS * c->sum_size, sizeof(double));
    c->solve = arena_take(a, (d + 1) * (d + 1), sizeof(double));
    c->side = arena_take(a, (d + 1) * most, sizeof(double));
    c->step = arena_take(a, (d + 1) * most, sizeof(double));
    c->ruler = arena_take(a, d + 1, sizeof(double));
    c->wide = arena_take(a, (d + 1) * (d + 1), sizeof(double));
    c->change = arena_take(a, d + 1, sizeof(double));
    c->image = arena_take(a, d + 1, sizeof(double));
    for (size_t k = 0; k < 3; k++) {
        c->theta[k] = arena_take(a, parameters, sizeof(double));
    }
    c->weight = arena_take(a, parameters, sizeof(double));
    c->next = c->other = (collapse_parameters){.d = d, .rank = r};
    lay_out_parameters(&c->next, a);
    lay_out_parameters(&c->other, a);
}

/* Where rows are stacked, by column: (room, q). */
typedef struct stack {
    size_t room;
    double *rows, *tau, *work;
    size_t work_size;
} stack;

static void lay_out_stack(stack *s, arena *a, size_t width)
{
    s->rows = arena_take(a, s->room * width, sizeof(double));
    s->tau = arena_take(a, width, sizeof(double));
    s->work = arena_take(a, s->work_size, sizeof(double));
}

/* The column of each target follows 1 and y. */
static void push_row(const collapse *c, const stack *s, size_t row, size_t at)
{
    const uint8_t *target = design_targets(c->design, row);
    size_t q = 0;
    s->rows[q++ * s->room + at] = 1;
    for (size_t k = 0; k < c->rank; k++) {
        s->rows[q++ * s->room + at] = c->s->y[row * c->rank + k];
    }
    for (size_t i = 0; i < c->d; i++) {
        if (target[i] != 0) {
            s->rows[q++ * s->room + at] = design_value(c->design, row, i);
        }
    }
}

static size_t triangulate(const stack *s, size_t held, size_t width)
{
    (void)LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, (int)held, (int)width, s->rows, (int)s->room,
                              s->tau, s->work, (int)s->work_size);
    size_t kept = held < width ? held : width;
    for (size_t q = 0; q < width; q++) {
        for (size_t k = q + 1; k < kept; k++) {
            s->rows[q * s->room + k] = 0;
        }
    }
    return kept;
}

static void reduce_set(collapse *c, const stack *s, size_t t)
{
    const uint8_t *target = c->design->target + t * c->d;
    size_t width = width_of(c, t);
    size_t from = c->design->first[t];
    size_t end = c->design->first[t + 1];
    size_t held = 0;
    bool full = end - from > width; /* fewer rows stay as they are */
    for (size_t k = from; k < end; k++) {
        push_row(c, s, c->design->row[k], held++);
        if (full && (held == s->room || k + 1 == end)) {
            held = triangulate(s, held, width);
        }
    }
    for (size_t k = 0; k < held; k++) {
        size_t to = c->first[t] + k;
        size_t q = 0;
        c->one[to] = s->rows[q++ * s->room + k];
        for (size_t i = 0; i < c->rank; i++) {
            c->y[to * c->rank + i] = s->rows[q++ * s->room + k];
        }
        for (size_t i = 0; i < c->d; i++) {
            c->v[to * c->d + i] = target[i] != 0 ? s->rows[q++ * s->room + k] : 0;
        }
    }
}

static void find_floors(collapse *c)
{
    const linear_view *s = c->s;
    double least = INFINITY;
    double most = 0;
    double square = 0;
    double targets = 0;
    for (size_t k = 0; k < s->rank; k++) {
        least = s->spectrum[k] < least ? s->spectrum[k] : least;
        most = s->spectrum[k] > most ? s->spectrum[k] : most;
    }
    for (size_t k = 0; k < s->rows * s->d; k++) {
        square += s->design.value[k] * s->design.value[k];
    }
    design_count(c->design, NULL, c->targeted, NULL);
    for (size_t i = 0; i < s->d; i++) {
        targets += (double)c->targeted[i];
    }
    c->floor = most > 0 ? fmax(1e-5 * sqrt(least), 1e-7 * sqrt(most)) : 1e-7;
    c->target_floor = square > 0 ? 1e-6 * sqrt(square / targets) : 1e-6;
    c->outside = (double)s->rows * (double)(s->D - s->rank);
}

lscm_status collapse_open(collapse **out, const linear_view *s, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t widest = 1 + s->rank + s->d;
    size_t n = s->d + 1;
    arena scratch = {0};
    stack piled = {.room = (size_t)2 * COLLAPSE_BLOCK + widest, .work_size = 64 * widest};
    collapse *c = calloc(1, sizeof *c);
    if (c == NULL) {
        status = fail_memory(why, sizeof *c);
        goto done;
    }
    *c = (collapse){.s = s, .design = &s->design, .d = s->d, .rank = s->rank, .rows = s->rows};
    c->team = (size_t)omp_get_max_threads();
    c->sum_size = 3 + s->d + n * n + n * s->rank + s->d * n * n + 2 * s->d * n;
    lay_out_stack(&piled, &scratch, widest);
    TRY(arena_open(&scratch, why));
    lay_out_stack(&piled, &scratch, widest);
    sizes count = walk_sets(c);
    lay_out(c, &c->memory, count);
    TRY(arena_open(&c->memory, why));
    lay_out(c, &c->memory, count);
    c->jobs = walk_sets(c).jobs;
    for (size_t t = 0; t < c->design->sets; t++) {
        reduce_set(c, &piled, t);
    }
    find_floors(c);
    *out = c;
    c = NULL;
done:
    collapse_close(c);
    arena_close(&scratch);
    return status;
}

void collapse_close(collapse *c)
{
    if (c != NULL) {
        arena_close(&c->memory);
        free(c);
    }
}

double collapse_floor(const collapse *c)
{
    return c->floor;
}
