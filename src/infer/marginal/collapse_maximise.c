/* The M-step. A, b, and per node (w, c) are regressions; each is found as a correction of what is
 * there, from the expected products with what it leaves:
 *
 *     [b; A] += (E [1 z]'[1 z])^-1 E [1 z]'(y - zA - b),   and the squares fall by <step, side>,
 *
 * so that near the end no digit is lost to the moments; the noises are the squares over their
 * counts. Nodes that are never a target are then put in the best gauge: z_u -> k z_u, and
 * z_u -> z_u + f z_j where j is a parent of u and of all children of u.
 */
#include "infer/marginal/collapse_state.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

bool collapse_factor(size_t n, double *a, double *ruler)
{
    double fill = 1e-15 * (double)n;
    for (size_t k = 0; k < n; k++) {
        double square = a[k * n + k];
        ruler[k] = square > 0 ? 1 / sqrt(square) : 1;
    }
    /* the lower triangle stays for another attempt */
    for (int attempt = 0; attempt < 24; attempt++) {
        for (size_t i = 0; i < n; i++) {
            a[i * n + i] = 1 + fill;
            for (size_t j = i + 1; j < n; j++) {
                a[i * n + j] = ruler[i] * a[j * n + i] * ruler[j];
            }
        }
        if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (int)n, a, (int)n) == 0) {
            return true;
        }
        fill *= 4;
    }
    return false;
}

static void triangle(size_t n, size_t m, const double *factor, bool turn, double *side)
{
    if (n > 0 && m > 0) {
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, turn ? CblasTrans : CblasNoTrans,
                    CblasNonUnit, (int)n, (int)m, 1, factor, (int)n, side, (int)m);
    }
}

static void scale_rows(size_t n, size_t m, const double *ruler, double *side)
{
    for (size_t k = 0; k < n * m; k++) {
        side[k] *= ruler[k / m];
    }
}

void collapse_solve(size_t n, size_t m, const double *factor, const double *ruler, double *side)
{
    scale_rows(n, m, ruler, side);
    triangle(n, m, factor, true, side);
    triangle(n, m, factor, false, side);
    scale_rows(n, m, ruler, side);
}

void collapse_solve_half(size_t n, size_t m, const double *factor, const double *ruler,
                         double *side)
{
    triangle(n, m, factor, false, side);
    scale_rows(n, m, ruler, side);
}

/* c->step (n, m) from c->solve and c->side; returns <step, side>. No step when it would not be
 * finite. */
static double correction(const collapse *c, size_t n, size_t m)
{
    double gain = 0;
    memcpy(c->step, c->side, n * m * sizeof(double));
    if (collapse_factor(n, c->solve, c->ruler)) {
        collapse_solve(n, m, c->solve, c->ruler, c->step);
        gain = cblas_ddot((int)(n * m), c->step, 1, c->side, 1);
    }
    if (!(fabs(gain) < INFINITY) || gain == 0) {
        memset(c->step, 0, n * m * sizeof(double));
        gain = 0;
    }
    return gain;
}

static void maximise_decoder(const collapse *c, const collapse_settings *s,
                             const collapse_sums *sums, collapse_parameters *p)
{
    size_t n = c->d + 1;
    size_t r = c->rank;
    memcpy(c->solve, sums->gram, n * n * sizeof(double));
    memcpy(c->side, sums->by_a, n * r * sizeof(double));
    double left = *sums->rest - correction(c, n, r);
    for (size_t k = 0; k < r; k++) {
        p->b[k] += c->step[k];
    }
    for (size_t k = 0; k < c->d * r; k++) {
        p->a[k] += c->step[r + k];
    }
    if (s->learn_x_noise) {
        double squares = fmax(left, 0) + c->outside * c->s->x_noise * c->s->x_noise;
        double count = (double)c->rows * (double)r + c->outside;
        p->x_noise = fmax(count > 0 ? sqrt(squares / count) : 0, c->floor);
    }
}

