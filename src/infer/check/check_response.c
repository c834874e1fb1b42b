#include "infer/check/check_response.h"

#include "infer/check/chance.h"

#include <math.h>

static double mean_of(const check_rows *t, size_t set, size_t node, const check_family *f)
{
    double sum = 0;
    for (size_t k = t->first[set]; k < t->first[set + 1]; k++) {
        const double *z = t->told + k * t->d;
        sum += z[node] - check_functions_sum(&f->f, t, f->coef, z);
    }
    return sum / (double)(t->first[set + 1] - t->first[set]);
}

double check_response(const check_rows *t, size_t node, const check_family *f)
{
    column_spread s = {0};
    double inverse = 0;
    if (t->sets < 5 || !design_untouched(&t->in->view->design, 0)) {
        return 1;
    }
    for (size_t set = 1; set < t->sets; set++) {
        if (!check_is_set(t, set, node)) {
            spread_add(&s, mean_of(t, set, node, f));
            inverse += 1 / (double)(t->first[set + 1] - t->first[set]);
        }
    }
    if (s.n < 4) {
        return 1;
    }
    double away = mean_of(t, 0, node, f) - s.mean;
    double error = s.squares / (s.n - 1) * (1 + 1 / s.n);
    error += fmax(0, f->left * (1 / (double)t->first[1] - inverse / s.n));
    return error > 0 ? chance_of_f(away * away / error, 1, s.n - 1) : 1;
}
