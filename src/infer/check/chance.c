#include "infer/check/chance.h"

#include <math.h>

/* The continued fraction of I_x(a, b), for x below its mean. */
static double beta_fraction(double a, double b, double x)
{
    enum { TERMS = 500 };
    const double tiny = 1e-300;
    double c = 1;
    double d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) > tiny ? d : tiny);
    double h = d;
    for (int m = 1; m <= TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) > tiny ? d : tiny);
        c = fabs(c) > tiny ? c : tiny;
        h *= c * d;
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) > tiny ? d : tiny);
        c = fabs(c) > tiny ? c : tiny;
        h *= c * d;
        if (fabs(c * d - 1) < 1e-15) {
            break;
        }
    }
    return h;
}

static double beta_share(double a, double b, double x)
{
    if (!(x > 0)) {
        return 0;
    }
    if (!(x < 1)) {
        return 1;
    }
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double chance_of_f(double f, double a, double b)
{
    if (!(a > 0) || !(b > 0) || !(f > 0)) {
        return 1;
    }
    return beta_share(b / 2, a / 2, b / (b + a * f));
}

double chance_of_normal(double u)
{
    return isnan(u) ? 1 : erfc(fabs(u) / sqrt(2));
}

/* Skewness g of n numbers as a standard normal (D'Agostino 1970). */
static double normal_of_skewness(double g, double n)
{
    double y = g * sqrt((n + 1) * (n + 3) / (6 * (n - 2)));
    double beta =
        3 * (n * n + 27 * n - 70) * (n + 1) * (n + 3) / ((n - 2) * (n + 5) * (n + 7) * (n + 9));
    double w2 = sqrt(2 * (beta - 1)) - 1;
    double delta = 1 / sqrt(log(w2) / 2);
    return delta * asinh(y / sqrt(2 / (w2 - 1)));
}

/* Kurtosis b (3 where normal) likewise (Anscombe and Glynn 1983). */
static double normal_of_kurtosis(double b, double n)
{
    double mean = 3 * (n - 1) / (n + 1);
    double variance = 24 * n * (n - 2) * (n - 3) / ((n + 1) * (n + 1) * (n + 3) * (n + 5));
    double x = (b - mean) / sqrt(variance);
    double third = 6 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9)) *
                   sqrt(6 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)));
    double a = 6 + 8 / third * (2 / third + sqrt(1 + 4 / (third * third)));
    double root = cbrt((1 - 2 / a) / (1 + x * sqrt(2 / (a - 4))));
    return (1 - 2 / (9 * a) - root) / sqrt(2 / (9 * a));
}

double chance_of_tails(const double *x, size_t n)
{
    double mean = 0;
    double m[3] = {0};
    if (n < 20) {
        return 1;
    }
    for (size_t k = 0; k < n; k++) {
        mean += x[k] / (double)n;
    }
    for (size_t k = 0; k < n; k++) {
        double e = x[k] - mean;
        m[0] += e * e / (double)n;
        m[1] += e * e * e / (double)n;
        m[2] += e * e * e * e / (double)n;
    }
    if (!(m[0] > 0)) {
        return 1;
    }
    double s = normal_of_skewness(m[1] / (m[0] * sqrt(m[0])), (double)n);
    double t = normal_of_kurtosis(m[2] / (m[0] * m[0]), (double)n);
    return exp(-(s * s + t * t) / 2);
}
