#include "scm/mechanism/mechanism.h"

void mechanism_simulate_column(const mechanism_model *m, size_t i, const size_t *parents,
                               size_t count, size_t n, double *z)
{
    double *restrict zi = z + i * n;
    for (size_t p = 0; p < count; p++) {
        double w = m->w[parents[p] * m->d + i];
        const double *restrict zj = z + parents[p] * n;
        for (size_t r = 0; r < n; r++) {
            zi[r] += w * zj[r];
        }
    }
}

void mechanism_reach(const mechanism_model *m, const size_t *order, const uint8_t *mask,
                     size_t rows, double *reach)
{
    size_t d = m->d;
    for (size_t to = 0; to < d; to++) {
        size_t i = order[to];
        for (size_t from = 0; from < to && mask[i] == 0; from++) {
            size_t j = order[from];
            double weight = m->w[j * d + i];
            for (size_t k = 0; k < rows && weight != 0; k++) {
                reach[k * d + i] += weight * reach[k * d + j];
            }
        }
    }
}
