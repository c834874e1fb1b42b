/* Curves of one causal variable, what bent mechanisms are sums of. Node j has up to CURVE_WIDTH
 * functions phi_j0, phi_j1, .., natural cubic splines on the same knots: phi_j0 is z_j itself less
 * its mean, in sds; the others have mean 0 and variance 1 over the rows that they were made of, are
 * uncorrelated with all before them, and rougher and rougher. Between two knots h apart, with
 * B = (z - left)/h, A = 1 - B, and with values v and second derivatives u there,
 *
 *     phi(z) = A v_left + B v_right + ((A^3 - A) u_left + (B^3 - B) u_right) h^2/6,
 *
 * and beyond the outermost knots it goes on straight. With fewer values than knots there are fewer
 * functions; those that are not there are 0.
 */
#ifndef LSCM_SCM_MECHANISM_CURVES_H
#define LSCM_SCM_MECHANISM_CURVES_H

#include <stddef.h>
#include <stdint.h>

enum { CURVE_KNOTS = 16, CURVE_WIDTH = CURVE_KNOTS - 1 };

typedef struct curve_basis {
    size_t knots; /* how many there are: 0, or 2 to CURVE_KNOTS */
    double knot[CURVE_KNOTS];
    double value[CURVE_KNOTS][CURVE_WIDTH];
    double second[CURVE_KNOTS][CURVE_WIDTH];
} curve_basis;

/* out (CURVE_WIDTH): all phi, or their derivatives, at z. */
void curve_values(const curve_basis *basis, double z, double *out);
void curve_slopes(const curve_basis *basis, double z, double *out);

/* Products of curves of two parents: g_k = phi_pa(z_p) phi_qb(z_q), of those that are least rough.
 */
enum { CURVE_PAIRS = 10 };
static const uint8_t CURVE_PAIR[CURVE_PAIRS][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 2},
                                                   {2, 0}, {1, 2}, {2, 1}, {0, 3}, {3, 0}};
/* Which of them has a and b the other way around. */
static const uint8_t CURVE_SWAPPED[CURVE_PAIRS] = {0, 2, 1, 3, 5, 4, 7, 6, 9, 8};

static inline void curve_products(const double *p, const double *q, double *out)
{
    for (size_t k = 0; k < CURVE_PAIRS; k++) {
        out[k] = p[CURVE_PAIR[k][0]] * q[CURVE_PAIR[k][1]];
    }
}

#endif
