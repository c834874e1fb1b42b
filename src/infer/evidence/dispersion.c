#include "infer/evidence/dispersion.h"

#include <stdlib.h>

/* F of one node from sums (count, d) of e, of e^2, and of rows in which the node is free; 0 when
 * there are too few sets to tell. */
static double f_of(const double *sum, const double *squares, const double *rows, size_t count,
                   size_t d, size_t i, double *dof)
{
    double n = 0;
    double sets = 0;
    double all = 0;
    double between = 0;
    double within = 0;
    for (size_t k = i; k < count * d; k += d) {
        n += rows[k];
        sets += rows[k] > 0 ? 1 : 0;
        all += sum[k];
    }
    for (size_t k = i; k < count * d; k += d) {
        if (rows[k] > 0) {
            double mean = sum[k] / rows[k];
            between += rows[k] * (mean - all / n) * (mean - all / n);
            within += squares[k] - rows[k] * mean * mean;
        }
    }
    bool enough = sets >= 3 && n > 2 * sets && within > 0;
    *dof += enough ? sets - 1 : 0;
    return enough ? between / (sets - 1) / (within / (n - sets)) : 0;
}

lscm_status dispersion_of(double *out, double *dof, const anchored_input *in, const double *z,
                          const mechanism_model *model, lscm_error *why)
{
    enum { MOST = 4096 }; /* with more sets rows hardly share one */
    const design *s = &in->view->design;
    size_t d = s->d;
    size_t size = s->sets * d;
    double total = 0;
    double nodes = 0;
    *out = 1;
    *dof = 0;
    if (s->sets > MOST) {
        return LSCM_OK;
    }
    double *sum = calloc(3 * size + 1, sizeof *sum);
    if (sum == NULL) {
        return fail_memory(why, 3 * size * sizeof *sum);
    }
    for (size_t k = 0; k < s->rows; k++) {
        const uint8_t *target = design_targets(s, k);
        for (size_t i = 0; i < d && row_counts(in->keep, k); i++) {
            double *at = sum + s->set[k] * d + i;
            double e = target[i] == 0 ? mechanism_residual(model, i, z + k * d) : 0;
            at[0] += e;
            at[size] += e * e;
            at[2 * size] += target[i] == 0 ? 1 : 0;
        }
    }
    for (size_t i = 0; i < d; i++) {
        double f = f_of(sum, sum + size, sum + 2 * size, s->sets, d, i, dof);
        total += f;
        nodes += f > 0 ? 1 : 0;
    }
    *out = nodes > 0 ? total / nodes : 1;
    free(sum);
    return LSCM_OK;
}
