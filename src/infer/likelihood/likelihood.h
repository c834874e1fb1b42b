/* x linear in z: encoder, noise, mechanisms and graph by one likelihood, z integrated out.
 */
#ifndef LSCM_INFER_LIKELIHOOD_LIKELIHOOD_H
#define LSCM_INFER_LIKELIHOOD_LIKELIHOOD_H

#include "infer/likelihood/likelihood_fit.h"    /* its maximum, and a quadratic there */
#include "infer/likelihood/likelihood_graphs.h" /* graphs given the quadratic */
#include "infer/likelihood/likelihood_infer.h"  /* all together */
#include "infer/likelihood/likelihood_value.h"  /* log p and its gradient */

#endif
