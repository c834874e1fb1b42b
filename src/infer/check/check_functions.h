/* What a node is regressed on: of every parent z itself, or where the node bends its curves
 * (scm/mechanism/curves.h), and the products of two parents' that its draws have.
 */
#ifndef LSCM_INFER_CHECK_CHECK_FUNCTIONS_H
#define LSCM_INFER_CHECK_CHECK_FUNCTIONS_H

#include "infer/check/check_rows.h"

typedef struct check_term {
    size_t parent[2]; /* both are the same where it is one parent's alone */
    size_t first, width;
} check_term;

typedef struct check_functions {
    size_t terms, count; /* functions */
    bool bent;
    check_term *term;
} check_functions;

static inline bool check_term_has(const check_term *e, size_t parent)
{
    return e->parent[0] == parent || e->parent[1] == parent;
}

/* How many parents the term is of. */
static inline size_t check_term_parents(const check_term *e)
{
    return e->parent[0] == e->parent[1] ? 1 : 2;
}

/* Of node i in graph g; term: room for all, or NULL to count them. */
check_functions check_functions_of(const check_rows *t, size_t g, size_t i, check_term *term);
/* out (count): at z (d), in units. */
void check_functions_at(const check_functions *f, const check_rows *t, const double *z,
                        double *out);

/* The sum of coef (count) times these. */
double check_functions_sum(const check_functions *f, const check_rows *t, const double *coef,
                           const double *z);

#endif
