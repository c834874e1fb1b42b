/* z drawn row by row with the graph: whether it can be, whether it should, and from where. */
#ifndef LSCM_INFER_SAMPLE_SAMPLE_ROWS_H
#define LSCM_INFER_SAMPLE_SAMPLE_ROWS_H

#include "infer/graph/graph.h"

/* Whether z can be drawn row by row; whether it should, for z of a row is known worse than the
 * mechanisms resolve: for noise of x (joint.h does so where nodes have no anchor), or at all. */
bool anchored_rows_few(const linear_view *s);
/* The noise of x moves some z_j by what can be seen beside sigma_j. */
bool anchored_noise_matters(const anchored *a);
bool anchored_rows_noisy(const anchored *a, const anchored_input *in);
bool anchored_rows_matter(const anchored *a, const anchored_input *in);
/* keep (rows), the caller's to free: 1 for rows in which no z is cut off; all rows where those are
 * too few. */
lscm_status anchored_rows_known(const anchored *a, const anchored_input *in, uint8_t **keep,
                                lscm_error *why);
lscm_status anchored_infer_rows(anchored *a, const anchored_input *in, const graph_posterior *g,
                                lscm_error *why);

#endif
