/* Posterior of encoder, mechanisms and graph where every node has labels and x is noisy: maximum
 * (likelihood_fit.h) from the anchors' z and the graph that it gives, graphs given the quadratic
 * there, again from the best of them until it stays; then draws. The quadratic is poor where the
 * information is not positive, and where graphs that it believes in fit worse or better by more
 * than it tells: then nothing is drawn, and chains have to (joint.h, latent_chain.h).
 */
#ifndef LSCM_INFER_LIKELIHOOD_LIKELIHOOD_INFER_H
#define LSCM_INFER_LIKELIHOOD_LIKELIHOOD_INFER_H

#include "infer/likelihood/likelihood_graphs.h"
#include "infer/sample/sample.h"

typedef struct likelihood_posterior {
    likelihood_sums sums;
    likelihood_fit fit;
    double *dof, *effect;  /* (d): of the fit; tau^2 */
    bool good;             /* the quadratic is not poor: there are draws */
    double seconds_spared; /* of what it took, where few draws are wanted (brief) */
    arena memory;
} likelihood_posterior;

/* Whether it can be asked of such data at all. */
bool likelihood_applies(const anchored *a, const anchored_input *in, const graph_posterior *g);
/* a: draws given z as the anchors have it, to start from. `draws` and `effect` (draws, d) may be
 * these: sigma and effect are those of a before, and of the posterior after. */
lscm_status likelihood_infer(likelihood_posterior *out, const anchored *a, const anchored_input *in,
                             const graph_posterior *g, const joint_draws *draws, double *effect,
                             lscm_error *why);
/* z (rows, d) given x and the model at the maximum, and its sd: what the noise of x leaves open,
 * and the encoder, whose covariance is spread (d, d + 1, d + 1). */
lscm_status likelihood_rows(const likelihood_posterior *p, const linear_view *s,
                            const double *spread, double *z, double *sd, lscm_error *why);
void likelihood_close(likelihood_posterior *p);

#endif
