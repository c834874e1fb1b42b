/* What z read off x has wrong alike in all rows: what leaks from other nodes (both_ways.h), and the
 * scale of the node itself. About m, the middle of the values that label a node, the error of z_i
 * is
 *
 *     sum_p l_pi (z_p - m_p),   l_pi ~ N(0, s_pi^2),   s_ii the gain,
 *
 * which no row says anything of, and which a row far from the middle has most of:
 *
 *     sd_i^2 + sum_p s_pi^2 (z_p - m_p)^2
 *
 * is what is known of its z_i. */
#ifndef LSCM_INFER_EVIDENCE_ALIKE_ERRORS_H
#define LSCM_INFER_EVIDENCE_ALIKE_ERRORS_H

#include "infer/mechanism/mechanism.h"

/* alike (d + 1, d): s, then m; from leaks (d, d), 0 on the diagonal, and one gain. */
void alike_errors(size_t d, const double *leak, double gain, const double *middle, double *alike);
/* sd (rows, d) grows by that; where do() set a node it stays. */
void alike_errors_add(const double *alike, const design *by, const double *z, double *sd);

#endif
