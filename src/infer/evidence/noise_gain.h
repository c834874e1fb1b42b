/* What laws of noise that are not normal say of graphs that normal noise does not tell apart
 * (LiNGAM: Shimizu et al. 2006): where noise is independent of the causes and at most one node's is
 * normal, what is left of a cause given its effect depends on the effect. For node i and parents pa
 *
 *     gain(i, pa) = log sum over laws P(law) p(residuals by slopes of pa | law)/p(.. | normal),
 *
 * each at the slopes (by weighted least squares, under Student's t with 4 degrees of freedom;
 * normal: least squares) and the scale that it likes best, which takes what prior and volume add to
 * be alike. Heavy tails alone tell; noise with light ones says nothing here.
 */
#ifndef LSCM_INFER_EVIDENCE_NOISE_GAIN_H
#define LSCM_INFER_EVIDENCE_NOISE_GAIN_H

#include "infer/evidence/noise_law.h"

enum { NOISE_GAIN_NODES = 8, NOISE_GAIN_ROWS = 5000 }; /* nodes, and rows that are asked, at most */

/* gain (d, 2^d), by node and mask of its parents; entries in which it is its own parent are left.
 * z (rows, d). */
lscm_status noise_gains(double *gain, const noise_grid *grid, const anchored_input *in,
                        const double *z, lscm_error *why);

#endif
