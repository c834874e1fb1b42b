/* Where z or its encoder is uncertain they are drawn together with graph and mechanisms: the
 * encoder by Gibbs sampling on scatters, z row by row where x is noisy or clipped.
 */
#ifndef LSCM_INFER_SAMPLE_SAMPLE_H
#define LSCM_INFER_SAMPLE_SAMPLE_H

#include "infer/sample/censor.h"        /* values at a clip, drawn */
#include "infer/sample/clip.h"          /* values at a clip, found */
#include "infer/sample/fill.h"          /* missing entries of x, drawn */
#include "infer/sample/joint.h"         /* encoder and graph */
#include "infer/sample/latent_chain.h"  /* z and graph */
#include "infer/sample/sample_chains.h" /* how many chains, and what they agree on */
#include "infer/sample/sample_rows.h"   /* whether, and from where */
#include "infer/sample/view_scatter.h"  /* scatters of y */

#endif
