/* trace.csv: the terms of the bound and, where the truth is known, every score of the step's draws;
 * or what a learner with a course of its own has to say. */
#ifndef LSCM_INFER_RUN_TRACE_H
#define LSCM_INFER_RUN_TRACE_H

#include "infer/run/fit_state.h"
#include "infer/run/trainee.h"

typedef struct trace trace;

/* `keep`: rows of an earlier part of the run up to that many are kept (a resumed run), the rest is
 * cut off. Without a folder of the run nothing is written. */
lscm_status trace_open(trace **out, const fit *f, const trainee *learner, size_t keep,
                       lscm_error *why);
void trace_close(trace *t);
/* Of the step just taken: a row with a course of its own, where there is one; or of the terms. */
lscm_status trace_course(trace *t, lscm_error *why);
lscm_status trace_row(trace *t, size_t restart, size_t step, const training_terms *terms,
                      lscm_error *why);
/* Rows written so far, those kept included. */
size_t trace_rows(const trace *t);

#endif
