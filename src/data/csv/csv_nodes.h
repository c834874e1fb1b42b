/* Latent nodes that a column of targets names, as they are met: names in the order in which they
 * appear, or numbers from 0 where every word is one; then there are as many nodes as the largest
 * needs, and none has a name.
 */
#ifndef LSCM_DATA_CSV_CSV_NODES_H
#define LSCM_DATA_CSV_CSV_NODES_H

#include "data/text/text.h"

typedef struct csv_nodes {
    void *tree;   /* of csv_named, by name, whatever the case */
    char **names; /* (named) */
    size_t named, capacity;
    bool words;  /* some name is no number */
    size_t past; /* the largest number, and 1 */
} csv_nodes;

/* `added` says whether it is new. Fails where it differs from one that is there by case alone. */
lscm_status csv_nodes_add(csv_nodes *nodes, const csv_lines *in, const char *word, bool *added,
                          lscm_error *why);
size_t csv_nodes_count(const csv_nodes *nodes);
/* The node, or csv_nodes_count where it was never added. */
size_t csv_nodes_find(const csv_nodes *nodes, const char *word, locale_t c);
/* Safe on a zeroed struct. */
void csv_nodes_close(csv_nodes *nodes);

#endif
