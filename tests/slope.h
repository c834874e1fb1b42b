/* Slopes for tests, by differences. */
#ifndef LSCM_TESTS_SLOPE_H
#define LSCM_TESTS_SLOPE_H

/* Of the loss in *at, a number that it depends on: central differences of fourth order. */
static inline double slope_by_differences(double (*loss)(void *self), void *self, double *at,
                                          double h)
{
    double from = *at;
    double near[4];
    for (int k = 0; k < 4; k++) {
        *at = from + h * (k < 2 ? k - 2 : k - 1);
        near[k] = loss(self);
    }
    *at = from;
    return (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * h);
}

#endif
