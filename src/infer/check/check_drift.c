#include "infer/check/check_drift.h"

#include "infer/check/chance.h"

#include <math.h>
#include <stdbool.h>

enum { LEAST = 8, CUMULANTS = 3 };

static double share(size_t n, size_t k)
{
    double s = sin(acos(-1) * (double)k / (2 * (double)n));
    return 1 / (4 * (double)n * s * s);
}

/* Adds those of a set of n rows: of m u'A u, u uniform on the sphere in m = n - 1 dimensions, where
 * A has the eigenvalues l. */
static void add_cumulants(double *sums, size_t n)
{
    double m = (double)n - 1;
    double mean = 0;
    double squares = 0;
    double cubes = 0;
    for (size_t k = 1; k < n; k++) {
        mean += share(n, k) / m;
    }
    for (size_t k = 1; k < n; k++) {
        double l = share(n, k) - mean;
        squares += l * l;
        cubes += l * l * l;
    }
    sums[0] += m * mean;
    sums[1] += 2 * squares * m / (m + 2);
    sums[2] += 8 * cubes * m * m / ((m + 2) * (m + 4));
}

/* sum_k C_k^2 / n of the n numbers e, which have any mean and variance; 0 where they do
 * not vary by more than rounding, of numbers about 1. */
static double walk_of(const double *e, size_t n)
{
    double mean = 0;
    double squares = 0;
    double at = 0;
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        mean += e[k] / (double)n;
    }
    for (size_t k = 0; k < n; k++) {
        double one = e[k] - mean;
        squares += one * one;
        at += one;
        sum += at * at;
    }
    const double rounding = 1e-12;
    bool still = !(squares > (double)n * rounding * rounding * (1 + mean * mean));
    return !still ? sum * (double)(n - 1) / (squares * (double)n) : 0;
}

double chance_of_drift(const double *e, const size_t *first, const uint8_t *out, size_t stride,
                       size_t sets)
{
    double walked = 0;
    double sums[CUMULANTS] = {0};
    for (size_t s = 0; s < sets; s++) {
        size_t n = out[s * stride] == 0 ? first[s + 1] - first[s] : 0;
        double walk = n >= LEAST ? walk_of(e, n) : 0;
        if (walk > 0) {
            walked += walk;
            add_cumulants(sums, n);
        }
        e += n;
    }
    if (!(sums[1] > 0)) {
        return 1;
    }
    double freedom = 8 * pow(sums[1], 3) / (sums[2] * sums[2]);
    double x = freedom + (walked - sums[0]) * sqrt(2 * freedom / sums[1]);
    const double known = 1e8; /* F with so many more degrees of freedom is chi^2 */
    return chance_of_f(x / freedom, freedom, known);
}
