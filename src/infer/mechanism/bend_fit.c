/* One regression on functions: A = L + S_bb and the node's row in one Cholesky factor, whose last
 * pivot is q. */
#include "infer/mechanism/bend_parts.h"

#include <lapacke.h>
#include <math.h>

/* Variances of coefficients in those of the noise: from curves that hardly show among 100 rows to
 * those that leave a thousandth, each alike. */
static const double CURVES[BEND_CURVES] = {1, 10, 100, 1000};
static const double PAIRS[BEND_PAIRS] = {1, 20, 400};

bend_kind bend_kind_of(size_t kind)
{
    if (kind == 0) {
        return (bend_kind){0, 0};
    }
    if (kind <= BEND_CURVES) {
        return (bend_kind){CURVES[kind - 1], 0};
    }
    size_t k = kind - 1 - BEND_CURVES;
    return (bend_kind){CURVES[k / BEND_PAIRS], PAIRS[k % BEND_PAIRS]};
}

double bend_log_prior(const bend_family *f, bend_reach reach, uint32_t parents, size_t kind)
{
    bool pairs =
        reach == BEND_JOINT && __builtin_popcount(parents) > 1 && (parents & ~f->together) == 0;
    double bent = pairs ? 0.25 : 0.5;
    double share = kind == 0             ? 0.5
                   : kind <= BEND_CURVES ? bent / BEND_CURVES
                   : pairs               ? bent / (BEND_CURVES * BEND_PAIRS)
                                         : 0;
    return log(share);
}

size_t bend_functions(const bend_family *f, uint32_t parents, size_t kind, size_t *place)
{
    size_t n = 0;
    size_t next = f->count * f->curves;
    for (size_t c = 0; c < f->count; c++) {
        for (size_t k = 0; k < (kind > 0 ? f->curves : 1) && (parents >> c & 1) != 0; k++) {
            place[n++] = c * f->curves + k;
        }
    }
    for (size_t p = 0; p < f->count && kind > BEND_CURVES; p++) {
        for (size_t q = p + 1; q < f->count; q++) {
            if ((f->together >> p & f->together >> q & 1) == 0) {
                continue;
            }
            for (size_t k = 0; k < CURVE_PAIRS && (parents >> p & parents >> q & 1) != 0; k++) {
                place[n++] = next + k;
            }
            next += CURVE_PAIRS;
        }
    }
    return n;
}

double bend_scale(const bend_family *f, size_t at, size_t kind)
{
    bend_kind own = bend_kind_of(kind);
    if (at >= f->count * f->curves) {
        return 1 / own.pair;
    }
    return at % f->curves == 0 ? 1 : 1 / own.curve;
}

bend_fit bend_fit_of(const bend_family *f, size_t level, size_t kind, const size_t *place, size_t n,
                     double scale, double *a)
{
    const double *scatter = f->scatter + level * f->width * f->width;
    bend_fit out = {.a = a, .rest = scale};
    size_t side = n + 1;
    for (size_t k = 0; k <= n; k++) {
        size_t row = k < n ? place[k] : f->width - 1;
        for (size_t l = 0; l < k; l++) {
            a[k * side + l] = scatter[row * f->width + place[l]];
        }
        double own = k < n ? f->precision[row] * bend_scale(f, row, kind) : scale;
        a[k * side + k] = scatter[row * f->width + row] + own;
        out.log_det -= k < n ? log(own) : 0;
    }
    /* Lower by rows is upper by columns. What functions explain to the last digit leaves the
     * prior's own. */
    int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (int)side, a, (int)side);
    bool whole = info == 0 || info == (int)side;
    for (size_t k = 0; k < n; k++) {
        out.log_det += whole ? 2 * log(a[k * side + k]) : INFINITY;
    }
    out.rest = info == 0 ? fmax(a[n * side + n] * a[n * side + n], scale) : scale;
    return out;
}

double bend_log_evidence(const bend_family *f, const dag_prior *prior, size_t parents, double rest,
                         double log_det)
{
    double rows = f->rows > 1 ? f->rows : 1;
    return -(prior->dof + (double)parents + rows - 1) / 2 * log(rest) - 0.5 * log_det;
}
