/* Bends: what the rows say for mechanisms that are not straight. With the curves of curves.h, in
 * which phi_p0 is z_p in its sds, a node may be
 *
 *     straight   z_i = c + sum_p b_p0 phi_p0 + e,    e ~ N(0, s^2),    as the linear law has it,
 *     curved     .. + sum_p sum_{k > 0} b_pk phi_pk,
 *     together   .. + sum over pairs p < q of sum_k b_pqk g_pqk,   g the products of curves.h.
 *
 * b_p0 is as the linear law has it (w_p = b_p0/sd_p, ridge BEND_RIDGE), and
 *
 *     b_pk ~ N(0, s^2 G / r_pk),   b_pqk ~ N(0, s^2 H / (r_pa r_qb)),
 *
 * r_pk the roughness, the integral of phi''^2 over that of the least rough curve that bends
 * (r_p0 = 1): smoothing splines, whose smoothness is summed over a grid of G and of H. All is
 * closed form given one Gram matrix of the functions over the rows in which the node is free. With
 * S it and the node's, centred, L the prior precisions and A = S_bb + L,
 *
 *     log evidence = -(nu + n - 1)/2 log q - 1/2 log |A| + 1/2 log |L|,   q = t u_i^2 + S_ii - S_ib
 * A^-1 S_bi.
 *
 * What a family gains by all that,
 *
 *     gain(pa) = log(P(straight) + sum over kinds P(kind) e^(evidence of it - evidence of
 * straight)),
 *
 * is added to each term of its score under the linear law, so that everything that integrates over
 * the prior of weights, of edges and of what sets have of their own stays as it is; that the gain
 * does not depend on the ridge is an approximation (its data tell b_p0 to 1/n). No parents: 0.
 *
 * Pairs are those of the BEND_TOGETHER candidates that forward selection takes first; a family with
 * any other is curved at most.
 */
#ifndef LSCM_INFER_MECHANISM_BENDS_H
#define LSCM_INFER_MECHANISM_BENDS_H

#include "infer/mechanism/families.h"
#include "scm/mechanism/mechanism.h"

enum { BEND_MANY = 14, BEND_FEWER = 9 }; /* with more candidates, so many curves of each */
enum { BEND_TOGETHER = 8, BEND_CURVES = 4, BEND_PAIRS = 3 };
/* Kind 0 is straight; 1 .. BEND_CURVES curved; the rest together. */
enum { BEND_KINDS = 1 + BEND_CURVES + BEND_CURVES * BEND_PAIRS };

/* How far a mechanism may bend, and who says so. */
typedef enum bend_reach { BEND_NONE, BEND_CURVED, BEND_JOINT } bend_reach;

/* Of one family. */
typedef struct bend_family {
    size_t node, count; /* candidates */
    const size_t *candidate;
    uint32_t together; /* those whose pairs are there */
    size_t curves;     /* functions of each candidate, the least rough ones */
    size_t width;      /* functions of all candidates, then of pairs; the node last */
    size_t levels;     /* as the family had them before any was left out */
    double rows;       /* n */
    double middle;     /* z_i is counted from there */
    double *precision; /* (width): of the prior, r; of phi_p0 t u_p^2/sd_p^2 */
    double *scatter;   /* (levels, width, width) */
    double *mean;      /* (levels, width) */
    double heft[FAMILY_LEVELS];
    double *gain[FAMILY_LEVELS]; /* (2^count) each, of levels that are still there; else NULL */
} bend_family;

typedef struct bends {
    size_t d;
    bend_reach reach;
    curve_basis *basis; /* (d) */
    double *rough;      /* (d, CURVE_WIDTH): r */
    double *slope;      /* (d, CURVE_WIDTH): mean of phi' over the rows */
    double *product; /* (d, d, CURVE_PAIRS): of p and q, mean of phi'_pa phi_qb; 0 without pairs */
    bend_family *list;        /* (d) */
    const double *weight;     /* (d, rows): what rows count for each node (families.h), or NULL */
    const double *row_weight; /* (rows), or NULL: .. for all nodes alike */
    double worth;             /* .. and that of all rows together */
    size_t most;              /* functions of one family, and the node */
    bool told;                /* gains are there; else no family has any */
    arena memory, sums, gains;
} bends;

/* Graphs by which it is first seen whether gains of all families are worth telling: parents (count,
 * d), where log mean e^(sum of gains, at the level where each is largest) is beyond `least`. */
typedef struct bend_asking {
    const uint32_t *parents;
    size_t count;
    double least;
} bend_asking;

/* Curves, sums and gains for the families of these rows, which count what they do there
 * (families_weigh, too), and gives each family its own; levels that no good parents ask for once
 * they may bend are left out. asking: NULL, all are told.
 * unit (d): of the prior. */
lscm_status bends_of(bends *out, families *f, const latent_rows *rows, bend_reach reach,
                     const dag_prior *prior, const bend_asking *asking, lscm_error *why);
void bends_close(bends *b);

/* Families gain by these bends, or not (false). */
void bends_lend(const bends *b, families *f, bool gain);

/* What graphs, parents (d) each, gain by bends: log mean e^(sum of gains). */
double bends_evidence(const families *f, const uint32_t *parents, size_t count);

/* Terms that the draws of d nodes have among them, at most: all draws have the same candidates. */
static inline size_t bends_most_terms(size_t d)
{
    size_t alone = d - 1 < FAMILY_MOST ? d - 1 : FAMILY_MOST;
    size_t pairs = alone < BEND_TOGETHER ? alone : BEND_TOGETHER;
    return d * (alone + pairs * (pairs - 1) / 2);
}
/* The mean of a term's functions over the rows in which node i is free, the whole set: of one
 * parent, or two. */
double bends_mean(const bends *b, size_t i, const int32_t *parent, const double *coef);

/* Draws of the linear law, and what becomes of them where a node bends. */
typedef struct bend_draws {
    size_t count, d;
    const uint32_t *parents;            /* (count, d) */
    const uint8_t *place;               /* (count, d): of the level that each has */
    double *w;                          /* (count, d, d): where a node bends, average slopes */
    double *sigma, *intercept, *effect; /* (count, d) */
    bent_mechanisms bent;               /* filled; its arrays are in `memory` */
    arena memory;
} bend_draws;

/* Which kind each has, and of those that are not straight their functions, noise and intercept, as
 * the conjugate law has them; node i of draw k takes the numbers [k d + i, k d + i + 1)
 * BEND_NUMBERS of the stream. */
enum { BEND_NUMBERS = 1024 };
lscm_status bends_draw(const bends *b, const families *f, const dag_prior *prior, rng r,
                       bend_draws *draws, lscm_error *why);

#endif
