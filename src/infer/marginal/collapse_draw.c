/* Back to the rows. The law of a set is worked out once per block of its rows; a draw is
 * z = E[z | y] + n X with n (1, u) standard normal, and the decoder given z
 *
 *     [b; A] ~ N(least squares, s_x^2 ([1 z]'[1 z])^-1)   for each column of y.
 */
#include "infer/marginal/collapse_state.h"

#include "base/threads.h"

#include <math.h>
#include <omp.h>
#include <string.h>

typedef struct row_task {
    double *z, *sd;
    rng random;
    uint64_t index;
    bool draw;
} row_task;

static void condition_job(const collapse *c, const collapse_graph *g, const collapse_parameters *p,
                          const collapse_job *job, collapse_slot *slot)
{
    size_t d = c->d;
    size_t r = c->rank;
    for (size_t k = job->from; k < job->to; k++) {
        size_t row = c->design->row[k];
        size_t at = k - job->from;
        slot->one[at] = 1;
        memcpy(slot->y + at * r, c->s->y + row * r, r * sizeof(double));
        memcpy(slot->v + at * d, design_values(c->design, row), d * sizeof(double));
    }
    collapse_law(c, g, p, job->set, slot);
    collapse_condition(c, p, job->to - job->from, slot->one, slot->y, slot->v, slot);
}

/* The normals of row k are those of its number, whatever the sets. */
static void add_noise(const collapse *c, const collapse_job *job, const row_task *task,
                      const collapse_slot *slot)
{
    size_t d = c->d;
    size_t u = slot->law.u;
    size_t n = job->to - job->from;
    for (size_t k = 0; k < n; k++) {
        uint64_t row = task->index * c->rows + c->design->row[job->from + k];
        rng_normals(task->random, row * d, u, slot->up + k * u);
    }
    product(1, plain(slot->up, n, u), plain(slot->law.x, u, d), 1, slot->z + 1, d + 1);
}

static void run_job(const collapse *c, const collapse_graph *g, const collapse_parameters *p,
                    const collapse_job *job, const row_task *task, collapse_slot *slot)
{
    size_t d = c->d;
    condition_job(c, g, p, job, slot);
    if (task->draw && slot->law.u > 0) {
        add_noise(c, job, task, slot);
    }
    for (size_t i = 0; i < d && task->sd != NULL; i++) {
        slot->cross[i] =
            slot->law.u > 0 ? cblas_dnrm2((int)slot->law.u, slot->law.x + i, (int)d) : 0;
    }
    for (size_t k = job->from; k < job->to; k++) {
        size_t row = c->design->row[k];
        memcpy(task->z + row * d, slot->z + (k - job->from) * (d + 1) + 1, d * sizeof(double));
        if (task->sd != NULL) {
            memcpy(task->sd + row * d, slot->cross, d * sizeof(double));
        }
    }
}

static void run_jobs(collapse *c, const collapse_graph *g, const collapse_parameters *p,
                     const row_task *task)
{
    threads_blas_single();
#pragma omp parallel for num_threads(collapse_team(c, c->rows)) schedule(dynamic)
    for (size_t k = 0; k < c->jobs; k++) {
        run_job(c, g, p, &c->job[k], task, &c->slot[omp_get_thread_num()]);
    }
    threads_blas_restore();
}

void collapse_z(collapse *c, const collapse_graph *g, const collapse_parameters *p, double *z,
                double *z_sd)
{
    run_jobs(c, g, p, &(row_task){.z = z, .sd = z_sd});
}

void collapse_draw_z(collapse *c, const collapse_graph *g, const collapse_parameters *p, rng r,
                     uint64_t index, double *z)
{
    run_jobs(c, g, p, &(row_task){.z = z, .random = r, .index = index, .draw = true});
}

/* [1 z]'[1 z] and [1 z]'(y - zA - b) of rows from .. to - 1 into the sums of a group. */
static void add_rows(const collapse *c, const collapse_parameters *p, const double *z, size_t from,
                     size_t to, const collapse_slot *slot, const collapse_sums *sums)
{
    size_t d = c->d;
    size_t r = c->rank;
    size_t n = to - from;
    for (size_t k = 0; k < n; k++) {
        slot->z[k * (d + 1)] = 1;
        memcpy(slot->z + k * (d + 1) + 1, z + (from + k) * d, d * sizeof(double));
        for (size_t i = 0; i < r; i++) {
            slot->rest[k * r + i] = c->s->y[(from + k) * r + i] - p->b[i];
        }
    }
    product(-1, plain(z + from * d, n, d), plain(p->a, d, r), 1, slot->rest, r);
    product(1, turned(slot->z, n, d + 1), plain(slot->z, n, d + 1), 1, sums->gram, d + 1);
    product(1, turned(slot->z, n, d + 1), plain(slot->rest, n, r), 1, sums->by_a, r);
}

static void regress(collapse *c, const collapse_parameters *p, const double *z)
{
    size_t n = c->d + 1;
    threads_blas_single();
#pragma omp parallel for num_threads(collapse_team(c, c->rows)) schedule(dynamic)
    for (size_t k = 0; k < COLLAPSE_GROUPS; k++) {
        collapse_sums sums = collapse_sums_at(c, k);
        size_t end = (k + 1) * c->rows / COLLAPSE_GROUPS;
        memset(sums.gram, 0, (n * n + n * c->rank) * sizeof(double)); /* by_a follows gram */
        for (size_t at = k * c->rows / COLLAPSE_GROUPS; at < end; at += COLLAPSE_BLOCK) {
            size_t to = end - at < COLLAPSE_BLOCK ? end : at + COLLAPSE_BLOCK;
            add_rows(c, p, z, at, to, &c->slot[omp_get_thread_num()], &sums);
        }
    }
    threads_blas_restore();
    collapse_sums total = collapse_sums_at(c, 0);
    for (size_t k = 1; k < COLLAPSE_GROUPS; k++) {
        collapse_sums part = collapse_sums_at(c, k);
        cblas_daxpy((int)(n * n + n * c->rank), 1, part.gram, 1, total.gram, 1);
    }
}

void collapse_draw_decoder(collapse *c, const double *z, collapse_parameters *p, rng r,
                           uint64_t index)
{
    size_t n = c->d + 1;
    size_t rank = c->rank;
    double s_x = collapse_x_noise(c, p);
    regress(c, p, z);
    collapse_sums sums = collapse_sums_at(c, 0);
    if (!collapse_factor(n, sums.gram, c->ruler)) {
        return; /* z is not finite: keep the decoder */
    }
    memcpy(c->step, sums.by_a, n * rank * sizeof(double));
    collapse_solve(n, rank, sums.gram, c->ruler, c->step);
    rng_normals(r, index * n * rank, n * rank, c->side);
    collapse_solve_half(n, rank, sums.gram, c->ruler, c->side);
    for (size_t k = 0; k < n * rank; k++) {
        double *to = k < rank ? &p->b[k] : &p->a[k - rank];
        *to += c->step[k] + s_x * c->side[k];
    }
}
