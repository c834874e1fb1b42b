/* q(order): Gumbel-Sinkhorn permutations, soft and hard, and their normaliser, the permanent.
 */
#ifndef LSCM_INFER_ORDERING_ORDERING_H
#define LSCM_INFER_ORDERING_ORDERING_H

#include "infer/ordering/order_law.h" /* the law, from a network */
#include "infer/ordering/permanent.h" /* the normaliser */
#include "infer/ordering/sinkhorn.h"  /* soft permutations */

#endif
