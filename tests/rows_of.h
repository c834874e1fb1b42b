/* Rows in memory, as a data set over them. */
#ifndef LSCM_TESTS_ROWS_OF_H
#define LSCM_TESTS_ROWS_OF_H

#include "testing.h"

typedef struct rows_of {
    size_t n, d, D;
    double *x, *values; /* (n, D), (n, d) */
    uint8_t *targets;   /* (n, d) */
    double *a;          /* (d, D): x = z a + offset + noise; NULL where x is otherwise */
} rows_of;

static inline void drop(rows_of *r)
{
    free(r->x);
    free(r->values);
    free(r->targets);
    free(r->a);
}

static inline lscm_dataset *wrap(const rows_of *r, bool with_values)
{
    lscm_error why;
    lscm_dataset *data = NULL;
    lscm_arrays arrays = {.rows = r->n,
                          .nodes = r->d,
                          .features = r->D,
                          .x = r->x,
                          .targets = r->targets,
                          .values = with_values ? r->values : NULL};
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    return data;
}

#endif
