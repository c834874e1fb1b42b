/* What is asked where a table has columns that may say what do() acted on, and nobody said so.
 * Each sentence has the flag that answers it.
 */
#ifndef LSCM_DATA_CSV_CSV_QUESTION_H
#define LSCM_DATA_CSV_CSV_QUESTION_H

#include "data/csv/csv_columns.h"

/* Neither a number nor a word for none (NA) or for infinity. */
bool csv_is_text(const csv_lines *in, const char *cell);
/* No column says what do() acted on: fails where the name of one sounds like `target` itself. */
lscm_status csv_question_header(const csv_columns *columns, const char *path, lscm_error *why);
/* Variables of the record in hand hold text: asks for the intervention column where one sounds like
 * it or holds the name of a variable, and else what to ignore. Always fails. */
lscm_status csv_question_text(const csv_columns *columns, const csv_lines *in, lscm_error *why);

#endif
