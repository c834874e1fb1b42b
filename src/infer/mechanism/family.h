/* The mechanism of a node given its parents, in closed form. Over the n rows in which node i is not
 * intervened on, z_i = c + sum_p z_p w_p + e, e ~ N(0, s^2), with the prior (BGe; score equivalent)
 *
 *     s^2 ~ t u_i^2 / chi2(nu),  nu = dof + |pa|,   w_p | s^2 ~ N(0, s^2 / (t u_p^2)),   c flat,
 *
 * u the unit of each node, t a weak ridge. With S the centred scatter of these rows,
 * A = S_pp + t diag(u_p^2), q = t u_i^2 + S_ii - S_ip A^-1 S_pi:
 *
 *     log score = -(n-1)/2 log pi - 1/2 log n + lgamma((nu+n-1)/2) - lgamma(nu/2)
 *                 + nu/2 log(t u_i^2) - (nu+n-1)/2 log q + 1/2 log |t U_p^2| - 1/2 log |A|
 *                 + |pa| log_odds
 *
 * and given one variance s^2 for all nodes (w as above; q without its t u_i^2)
 *
 *     log score = -(n-1)/2 log(2 pi s^2) - 1/2 log n - q/(2 s^2) + 1/2 log |t U_p^2| - 1/2 log |A|
 *                 + |pa| log_odds.
 *
 * Rows of an intervention set may share an intercept of their own (an instrument drifts, a batch
 * differs): z_i = c + a_k + .. in set k, a_k ~ N(0, tau^2 s^2). Given tau, what varies within sets
 * counts in full and the mean of a set as one value: with m_k and S_k the mean and centred scatter
 * of its n_k rows and h_k = n_k/(1 + n_k tau^2), S above is
 *
 *     sum_k S_k + sum_k h_k (m_k - m)'(m_k - m),   m = sum_k h_k m_k / h,   h = sum_k h_k,
 *
 * and -1/2 log n is -1/2 log h - 1/2 sum_k log(1 + n_k tau^2). tau = 0 is the model without; a
 * family has a level for each tau of a small grid. Nor need the weights of all nodes be of one
 * size: t is that of the node with probability 3/5, or t times or over `spread` with 1/5 each. The
 * score is the sum over all these terms, log sum_k P_k e^(score_k).
 *
 * Without rows the likelihood is 1, as it is with one row. S may be singular, or short of positive
 * semidefinite by what was subtracted for noise: a parent whose pivot in A is not above t u_p^2,
 * its bound for a true scatter, is taken for a combination of those before it, and S_ii - ... is
 * never below 0, so nothing is ever NaN.
 *
 * A family is a node with at most FAMILY_MOST candidate parents; a parent set is a bit mask over
 * them, and a table holds the score of every set.
 */
#ifndef LSCM_INFER_MECHANISM_FAMILY_H
#define LSCM_INFER_MECHANISM_FAMILY_H

#include "base/rng.h"
#include "base/status.h"

enum { FAMILY_MOST = 23 };

typedef struct dag_prior {
    double ridge;       /* t > 0 */
    double dof;         /* nu without parents, at least 2 */
    double log_odds;    /* of an edge between a node and one before it: log p/(1 - p) */
    double variance;    /* s^2 of all nodes; 0: each its own, integrated out */
    const double *unit; /* (d), all above 0 */
    double spread;      /* 0, or by which factor a node's own ridge may be smaller or larger */
    bool hole;          /* the slab has a hole at 0 (family_hole.h) */
} dag_prior;

/* The mean of u^2, the unit of a variance that all nodes share. */
static inline double dag_mean_unit(const dag_prior *p, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        sum += p->unit[i] * p->unit[i];
    }
    return sum / (double)d;
}

/* What sets have of their own: zero everywhere is the level without. */
typedef struct family_level {
    size_t place; /* in the grid of tau */
    double tau;
    double log_prior;  /* log P(tau) */
    double heft;       /* h; without effects 0 where it is the rows */
    double log_spread; /* sum_k log(1 + n_k tau^2) */
    double
        blurred; /* where tau > 0: share of the scatter that noise of each row adds which S has */
} family_level;

enum { FAMILY_LEVELS = 6 };

typedef struct family {
    size_t node, count;                /* count <= FAMILY_MOST */
    const size_t *candidate;           /* (count): nodes, ascending; forbidden ones are left out */
    uint32_t required;                 /* parents that must be there */
    double rows;                       /* n */
    size_t levels;                     /* at least 1, the first without effects of sets */
    family_level level[FAMILY_LEVELS]; /* (levels) */
    const double *scatter; /* (levels, count + 1, count + 1): S, candidates, then the node */
    const double *mean;    /* (levels, count + 1): m */
    char *const *names;    /* of nodes, or NULL */
    double *const
        *gain;        /* NULL, or by place of the level: what is added to its score, for all .. */
    uint32_t gain_of; /* .. sets of the candidates that there were, of which these are still */
} family;

