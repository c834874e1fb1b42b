/* Row-major views: a window on memory that somebody else owns. */
#ifndef LSCM_BASE_VIEW_H
#define LSCM_BASE_VIEW_H

#include <stddef.h>

typedef struct view {
    double *data;
    size_t rows, cols;
    size_t stride; /* doubles from one row to the next */
} view;

static inline view view_of(double *data, size_t rows, size_t cols)
{
    return (view){data, rows, cols, cols};
}

static inline double *view_row(view v, size_t row)
{
    return v.data + row * v.stride;
}

static inline view view_rows(view v, size_t first, size_t count)
{
    return (view){view_row(v, first), count, v.cols, v.stride};
}

#endif
