#include "infer/check/regression.h"

#include "infer/check/chance.h"

#include <cblas.h>
#include <math.h>
#include <stdbool.h>

void regression_sum(const regression *q, size_t rows)
{
    size_t wide = q->wide;
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)wide, (int)rows, 1, q->x, (int)wide, 0,
                q->gram, (int)wide);
    for (size_t r = 0; r < wide; r++) {
        for (size_t c = 0; c < r; c++) {
            q->gram[c * wide + r] = q->gram[r * wide + c];
        }
    }
}

/* What columns column[0 .. base - 1], and these with column[base .. all - 1], leave of y; columns
 * that add nothing new are left out. Cholesky of their Gram matrix with y at its end. */
typedef struct rests {
    double rest[2];
    size_t rank[2];
} rests;

static rests regress(const regression *q, size_t base, size_t all)
{
    size_t wide = q->wide;
    size_t n = all + 1;
    double *l = q->factor;
    rests out = {.rest = {0}};
    size_t rank = 0;
    q->column[all] = wide - 1;
    double rest = q->gram[wide * wide - 1];
    if (base == 0) {
        out.rest[0] = rest;
    }
    for (size_t c = 0; c < all; c++) {
        double own = q->gram[q->column[c] * wide + q->column[c]];
        double pivot = own;
        for (size_t k = 0; k < c; k++) {
            pivot -= l[c * n + k] * l[c * n + k];
        }
        bool adds = pivot > 1e-9 * own && own > 0;
        for (size_t r = c + 1; r < n; r++) {
            double sum = q->gram[q->column[r] * wide + q->column[c]];
            for (size_t k = 0; k < c; k++) {
                sum -= l[r * n + k] * l[c * n + k];
            }
            l[r * n + c] = adds ? sum / sqrt(pivot) : 0;
        }
        l[c * n + c] = adds ? sqrt(pivot) : 0;
        rest -= l[all * n + c] * l[all * n + c];
        rank += adds ? 1 : 0;
        if (c + 1 == base) {
            out.rest[0] = rest;
            out.rank[0] = rank;
        }
    }
    out.rest[1] = rest;
    out.rank[1] = rank;
    return out;
}

double regression_test(const regression *q, size_t base, size_t all, double freedom, double shared)
{
    rests r = regress(q, base, all);
    double more = (double)(r.rank[1] - r.rank[0]);
    double left = freedom - (double)r.rank[1];
    if (!(more > 0) || !(left > 4) || !(r.rest[1] > 0)) {
        return 1;
    }
    double f = (r.rest[0] - r.rest[1]) / more / (r.rest[1] / left + freedom * shared);
    return chance_of_f(f, more, left);
}

void regression_solve(const regression *q, size_t n, double *b)
{
    (void)regress(q, n, n);
    const double *l = q->factor;
    for (size_t c = n; c-- > 0;) {
        double sum = l[n * (n + 1) + c];
        for (size_t k = c + 1; k < n; k++) {
            sum -= l[k * (n + 1) + c] * b[k];
        }
        b[c] = l[c * (n + 1) + c] > 0 ? sum / l[c * (n + 1) + c] : 0;
    }
}
