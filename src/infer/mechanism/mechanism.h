/* A node given its parents. Evidence of every family in closed form from the scatters of the rows
 * in which the node is free, and draws of weights, intercept and noise.
 *
 * Promise: nothing is ever NaN, however singular the scatters.
 */
#ifndef LSCM_INFER_MECHANISM_MECHANISM_H
#define LSCM_INFER_MECHANISM_MECHANISM_H

#include "infer/mechanism/families.h"    /* all nodes, from rows of z */
#include "infer/mechanism/family.h"      /* one node, all of its parent sets */
#include "infer/mechanism/family_sums.h" /* the ways of summing */

#endif
