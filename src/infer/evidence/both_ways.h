/* What leaks, by what moves both ways. Of two nodes at most one causes the other, so that of the
 * two do() at most one moves the other node. Where both do in the z that was read off x, the lesser
 * effect is no effect: the encoder took z_p for z_i. No label is needed where rows are unlike the
 * labels, which is just where labels say nothing.
 *
 * Over the rows in which i is free, z_i/u_i is regressed on (1, t_q, t_q (v_q - m_q)/u_q) of all
 * other nodes q, t_q = 1 where do() set q to v_q, m_q and u_q mean and sd of these values: the last
 * slope of p is tau_pi, with the error s_pi (by squared residuals, so that noise may differ from
 * set to set). Values are drawn for themselves: a node that is no ancestor of i has tau_pi = 0
 * whatever the others do, but for leaks l_pi, taken as N(0, lambda^2) of all pairs alike. So of a
 * pair the lesser square has, or is below one that has, the mean
 *
 *     E min(x^2, y^2) = 2/pi (A atan(b/a) + B atan(a/b) - a b),   A = a^2 = lambda^2 + s_pi^2,
 *                                                               B = b^2 = lambda^2 + s_ip^2,
 *
 * and lambda is that for which lesser squares over these means are 1 in their mean, weighted by
 * what each is worth: sum (min - E)/E^2 = 0, or 0. Where one of the two is an effect this takes
 * leaks for larger than they are, by at most 1/sqrt(1 - 2/pi) = 1.66.
 */
#ifndef LSCM_INFER_EVIDENCE_BOTH_WAYS_H
#define LSCM_INFER_EVIDENCE_BOTH_WAYS_H

#include "infer/mechanism/mechanism.h"

/* sd (d, d): of what leaks from z_p into z_i, per unit of z_p: lambda u_i/u_p, 0 on the diagonal
 * and where either was never set to different values. size: NULL, or lambda. z (rows, d): as read
 * off, values in their places. */
lscm_status leaks_both_ways(double *sd, double *size, const design *by, const double *z,
                            lscm_error *why);

/* lambda of slopes and their errors, (d, d) each; pairs that are not finite do not count. */
double leaks_size(size_t d, const double *slope, const double *error);

#endif
