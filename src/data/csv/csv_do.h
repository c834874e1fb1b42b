/* What do() did in a record of a table: targets (nodes) and values (nodes).
 *
 *     columns do:NAME      latent nodes: the value where it was set, `set` where it was set to what
 *                          nobody recorded, nothing elsewhere
 *     target and value     latent nodes: names or numbers of nodes joined by ';', and their values
 *     target alone         the variables are observed, and the nodes: names or numbers of columns
 *                          joined by ';'; numbers count the columns that are or could be variables
 *                          from 0, ignored ones included, so that --ignore does not change what a
 *                          file means; where a name is also a number, the name counts
 *     none of these        observed variables that nobody touched
 *
 * In a column of targets nothing, -1 and the words of --control are none.
 */
#ifndef LSCM_DATA_CSV_CSV_DO_H
#define LSCM_DATA_CSV_CSV_DO_H

#include "data/csv/csv_columns.h"
#include "data/csv/csv_nodes.h"

typedef struct csv_do {
    const csv_columns *columns; /* the caller's */
    char *control;              /* words, or NULL: the usual ones */
    csv_nodes nodes;            /* of target and value */
    size_t valued, unvalued;    /* lines of a do:NAME with a value and without one, or 0 */
    bool numbered;              /* some target is the number of a column */
} csv_do;

/* `columns` must outlive it. */
lscm_status csv_do_open(csv_do *did, const csv_columns *columns, const char *control,
                        lscm_error *why);
/* A first pass: every record is checked, and its nodes become known. Cuts up cells. */
lscm_status csv_do_learn(csv_do *did, csv_lines *in, lscm_error *why);
/* After the last. */
lscm_status csv_do_learnt(const csv_do *did, const char *path, lscm_error *why);
/* targets (nodes) and values (nodes) of a record, either may be NULL. Cuts up cells. */
lscm_status csv_do_read(const csv_do *did, csv_lines *in, uint8_t *targets, double *values,
                        lscm_error *why);
/* Are nodes not columns of x, and does the file say what do() set them to? */
bool csv_do_latent(const csv_do *did);
bool csv_do_valued(const csv_do *did);
size_t csv_do_nodes(const csv_do *did);
/* NULL where they are only numbered. */
const char *csv_do_node_name(const csv_do *did, size_t node);
/* The column that target 0 means. */
const char *csv_do_first(const csv_do *did);
/* Safe on a zeroed struct. */
void csv_do_close(csv_do *did);

#endif
