/* What a row is worth: rows that are not independent, and rows whose z is read off worse, count
 * for less; what all rows have wrong alike.
 */
#ifndef LSCM_INFER_EVIDENCE_EVIDENCE_H
#define LSCM_INFER_EVIDENCE_EVIDENCE_H

#include "infer/evidence/alike_errors.h"  /* sd of z, with what all rows have wrong */
#include "infer/evidence/both_ways.h"     /* what leaks */
#include "infer/evidence/noise_gain.h"    /* .. and what it says of directions */
#include "infer/evidence/noise_law.h"     /* noise that is not normal: what each row counts */
#include "infer/evidence/refuted.h"       /* edges that do() refutes */
#include "infer/evidence/row_weights.h"   /* rows are read off unevenly */
#include "infer/evidence/uneven_slopes.h" /* slopes differ from set to set */

#endif
