/* A node given its parents: sums over the rows in which it is free, evidence of one parent set and
 * of all, draws, as a table of functions (law.h), and what a mechanism does once it is known. The
 * first law is linear with normal noise, evidence in closed form from scatters; what its families
 * gain where mechanisms may bend is added to their scores.
 *
 * Promise: nothing is ever NaN, however singular the scatters.
 */
#ifndef LSCM_INFER_MECHANISM_MECHANISM_H
#define LSCM_INFER_MECHANISM_MECHANISM_H

#include "infer/mechanism/bend_basis.h"  /* curves of a node */
#include "infer/mechanism/bends.h"       /* .. that bend */
#include "infer/mechanism/families.h"    /* all nodes, from rows of z */
#include "infer/mechanism/family.h"      /* one node, all of its parent sets */
#include "infer/mechanism/family_sums.h" /* the ways of summing */
#include "infer/mechanism/law.h"         /* what others ask of any mechanism */
#include "infer/mechanism/set_means.h"   /* what sets have of their own */
#include "scm/mechanism/mechanism.h"     /* all nodes, known */

#endif
