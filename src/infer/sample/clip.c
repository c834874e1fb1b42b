/* With M the largest |z_ij| that is free and h a width that covers the error of z, the band
 * [M - h, M] of a smooth law holds fewer than the next one of that width, a few times wider; of a
 * clipped one it holds the pile. */
#include "infer/sample/clip.h"

#include "base/quantile.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { LEAST = 10, TIMES = 4 };

/* Whether node j is known well enough to look at: errors much smaller than what it varies by. */
static bool is_sharp(const double *z, const uint8_t *mask, const uint8_t *keep, size_t rows,
                     size_t d, size_t j, double noise)
{
    double count = 0;
    double mean = 0;
    double squares = 0; /* about the mean, updated row by row */
    for (size_t n = 0; n < rows; n++) {
        if (mask[n * d + j] == 0 && (keep == NULL || keep[n] != 0)) {
            double away = z[n * d + j] - mean;
            count += 1;
            mean += away / count;
            squares += away * (z[n * d + j] - mean);
        }
    }
    return 64 * noise * noise * count < squares;
}

lscm_status clip_find(double *out, const double *z, const uint8_t *mask, const uint8_t *keep,
                      size_t rows, size_t d, const double *noise, lscm_error *why)
{
    double worst = 0;
    size_t count = 0;
    double *size = calloc(rows * d, sizeof *size);
    *out = 0;
    if (size == NULL) {
        return fail_memory(why, rows * d * sizeof *size);
    }
    for (size_t j = 0; j < d; j++) {
        if (!is_sharp(z, mask, keep, rows, d, j, noise[j])) {
            continue;
        }
        worst = noise[j] > worst ? noise[j] : worst;
        for (size_t k = j; k < rows * d; k += d) {
            if (mask[k] == 0 && (keep == NULL || keep[k / d] != 0)) {
                size[count++] = fabs(z[k]);
            }
        }
    }
    qsort(size, count, sizeof *size, quantile_compare);
    if (count > LEAST) {
        double most = size[count - 1];
        double width = fmax(1e-3 * most, 8 * worst);
        size_t pile = 0;
        size_t next = 0;
        for (size_t k = count; k-- > 0 && size[k] > most - (TIMES + 1) * width;) {
            pile += size[k] >= most - width ? 1 : 0;
            next += size[k] < most - width ? 1 : 0;
        }
        bool piled = pile >= LEAST && (double)pile > 1e-3 * (double)count && pile > TIMES * next;
        bool wide = size[count / 4] < most - (TIMES + 1) * width; /* errors do not explain it all */
        if (piled && wide) {
            *out = size[count - 1 - pile / 2];
        }
    }
    free(size);
    return LSCM_OK;
}

void clip_bounds(double clip, const double *reach, const anchor *a, double *bound)
{
    for (size_t j = 0; j < a->d; j++) {
        if (reach != NULL) {
            bound[j] = reach[j];
        } else {
            double error = hypot(a->noise[j], a->standard_error[j]);
            bound[j] = clip - fmin(4 * error + 1e-3 * clip, clip / 2);
        }
    }
}
