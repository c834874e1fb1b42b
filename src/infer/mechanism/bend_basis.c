#include "infer/mechanism/bend_basis.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KNOTS = CURVE_KNOTS, WIDTH = CURVE_WIDTH };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Values in order, n of them; those at which two knots would all but meet are passed over. */
static size_t choose_knots(const double *values, size_t n, double *knot)
{
    double range = values[n - 1] - values[0];
    size_t count = 0;
    size_t next = 0;
    for (size_t k = 0; k < KNOTS && range > 0; k++) {
        double share = (double)k / (KNOTS - 1);
        while (next + 1 < n &&
               ((double)next / (double)(n - 1) + (values[next] - values[0]) / range) / 2 < share) {
            next++;
        }
        if (count == 0 || values[next] - knot[count - 1] > 1e-6 * range) {
            knot[count++] = values[next];
        }
    }
    return count > 1 ? count : 0;
}

/* second (knots, knots): second derivatives at knot m of the spline that is 1 at knot k, column k,
 * from continuous first derivatives; natural: 0 at both ends. */
static void second_derivatives(const double *knot, size_t knots, double second[KNOTS][KNOTS])
{
    double share[KNOTS] = {0};
    memset(second, 0, KNOTS * sizeof *second);
    for (size_t m = 1; m + 1 < knots; m++) {
        double before = knot[m] - knot[m - 1];
        double after = knot[m + 1] - knot[m];
        double pivot = (before + after) / 3 - (m > 1 ? before / 6 * share[m - 1] : 0);
        share[m] = after / 6 / pivot;
        for (size_t k = 0; k < knots; k++) {
            double right = k == m + 1 ? 1 / after : k == m - 1 ? 1 / before : 0;
            right -= k == m ? 1 / before + 1 / after : 0;
            second[m][k] = (right - (m > 1 ? before / 6 * second[m - 1][k] : 0)) / pivot;
        }
    }
    for (size_t m = knots > 2 ? knots - 2 : 0; m-- > 1;) {
        for (size_t k = 0; k < knots; k++) {
            second[m][k] -= share[m] * second[m + 1][k];
        }
    }
}

/* P, of all splines but the first: the integral of the product of two second derivatives, each
 * linear between knots. */
static void penalty_of(const double *knot, size_t knots, double second[KNOTS][KNOTS], double *p)
{
    size_t n = knots - 1;
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) {
            double sum = 0;
            for (size_t m = 0; m + 1 < knots; m++) {
                double l = second[m][a + 1];
                double r = second[m + 1][a + 1];
                double l2 = second[m][b + 1];
                double r2 = second[m + 1][b + 1];
                sum += (knot[m + 1] - knot[m]) * (2 * l * l2 + 2 * r * r2 + l * r2 + r * l2) / 6;
            }
            p[a * n + b] = sum;
        }
    }
}

/* All splines but the first as curves: their sum is 1, so that none is lost but the constant. */
static void cardinal(curve_basis *b, double second[KNOTS][KNOTS])
{
    for (size_t m = 0; m < b->knots; m++) {
        for (size_t k = 0; k + 1 < b->knots; k++) {
            b->value[m][k] = m == k + 1 ? 1 : 0;
            b->second[m][k] = second[m][k + 1];
        }
    }
}

/* Means and covariance of these, n = knots - 1, over the values. */
static void covariance_of(const curve_basis *b, const double *values, size_t rows, double *mean,
                          double *c)
{
    size_t n = b->knots - 1;
    double at[WIDTH];
    memset(mean, 0, n * sizeof *mean);
    memset(c, 0, n * n * sizeof *c);
    for (size_t r = 0; r < rows; r++) {
        curve_values(b, values[r], at);
        for (size_t k = 0; k < n; k++) {
            mean[k] += at[k];
            for (size_t l = 0; l <= k; l++) {
                c[k * n + l] += at[k] * at[l];
            }
        }
    }
    for (size_t k = 0; k < n; k++) {
        mean[k] /= (double)rows;
    }
    for (size_t k = 0; k < n; k++) {
        for (size_t l = 0; l <= k; l++) {
            c[k * n + l] = c[k * n + l] / (double)rows - mean[k] * mean[l];
            c[l * n + k] = c[k * n + l];
        }
    }
}

/* Curves v' N less their means, in the order of rho; the first is z itself. */
static void combine(curve_basis *b, double second[KNOTS][KNOTS], const double *v,
                    const double *mean)
{
    size_t n = b->knots - 1;
    for (size_t k = 1; k < n; k++) {
        const double *own = v + k * n;
        double middle = 0;
        for (size_t l = 0; l < n; l++) {
            middle += own[l] * mean[l];
        }
        for (size_t m = 0; m < b->knots; m++) {
            b->value[m][k] = (m > 0 ? own[m - 1] : 0) - middle;
            b->second[m][k] = 0;
            for (size_t l = 0; l < n; l++) {
                b->second[m][k] += second[m][l + 1] * own[l];
            }
        }
    }
}

static void straight(curve_basis *b, const double *values, size_t n)
{
    double mean = 0;
    double square = 0;
    for (size_t r = 0; r < n; r++) {
        mean += values[r] / (double)n;
    }
    for (size_t r = 0; r < n; r++) {
        square += (values[r] - mean) * (values[r] - mean) / (double)n;
    }
    for (size_t m = 0; m < b->knots; m++) {
        b->value[m][0] = (b->knot[m] - mean) / sqrt(square);
        b->second[m][0] = 0;
    }
}

/* Curves that bend, where the rows tell them apart; false where they do not. */
static bool bend(curve_basis *b, const double *values, size_t rows, double *rough)
{
    double second[KNOTS][KNOTS];
    double penalty[WIDTH * WIDTH];
    double covariance[WIDTH * WIDTH];
    double mean[WIDTH];
    double rho[WIDTH];
    double work[1 + 6 * WIDTH + 2 * WIDTH * WIDTH];
    int integer[3 + 5 * WIDTH];
    int n = (int)b->knots - 1;
    second_derivatives(b->knot, b->knots, second);
    cardinal(b, second);
    penalty_of(b->knot, b->knots, second, penalty);
    covariance_of(b, values, rows, mean, covariance);
    if (LAPACKE_dsygvd_work(LAPACK_COL_MAJOR, 1, 'V', 'L', n, penalty, n, covariance, n, rho, work,
                            1 + 6 * WIDTH + 2 * WIDTH * WIDTH, integer, 3 + 5 * WIDTH) != 0 ||
        !(rho[1] > 0)) {
        return false;
    }
    combine(b, second, penalty, mean);
    for (int k = 1; k < n; k++) {
        rough[k] = rho[k] / rho[1];
    }
    return true;
}

void bend_basis_of(curve_basis *out, double *values, size_t n, double *rough, double *slope)
{
    *out = (curve_basis){0};
    for (size_t k = 0; k < WIDTH; k++) {
        rough[k] = 1;
        slope[k] = 0;
    }
    if (n == 0) {
        return;
    }
    qsort(values, n, sizeof *values, ascending);
    out->knots = choose_knots(values, n, out->knot);
    if (out->knots == 0) {
        return;
    }
    if (out->knots == 2 || !bend(out, values, n, rough)) {
        *out = (curve_basis){.knots = 2, .knot = {values[0], values[n - 1]}};
    }
    straight(out, values, n);
    for (size_t r = 0; r < n; r++) {
        double at[WIDTH];
        curve_slopes(out, values[r], at);
        for (size_t k = 0; k < WIDTH; k++) {
            slope[k] += at[k] / (double)n;
        }
    }
}
