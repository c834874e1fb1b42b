#include "scm/metrics/metrics_do.h"

#include <math.h>
#include <stdbool.h>

static bool counts(const do_rows *rows, size_t i)
{
    return rows->set[i] == 0 && rows->sd[i] > 0;
}

/* Of column i of z (n, d); variance, over n - 1. */
static double mean_of(const double *z, size_t n, size_t d, size_t i, double *variance)
{
    double mean = 0;
    double squares = 0;
    for (size_t r = 0; r < n; r++) {
        mean += z[r * d + i];
    }
    mean /= (double)n;
    for (size_t r = 0; r < n; r++) {
        squares += (z[r * d + i] - mean) * (z[r * d + i] - mean);
    }
    *variance = squares / (double)(n - 1);
    return mean;
}

double do_square_error(const do_rows *rows, size_t *count)
{
    double sum = 0;
    *count = 0;
    for (size_t i = 0; i < rows->d; i++) {
        double spread[2];
        if (!counts(rows, i)) {
            continue;
        }
        double model = mean_of(rows->model, rows->n, rows->d, i, &spread[0]);
        double truth = mean_of(rows->truth, rows->n, rows->d, i, &spread[1]);
        double square = (model - truth) * (model - truth);
        sum += (square - (spread[0] + spread[1]) / (double)rows->n) / (rows->sd[i] * rows->sd[i]);
        (*count)++;
    }
    return sum;
}

/* The columns of z (n, d) that count, in their sd, side by side: how many. */
static size_t gather(const do_rows *rows, const double *z, double *out)
{
    size_t width = 0;
    for (size_t i = 0; i < rows->d; i++) {
        width += counts(rows, i) ? 1 : 0;
    }
    for (size_t r = 0; r < rows->n; r++) {
        size_t at = 0;
        for (size_t i = 0; i < rows->d; i++) {
            if (counts(rows, i)) {
                out[r * width + at++] = z[r * rows->d + i] / rows->sd[i];
            }
        }
    }
    return width;
}

static double distance(const double *a, const double *b, size_t width)
{
    double square = 0;
    for (size_t k = 0; k < width; k++) {
        square += (a[k] - b[k]) * (a[k] - b[k]);
    }
    return sqrt(square);
}

/* Mean distance of a row of a and one of b, (n, width). */
static double mean_apart(const double *a, const double *b, size_t n, size_t width)
{
    double sum = 0;
    for (size_t r = 0; r < n; r++) {
        for (size_t s = 0; s < n; s++) {
            sum += distance(a + r * width, b + s * width, width);
        }
    }
    return sum / ((double)n * (double)n);
}

/* Mean distance of two rows of a (n, width). */
static double mean_within(const double *a, size_t n, size_t width)
{
    double sum = 0;
    for (size_t r = 0; r < n; r++) {
        for (size_t s = 0; s < r; s++) {
            sum += distance(a + r * width, a + s * width, width);
        }
    }
    return 2 * sum / ((double)n * (double)(n - 1));
}

double do_energy(const do_rows *rows, double *scratch)
{
    double *model = scratch;
    double *truth = scratch + rows->n * rows->d;
    size_t width = gather(rows, rows->model, model);
    (void)gather(rows, rows->truth, truth);
    double apart = mean_apart(model, truth, rows->n, width);
    double within = mean_within(model, rows->n, width);
    double scale = mean_within(truth, rows->n, width);
    return scale > 0 ? (2 * apart - within - scale) / scale : NAN;
}
