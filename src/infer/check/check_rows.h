/* The rows that are tested, and what the model that was found makes of them. In units of their own
 * (mean 0, sd 1 of every node), set by set, z is what do() set or what was read off x; read off
 * with an error of covariance O it is, in a set with targets t,
 *
 *     z ~ N(m, S_t + O) over the free nodes,   m, S_t: mean and covariance of the model under do(),
 *
 * so that what can be said of the causal variables themselves is
 *
 *     E[zeta | z] = m + S_t (S_t + O)^-1 (z - m),   Cov[zeta | z] = S_t - S_t (S_t + O)^-1 S_t.
 *
 * The set's own mean of z - m is left to the set. Observed variables have O = 0, and zeta = z. The
 * model is that of the graph most often drawn, its weights and curves the mean of those draws.
 */
#ifndef LSCM_INFER_CHECK_CHECK_ROWS_H
#define LSCM_INFER_CHECK_CHECK_ROWS_H

#include "infer/check/check_input.h"

/* Distinct graphs among the draws looked at, one whose nodes bend in another way being another,
 * each with how often it was drawn. */
typedef struct check_graphs {
    size_t count;
    size_t *draw;  /* (count): one that has it; the most frequent graph first */
    double *share; /* (count): of the draws, 1 in sum */
} check_graphs;

typedef struct check_rows {
    const check_input *in;
    size_t n, d, sets;
    size_t *first;         /* (sets + 1): where each set begins */
    const uint8_t *target; /* (sets, d) */
    double *centre, *unit; /* (d); unit 0: a node that never varies */
    double *z;             /* (n, d): set or read off */
    double *told;          /* (n, d): E[zeta | z]; z itself where O = 0 */
    double *about;         /* (n, d): m and the set's own mean of z - m; NULL where O = 0 */
    double *law;           /* (sets, d, d): S_t, 0 at targets; NULL where O = 0 */
    double *doubt;         /* (sets, d, d): Cov[zeta | z], 0 at targets; NULL where O = 0 */
    double *error;         /* (d, d): O; NULL: 0 */
    double *tau;           /* (d): sd of the sets' own intercepts, over the noise; 0: none */
    double *unsure;        /* (d): variance of an error of z that all rows share */
    double *shared;        /* (d): the same per direction */
    double *noise;         /* (d): variance of the noise, mean over draws */
    curve_basis *basis;    /* (d): curves of nodes in units */
    check_graphs graphs;
    arena memory;
} check_rows;

lscm_status check_rows_of(check_rows *out, const check_input *in, lscm_error *why);
void check_rows_close(check_rows *t);

static inline bool check_is_set(const check_rows *t, size_t set, size_t node)
{
    return t->target[set * t->d + node] != 0;
}

/* Whether graph g has j -> i. */
static inline bool check_has(const check_rows *t, size_t g, size_t j, size_t i)
{
    const anchored *a = t->in->a;
    return a->w[(t->graphs.draw[g] * a->d + j) * a->d + i] != 0;
}

/* Whether two draws have the same causes of node i, and have it bend alike; of all nodes. */
bool check_same_node(const anchored *a, size_t one, size_t other, size_t i);
bool check_same_draw(const anchored *a, size_t one, size_t other);

#endif
