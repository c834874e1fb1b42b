/* What stands in the columns that may hold text, looked at before they are taken for anything: a
 * column is asked for, or left out, by all of its cells and not by its first.
 */
#ifndef LSCM_DATA_CSV_CSV_SURVEY_H
#define LSCM_DATA_CSV_CSV_SURVEY_H

#include "data/csv/csv_columns.h"

/* Neither a number nor a word for none (NA) or for infinity. */
bool csv_is_text(const csv_lines *in, const char *cell);
/* Looks at the record in hand and all that follow, in the columns that are variables so far and
 * whose cell there is no number; fills columns->seen. Costs nothing where there is no such cell.
 * Cuts up cells and ends at the end of the file. */
lscm_status csv_survey(const csv_columns *columns, csv_lines *in, lscm_error *why);
/* Nothing but text that nobody could have meant for numbers: neither "5.2 mg" nor TRUE. */
bool csv_is_words(const csv_columns *columns, size_t column);

#endif
