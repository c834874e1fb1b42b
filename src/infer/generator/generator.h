/* The network from z to x, read backwards: trained in rounds, each followed by Gauss-Newton on the
 * z of all rows; what it leaves of x says how far its z is to be believed.
 */
#ifndef LSCM_INFER_GENERATOR_GENERATOR_H
#define LSCM_INFER_GENERATOR_GENERATOR_H

#include "infer/generator/generator_net.h"   /* the network */
#include "infer/generator/generator_state.h" /* its steps, one by one */

#endif
