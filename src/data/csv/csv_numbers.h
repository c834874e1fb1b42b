/* Columns of numbers that may be no variables, looked at in the first pass: one that counts the
 * rows, and the only one that sounds like targets, where it holds what could be numbers of columns.
 */
#ifndef LSCM_DATA_CSV_CSV_NUMBERS_H
#define LSCM_DATA_CSV_CSV_NUMBERS_H

#include "data/csv/csv_columns.h"

typedef struct csv_numbers {
    size_t rows;
    double *first;  /* (variables): in the first row */
    bool *counts;   /* (variables): one more in every row */
    size_t suspect; /* the variable that may number nodes, or `variables` */
    bool varies;    /* it has two numbers */
} csv_numbers;

lscm_status csv_numbers_open(csv_numbers *numbers, const csv_columns *columns, lscm_error *why);
/* x (variables) of the next row. */
void csv_numbers_look(csv_numbers *numbers, const csv_columns *columns, const double *x);
/* After the last: fails where a column is to be asked for, or left out. */
lscm_status csv_numbers_judge(const csv_numbers *numbers, const csv_columns *columns,
                              const char *path, lscm_error *why);
/* A variable that counts the rows and was let pass; `variables` when none. */
size_t csv_numbers_counter(const csv_numbers *numbers, const csv_columns *columns);
/* Safe on a zeroed struct. */
void csv_numbers_close(csv_numbers *numbers);

#endif
