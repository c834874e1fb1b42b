/* What the header of a CSV of data says, and its records by that: which column is which variable,
 * which are ignored, which holds the targets.
 *
 * A target is a column by name or by number; numbers count the columns other than `target` from 0,
 * ignored ones included, so that --ignore does not change what a file means. Where a name is also
 * a number, the name counts. Several are joined by ';'; nothing or -1 is none.
 */
#ifndef LSCM_DATA_CSV_CSV_COLUMNS_H
#define LSCM_DATA_CSV_CSV_COLUMNS_H

#include "data/text/text.h"

#define CSV_IGNORED SIZE_MAX /* in place of a variable */

typedef struct csv_columns {
    size_t count;     /* columns in the file */
    char **names;     /* (count) */
    size_t *variable; /* (count): its number, or CSV_IGNORED */
    size_t *column;   /* (variables): where in the file it is */
    size_t variables;
    size_t target; /* the column of that name, or count */
    csv_names by_name;
} csv_columns;

/* From the first record of a file. */
lscm_status csv_columns_open(csv_columns *columns, const csv_lines *header, const char *ignore,
                             lscm_error *why);
/* As many cells as columns. */
lscm_status csv_columns_check(const csv_columns *columns, const csv_lines *in, lscm_error *why);
/* x (variables) and targets (variables) of one record; the second cuts up its cell. */
lscm_status csv_columns_x(const csv_columns *columns, const csv_lines *in, double *x,
                          lscm_error *why);
lscm_status csv_columns_targets(const csv_columns *columns, const csv_lines *in, uint8_t *targets,
                                lscm_error *why);
/* Safe on a zeroed struct. */
void csv_columns_close(csv_columns *columns);

#endif
