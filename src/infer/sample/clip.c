/* With M the largest |z_ij| that is free and h a width that covers the error of z, the band
 * [M - h, M] of a smooth law holds fewer than the next one of that width, a few times wider; of a
 * clipped one it holds the pile. */
#include "infer/sample/clip.h"

#include "base/quantile.h"
#include "base/tuned.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

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
    return tuned_clip_sharp() * noise * noise * count < squares;
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
    if (count > tuned_clip_least()) {
        double most = size[count - 1];
        double width = fmax(tuned_clip_width() * most, tuned_clip_width_errors() * worst);
        double band = (double)(tuned_clip_times() + 1) * width;
        size_t pile = 0;
        size_t next = 0;
        for (size_t k = count; k-- > 0 && size[k] > most - band;) {
            pile += size[k] >= most - width ? 1 : 0;
            next += size[k] < most - width ? 1 : 0;
        }
        bool piled = pile >= tuned_clip_least() &&
                     (double)pile > tuned_clip_share() * (double)count &&
                     pile > tuned_clip_times() * next;
        bool wide = size[count / 4] < most - band; /* errors do not explain it all */
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
            bound[j] = clip - fmin(tuned_clip_bound_errors() * error + tuned_clip_bound() * clip,
                                   clip / 2);
        }
    }
}
