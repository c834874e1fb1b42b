/* What is asked where a table has columns that may say what do() acted on, and nobody said so.
 * Each sentence has the flag that answers it.
 */
#ifndef LSCM_DATA_CSV_CSV_QUESTION_H
#define LSCM_DATA_CSV_CSV_QUESTION_H

#include "data/csv/csv_columns.h"

/* No column says what do() acted on: fails where the name of one sounds like `target` itself,
 * like values, or like do:NAME. */
lscm_status csv_question_header(const csv_columns *columns, const char *path, lscm_error *why);
/* Columns hold text (columns->seen), and no column says what do() acted on: asks for the one that
 * names variables, sounds like it, has a word for control in it, or at least the same word twice,
 * and says how to leave the others out. Fine where no column of a variable holds text. */
lscm_status csv_question_text(const csv_columns *columns, const char *path, lscm_error *why);
/* It is known what do() acted on, but a column of text names variables, too. */
lscm_status csv_question_second(const csv_columns *columns, const char *path, lscm_error *why);
/* `column` holds whole numbers that could be those of columns. */
lscm_status csv_question_numbers(const csv_columns *columns, const char *path, size_t column,
                                 lscm_error *why);

#endif
