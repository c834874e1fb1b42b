/* Do rows of a set that follow one another in the data resemble each other more than rows that are
 * far apart? Batches that nobody named, and instruments that drift, make them so. With e_1 .. e_n
 * what the model leaves of a node in the rows of a set, in their order and of mean 0 and variance
 * 1, and C_k = e_1 + .. + e_k,
 *
 *     T = sum over sets of sum_k C_k^2 / n,
 *
 * the sum over sets of n times the statistic of Cramer and von Mises for a walk that comes back to
 * 0. Where order says nothing, whatever the graph (rows of a set are exchangeable under every
 * model), and e is normal, a set's part is (n - 1) sum_k l_k u_k^2, u uniform on the sphere and
 * l_k = 1/(4 n sin^2(pi k/(2 n))), 0 < k < n. The tail of T is that of the chi^2 with the same
 * first three cumulants.
 */
#ifndef LSCM_INFER_CHECK_CHECK_DRIFT_H
#define LSCM_INFER_CHECK_CHECK_DRIFT_H

#include <stddef.h>
#include <stdint.h>

/* e: of the sets s with out[s * stride] = 0 alone, one after the other, from first[s] to first[s +
 * 1] each. Sets of fewer than 8 rows say nothing; 1 where none does. */
double chance_of_drift(const double *e, const size_t *first, const uint8_t *out, size_t stride,
                       size_t sets);

#endif
