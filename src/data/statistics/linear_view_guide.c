/* Directions by what they say of labels. The d directions in which x varies most are those of the
 * causes where nothing else does. Where something else varies more - x = z A + nuisance + noise -
 * a cause may lie further down among the m directions that were found. So for each node the values
 * that do() set are predicted from the first d and from all m, learned on one half of its sets and
 * tried on the other, and where m miss clearly less the node's own direction
 *
 *     b_j (m): v_j = a + y b_j,
 *
 * takes the place of one that no node needs: E becomes E_m Q, Q (m, d) an orthonormal basis of all
 * b_j (of the first d alone where these do as well), filled up with directions of most variance.
 * Q is turned so that y is uncorrelated. Noise is the same in all directions, and stays so.
 */
#include "base/tuned.h"
#include "data/statistics/linear_view_parts.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PER_DIRECTION = 6, HALVES = 2 }; /* labels of a half that are looked at, for each number */
static const double STEADY = 1e-9; /* of the sums of squares: added, so that they can be solved */
static const double LITTLE = 1e-6; /* of the variance of labels: there is nothing to gain */
static const double DEPENDENT = 1e-3; /* of a slope: what is left of it beside the others */

typedef struct guide {
    principal *p;
    const double *x; /* (n, D) as principal_of left it */
    const design *s;
    size_t d, m, w;       /* w = m + 2: 1, y, v */
    size_t most;          /* rows of a half */
    double *here;         /* (HALVES, most, D): rows of x */
    double *rows;         /* (HALVES, most, w) */
    size_t count[HALVES]; /* of them */
    double *sums;         /* (HALVES + 1, w, w): of each half, and of both */
    double *gram, *slope; /* (w, w), (w): scratch */
    double *offset;       /* (m): left / s E */
    double *q;            /* (d, m): Q', the first `taken` rows */
    size_t taken;
    double *small, *value, *turned; /* (d, d), (d), (d, D or m) */
} guide;

static void lay_out(guide *g, arena *a)
{
    g->here = arena_take(a, HALVES * g->most * g->p->D, sizeof(double));
    g->rows = arena_take(a, HALVES * g->most * g->w, sizeof(double));
    g->sums = arena_take(a, (HALVES + 1) * g->w * g->w, sizeof(double));
    g->gram = arena_take(a, g->w * g->w, sizeof(double));
    g->slope = arena_take(a, g->w, sizeof(double));
    g->offset = arena_take(a, g->m, sizeof(double));
    g->q = arena_take(a, g->d * g->m, sizeof(double));
    g->small = arena_take(a, g->d * g->d, sizeof(double));
    g->value = arena_take(a, g->d, sizeof(double));
    g->turned = arena_take(a, g->d * (g->p->D + g->m), sizeof(double));
}

static void add_row(guide *g, size_t half, size_t row, size_t j)
{
    size_t D = g->p->D;
    size_t at = half * g->most + g->count[half]++;
    memcpy(g->here + at * D, g->x + row * D, D * sizeof(double));
    g->rows[at * g->w] = 1;
    g->rows[at * g->w + g->m + 1] = design_value(g->s, row, j);
}

/* Labels of node j, sets to either half in turn (rows, where it has one set). */
static void gather(guide *g, size_t j)
{
    size_t sets = 0;
    size_t labels = 0;
    size_t seen = 0;
    const design *s = g->s;
    g->count[0] = g->count[1] = 0;
    for (size_t t = 0; t < s->sets; t++) {
        sets += s->target[t * s->d + j] != 0 ? 1 : 0;
        labels += s->target[t * s->d + j] != 0 ? design_set_rows(s, t) : 0;
    }
    size_t step = 1 + labels / (HALVES * g->most);
    for (size_t t = 0; t < s->sets; t++) {
        if (s->target[t * s->d + j] == 0) {
            continue;
        }
        for (size_t k = s->first[t]; k < s->first[t + 1]; k += step) {
            size_t half = (sets > 1 ? seen : (k - s->first[t]) / step) % HALVES;
            if (g->count[half] < g->most) {
                add_row(g, half, s->row[k], j);
            }
        }
        seen++;
    }
}

/* y of the rows, and their sums. */
static void sum_up(guide *g)
{
    size_t square = g->w * g->w;
    int D = (int)g->p->D;
    memset(g->sums, 0, (HALVES + 1) * square * sizeof *g->sums);
    for (size_t half = 0; half < HALVES; half++) {
        double *rows = g->rows + half * g->most * g->w;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)g->count[half], (int)g->m, D, 1,
                    g->here + half * g->most * g->p->D, D, g->p->directions, D, 0, rows + 1,
                    (int)g->w);
        for (size_t k = 0; k < g->count[half]; k++) {
            cblas_daxpy((int)g->m, -1, g->offset, 1, rows + k * g->w + 1, 1);
        }
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)g->w, (int)g->w,
                    (int)g->count[half], 1, rows, (int)g->w, rows, (int)g->w, 0,
                    g->sums + half * square, (int)g->w);
        cblas_daxpy((int)square, 1, g->sums + half * square, 1, g->sums + HALVES * square, 1);
    }
}

/* slope (k + 1): of v on 1 and the first k of y; false where that has no answer. */
static bool solve(guide *g, const double *sums, size_t k)
{
    size_t n = k + 1;
    for (size_t i = 0; i < n; i++) {
        memcpy(g->gram + i * n, sums + i * g->w, n * sizeof *g->gram);
        g->gram[i * n + i] *= 1 + STEADY;
        g->slope[i] = sums[i * g->w + g->m + 1];
    }
    return LAPACKE_dposv(LAPACK_ROW_MAJOR, 'U', (lapack_int)n, 1, g->gram, (lapack_int)n, g->slope,
                         1) == 0;
}

