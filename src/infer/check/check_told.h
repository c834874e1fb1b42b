/* Where z is read off with errors: what the model makes of them (check_rows.h). */
#ifndef LSCM_INFER_CHECK_CHECK_TOLD_H
#define LSCM_INFER_CHECK_CHECK_TOLD_H

#include "infer/check/check_rows.h"

/* Fills error, law, doubt, about, told and what all rows share. */
lscm_status check_told_of(check_rows *t, lscm_error *why);

#endif
