/* With M the largest |z_ij| that is free and h a width that covers the error of z, the band
 * [M - h, M] of a smooth law holds fewer than the next one of that width, a few times wider; of a
 * clipped one it holds the pile. */
#include "infer/clip.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST = 10, TIMES = 4 };

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
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
        worst = noise[j] > worst ? noise[j] : worst;
    }
    for (size_t k = 0; k < rows * d; k++) {
        if (mask[k] == 0 && (keep == NULL || keep[k / d] != 0)) {
            size[count++] = fabs(z[k]);
        }
    }
    qsort(size, count, sizeof *size, ascending);
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
