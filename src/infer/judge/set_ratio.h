/* A ratio of sums, A/B, over rows that are alike within their set: sets are what chance deals out.
 *
 *     var(A/B) = K/(K - 1) sum_k (A_k - A/B B_k)^2 / B^2      over K sets,
 *
 * and (A/B - r)/sd is Student's t with K - 1 degrees of freedom, which
 *
 *     u = (8 m + 1)/(8 m + 3) sqrt(m log(1 + t^2/m)),  m = K - 1   (Wallace 1959)
 *
 * makes nearly normal.
 */
#ifndef LSCM_INFER_JUDGE_SET_RATIO_H
#define LSCM_INFER_JUDGE_SET_RATIO_H

#include <math.h>

typedef struct set_ratio {
    double sets, a, b;
    double aa, ab, bb;   /* sums of products over sets */
    double set_a, set_b; /* of the present set */
} set_ratio;

static inline void set_ratio_add(set_ratio *r, double a, double b)
{
    r->set_a += a;
    r->set_b += b;
}

/* After the last row of a set. */
static inline void set_ratio_next(set_ratio *r)
{
    r->sets += r->set_b > 0 ? 1 : 0;
    r->a += r->set_a;
    r->b += r->set_b;
    r->aa += r->set_a * r->set_a;
    r->ab += r->set_a * r->set_b;
    r->bb += r->set_b * r->set_b;
    r->set_a = r->set_b = 0;
}

static inline double set_ratio_of(const set_ratio *r)
{
    return r->b > 0 ? r->a / r->b : (double)NAN;
}

/* u with the sign of A/B - expected; `least` is a variance that it has at least. 0 where fewer than
 * three sets tell nothing of chance. */
static inline double set_ratio_beyond(const set_ratio *r, double expected, double least)
{
    double m = r->sets - 1;
    double ratio = set_ratio_of(r);
    double variance = (r->aa - 2 * ratio * r->ab + ratio * ratio * r->bb) / (r->b * r->b);
    variance = fmax(variance * r->sets / m, least);
    double t = (ratio - expected) / sqrt(variance);
    double u = (8 * m + 1) / (8 * m + 3) * sqrt(m * log1p(t * t / m));
    return m >= 2 && isfinite(u) ? copysign(u, t) : 0;
}

#endif
