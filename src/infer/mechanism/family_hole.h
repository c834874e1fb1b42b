/* A slab with a hole at 0, for worlds in which an edge that is there is not arbitrarily weak: the
 * prior of every weight of family.h has the further factor
 *
 *     t u_p^2 w_p^2 / s^2     (moment prior; its mean under N(0, s^2/(t u_p^2)) is 1),
 *
 * so that a family's evidence has the mean of their product under the posterior without them, in
 * which w ~ N(w^, s^2 V), V = A^-1, given s, and 1/s^2 ~ Gamma(a, q/2), a = (nu + n - 1)/2. A
 * parent that is none then loses like n^-3/2, not n^-1/2. Second moments of the parents are
 * multiplied,
 *
 *     E prod_p t u_p^2 (w^_p^2 x + V_pp),   x = 1/s^2,
 *
 * which is exact for one parent and for those whose weights are uncorrelated given the data: all
 * 2n-th moments of correlated ones take 3^|pa| terms a set. The mean over x is that of the two
 * points of Gauss and Laguerre, exact to three parents: 2/q (a + 1 +- r), r = sqrt(a + 1), with the
 * weights (1 -+ 1/r)/2.
 *
 * Beside what elimination keeps (family_table.c) it needs w^ and the diagonal of V. With B_ju the
 * slope of u, not decided on, on j, taken in, taking in v of pivot M_vv makes them
 *
 *     B_vu = M_vu / M_vv,   B_ju - B_jv B_vu,   V_vv = 1 / M_vv,   V_jj + B_jv^2 / M_vv:
 *
 * about 2 multiplications a set for each of its parents. Both are kept as sqrt(t) B and t V, which
 * is all that the factors ask for; products of these are kept as m 2^e, so that a set takes one
 * logarithm.
 */
#ifndef LSCM_INFER_MECHANISM_FAMILY_HOLE_H
#define LSCM_INFER_MECHANISM_FAMILY_HOLE_H

#include "base/lanes_math.h"
#include "infer/mechanism/family.h"

enum { HOLE_POINTS = 2, HOLE_TOGETHER = 8 };

/* A factor is kept within these, so that HOLE_TOGETHER of them make a number. */
static const double HOLE_LEAST = 1e-30;
static const double HOLE_MOST = 1e30;

/* Points and weights of Gamma(shape, 1). */
static inline void hole_points(double shape, double x[HOLE_POINTS], double share[HOLE_POINTS])
{
    double root = sqrt(shape + 1);
    x[0] = shape + 1 - root;
    x[1] = shape + 1 + root;
    share[0] = (1 + 1 / root) / 2;
    share[1] = (1 - 1 / root) / 2;
}

/* a for so many parents. */
static inline double hole_shape(const family *f, const dag_prior *prior, size_t size)
{
    return (prior->dof + (double)size + (f->rows > 1 ? f->rows : 1) - 1) / 2;
}

/* Of sets with `entry` parents and those of the lane: the points as they are for q = 2, or 1/s^2
 * where that is known. */
typedef struct hole_entry {
    lanes x[HOLE_POINTS], share[HOLE_POINTS];
} hole_entry;

typedef struct hole_law {
    bool known; /* s */
    double ridge;
    hole_entry entry[FAMILY_MOST + 1];
} hole_law;

/* What is kept of the parents taken in, eight sets side by side; one that a lane has not taken in
 * has slopes 0 and the variance 1/t of the prior, and so a factor of 1. */
typedef struct hole_rows {
    size_t taken, width;
    lanes *slope;    /* (taken, width): sqrt(t) B, of the node first */
    lanes *variance; /* (taken): t V_jj */
} hole_rows;

/* Takes in column `last`, of which row (last) is left (0 where it tells nothing); inverse: 1 / its
 * pivot. */
LANES_INLINE void hole_take_in(const hole_rows *from, size_t last, const lanes *row, lanes inverse,
                               lanes_mask tells, double ridge, hole_rows *to)
{
    lanes scaled = inverse * sqrt(ridge);
    lanes *fresh = to->slope + from->taken * last;
    for (size_t j = 0; j < from->taken; j++) {
        const lanes *slope = from->slope + j * from->width;
        lanes own = lanes_select(tells, slope[last], lanes_of(0));
        lanes share = own * inverse;
        for (size_t u = 0; u < last; u++) {
            to->slope[j * last + u] = slope[u] - share * row[u];
        }
        to->variance[j] = from->variance[j] + share * own;
    }
    for (size_t u = 0; u < last; u++) {
        fresh[u] = row[u] * scaled;
    }
    to->variance[from->taken] = inverse * ridge;
    to->taken = from->taken + 1;
    to->width = last;
}

/* x > 0 as m 2^e, 1 <= m < 2: x becomes m, and *e is added to. */
LANES_INLINE void hole_split(lanes *x, lanes *e)
{
    lanes_bits bits = (lanes_bits)*x;
    *e += (lanes)(bits >> 52 | (lanes_bits)lanes_of(0x1p52)) - (0x1p52 + 1023);
    *x = (lanes)((bits & (((uint64_t)1 << 52) - 1)) | (lanes_bits)lanes_of(1));
}

/* 2^e for whole e <= 0; e below -1000 is taken for that, beside a number of at least 1. */
LANES_INLINE lanes hole_power(lanes e)
{
    lanes shifted = lanes_larger(e, lanes_of(-1000)) + 0x1.8p52;
    return (lanes)(((lanes_bits)shifted << 52) + (lanes_bits)lanes_of(1));
}

/* The logarithm of the factor; rest: S_ii - S_ip A^-1 S_pi in units of the node. */
LANES_INLINE lanes hole_factor(const hole_law *law, const hole_entry *entry, const hole_rows *at,
                               lanes rest)
{
    lanes scale = law->known ? lanes_of(1) : 2.0 / (law->ridge + rest);
    lanes x[HOLE_POINTS] = {entry->x[0] * scale, entry->x[1] * scale};
    lanes product[HOLE_POINTS] = {lanes_of(1), lanes_of(1)};
    lanes power[HOLE_POINTS] = {lanes_of(0), lanes_of(0)};
    for (size_t first = 0; first < at->taken; first += HOLE_TOGETHER) {
        size_t end = at->taken - first < HOLE_TOGETHER ? at->taken : first + HOLE_TOGETHER;
        for (size_t j = first; j < end; j++) {
            lanes square = at->slope[j * at->width] * at->slope[j * at->width];
            for (size_t k = 0; k < HOLE_POINTS; k++) {
                lanes factor = square * x[k] + at->variance[j];
                factor = lanes_larger(factor, lanes_of(HOLE_LEAST));
                product[k] *= lanes_smaller(factor, lanes_of(HOLE_MOST));
            }
        }
        for (size_t k = 0; k < HOLE_POINTS; k++) {
            hole_split(&product[k], &power[k]);
        }
    }
    lanes top = lanes_larger(power[0], power[1]);
    lanes sum = entry->share[0] * product[0] * hole_power(power[0] - top) +
                entry->share[1] * product[1] * hole_power(power[1] - top);
    return top * 0x1.62e42fefa39efp-1 + lanes_log(sum);
}

#endif
