/* What may leak into z_i. Where z_i, free, is regressed on all others, the coefficient of z_p is
 * sum_r c_pr z_ri, c = (X'X)^-1 X', X = (1, the others). What the labels of i leave open of that
 * sum the kernel's Gaussian process says (kernel_sums), much where no label was near the rows that
 * tell it; and the network is taken to err so many times as much as it does at values held out of
 * both:
 *
 *     open_pi^2 = ratio^2 var sum_r c_pr z_i(f_r),   over some of the rows.
 *
 * Where these rows are as far from labels as a side of the labels is when it is held out, the ratio
 * is that of such a side, and in between in between (kernel_beyond.h).
 */
#include "infer/anchored/nonlinear.h"

#include "base/tuned.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

typedef struct leaks {
    size_t most, n;          /* rows, at most, and of this node */
    float *f;                /* (most, R) */
    double *x, *c;           /* (most, d): X, 1 in the place of the node; c */
    double *gram, *variance; /* (d, d), (d) */
    arena memory;
} leaks;

static void lay_out(leaks *t, const nonlinear *n)
{
    arena *a = &t->memory;
    size_t d = n->x.d;
    t->f = arena_take(a, t->most * n->x.R, sizeof *t->f);
    t->x = arena_take(a, t->most * d, sizeof *t->x);
    t->c = arena_take(a, t->most * d, sizeof *t->c);
    t->gram = arena_take(a, d * d, sizeof *t->gram);
    t->variance = arena_take(a, d, sizeof *t->variance);
}

/* Rows in which node i is free, spread over all of them. */
static void take_rows(const nonlinear *n, size_t i, leaks *t)
{
    size_t d = n->x.d;
    size_t free_rows = 0;
    size_t met = 0;
    for (size_t r = 0; r < n->x.rows; r++) {
        free_rows += !design_is_set(&n->x.design, r, i) ? 1 : 0;
    }
    size_t by = (free_rows + t->most - 1) / t->most;
    t->n = 0;
    for (size_t r = 0; r < n->x.rows; r++) {
        if (!design_is_set(&n->x.design, r, i) && met++ % by == 0) {
            memcpy(t->f + t->n * n->x.R, n->x.f + r * n->x.R, n->x.R * sizeof *t->f);
            memcpy(t->x + t->n * d, n->z + r * d, d * sizeof *t->x);
            t->x[t->n++ * d + i] = 1;
        }
    }
}

/* c = X (X'X)^-1, a row each; false where it cannot be. */
static bool regress(const leaks *t, size_t nodes)
{
    int d = (int)nodes;
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, d, (int)t->n, 1, t->x, d, 0, t->gram, d);
    for (size_t p = 0; p < nodes; p++) { /* what does not vary has no coefficient */
        t->gram[p * nodes + p] = t->gram[p * nodes + p] * (1 + 1e-9) + 1e-300;
    }
    if (t->n == 0 || LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', d, t->gram, d) != 0 ||
        LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'L', d, t->gram, d) != 0) {
        return false;
    }
    cblas_dsymm(CblasRowMajor, CblasRight, CblasLower, (int)t->n, d, 1, t->gram, d, t->x, d, 0,
                t->c, d);
    return true;
}

/* What the sd of sums of node i is to be multiplied by. */
static double error_of(const nonlinear *n, size_t i, double ratio)
{
    const kernel_beyond *b = &n->beyond;
    double place = kernel_beyond_place(b, i, n->far[i]);
    double side = 0; /* how x bends is alike for all nodes, and some rays are straight */
    for (size_t j = 0; j < n->x.d; j++) {
        side += log(b->side[j] / b->in[j]) / (double)n->x.d;
    }
    return pow(ratio, 1 - place) * exp(side * place / 2);
}

/* rms errors of held-out values, the network's over the kernel's. */
static double ratio_of(const nonlinear *n)
{
    double own = 0;
    double kernel = 0;
    for (size_t j = 0; j < n->x.d; j++) {
        bool known = isfinite(n->errors.r2[j]) && n->kernel.node_r2[j] < 1;
        own += known ? 1 - n->errors.r2[j] : 0;
        kernel += known ? 1 - n->kernel.node_r2[j] : 0;
    }
    return kernel > 0 ? sqrt(own / kernel) : 1;
}

lscm_status nonlinear_leaks(nonlinear *n, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = n->x.d;
    double ratio = ratio_of(n);
    leaks t = {.most = tuned_leak_rows() * (1 + d / 20)};
    lay_out(&t, n);
    TRY(arena_open(&t.memory, why));
    lay_out(&t, n);
    memset(n->open, 0, d * d * sizeof *n->open);
    for (size_t i = 0; i < d; i++) {
        take_rows(n, i, &t);
        if (!regress(&t, d)) {
            continue;
        }
        TRY(kernel_sums(&n->kernel, i, t.n, t.f, d, t.c, t.variance, why));
        for (size_t p = 0; p < d; p++) {
            double sd = error_of(n, i, ratio) * sqrt(t.variance[p]);
            n->open[p * d + i] = p != i && isfinite(sd) ? sd : 0;
        }
    }
done:
    arena_close(&t.memory);
    return status;
}