/* Squares of v that slope (k + 1) misses. */
static double missed(const guide *g, const double *sums, size_t k)
{
    double all = sums[g->w * g->w - 1];
    for (size_t i = 0; i <= k; i++) {
        all -= 2 * g->slope[i] * sums[i * g->w + g->m + 1];
        all += g->slope[i] * cblas_ddot((int)k + 1, sums + i * g->w, 1, g->slope, 1);
    }
    return all;
}

/* Whether all m predict labels clearly better than the first d. */
static bool improves(guide *g)
{
    size_t square = g->w * g->w;
    double few = 0;
    double many = 0;
    double all = 0;
    for (size_t half = 0; half < HALVES; half++) {
        const double *own = g->sums + half * square;
        const double *other = g->sums + (1 - half) * square;
        if (g->count[half] < 2 * g->w || !solve(g, own, g->d)) {
            return false;
        }
        few += missed(g, other, g->d);
        if (!solve(g, own, g->m)) {
            return false;
        }
        many += missed(g, other, g->m);
        all += other[square - 1] - other[g->w - 1] * other[g->w - 1] / (double)g->count[1 - half];
    }
    return few > LITTLE * all && many < tuned_guide_better() * few;
}

/* The next row of Q' from a (m), unless the others span it. */
static void take(guide *g, const double *a)
{
    int m = (int)g->m;
    double *to = g->q + g->taken * g->m;
    double size = cblas_dnrm2(m, a, 1);
    if (g->taken == g->d || !(size > 0)) {
        return;
    }
    memmove(to, a, g->m * sizeof *to);
    for (int twice = 0; twice < 2; twice++) { /* the second time for rounding */
        for (size_t k = 0; k < g->taken; k++) {
            const double *q = g->q + k * g->m;
            cblas_daxpy(m, -cblas_ddot(m, q, 1, to, 1), q, 1, to, 1);
        }
    }
    double left = cblas_dnrm2(m, to, 1);
    if (left > DEPENDENT * size) {
        cblas_dscal(m, 1 / left, to, 1);
        g->taken++;
    }
}

/* Slopes of nodes whose labels (do not) ask for more than d directions. */
static void take_slopes(guide *g, const uint8_t *asks, uint8_t which)
{
    for (size_t j = 0; j < g->d; j++) {
        size_t k = which != 0 ? g->m : g->d;
        gather(g, j);
        sum_up(g);
        if (asks[j] == which && g->count[0] + g->count[1] > 2 * g->w &&
            solve(g, g->sums + HALVES * g->w * g->w, k)) {
            memset(g->slope + k + 1, 0, (g->w - k - 1) * sizeof *g->slope);
            take(g, g->slope + 1);
        }
    }
}

/* Q to uncorrelated axes, and E_m Q into the first d directions. */
static lscm_status turn(guide *g, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    principal *p = g->p;
    int d = (int)g->d;
    int m = (int)g->m;
    int D = (int)p->D;
    double *q = g->turned + g->d * p->D;
    for (size_t i = 0; i < g->d * g->m; i++) {
        q[i] = g->q[i] * p->variance[i % g->m];
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, d, d, m, 1, q, m, g->q, m, 0, g->small, d);
    TRY(principal_eigen(g->small, g->d, g->value, why));
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, d, m, d, 1, g->small, d, g->q, m, 0, q,
                m);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, d, D, m, 1, q, m, p->directions, D, 0,
                g->turned, D);
    for (size_t k = 0; k < g->d; k++) { /* largest first */
        memcpy(p->directions + k * p->D, g->turned + (g->d - 1 - k) * p->D, p->D * sizeof(double));
        p->variance[k] = g->value[g->d - 1 - k];
    }
done:
    return status;
}

lscm_status signal_guide(principal *p, const double *x, const design *s, bool *turned,
                         lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena scratch = {0};
    guide g = {.p = p, .x = x, .s = s, .d = s->d, .m = p->count, .w = p->count + 2};
    g.most = PER_DIRECTION * g.w;
    uint8_t *asks = calloc(s->d, 1); /* (d) */
    bool any = false;
    *turned = false;
    if (asks == NULL) {
        return fail_memory(why, s->d);
    }
    if (g.m <= g.d) {
        goto done;
    }
    lay_out(&g, &scratch);
    TRY(arena_open(&scratch, why));
    lay_out(&g, &scratch);
    for (size_t k = 0; k < g.m; k++) {
        g.offset[k] = cblas_ddot((int)p->D, p->left, 1, p->directions + k * p->D, 1);
    }
    for (size_t j = 0; j < g.d; j++) {
        gather(&g, j);
        sum_up(&g);
        asks[j] = improves(&g) ? 1 : 0;
        any = any || asks[j] != 0;
    }
    if (any) {
        take_slopes(&g, asks, 1);
        take_slopes(&g, asks, 0);
        for (size_t k = 0; k < g.m; k++) {
            memset(g.slope, 0, g.w * sizeof *g.slope);
            g.slope[k] = 1;
            take(&g, g.slope);
        }
        TRY(turn(&g, why));
        *turned = true;
    }
done:
    free(asks);
    arena_close(&scratch);
    return status;
}
