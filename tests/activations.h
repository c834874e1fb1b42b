/* Activations and their slopes as the textbooks have them. */
#ifndef LSCM_TESTS_ACTIVATIONS_H
#define LSCM_TESTS_ACTIVATIONS_H

#include "backend/backend.h"

#include <math.h>

static inline double f_of(activation f, double a)
{
    switch (f) {
    case ACTIVATION_GELU:
        return a / 2 * (1 + tanh(sqrt(2 / acos(-1)) * (a + 0.044715 * a * a * a)));
    case ACTIVATION_RELU:
        return a > 0 ? a : 0;
    case ACTIVATION_ELU:
        return a > 0 ? a : expm1(a);
    case ACTIVATION_SIGMOID:
        return 1 / (1 + exp(-a));
    case ACTIVATION_TANH:
        return tanh(a);
    default:
        return a;
    }
}

static inline double slope_of(activation f, double a)
{
    double c = sqrt(2 / acos(-1));
    double t = tanh(c * (a + 0.044715 * a * a * a));
    switch (f) {
    case ACTIVATION_GELU:
        return (1 + t) / 2 + a / 2 * (1 - t * t) * c * (1 + 3 * 0.044715 * a * a);
    case ACTIVATION_RELU:
        return a > 0 ? 1 : 0;
    case ACTIVATION_ELU:
        return a > 0 ? 1 : exp(a);
    case ACTIVATION_SIGMOID:
        return exp(-a) / pow(1 + exp(-a), 2);
    case ACTIVATION_TANH:
        return 1 / pow(cosh(a), 2);
    default:
        return 1;
    }
}

#endif