/* Part of the bits of `whole`, by their order there. */
static inline uint32_t spread_bits(uint32_t part, uint32_t whole)
{
    uint32_t out = 0;
    for (; whole != 0 && part != 0; whole &= whole - 1, part >>= 1) {
        out |= (part & 1) != 0 ? whole & -whole : 0;
    }
    return out;
}

/* What the parents gain at a level by mechanisms that bend (bends.h). */
static inline double family_gain(const family *f, size_t level, uint32_t parents)
{
    return f->gain != NULL ? f->gain[f->level[level].place][spread_bits(parents, f->gain_of)] : 0;
}

/* A family with arrays of its own. */
typedef struct family_room {
    family f;
    size_t candidate[FAMILY_MOST];
    double scatter[FAMILY_LEVELS * (FAMILY_MOST + 1) * (FAMILY_MOST + 1)];
    double mean[FAMILY_LEVELS * (FAMILY_MOST + 1)];
} family_room;

/* Term k of the sum that the score of a family is. */
typedef struct family_term {
    size_t level;
    dag_prior prior; /* with the node's own ridge */
    double log_share;
} family_term;
enum { FAMILY_RIDGES = 3, FAMILY_TERMS = FAMILY_LEVELS * FAMILY_RIDGES };
static inline size_t family_terms(const family *f, const dag_prior *prior)
{
    return f->levels * (prior->spread > 0 ? FAMILY_RIDGES : 1);
}
family_term family_term_of(const family *f, const dag_prior *prior, size_t k);

/* Sets of the candidates that are not required, in their order, are masks over those: a table has
 * an entry for each. */
static inline size_t family_free(const family *f)
{
    return f->count - (size_t)__builtin_popcount(f->required);
}

/* What the scores are made of, so that another s^2 costs no regressions: (2^free) each. */
typedef struct family_table {
    double *rest;    /* S_ii - S_ip A^-1 S_pi */
    double *log_det; /* log |A| - log |t U_p^2|, less twice the logarithm of what a hole adds */
} family_table;

/* All 2^free regressions of a level, about 10 ns each. */
void family_regress(const family *f, const dag_prior *prior, size_t level, const family_table *out);
/* Scores (2^free) of a level from a table. `score` may be one of the table's own arrays, which is
 * then lost. */
void family_scores(const family *f, const dag_prior *prior, size_t level, const family_table *table,
                   double *score);
/* Scores (2^free) of all terms together. */
void family_scores_all(const family *f, const dag_prior *prior, const family_table *work,
                       double *score);
/* The score of one set by itself, whether or not it has the required parents. */
double family_score(const family *f, const dag_prior *prior, uint32_t parents);

/* What slopes (count) on its candidates leave of the node in the row z (d), about their means. */
static inline double family_residual(const family *f, const double *slope, const double *z)
{
    double e = z[f->node] - f->mean[f->count];
    for (size_t c = 0; c < f->count; c++) {
        e -= slope[c] * (z[f->candidate[c]] - f->mean[c]);
    }
    return e;
}

/* mean_i - mean_p w, with w as below: where the intercept is. */
double family_centre(const family *f, const double *w, size_t d);

/* What the mean of all rows weighs at a level, h. */
static inline double family_heft(const family *f, size_t level)
{
    double rows = f->rows > 1 ? f->rows : 1;
    return f->level[level].heft > 0 ? f->level[level].heft : rows;
}

/* A level given the parents, by a uniform number. */
size_t family_draw_level(const family *f, const dag_prior *prior, uint32_t parents, double u);

/* A draw of (w, c, s) given the parents: the weight of candidate j goes to w[j * d] (so `w` points
 * to the node's column of a (d, d) matrix), 0 where it is not a parent; other nodes are left alone.
 * One index per (draw, node): draw k takes the numbers [k, k + 1) FAMILY_NUMBERS of the stream.
 * With a hole it is one of FAMILY_TRIES draws without, taken with the probabilities that the hole
 * gives them. */
enum { FAMILY_TRIES = 16, FAMILY_TRY = 256, FAMILY_NUMBERS = FAMILY_TRIES * FAMILY_TRY };
typedef struct mechanism {
    double intercept, sigma;
    double effect; /* sd of what sets have of their own: tau s */
} mechanism;
mechanism family_draw(const family *f, const dag_prior *prior, uint32_t parents, rng r,
                      uint64_t index, double *w, size_t d);

/* The level that family_draw of the same index takes. */
size_t family_drawn_level(const family *f, const dag_prior *prior, uint32_t parents, rng r,
                          uint64_t index);

#endif
