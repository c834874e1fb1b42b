/* Targets left out whole: all sets in which do() set node t, the model made again of the others and
 * asked what do(t) does to every other node. With u = v_t - m_t the shift that do() gave the target
 * and m the means without intervention (of the rows kept, where there are none), the effect on i is
 *
 *     sum u (z_i - m_i) / sqrt(n sum u^2)      over the n rows in which t is set and i is free,
 *
 * the change of i that goes with a rise of t as large as do() makes it: where all rows have the
 * same value, the shift of the mean, with the sign of u. It is divided by the sd of z_i, and so is
 * what each of these expects of it:
 *
 *     the model       E[z_i | do], of draws that never saw t set
 *     no edges        nothing moves
 *     the others      z_i moves as it does on average over the sets kept
 *     correlation     z_i moves as it does with z_t, by regression, without intervention
 *
 *     r2 = 1 - sum (seen - expected)^2 / sum seen^2,  and Spearman's rank correlation,
 *
 * over pairs (t, i). Where z is read off x, the sets of a target are what tells which direction of
 * x it is: the reading is that of all rows, and mechanisms and graph alone never saw t set.
 *
 * A model takes long: where every set has one target, a fifth of the targets is left out at a time,
 * and of many nodes not every fifth is asked about; which, the seed says.
 */
#ifndef LSCM_INFER_JUDGE_JUDGE_TARGETS_H
#define LSCM_INFER_JUDGE_JUDGE_TARGETS_H

#include "infer/judge/judged.h"

typedef struct effect_score {
    double spearman, r2; /* Spearman's is NaN where all are alike */
} effect_score;

typedef struct left_out {
    size_t targets; /* left out; 0: none could be, and nothing else is set */
    size_t of;      /* nodes that are targets */
    size_t fits;    /* models made */
    size_t pairs;
    effect_score model, others, correlation; /* no edges: r2 is 0 */
    bool read;                               /* z was read off x, by an encoder of all rows */
    bool telling; /* effects, seen or expected by the model, are beyond the error of their means */
} left_out;

/* In at most `most` models. */
lscm_status judge_targets(left_out *out, const judged *of, size_t most, lscm_error *why);
/* Where the model does no better than one of the others. */
bool left_out_beaten(const left_out *l);

#endif
