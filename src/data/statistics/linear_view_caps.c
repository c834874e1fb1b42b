/* What the noise of a column can be at most, from the values of do(). Among the rows of one set,
 *
 *     x_j = c + v_t b + (what free nodes do) + e_j,
 *
 * so the variance that v_t leaves of x_j is at least that of e_j. A cause that shows in one column
 * alone looks like noise to factor analysis; its labels say that it is not.
 *
 * The least over sets, each with four standard errors more: it binds where noise is taken to be
 * much more than that, and nowhere else. At most 64 sets with 64 rows each are looked at.
 */
#include "data/statistics/linear_view_parts.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SETS = 64, MOST_ROWS = 64, LEAST_FREEDOM = 10 };
static const double STEADY = 1e-9; /* of the squares of values: added, so that they can be solved */

typedef struct caps {
    const double *x;   /* (n, D) */
    const size_t *row; /* (n): of the data, or NULL: the first n */
    const design *s;
    size_t D;
    double *here;           /* (MOST_ROWS, D): rows of a set, centred */
    double *values;         /* (MOST_ROWS, d) */
    double *gram;           /* (d, d) */
    double *cross, *solved; /* (d, D) */
    size_t *first, *at;     /* (sets + 1), (n): rows of x by set */
} caps;

static void lay_out(caps *c, arena *a, size_t n)
{
    size_t d = c->s->d;
    c->here = arena_take(a, MOST_ROWS * c->D, sizeof(double));
    c->values = arena_take(a, MOST_ROWS * d, sizeof(double));
    c->gram = arena_take(a, d * d, sizeof(double));
    c->cross = arena_take(a, d * c->D, sizeof(double));
    c->solved = arena_take(a, d * c->D, sizeof(double));
    c->first = arena_take(a, c->s->sets + 2, sizeof *c->first);
    c->at = arena_take(a, n, sizeof *c->at);
}

static size_t row_of(const caps *c, size_t k)
{
    return c->row != NULL ? c->row[k] : k;
}

static void group(caps *c, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        c->first[c->s->set[row_of(c, k)] + 2]++;
    }
    for (size_t t = 0; t < c->s->sets; t++) {
        c->first[t + 2] += c->first[t + 1];
    }
    for (size_t k = 0; k < n; k++) {
        c->at[c->first[c->s->set[row_of(c, k)] + 1]++] = k;
    }
}

static void centre(double *a, size_t n, size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        double mean = 0;
        for (size_t k = 0; k < n; k++) {
            mean += (a[k * columns + j] - a[j]) / (double)n;
        }
        mean += a[j];
        for (size_t k = 0; k < n; k++) {
            a[k * columns + j] -= mean;
        }
    }
}

/* Rows of set t into `here` and `values` (n, targets); returns how many targets. */
static size_t gather(caps *c, size_t t, size_t n)
{
    size_t d = c->s->d;
    size_t targets = 0;
    for (size_t k = 0; k < n; k++) {
        size_t at = c->at[c->first[t] + k];
        memcpy(c->here + k * c->D, c->x + at * c->D, c->D * sizeof(double));
        targets = 0;
        for (size_t i = 0; i < d; i++) {
            if (c->s->target[t * d + i] != 0) {
                c->gram[targets++] = design_value(c->s, row_of(c, at), i);
            }
        }
        memcpy(c->values + k * targets, c->gram, targets * sizeof(double));
    }
    centre(c->here, n, c->D);
    centre(c->values, n, targets);
    return targets;
}

/* most (D) from the rows of set t */
static void look(caps *c, size_t t, double *most)
{
    size_t n = c->first[t + 1] - c->first[t];
    int D = (int)c->D;
    n = n < MOST_ROWS ? n : MOST_ROWS;
    size_t targets = n > 0 ? gather(c, t, n) : 0;
    int k = (int)targets;
    if (targets == 0 || n < targets + 1 + LEAST_FREEDOM) {
        return;
    }
    double freedom = (double)(n - 1 - targets);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, k, k, (int)n, 1, c->values, k, c->values,
                k, 0, c->gram, k);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, k, D, (int)n, 1, c->values, k, c->here, D,
                0, c->cross, D);
    for (size_t i = 0; i < targets; i++) {
        double *own = c->gram + i * targets + i;
        *own = *own > 0 ? *own * (1 + STEADY) : 1;
    }
    memcpy(c->solved, c->cross, targets * c->D * sizeof(double));
    if (LAPACKE_dposv(LAPACK_ROW_MAJOR, 'U', k, D, c->gram, k, c->solved, D) != 0) {
        return;
    }
    for (size_t j = 0; j < c->D; j++) {
        double left = cblas_ddot((int)n, c->here + j, D, c->here + j, D) -
                      cblas_ddot(k, c->cross + j, D, c->solved + j, D);
        double cap = fmax(left, 0) / freedom * (1 + 4 * sqrt(2 / freedom));
        most[j] = cap < most[j] ? cap : most[j];
    }
}

lscm_status signal_noise_most(const double *x, const size_t *row, size_t n, size_t D,
                              const design *s, double *most, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena scratch = {0};
    caps c = {.x = x, .row = row, .s = s, .D = D};
    lay_out(&c, &scratch, n);
    TRY(arena_open(&scratch, why));
    lay_out(&c, &scratch, n);
    group(&c, n);
    for (size_t j = 0; j < D; j++) {
        most[j] = INFINITY;
    }
    size_t step = 1 + (s->sets - 1) / MOST_SETS;
    for (size_t t = 0; t < s->sets; t += step) {
        look(&c, t, most);
    }
done:
    arena_close(&scratch);
    return status;
}
