/* Sums over subsets of numbers of any size: a table of log f(S), S a bit mask, becomes
 *
 *     partial(S) = log sum f(T) over the T that agree with S from bit `low` on and are part of it
 *                  below,
 *     total(S)   = log sum f(T) over all T that are part of S,
 *
 * by the fast zeta transform, bit by bit f(S) += f(S - bit), count 2^count / 2 additions in all.
 * The numbers are m 2^e, e a whole number of its own for each, so that sums thousands of nats below
 * the largest are as exact as any, and no addition needs a logarithm.
 */
#ifndef LSCM_INFER_GRAPH_SUBSET_SUMS_H
#define LSCM_INFER_GRAPH_SUBSET_SUMS_H

#include <stddef.h>
#include <stdint.h>

/* Entries that a table of `count` bits has: 2^count, at least 8, those beyond 2^count without
 * meaning; aligned as an arena does. */
size_t subset_entries(size_t count);
/* low is at least 3. `total` may be where the logarithms are, `partial` NULL: not wanted; exponent
 * is scratch. All have subset_entries(count). */
void subset_sums(const double *log_f, size_t count, size_t low, double *partial, double *total,
                 double *exponent);
/* A table over the bits in `kept` becomes one over `bits` bits, in its place: sets without all of
 * `must` have -INFINITY, the other bits make no difference. */
void subset_spread(double *table, size_t bits, uint32_t kept, uint32_t must);

#endif
