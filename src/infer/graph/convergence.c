#include "infer/graph/convergence.h"

#include <math.h>

typedef struct spread {
    double within, between; /* W, B/n */
} spread;

static double family_mean_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t t = 0; t < n; t++) {
        sum += x[t];
    }
    return sum / (double)n;
}

/* sum_t (x_t - mean)(x_{t + lag} - mean) / n */
static double autocovariance(const double *x, size_t n, double mean, size_t lag)
{
    double sum = 0;
    for (size_t t = 0; t + lag < n; t++) {
        sum += (x[t] - mean) * (x[t + lag] - mean);
    }
    return sum / (double)n;
}

/* `parts` runs of n, which start `stride` apart. */
static spread spread_of(const double *x, size_t parts, size_t n, size_t stride)
{
    spread s = {0};
    double mean = 0;
    for (size_t p = 0; p < parts; p++) {
        double own = family_mean_of(x + p * stride, n);
        mean += own / (double)parts;
        s.within += autocovariance(x + p * stride, n, own, 0) * (double)n /
                    ((double)(n - 1) * (double)parts);
    }
    for (size_t p = 0; p < parts && parts > 1; p++) {
        double off = family_mean_of(x + p * stride, n) - mean;
        s.between += off * off / (double)(parts - 1);
    }
    return s;
}

double split_r_hat(const double *x, size_t chains, size_t n)
{
    const double rounding = 1e-12;
    size_t half = n / 2;
    if (half < 2) {
        return 1;
    }
    spread s = {0};
    double mean = 0;
    /* the two halves of a chain of odd length leave out its middle */
    size_t skip = n - half;
    for (size_t h = 0; h < 2; h++) {
        spread part = spread_of(x + h * skip, chains, half, n);
        s.within += part.within / 2;
    }
    for (size_t c = 0; c < chains; c++) {
        mean += (family_mean_of(x + c * n, half) + family_mean_of(x + c * n + skip, half)) /
                (2 * (double)chains);
    }
    for (size_t c = 0; c < chains; c++) {
        double first = family_mean_of(x + c * n, half) - mean;
        double second = family_mean_of(x + c * n + skip, half) - mean;
        s.between += (first * first + second * second) / (double)(2 * chains - 1);
    }
    double scale = rounding * (1 + mean * mean);
    if (s.between <= scale && s.within <= scale) {
        return 1;
    }
    double within = s.within > scale ? s.within : scale;
    return sqrt(((double)(half - 1) / (double)half * within + s.between) / within);
}

double effective_samples(const double *x, size_t chains, size_t n)
{
    const double rounding = 1e-12;
    double all = (double)chains * (double)n;
    if (n < 4) {
        return all;
    }
    spread s = spread_of(x, chains, n, n);
    double var_plus = (double)(n - 1) / (double)n * s.within + s.between;
    double mean = family_mean_of(x, n);
    if (!(var_plus > rounding * (1 + mean * mean))) {
        return all;
    }
    double sum = 0;
    double before = INFINITY;
    for (size_t lag = 0; lag + 1 < n; lag += 2) {
        double pair = 0;
        for (size_t k = 0; k < 2; k++) {
            double covariance = 0;
            for (size_t c = 0; c < chains; c++) {
                covariance += autocovariance(x + c * n, n, family_mean_of(x + c * n, n), lag + k) /
                              (double)chains;
            }
            pair += 1 - (s.within - covariance * (lag + k == 0 ? (double)n / (double)(n - 1) : 1)) /
                            var_plus;
        }
        if (!(pair > 0)) {
            break;
        }
        before = pair < before ? pair : before;
        sum += before;
    }
    /* sum counts lag 0 once and every later lag once */
    double time = 2 * sum - 1;
    return time > 1 ? all / time : all;
}

double weighted_samples(const double *x, const double *w, size_t chains, size_t n, double *work)
{
    double all = (double)chains * (double)n;
    double total = 0;
    double present = 0;
    double squares = 0;
    for (size_t t = 0; t < chains * n; t++) {
        total += w[t];
        present += w[t] * x[t];
    }
    double p = present / total;
    for (size_t t = 0; t < chains * n; t++) {
        work[t] = w[t] * (x[t] - p) * all / total;
        squares += work[t] * work[t] / all;
    }
    return squares > 0 ? p * (1 - p) / squares * effective_samples(work, chains, n) : all;
}

double chains_told(double p, double n, double m)
{
    return (n * p + m) / (n + 1);
}
