/* What the header of a table says: which column is what.
 *
 *     raf, mek, ...            a variable: a column of x
 *     target, --target-column  what do() acted on, by name or number: see csv_do.h
 *     value, --value-column    .. and what it set, for latent variables
 *     do:NAME                  what do() set node NAME to, one column per latent node
 *     z:NAME                   the truth of that node
 *     (no name), first         row names, as R and pandas write them; left out
 *
 * Columns of words (csv_survey.h) are left out where it is known what do() acted on; else they are
 * asked for.
 */
#ifndef LSCM_DATA_CSV_CSV_COLUMNS_H
#define LSCM_DATA_CSV_CSV_COLUMNS_H

#include "data/text/text.h"

typedef enum csv_role {
    CSV_VARIABLE,
    CSV_IGNORED, /* by --ignore, or since it holds words */
    CSV_ROW_NAMES,
    CSV_TARGET,
    CSV_VALUE,
    CSV_DO,
    CSV_Z
} csv_role;

/* What a column of that role is called, before the name of its node. */
#define CSV_DO_PREFIX "do:"
#define CSV_Z_PREFIX "z:"
#define CSV_TARGET_NAME "target"
#define CSV_VALUE_NAME "value"
/* In a column do:NAME: it was set, to what nobody recorded. */
#define CSV_UNRECORDED "set"

/* What was seen in the cells of a column, and the first text there. */
enum {
    CSV_SEEN_NUMBER = 1,
    CSV_SEEN_TEXT = 2,
    CSV_SEEN_NAME = 4,      /* of another column */
    CSV_SEEN_CONTROL = 8,   /* a word for no target */
    CSV_SEEN_MEASURED = 16, /* text that may be meant for a number */
    CSV_SEEN_AGAIN = 32     /* the first text once more */
};
typedef struct csv_seen {
    unsigned what;
    size_t line;
    char text[48];
} csv_seen;

typedef struct csv_columns {
    size_t count;   /* columns in the file */
    char **names;   /* (count) */
    csv_role *role; /* (count) */
    size_t *number; /* (count): of a variable or of a node, by role */
    size_t *column; /* (variables): where in the file it is */
    size_t variables;
    size_t target, value; /* columns, or count */
    bool value_said;      /* by --value-column */
    bool said;            /* it is known what do() acted on, be it nothing .. */
    bool told;            /* .. by --target-column */
    csv_seen *seen;       /* (count): by csv_survey */
    size_t *acts;         /* (nodes): the column do:NAME */
    size_t nodes;         /* that have one */
    bool truth;           /* they have z:NAME, too */
    csv_names by_name;
} csv_columns;

/* From the first record of a file, which `in` holds, and where there is text from all others; `in`
 * is then again behind the first. */
lscm_status csv_columns_open(csv_columns *columns, csv_lines *in, const lscm_open_options *options,
                             lscm_error *why);
/* The name of a node, of its column do:NAME. */
const char *csv_columns_node(const csv_columns *columns, size_t node);
/* As many cells as columns. */
lscm_status csv_columns_check(const csv_columns *columns, const csv_lines *in, lscm_error *why);
/* x (variables), NaN where it is missing, and z (nodes) of one record. */
lscm_status csv_columns_x(const csv_columns *columns, csv_lines *in, double *x, lscm_error *why);
lscm_status csv_columns_z(const csv_columns *columns, csv_lines *in, double *z, lscm_error *why);
/* Safe on a zeroed struct. */
void csv_columns_close(csv_columns *columns);

#endif
