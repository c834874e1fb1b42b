/* See batch_norm.h. */
#include "base/simd.h"

#include <math.h>

void NAMED(batch_norm, lay_out)(BATCH_NORM *b, arena *a, size_t cols)
{
    b->cols = cols;
    b->inverse = arena_take(a, cols, sizeof(double));
    b->sums = arena_take(a, 2 * cols, sizeof(double));
}

/* sum (cols) += the sum of the rows of y. */
CLONED static void add_rows(size_t rows, size_t cols, const REAL *restrict y, double *restrict sum)
{
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < cols; c++) {
            sum[c] += (double)y[r * cols + c];
        }
    }
}

/* y <- y - mean; squares (cols) get what is left. */
CLONED static void centre_rows(size_t rows, size_t cols, const double *restrict mean,
                               REAL *restrict y, double *restrict squares)
{
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < cols; c++) {
            double left = (double)y[r * cols + c] - mean[c];
            y[r * cols + c] = (REAL)left;
            squares[c] += left * left;
        }
    }
}

/* y <- u = y inverse, a = scale u + shift */
CLONED static void scale_rows(size_t rows, size_t cols, const double *restrict inverse,
                              const REAL *restrict parameters, REAL *restrict y, REAL *restrict a)
{
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < cols; c++) {
            REAL u = y[r * cols + c] * (REAL)inverse[c];
            y[r * cols + c] = u;
            a[r * cols + c] = parameters[cols + c] * u + parameters[c];
        }
    }
}

void NAMED(batch_norm, forward)(const device *on, const BATCH_NORM *b, size_t rows,
                                const REAL *parameters, REAL *y, REAL *a, REAL *running)
{
    (void)on;
    size_t cols = b->cols;
    double *mean = b->sums;
    double *variance = b->sums + cols;
    double n = (double)rows;
    double unbiased = rows > 1 ? n / (n - 1) : 1;
    for (size_t c = 0; c < 2 * cols; c++) {
        b->sums[c] = 0;
    }
    add_rows(rows, cols, y, mean);
    for (size_t c = 0; c < cols; c++) {
        mean[c] /= n;
    }
    centre_rows(rows, cols, mean, y, variance);
    for (size_t c = 0; c < cols; c++) {
        variance[c] /= n;
        b->inverse[c] = 1 / sqrt(variance[c] + BATCH_NORM_EPSILON);
    }
    scale_rows(rows, cols, b->inverse, parameters, y, a);
    for (size_t c = 0; c < cols && running != NULL; c++) {
        double to = unbiased * variance[c];
        running[c] += (REAL)(BATCH_NORM_NEWEST * (mean[c] - (double)running[c]));
        running[cols + c] += (REAL)(BATCH_NORM_NEWEST * (to - (double)running[cols + c]));
    }
}

CLONED static void add_products(size_t rows, size_t cols, const REAL *restrict d,
                                const REAL *restrict u, double *restrict sum,
                                double *restrict product)
{
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < cols; c++) {
            double one = (double)d[r * cols + c];
            sum[c] += one;
            product[c] += one * (double)u[r * cols + c];
        }
    }
}

/* u <- factor (d - mean - u product) */
CLONED static void turn_rows(size_t rows, size_t cols, const double *restrict factor,
                             const double *restrict mean, const double *restrict product,
                             const REAL *restrict d, REAL *restrict u)
{
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < cols; c++) {
            size_t i = r * cols + c;
            u[i] = (REAL)factor[c] * (d[i] - (REAL)mean[c] - u[i] * (REAL)product[c]);
        }
    }
}

void NAMED(batch_norm, backward)(const device *on, const BATCH_NORM *b, size_t rows,
                                 const REAL *parameters, const REAL *d, REAL *u, REAL *gradient)
{
    (void)on;
    size_t cols = b->cols;
    double *sum = b->sums;
    double *product = b->sums + cols;
    for (size_t c = 0; c < 2 * cols; c++) {
        b->sums[c] = 0;
    }
    add_products(rows, cols, d, u, sum, product);
    for (size_t c = 0; c < cols; c++) {
        gradient[c] = (REAL)sum[c];
        gradient[cols + c] = (REAL)product[c];
        sum[c] /= (double)rows;
        product[c] /= (double)rows;
        b->inverse[c] *= (double)parameters[cols + c];
    }
    turn_rows(rows, cols, b->inverse, sum, product, d, u);
}
