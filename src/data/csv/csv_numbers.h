/* Columns of numbers that may be no variables, looked at in the first pass: those that name or
 * count the rows, and one that may number columns or groups of rows where nobody said what do()
 * acted on.
 */
#ifndef LSCM_DATA_CSV_CSV_NUMBERS_H
#define LSCM_DATA_CSV_CSV_NUMBERS_H

#include "data/csv/csv_columns.h"

/* Of a variable, in all rows so far; entries that are missing say nothing of it. */
typedef struct csv_column_numbers {
    double first, largest; /* NaN, -inf before there is one */
    bool counts;           /* one more in every row */
    bool whole;
    bool small; /* whole, from -1 to the number of columns */
    bool minus; /* -1 is there */
    bool varies;
} csv_column_numbers;

typedef struct csv_numbers {
    size_t rows;
    csv_column_numbers *of; /* (variables) */
} csv_numbers;

lscm_status csv_numbers_open(csv_numbers *numbers, const csv_columns *columns, lscm_error *why);
/* x (variables) of the next row, NaN where it is missing. */
void csv_numbers_look(csv_numbers *numbers, const csv_columns *columns, const double *x);
/* After the last: fails where a column is to be asked for, or left out. */
lscm_status csv_numbers_judge(const csv_numbers *numbers, const csv_columns *columns,
                              const char *path, lscm_error *why);
/* A variable that counts the rows and was let pass; `variables` when none. */
size_t csv_numbers_counter(const csv_numbers *numbers, const csv_columns *columns);
/* Safe on a zeroed struct. */
void csv_numbers_close(csv_numbers *numbers);

#endif
