/* Using an anchor: z = a + y B. */
#include "infer/anchor/anchor_values.h"

#include "base/threads.h"

#include <cblas.h>
#include <string.h>

enum { ROWS = 512 }; /* of a task */

void anchor_close(anchor *a)
{
    arena_close(&a->memory);
}

void anchor_apply(const linear_view *s, const double *intercept, const double *slope, double *z)
{
    size_t d = s->d;
    size_t r = s->rank;
    size_t tasks = (s->rows + ROWS - 1) / ROWS;
    threads_blas_single();
#pragma omp parallel for schedule(static) if (tasks > 8)
    for (size_t task = 0; task < tasks; task++) {
        size_t first = task * ROWS;
        size_t rows = s->rows - first < ROWS ? s->rows - first : ROWS;
        double *to = z + first * d;
        for (size_t i = 0; i < rows; i++) {
            memcpy(to + i * d, intercept, d * sizeof(double));
        }
        if (r > 0) {
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)d, (int)r, 1,
                        s->y + first * r, (int)r, slope, (int)d, 1, to, (int)d);
        }
    }
    threads_blas_restore();
}
