/* What is asked of an inference over graphs, and what it answers. Everything between an encoder
 * and a posterior speaks in these two.
 */
#ifndef LSCM_INFER_PROBLEM_PROBLEM_H
#define LSCM_INFER_PROBLEM_PROBLEM_H

#include "infer/problem/anchored_draws.h" /* the answer */
#include "infer/problem/anchored_input.h" /* the question */

#endif
