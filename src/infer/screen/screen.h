/* Candidate parents when there are too many nodes for tables over all sets of them. Over the rows
 * in which node i is free,
 *
 *   1. near (screen_near.c): forward selection of the nodes that explain z_i, whatever the
 *      direction; with few nodes, all others;
 *   2. a graph (screen_order.c, screen_climb.c): one that fits well, by its edges, from an order
 *      that rows in which do() sets a node tell, and from nothing;
 *   3. candidates (screen.c): near nodes ranked by what there is against an edge between them and i
 *      (screen_price.c), which does not depend on its direction, and by what do() has against this
 *      direction. So the neighbours of i in that graph, those it has a child with and what is
 *      doubtful are candidates both ways, unless do() has decided.
 *
 * A guess, not a posterior: it only has to keep the true parents, and whatever the data cannot tell
 * from them. Deterministic, also in the number of threads.
 */
#ifndef LSCM_INFER_SCREEN_SCREEN_H
#define LSCM_INFER_SCREEN_SCREEN_H

#include "infer/mechanism/mechanism.h"

/* What else the screen is told and tells. */
typedef struct screen_terms {
    size_t usual;   /* candidates of a node without more neighbours than that; 0: as many as fit */
    size_t *order;  /* (d) or NULL: becomes one of the graph found, a start for sampling orders */
    size_t crowded; /* becomes the number of edges of that graph whose other direction had no room
                     * although do() has not decided */
    size_t hub;     /* the node that had none for most of them */
} screen_terms;

/* Fills count and candidate of `lists`, at most `most` each; with few nodes, all others. forbidden
 * (d, d) or NULL: [j][i] = 1 for j -> i. terms may be NULL. Fails when a node has more required
 * parents than `most`, or one edge is both required and forbidden. */
lscm_status screen_candidates(const latent_rows *rows, const uint8_t *forbidden,
                              const candidate_lists *lists, screen_terms *terms,
                              const lscm_progress *progress, lscm_error *why);

#endif
