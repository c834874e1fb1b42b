/* E log p(w) under a Gaussian, by writing log p itself as a mixture of Gaussians. The function
 * f(u) = exp(u) E1(u) = int exp(-v)/(u + v) dv is a Stieltjes function, so h = log f is a constant
 * plus another one,
 *
 *   h(u) = h(1) + int_0^inf (exp(-u t) - exp(-t)) c(t) dt/t,
 *   c(t) = t int_0^inf exp(-t v) eta(v) dv,
 *   eta(v) = atan2(pi, -Ei(v)) / pi, the phase of f at -v over pi, rising from 0 to 1,
 *
 * and with x = w/tau ~ N(m, s^2) each exp(-t x^2/2) has a closed form, and no pole is left:
 *
 *   E exp(-t x^2/2) = psi(t) = sqrt(y) exp(-m^2 t y/2),   y = 1/(1 + s^2 t).
 *
 * In log t all is smooth: the trapezoidal rule on t = 2^(k/2) errs by 5e-13. Only the octaves where
 * psi changes are summed, (m^2 + s^2) t from 2^-14 to 2^19. Below them psi - 1 is a short series in
 * t, above them psi is one in 1/t; the sums of c(t) t^j that they need are in `ends`.
 */
#define _DEFAULT_SOURCE /* M_PI */
#include <math.h>
#include <string.h>

#include "base/lanes_math.h"
#include "base/simd.h"
#include "infer/weights/exponential_integral.h"
#include "infer/weights/horseshoe.h"

enum {
    FIRST_OCTAVE = -160,                       /* the lowest t is 2^-160 */
    MARGIN = 14,                               /* octaves from there to the bulk of a sum */
    BEYOND = 240,                              /* nodes above the highest that count in the ends */
    FINE = 4,                                  /* nodes per octave of v */
    KERNEL_LOW = 56 * FINE,                    /* z exp(-z) matters from z = 2^-56 ... */
    KERNEL_COUNT = KERNEL_LOW + 6 * FINE,      /* ... to 2^6 */
    ETA_LOW = 304 * FINE,                      /* then eta(v) is wanted from v = 2^-304 ... */
    ETA_COUNT = ETA_LOW + 5 * FINE + FINE / 2, /* ... to 2^5.5, where it becomes 1 */
};

#define STEP (M_LN2 / 2) /* of log t */

typedef struct mixture {
    double eta[ETA_COUNT];
    double kernel[KERNEL_COUNT];
} mixture;

static void mixture_init(mixture *mix)
{
    for (int j = 0; j < ETA_COUNT; j++) {
        double log_v = (j - ETA_LOW) * M_LN2 / FINE;
        double ei = EULER_GAMMA + log_v + exponential_series(exp(log_v));
        mix->eta[j] = atan2(M_PI, -ei) / M_PI;
    }
    for (int n = 0; n < KERNEL_COUNT; n++) {
        double z = exp2((double)(n - KERNEL_LOW) / FINE);
        mix->kernel[n] = z * exp(-z) * M_LN2 / FINE;
    }
}

/* c(t) STEP at t = 2^(FIRST_OCTAVE + node/2): with z = t v a convolution in the logarithms. */
static double mixture_term(const mixture *mix, int node)
{
    int shift = ETA_LOW - KERNEL_LOW - FINE * FIRST_OCTAVE - FINE / 2 * node;
    double sum = 0;

    for (int n = 0; n < KERNEL_COUNT; n++) {
        double eta = n + shift < ETA_COUNT ? mix->eta[n + shift] : 1;
        sum += mix->kernel[n] * eta;
    }
    return sum * STEP;
}

void horseshoe_init(horseshoe *prior, double tau)
{
    mixture mix;
    double above[2] = {0, 0}, below[2];
    double constant = 0;

    prior->tau = tau;
    prior->log_scale = log(tau) + log(2 * M_PI * M_PI * M_PI) / 2;
    mixture_init(&mix);
    for (int i = HORSESHOE_NODES + BEYOND - 1; i >= 0; i--) {
        double term = mixture_term(&mix, i);
        for (int j = 0; j < 2; j++) {
            above[j] = term + above[j] * exp2(-(j + 0.5) / 2);
        }
        if (i < HORSESHOE_NODES) {
            prior->term[i] = term;
        }
        if (i < HORSESHOE_NODES && i >= HORSESHOE_TERMS && i % 2 == 0) {
            memcpy(prior->ends[(i - HORSESHOE_TERMS) / 2].above, above, sizeof above);
        }
    }
    /* below the lowest node c(t) is 1 */
    for (int j = 0; j < 2; j++) {
        below[j] = STEP / (exp2((j + 1) / 2.0) - 1);
    }
    for (int i = 0; i < 2 * HORSESHOE_STARTS; i++) {
        if (i % 2 == 0) {
            memcpy(prior->ends[i / 2].below, below, sizeof below);
            prior->ends[i / 2].constant = constant;
        }
        for (int j = 0; j < 2; j++) {
            below[j] = (below[j] + prior->term[i]) * exp2(-(j + 1) / 2.0);
        }
        constant += prior->term[i];
    }
    /* the constant of integration: without spread the expectation is the density, here at u = 1 */
    double w = tau * M_SQRT2;
    constant = horseshoe_log_density(prior, w, NULL) - horseshoe_expect(prior, w, 0, NULL, NULL);
    for (int i = 0; i < HORSESHOE_STARTS; i++) {
        prior->ends[i].constant += constant;
    }
}

