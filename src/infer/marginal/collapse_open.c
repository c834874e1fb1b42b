/* Rows mask by mask, in jobs of at most COLLAPSE_BLOCK rows; memory; the least noise of x. */
#include "infer/marginal/collapse_state.h"

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

/* Stable, one bit of the mask at a time, the first node last. */
static void sort_rows(const linear_view *s, size_t *sorted, size_t *spare)
{
    for (size_t row = 0; row < s->rows; row++) {
        sorted[row] = row;
    }
    for (size_t i = s->d; i-- > 0;) {
        size_t zeros = 0;
        size_t ones = 0;
        for (size_t k = 0; k < s->rows; k++) {
            if (s->mask[sorted[k] * s->d + i] != 0) {
                spare[ones++] = sorted[k];
            } else {
                sorted[zeros++] = sorted[k];
            }
        }
        memcpy(sorted + zeros, spare, ones * sizeof *spare);
    }
}

static bool same_mask(const linear_view *s, size_t row, size_t other)
{
    return memcmp(s->mask + row * s->d, s->mask + other * s->d, s->d) == 0;
}

/* Counts the jobs, and writes them where there is memory. */
static size_t list_jobs(const linear_view *s, const size_t *sorted, collapse_job *job)
{
    size_t jobs = 0;
    for (size_t from = 0, to = 0; from < s->rows; from = to) {
        for (to = from + 1; to < s->rows && to < from + COLLAPSE_BLOCK &&
                            same_mask(s, sorted[from], sorted[to]);) {
            to++;
        }
        if (job != NULL) {
            job[jobs] = (collapse_job){from, to};
        }
        jobs++;
    }
    return jobs;
}

static void lay_out_slot(collapse_slot *t, arena *a, size_t d, size_t r)
{
    mask_law *law = &t->law;
    law->active = arena_take(a, d, sizeof(size_t));
    law->scale = arena_take(a, d, sizeof(double));
    law->reach = arena_take(a, d * d, sizeof(double));
    law->effect = arena_take(a, d * r, sizeof(double));
    law->g = arena_take(a, d * r, sizeof(double));
    law->h = arena_take(a, d * d, sizeof(double));
    law->x = arena_take(a, d * d, sizeof(double));
    t->m = arena_take(a, COLLAPSE_BLOCK * d, sizeof(double));
    t->z = arena_take(a, COLLAPSE_BLOCK * (d + 1), sizeof(double));
    t->h = arena_take(a, COLLAPSE_BLOCK * d, sizeof(double));
    t->up = arena_take(a, COLLAPSE_BLOCK * d, sizeof(double));
    t->rest = arena_take(a, COLLAPSE_BLOCK * r, sizeof(double));
    t->y = arena_take(a, COLLAPSE_BLOCK * r, sizeof(double));
    t->v = arena_take(a, COLLAPSE_BLOCK * d, sizeof(double));
}

static void lay_out(collapse *c, arena *a)
{
    size_t n = c->d + 1;
    size_t r = c->rank;
    c->job = arena_take(a, c->jobs, sizeof *c->job);
    c->slot = arena_take(a, c->team, sizeof *c->slot);
    for (size_t k = 0; k < c->team; k++) {
        collapse_slot measured;
        lay_out_slot(c->slot != NULL ? &c->slot[k] : &measured, a, c->d, r);
    }
    c->sums = arena_take(a, COLLAPSE_GROUPS * n * (n + r), sizeof(double));
    c->side = arena_take(a, n * r, sizeof(double));
    c->ruler = arena_take(a, n, sizeof(double));
}

static double least_noise(const linear_view *s)
{
    double least = INFINITY;
    double most = 0;
    for (size_t k = 0; k < s->rank; k++) {
        least = s->spectrum[k] < least ? s->spectrum[k] : least;
        most = s->spectrum[k] > most ? s->spectrum[k] : most;
    }
    return most > 0 ? fmax(1e-5 * sqrt(least), 1e-7 * sqrt(most)) : 1e-7;
}

lscm_status collapse_open(collapse **out, const linear_view *s, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    collapse *c = calloc(1, sizeof *c);
    size_t *spare = malloc(s->rows * sizeof *spare);
    size_t *sorted = malloc(s->rows * sizeof *sorted);
    if (c == NULL || spare == NULL || sorted == NULL) {
        status = fail_memory(why, sizeof *c + 2 * s->rows * sizeof *spare);
        goto done;
    }
    *c = (collapse){.s = s, .d = s->d, .rank = s->rank, .rows = s->rows, .sorted = sorted};
    sorted = NULL;
    c->team = (size_t)omp_get_max_threads();
    sort_rows(s, c->sorted, spare);
    c->jobs = list_jobs(s, c->sorted, NULL);
    lay_out(c, &c->memory);
    TRY(arena_open(&c->memory, why));
    lay_out(c, &c->memory);
    (void)list_jobs(s, c->sorted, c->job);
    c->floor = least_noise(s);
    *out = c;
    c = NULL;
done:
    collapse_close(c);
    free(sorted);
    free(spare);
    return status;
}

void collapse_close(collapse *c)
{
    if (c != NULL) {
        free(c->sorted);
        arena_close(&c->memory);
        free(c);
    }
}
