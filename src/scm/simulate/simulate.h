/* Simulated data: a random model, causal variables under interventions, and x made of them.
 *
 * Promise: row r is a pure function of (settings, r), made when it is read. lscm_simulate and the
 * presets of lscm.h are behind this door; the parts are here for their tests.
 */
#ifndef LSCM_SCM_SIMULATE_SIMULATE_H
#define LSCM_SCM_SIMULATE_SIMULATE_H

#include "scm/simulate/latents.h"    /* rows of z: sets, values, noise */
#include "scm/simulate/model.h"      /* a random model */
#include "scm/simulate/projection.h" /* x = g(z) */
#include "scm/simulate/slopes.h"     /* w of mechanisms that bend */

#endif
