/* A whole field of a data set. */
#ifndef LSCM_TESTS_READ_ALL_H
#define LSCM_TESTS_READ_ALL_H

#include "testing.h"

/* Its numbers; the caller frees them. How many goes to *count, unless that is NULL. */
static inline double *read_all(const lscm_dataset *data, lscm_field field, size_t *count)
{
    lscm_error why;
    lscm_shape shape = lscm_dataset_shape(data, field);
    size_t numbers = 1;
    for (int i = 0; i < shape.ndim; i++) {
        numbers *= shape.dims[i];
    }
    double *out = malloc(numbers * sizeof *out);
    assert_non_null(out);
    assert_ok(lscm_dataset_read(data, field, 0, shape.dims[0], out, &why));
    if (count != NULL) {
        *count = numbers;
    }
    return out;
}

#endif
