#include "infer/evidence/alike_errors.h"

#include <math.h>
#include <string.h>

void alike_errors(size_t d, const double *leak, double gain, const double *middle, double *alike)
{
    memcpy(alike, leak, d * d * sizeof *alike);
    memcpy(alike + d * d, middle, d * sizeof *alike);
    for (size_t j = 0; j < d; j++) {
        alike[j * d + j] = gain;
    }
}

void alike_errors_add(const double *alike, const design *by, const double *z, double *sd)
{
    size_t d = by->d;
    const double *middle = alike + d * d;
    for (size_t row = 0; row < by->rows; row++) {
        for (size_t i = 0; i < d; i++) {
            double sum = sd[row * d + i] * sd[row * d + i];
            for (size_t p = 0; p < d; p++) {
                double error = alike[p * d + i] * (z[row * d + p] - middle[p]);
                sum += error * error;
            }
            if (!design_is_set(by, row, i)) {
                sd[row * d + i] = sqrt(sum);
            }
        }
    }
}
