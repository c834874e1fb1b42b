/* Values set by do() label the causal variables: a regression per node gives z = a + y B with the
 * errors of (a, B), and says where labels are too few or tell too little.
 */
#ifndef LSCM_INFER_ANCHOR_ANCHOR_H
#define LSCM_INFER_ANCHOR_ANCHOR_H

#include "infer/anchor/anchor_state.h"  /* sets, sums and regressions, one by one */
#include "infer/anchor/anchor_values.h" /* the anchors of all nodes */

#endif
