/* EM with a wider model (PX-EM, Liu, Rubin & Wu 1998). When x has little noise, z is known given A,
 * A is known given z, and plain EM stands still. So a node u whose values do() does not fix (never
 * a target, or s_I > 0) may be redefined as z_u' = z_u + [1 z] f, with what was expected of z as it
 * is: y = z A + b does not notice if A_u' = A_u/(1 + f_u), A_j' = A_j - f_j A_u', b' = b - f_0
 * A_u', and the mechanisms change by e_u' = e_u + [1 z] f and e_k' = e_k - w_uk [1 z] f in the
 * children k. Their expected log density
 *
 *     N log(1 + f_u) + f side - f H f'/2,   H    = sum_i q_i^2 E[1 z]'[1 z]/s_i^2,
 *                                           side = -sum_i q_i E[1 z]'e_i/s_i^2,
 *
 * over the rows in which i is free, i in {u: q = 1; u at targets: q = 1, s_I; k: q = -w_uk}, is
 * concave; its maximum needs one solve and the root of a quadratic. The likelihood of y rises with
 * it, as in every M-step.
 */
#include "infer/marginal/collapse_state.h"

#include <math.h>
#include <string.h>

/* How much of z_u there is in e_i. */
static double share_of(const collapse_graph *g, const collapse_parameters *p, size_t u, size_t i)
{
    return i == u ? 1 : g->parent[u * p->d + i] != 0 ? -p->w[u * p->d + i] : 0;
}

/* E[1 z]'[1 z] over the rows in which u is a target, row a of it. */
static double target_gram(const collapse_sums *sums, size_t n, size_t u, size_t a, size_t b)
{
    return sums->gram[a * n + b] - sums->node_gram[(u * n + a) * n + b];
}

/* H (n, n) and side (n). */
static void set_up(const collapse *c, const collapse_graph *g, const collapse_parameters *p,
                   const collapse_sums *sums, size_t u)
{
    size_t n = c->d + 1;
    memset(c->wide, 0, n * n * sizeof(double));
    memset(c->image, 0, n * sizeof(double));
    for (size_t i = 0; i < c->d; i++) {
        double share = share_of(g, p, u, i);
        double variance = p->sigma[i] * p->sigma[i];
        if (share != 0) {
            cblas_daxpy((int)(n * n), share * share / variance, sums->node_gram + i * n * n, 1,
                        c->wide, 1);
            cblas_daxpy((int)n, -share / variance, sums->by_node + i * n, 1, c->image, 1);
        }
    }
    for (size_t a = 0; a < n && c->targeted[u] > 0; a++) {
        double precision = 1 / (p->actuator_noise * p->actuator_noise);
        for (size_t b = 0; b < n; b++) {
            c->wide[a * n + b] += precision * target_gram(sums, n, u, a, b);
        }
        c->image[a] -= precision * sums->by_target[u * n + a];
    }
}

/* f (n) in c->change; false when there is none. The others given f_u: f = H^-1 (side - f_u H_u). */
static bool find_change(const collapse *c, size_t u)
{
    size_t n = c->d + 1;
    size_t own = u + 1;
    double slope = c->image[own];
    double curve = c->wide[own * n + own];
    for (size_t a = 0, row = 0; a < n; a++) {
        if (a == own) {
            continue;
        }
        for (size_t b = 0, column = 0; b < n; b++) {
            if (b != own) {
                c->solve[row * c->d + column++] = c->wide[a * n + b];
            }
        }
        c->step[2 * row] = c->image[a];
        c->step[2 * row + 1] = c->wide[a * n + own];
        row++;
    }
    if (!collapse_factor(c->d, c->solve, c->ruler)) {
        return false;
    }
    collapse_solve(c->d, 2, c->solve, c->ruler, c->step);
    for (size_t a = 0, row = 0; a < n; a++) {
        if (a != own) {
            slope -= c->wide[own * n + a] * c->step[2 * row];
            curve -= c->wide[own * n + a] * c->step[2 * row + 1];
            row++;
        }
    }
    /* N/q + slope - curve (q - 1) = 0 at q = 1 + f_u > 0 */
    double middle = slope + curve;
    double scale = (middle + sqrt(middle * middle + 4 * curve * (double)c->rows)) / (2 * curve);
    if (!(curve > 0) || !(scale > 1e-3 && scale < 1e3)) {
        return false;
    }
    double most = 0;
    for (size_t a = 0, row = 0; a < n; a++) {
        c->change[a] = a == own ? scale - 1 : c->step[2 * row] - (scale - 1) * c->step[2 * row + 1];
        row += a != own ? 1 : 0;
        most = fmax(most, fabs(c->change[a]));
        if (!(fabs(c->change[a]) < INFINITY)) {
            return false;
        }
    }
    return most > 0;
}

