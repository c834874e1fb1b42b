/* The baselines of the paper, a VAE and a GraphVAE, on the loop that trains everything.
 */
#ifndef LSCM_INFER_BASELINES_BASELINES_H
#define LSCM_INFER_BASELINES_BASELINES_H

#include "infer/run/run.h"

#include "infer/baselines/baseline.h"  /* both */
#include "infer/baselines/graphvae.h"  /* its prior a graph */
#include "infer/baselines/minibatch.h" /* rows at random */
#include "infer/baselines/vae.h"       /* a VAE */

/* The methods. */
lscm_status vae_fit(fit *f, lscm_posterior **out, lscm_error *why);
lscm_status graphvae_fit(fit *f, lscm_posterior **out, lscm_error *why);

#endif
