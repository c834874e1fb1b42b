/* The law of a set is worked out once per block of its rows; a draw is z = E[z | y] + n X with
 * n (1, u) standard normal, and the decoder given z
 *
 *     [b; A] ~ N(least squares, s_x^2 ([1 z]'[1 z])^-1)   for each column of y.
 */
#include "infer/marginal/collapse_state.h"

#include "base/threads.h"

#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <string.h>

static const double FILL = 1e-13; /* of a diagonal: for z of which one is a sum of the others */

/* The normals of row k are those of its number, whatever the sets. */
static void add_noise(const collapse *c, const collapse_job *job, rng r, uint64_t index,
                      const collapse_slot *slot)
{
    size_t d = c->d;
    size_t u = slot->law.u;
    size_t n = job->to - job->from;
    for (size_t k = 0; k < n; k++) {
        uint64_t row = index * c->rows + c->s->design.row[job->from + k];
        rng_normals(r, row * d, u, slot->up + k * u);
    }
    product(1, plain(slot->up, n, u), plain(slot->law.x, u, d), 1, slot->z + 1, d + 1);
}

static void draw_job(const collapse *c, const collapse_parameters *p, const collapse_job *job,
                     rng r, uint64_t index, collapse_slot *slot, double *z)
{
    size_t d = c->d;
    size_t n = job->to - job->from;
    const uint32_t *row = c->s->design.row + job->from;
    for (size_t k = 0; k < n; k++) {
        memcpy(slot->y + k * c->rank, c->s->y + row[k] * c->rank, c->rank * sizeof(double));
        memcpy(slot->v + k * d, design_values(&c->s->design, row[k]), d * sizeof(double));
        for (size_t i = 0; i < d && p->own != NULL; i++) { /* 0 at targets */
            slot->v[k * d + i] += p->own[design_batch(&c->s->design, row[k]) * d + i];
        }
    }
    collapse_law(c, p, c->s->design.set[row[0]], slot);
    collapse_condition(c, p, n, slot);
    if (slot->law.u > 0) {
        add_noise(c, job, r, index, slot);
    }
    for (size_t k = 0; k < n; k++) {
        memcpy(z + row[k] * d, slot->z + k * (d + 1) + 1, d * sizeof(double));
    }
}

void collapse_draw_z(collapse *c, const collapse_parameters *p, rng r, uint64_t index, double *z)
{
    threads_blas_single();
#pragma omp parallel for num_threads(collapse_team(c)) schedule(dynamic)
    for (size_t k = 0; k < c->jobs; k++) {
        draw_job(c, p, &c->job[k], r, index, &c->slot[omp_get_thread_num()], z);
    }
    threads_blas_restore();
}

/* [1 z]'[1 z] and [1 z]'(y - zA - b) of rows from .. to - 1, added to the sums of a group. */
static void add_rows(const collapse *c, const collapse_parameters *p, const double *z, size_t from,
                     size_t to, const collapse_slot *slot, double *sums)
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
    product(1, turned(slot->z, n, d + 1), plain(slot->z, n, d + 1), 1, sums, d + 1);
    product(1, turned(slot->z, n, d + 1), plain(slot->rest, n, r), 1, sums + (d + 1) * (d + 1), r);
}

/* The sums of all rows, in the first group. */
static void sum_rows(collapse *c, const collapse_parameters *p, const double *z)
{
    size_t size = (c->d + 1) * (c->d + 1 + c->rank);
    memset(c->sums, 0, COLLAPSE_GROUPS * size * sizeof(double));
    threads_blas_single();
#pragma omp parallel for num_threads(collapse_team(c)) schedule(dynamic)
    for (size_t k = 0; k < COLLAPSE_GROUPS; k++) {
        size_t end = (k + 1) * c->rows / COLLAPSE_GROUPS;
        for (size_t at = k * c->rows / COLLAPSE_GROUPS; at < end; at += COLLAPSE_BLOCK) {
            size_t to = end - at < COLLAPSE_BLOCK ? end : at + COLLAPSE_BLOCK;
            add_rows(c, p, z, at, to, &c->slot[omp_get_thread_num()], c->sums + k * size);
        }
    }
    threads_blas_restore();
    for (size_t k = 1; k < COLLAPSE_GROUPS; k++) {
        cblas_daxpy((int)size, 1, c->sums + k * size, 1, c->sums, 1);
    }
}

/* gram (n, n) becomes the upper factor F of S gram S = F'F, S = diag(ruler). False when it is not
 * finite. */
static bool factor(size_t n, double *gram, double *ruler)
{
    for (size_t k = 0; k < n; k++) {
        double square = gram[k * n + k];
        ruler[k] = square > 0 ? 1 / sqrt(square) : 1;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i; j < n; j++) {
            gram[i * n + j] *= ruler[i] * ruler[j];
        }
        gram[i * n + i] = 1 + FILL * (double)n;
    }
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (int)n, gram, (int)n) == 0;
}

static void solve(CBLAS_TRANSPOSE turn, size_t n, size_t m, const double *f, double *side)
{
    if (m > 0) {
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, turn, CblasNonUnit, (int)n, (int)m, 1, f,
                    (int)n, side, (int)m);
    }
}

void collapse_draw_decoder(collapse *c, const double *z, collapse_parameters *p, rng r,
                           uint64_t index)
{
    size_t n = c->d + 1;
    size_t rank = c->rank;
    double s_x = collapse_x_noise(c, p);
    double *left = c->sums + n * n; /* (n, r), becomes the step */
    sum_rows(c, p, z);
    if (!factor(n, c->sums, c->ruler)) {
        return; /* z is not finite: keep the decoder */
    }
    for (size_t k = 0; k < n * rank; k++) {
        left[k] *= c->ruler[k / rank];
    }
    solve(CblasTrans, n, rank, c->sums, left);
    rng_normals(r, index * n * rank, n * rank, c->side);
    cblas_daxpy((int)(n * rank), s_x, c->side, 1, left, 1);
    solve(CblasNoTrans, n, rank, c->sums, left);
    for (size_t k = 0; k < n * rank; k++) {
        double *to = k < rank ? &p->b[k] : &p->a[k - rank];
        *to += c->ruler[k / rank] * left[k];
    }
}