/* gram (n, n) of [1 z] with the new z_u; image is scratch. */
static void turn_gram(size_t n, size_t own, const double *f, double *gram, double *image)
{
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)n, (int)n, 1, gram, (int)n, f, 1, 0, image, 1);
    cblas_daxpy((int)n, 1, image, 1, gram + own, (int)n);
    cblas_dgemv(CblasRowMajor, CblasTrans, (int)n, (int)n, 1, gram, (int)n, f, 1, 0, image, 1);
    cblas_daxpy((int)n, 1, image, 1, gram + own * n, 1);
}

/* The sums of node i with the new e_i, still of the old z. */
static void turn_noise(size_t n, double share, const double *f, const double *gram, double *square,
                       double *by, double *image)
{
    cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)n, (int)n, share, gram, (int)n, f, 1, 0, image,
                1);
    *square +=
        2 * share * cblas_ddot((int)n, f, 1, by, 1) + share * cblas_ddot((int)n, f, 1, image, 1);
    *square = fmax(*square, 0);
    cblas_daxpy((int)n, 1, image, 1, by, 1);
}

static void turn_sums(const collapse *c, const collapse_graph *g, const collapse_parameters *p,
                      const collapse_sums *sums, size_t u)
{
    size_t n = c->d + 1;
    size_t own = u + 1;
    const double *f = c->change;
    if (c->targeted[u] > 0) {
        for (size_t k = 0; k < n * n; k++) {
            c->wide[k] = target_gram(sums, n, u, k / n, k % n);
        }
        turn_noise(n, 1, f, c->wide, sums->target, sums->by_target + u * n, c->image);
    }
    for (size_t i = 0; i < c->d; i++) {
        double *gram = sums->node_gram + i * n * n;
        double *by = sums->by_node + i * n;
        double *by_target = sums->by_target + i * n;
        double share = share_of(g, p, u, i);
        if (share != 0) {
            turn_noise(n, share, f, gram, &sums->node[i], by, c->image);
        }
        by[own] += cblas_ddot((int)n, f, 1, by, 1);
        by_target[own] += cblas_ddot((int)n, f, 1, by_target, 1);
        turn_gram(n, own, f, gram, c->image);
    }
    turn_gram(n, own, f, sums->gram, c->image);
    for (size_t k = 0; k < c->rank; k++) {
        double *by = sums->by_a + k;
        by[own * c->rank] += cblas_ddot((int)n, f, 1, by, (int)c->rank);
    }
}

static void turn_decoder(const collapse *c, collapse_parameters *p, size_t u)
{
    double *own = p->a + u * c->rank;
    for (size_t k = 0; k < c->rank; k++) {
        own[k] /= 1 + c->change[u + 1];
        p->b[k] -= c->change[0] * own[k];
        for (size_t j = 0; j < c->d; j++) {
            p->a[j * c->rank + k] -= j != u ? c->change[j + 1] * own[k] : 0;
        }
    }
}

void collapse_expand(collapse *c, const collapse_graph *g, collapse_parameters *p)
{
    collapse_sums sums = collapse_sums_at(c, 0);
    for (size_t k = 0; k < c->d; k++) {
        size_t u = g->order[k];
        if (c->targeted[u] > 0 && !(p->actuator_noise > 0)) {
            continue;
        }
        set_up(c, g, p, &sums, u);
        if (find_change(c, u)) {
            turn_sums(c, g, p, &sums, u);
            turn_decoder(c, p, u);
        }
    }
}
