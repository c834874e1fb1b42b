/* trace.csv: the terms of the bound and, where the truth is known, every score of the step's draws.
 */
#ifndef LSCM_INFER_RUN_TRACE_H
#define LSCM_INFER_RUN_TRACE_H

#include "data/dataset/dataset.h"
#include "infer/run/trainee.h"

typedef struct trace trace;

/* `folder` NULL: nothing is written. `keep`: rows of an earlier part of the run up to that many are
 * kept (a resumed run), the rest is cut off. */
lscm_status trace_open(trace **out, const char *folder, const lscm_dataset *data, size_t draws,
                       size_t keep, lscm_error *why);
void trace_close(trace *t);
lscm_status trace_row(trace *t, const trainee *learner, size_t restart, size_t step,
                      const training_terms *terms, lscm_error *why);
/* Rows written so far, those kept included. */
size_t trace_rows(const trace *t);

#endif
