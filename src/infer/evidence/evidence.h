/* What a row is worth: rows that are not independent, and rows whose z is read off worse, count
 * for less.
 */
#ifndef LSCM_INFER_EVIDENCE_EVIDENCE_H
#define LSCM_INFER_EVIDENCE_EVIDENCE_H

#include "infer/evidence/dispersion.h"  /* rows of a set are alike */
#include "infer/evidence/row_weights.h" /* rows are read off unevenly */

#endif
