/* Named checks of a fit, in the manner of CmdStan's diagnose: what the rows say against the model
 * that was found, each with a figure, a verdict and a remedy, and which pairs of nodes the design
 * decides. The chance of any alarm where all is well is tuned_check_chance() a check.
 */
#ifndef LSCM_INFER_CHECK_CHECK_H
#define LSCM_INFER_CHECK_CHECK_H

#include "infer/check/chance.h"         /* chances of statistics */
#include "infer/check/check_columns.h"  /* columns of x by themselves */
#include "infer/check/check_design.h"   /* rows and design before any model */
#include "infer/check/check_drift.h"    /* rows alike that follow one another */
#include "infer/check/check_edges.h"    /* pairs decided or not */
#include "infer/check/check_hidden.h"   /* hidden causes of pairs */
#include "infer/check/check_input.h"    /* what is checked */
#include "infer/check/check_response.h" /* what moves whenever anything is set */
#include "infer/check/check_rows.h"     /* the rows, errors of z accounted for */
#include "infer/check/check_tests.h"    /* tests of nodes and pairs */
#include "infer/check/findings.h"       /* what they say, as JSON */
#include "infer/check/node_list.h"      /* nodes in a sentence */

/* Appends to `checks` (an array of findings.h); *edges gets what check_edges makes. */
lscm_status check_fit(json_t *checks, json_t **edges, const check_input *in, lscm_error *why);

#endif