/* Returns the penalised squares of node i, without its own unit; *parents: how many. */
static double maximise_node(const collapse *c, const collapse_graph *g, const dag_prior *prior,
                            const collapse_sums *sums, size_t i, collapse_parameters *p,
                            size_t *parents)
{
    size_t d = c->d;
    size_t full = d + 1;
    const double *gram = sums->node_gram + i * full * full;
    double left = sums->node[i];
    size_t n = 1;
    for (size_t j = 0; j < d; j++) {
        n += g->parent[j * d + i] != 0 ? 1 : 0;
    }
    for (size_t j = 0, row = 0; j <= d; j++) { /* 0 is the intercept, 1 + node a parent */
        if (j > 0 && g->parent[(j - 1) * d + i] == 0) {
            continue;
        }
        for (size_t k = 0, column = 0; k <= d; k++) {
            if (k == 0 || g->parent[(k - 1) * d + i] != 0) {
                c->solve[row * n + column++] = gram[j * full + k];
            }
        }
        c->side[row] = sums->by_node[i * full + j];
        if (j > 0) {
            double ridge = prior->ridge * prior->unit[j - 1] * prior->unit[j - 1];
            double w = p->w[(j - 1) * d + i];
            c->solve[row * n + row] += ridge;
            c->side[row] -= ridge * w;
            left += ridge * w * w;
        }
        row++;
    }
    left -= correction(c, n, 1);
    p->c[i] += c->step[0];
    for (size_t j = 0, row = 1; j < d; j++) {
        if (g->parent[j * d + i] != 0) {
            p->w[j * d + i] += c->step[row++];
        }
    }
    *parents = n - 1;
    return fmax(left, 0);
}

static double mean_square(const double *unit, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        sum += unit[i] * unit[i] / (double)d;
    }
    return sum;
}

void collapse_maximise(collapse *c, const collapse_graph *g, const collapse_settings *s,
                       collapse_parameters *p)
{
    const dag_prior *prior = s->prior;
    collapse_sums sums = collapse_sums_at(c, 0);
    double squares = prior->ridge * mean_square(prior->unit, c->d);
    double count = prior->dof;
    double targets = 0;
    collapse_expand(c, g, p);
    maximise_decoder(c, s, &sums, p);
    for (size_t i = 0; i < c->d; i++) {
        size_t parents = 0;
        double left = maximise_node(c, g, prior, &sums, i, p, &parents);
        double rows = (double)(c->rows - c->targeted[i]) + 2 * (double)parents;
        double own = prior->ridge * prior->unit[i] * prior->unit[i];
        p->sigma[i] = s->equal ? p->sigma[i] : sqrt((left + own) / (rows + prior->dof));
        squares += left;
        count += rows;
        targets += (double)c->targeted[i];
    }
    for (size_t i = 0; s->equal && i < c->d; i++) {
        p->sigma[i] = sqrt(squares / count);
    }
    if (s->learn_actuator_noise && p->actuator_noise > 0 && targets > 0) {
        p->actuator_noise = fmax(sqrt(*sums.target / targets), c->target_floor);
    }
    collapse_gauge(c, g, s, p);
}

double collapse_penalty(const collapse_graph *g, const collapse_settings *s,
                        const collapse_parameters *p, collapse_parameters *gradient)
{
    const dag_prior *prior = s->prior;
    size_t d = p->d;
    double mean = mean_square(prior->unit, d);
    double share = s->equal ? 1 / (double)d : 1;
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        double variance = p->sigma[i] * p->sigma[i];
        double squares = prior->ridge * share * (s->equal ? mean : prior->unit[i] * prior->unit[i]);
        double count = prior->dof * share;
        for (size_t j = 0; j < d; j++) {
            if (g->parent[j * d + i] != 0) {
                double ridge = prior->ridge * prior->unit[j] * prior->unit[j];
                double w = p->w[j * d + i];
                count += 2;
                squares += ridge * w * w;
                if (gradient != NULL) {
                    gradient->w[j * d + i] -= ridge * w / variance;
                }
            }
        }
        sum -= count * log(p->sigma[i]) + squares / (2 * variance);
        if (gradient != NULL) {
            gradient->sigma[i] += squares / variance - count;
        }
    }
    return sum;
}