/* 1/sqrt(q) by Newton's iteration from the halved exponent: C has no root of lanes. */
LANES_INLINE lanes inverse_root(lanes q)
{
    lanes r = (lanes)(0x5fe6eb50c7b537a9U - ((lanes_bits)q >> 1));

    for (int i = 0; i < 4; i++) {
        r = r * (1.5 - 0.5 * q * r * r);
    }
    return r;
}

/* Values and derivatives by m^2 and s^2, all of them in units of the first node of the sum. */
typedef struct sums {
    double value, by_m2, by_s2;
} sums;

LANES_INLINE sums sum_terms(const double *term, double m2, double s2)
{
    lanes t = {1, M_SQRT2, 2, 2 * M_SQRT2, 4, 4 * M_SQRT2, 8, 8 * M_SQRT2};
    lanes zero = {0};
    lanes value = zero, first = zero, second = zero;
    sums out = {0, 0, 0};

    for (int i = 0; i < HORSESHOE_TERMS; i += LANES) {
        lanes c;
        memcpy(&c, term + i, sizeof c);
        lanes root = inverse_root(1 + s2 * t);
        lanes ty = t * root * root;
        lanes b = m2 * ty;
        lanes psi = c * root * lanes_exp(b * -0.5);
        value += psi;
        first += ty * psi;
        second += ty * psi * b;
        t *= 16;
    }
    for (int i = 0; i < LANES; i++) {
        out.value += value[i];
        out.by_m2 -= first[i] / 2;
        out.by_s2 -= (first[i] - second[i]) / 2;
    }
    return out;
}

/* Nodes below: the sum of psi - 1 = -t E x^2 / 2 + t^2 E x^4 / 8. */
static void add_below(sums *out, const double *below, double m2, double s2)
{
    double one = -below[0] / 2, two = below[1] / 8;

    out->value += one * (m2 + s2) + two * (m2 * m2 + 6 * m2 * s2 + 3 * s2 * s2);
    out->by_m2 += one + two * (2 * m2 + 6 * s2);
    out->by_s2 += one + two * (6 * m2 + 6 * s2);
}

/* Nodes above: the sum of psi = exp(-a) (z^1/2 + (a - 1/2) z^3/2), a = m^2/(2 s^2), z = 1/(s^2 t);
 * nothing when a is large. */
static void add_above(sums *out, const double *above, double m2, double s2)
{
    double a = m2 / (2 * s2);

    if (a < 45) {
        double z = 1 / (s2 * 0x1p32);
        double half = above[0] * exp(-a) * sqrt(z);
        double three_halves = above[1] * exp(-a) * sqrt(z) * z;
        double by_a = -half + (1.5 - a) * three_halves;
        out->value += half + (a - 0.5) * three_halves;
        out->by_m2 += by_a / (2 * s2);
        out->by_s2 -= (by_a * a + half / 2 + (a - 0.5) * 1.5 * three_halves) / s2;
    }
}

CLONED static double expect(const horseshoe *prior, double mean, double sd, double *by_mean,
                            double *by_sd)
{
    double m = mean / prior->tau;
    double s = sd / prior->tau;
    double spread = m * m + s * s;
    double highest = ldexp(1, -FIRST_OCTAVE - MARGIN + 1);
    double lowest = ldexp(1, -FIRST_OCTAVE - MARGIN + 1 - HORSESHOE_STARTS);
    sums out = {NAN, NAN, NAN};
    double t = 0;

    if (spread >= lowest && spread < highest) {
        int octave = -ilogb(spread) - MARGIN; /* of the first node, t */
        int start = octave - FIRST_OCTAVE;
        const horseshoe_ends *ends = &prior->ends[start];
        t = ldexp(1, octave);
        double m2 = m * m * t;
        double s2 = s * s * t;
        out = sum_terms(prior->term + 2 * (ptrdiff_t)start, m2, s2);
        out.value += ends->constant;
        add_below(&out, ends->below, m2, s2);
        add_above(&out, ends->above, m2, s2);
    }
    if (by_mean != NULL) {
        *by_mean = 2 * m * t * out.by_m2 / prior->tau;
    }
    if (by_sd != NULL) {
        *by_sd = 2 * s * t * out.by_s2 / prior->tau;
    }
    return out.value - prior->log_scale;
}

/* Clones stay static: their resolvers would be seen outside the library. */
double horseshoe_expect(const horseshoe *prior, double mean, double sd, double *by_mean,
                        double *by_sd)
{
    return expect(prior, mean, sd, by_mean, by_sd);
}
