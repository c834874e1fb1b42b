/* The rows of a family as columns, errors of z put back (check_family.h): 1, its functions, which
 * parents do() set, the functions where do() set a parent of theirs and where it did not, y.
 */
#ifndef LSCM_INFER_CHECK_CHECK_GATHER_H
#define LSCM_INFER_CHECK_CHECK_GATHER_H

#include "infer/check/check_functions.h"
#include "infer/check/regression.h"

typedef struct check_work {
    size_t most;      /* columns at most */
    size_t terms;     /* of a family, at most */
    regression r;     /* wide: of the family at hand */
    double *rest;     /* (n): y less its regression on the functions */
    double *joint;    /* (d, 2 d + 1) each */
    double *turn;     /* (d, d): S_PP G^-1 */
    double *take;     /* (d): G^-1 O_Pi */
    double *share;    /* (sets): what rows of a set were weighed by .. */
    double *part;     /* (sets): .. and of its means taken off */
    double *solution; /* (wide) */
    double *z;        /* (d): a row, errors put back */
    size_t *parent;   /* (d) */
    size_t parents;
    const check_functions *f; /* of the family at hand */
    arena memory;
} check_work;

enum { CHECK_ALL = -1 };

lscm_status check_work_open(check_work *out, const check_rows *t, lscm_error *why);
void check_work_close(check_work *q);
/* Begins with this family. */
void check_work_take(check_work *q, const check_rows *t, size_t g, size_t i,
                     const check_functions *f);

/* Rows in which i is free; returns the degrees of freedom, less what the sets' intercepts take. */
double check_gather(const check_rows *t, check_work *q, size_t i, size_t *rows);
/* Rows in which do() set i to values that differ within their set. */
double check_gather_set(const check_rows *t, check_work *q, size_t i, size_t *rows);
/* Takes `part` of the mean off each column of rows first .. last - 1, then multiplies by `times`.
 */
void check_centre(double *x, size_t wide, size_t first, size_t last, double part, double times);

/* Columns to regress on, in the place of those from `at` on; return where they end. 1 and all
 * functions, but those that parent `without` has a part in. */
size_t check_plain(const check_work *q, size_t without);
/* Which parents do() set. */
size_t check_add_is_set(const check_work *q, size_t at);
/* Functions where do() set (`set`), or left free, parent `of`, or CHECK_ALL that they have; the
 * first `most` of each term. */
size_t check_add_where(const check_work *q, bool set, long of, size_t most, size_t at);

#endif
