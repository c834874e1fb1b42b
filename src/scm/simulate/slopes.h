/* w of mechanisms that bend: the mean slope over the rows of the data,
 *
 *     w_ji = 1/N sum_r df_i/dz_j (z_r),
 *
 * z as causes act, before it is clipped, whether or not do() set node i. It marks the edges, too,
 * so it is never nearer to 0 than 1e-9: there it is that, with its sign. Of more than 16 384 rows
 * 128 stretches of 128, evenly spread, are taken. The same bits for any number of threads.
 */
#ifndef LSCM_SCM_SIMULATE_SLOPES_H
#define LSCM_SCM_SIMULATE_SLOPES_H

#include "scm/simulate/latents.h"

/* Fills w of a bent model; rows: N of the data that the settings make. */
lscm_status slopes_average(scm_model *model, const lscm_simulation *settings, size_t rows,
                           lscm_error *why);

#endif
