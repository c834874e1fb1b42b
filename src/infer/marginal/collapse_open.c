/* Rows set by set, in jobs of at most COLLAPSE_BLOCK rows; memory; the least noise of x. */
#include "infer/marginal/collapse_state.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

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

/* Counts the jobs, and writes them where there is memory. */
static size_t list_jobs(const design *s, collapse_job *job)
{
    size_t jobs = 0;
    for (size_t set = 0; set < s->sets; set++) {
        size_t end = s->first[set + 1];
        for (size_t from = s->first[set]; from < end; from += COLLAPSE_BLOCK, jobs++) {
            if (job != NULL) {
                size_t to = end - from < COLLAPSE_BLOCK ? end : from + COLLAPSE_BLOCK;
                job[jobs] = (collapse_job){from, to};
            }
        }
    }
    return jobs;
}

static void lay_out_slot(collapse_slot *t, arena *a, size_t d, size_t r)
{
    set_law *law = &t->law;
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
    if (c == NULL) {
        status = fail_memory(why, sizeof *c);
        goto done;
    }
    *c = (collapse){.s = s, .d = s->d, .rank = s->rank, .rows = s->rows};
    c->team = (size_t)omp_get_max_threads();
    c->jobs = list_jobs(&s->design, NULL);
    lay_out(c, &c->memory);
    TRY(arena_open(&c->memory, why));
    lay_out(c, &c->memory);
    (void)list_jobs(&s->design, c->job);
    c->floor = least_noise(s);
    *out = c;
    c = NULL;
done:
    collapse_close(c);
    return status;
}

void collapse_close(collapse *c)
{
    if (c != NULL) {
        arena_close(&c->memory);
        free(c);
    }
}
