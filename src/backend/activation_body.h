/* Activations and their slopes in one pass, one exponential and at most one division each:
 *
 *   sigmoid  s = 1/(1 + e), e = exp(-a);           slope  e s s
 *   GELU     a s(2u), u = c (a + k a^3);           slope  s + 2 a s (1 - s) u',  1 - s = e s
 *   tanh     m/(m + 2), m = exp(2|a|) - 1, sign;   slope  4 (m + 1)/(m + 2)^2
 *   ELU      a or exp(a) - 1;                      slope  1 or exp(a)
 *
 * None loses digits far from 0, and NaN stays NaN. */
#include "backend/exp_body.h"
#include "base/simd.h"

#include <math.h>

typedef struct point {
    REAL value, slope;
} point;

static inline point gelu(REAL a)
{
    const REAL c = (REAL)0.7978845608028653559; /* sqrt(2/pi) */
    const REAL k = (REAL)0.044715;
    /* beyond 12 it is 0 or a, and the cube would only overflow */
    a = real_select(a < -12, -12, a);
    REAL near = real_select(a > 12, 12, a);
    REAL square = near * near;
    REAL e = exp_of(-2 * c * near * (1 + k * square));
    REAL s = 1 / (1 + e);
    REAL value = a * s;
    return (point){value, s + near * s * (e * s) * (2 * c) * (1 + 3 * k * square)};
}

static inline point relu(REAL a)
{
    return (point){real_select(a < 0, 0, a), real_select(a > 0, 1, 0)};
}

static inline point elu(REAL a)
{
    REAL power;
    REAL q;
    exp_parts(a, &power, &q);
    return (point){real_select(a > 0, a, power * q + (power - 1)),
                   real_select(a > 0, 1, power + power * q)};
}

static inline point sigmoid(REAL a)
{
    REAL e = exp_of(-a);
    REAL s = 1 / (1 + e);
    return (point){s, e * s * s};
}

static inline point hyperbolic(REAL a)
{
    REAL m = exp_minus_1(2 * MATH(fabs)(a));
    REAL inverse = 1 / (m + 2);
    return (point){MATH(copysign)(m * inverse, a), 4 * (m + 1) * inverse * inverse};
}

#define ACTIVATION_LOOP(f)                                                                         \
    CLONED static void f##_all(size_t n, REAL *restrict h, REAL *restrict slope)                   \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            point p = f(h[i]);                                                                     \
            h[i] = p.value;                                                                        \
            slope[i] = p.slope;                                                                    \
        }                                                                                          \
    }
ACTIVATION_LOOP(gelu)
ACTIVATION_LOOP(relu)
ACTIVATION_LOOP(elu)
ACTIVATION_LOOP(sigmoid)
ACTIVATION_LOOP(hyperbolic)

static void (*const activation_all[ACTIVATION_COUNT])(size_t n, REAL *h, REAL *slope) = {
    [ACTIVATION_GELU] = gelu_all,       [ACTIVATION_RELU] = relu_all,
    [ACTIVATION_ELU] = elu_all,         [ACTIVATION_SIGMOID] = sigmoid_all,
    [ACTIVATION_TANH] = hyperbolic_all,
};
