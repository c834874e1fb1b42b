/* Using an anchor: z = a + y B, with the estimate or with a draw (a_j, b_j) + F_j e, e ~ N(0, I).
 */
#include "infer/anchor/anchor_values.h"

#include "base/threads.h"

#include <cblas.h>
#include <string.h>

enum {
    ROWS = 512, /* of a task */
    MOST = 512  /* r + 1, where there are factors: d (r + 1)^2 numbers in ANCHOR_FACTOR_BYTES */
};

void anchor_close(anchor *a)
{
    arena_close(&a->memory);
}

void anchor_draw(const anchor *a, rng r, uint64_t index, double *intercept, double *slope)
{
    size_t m = a->rank + 1;
    double e[MOST];
    memcpy(intercept, a->intercept, a->d * sizeof(double));
    memcpy(slope, a->slope, a->rank * a->d * sizeof(double));
    for (size_t j = 0; a->factor != NULL && j < a->d; j++) {
        const double *f = a->factor + j * m * m;
        rng_normals(r, (index * a->d + j) * m, m, e);
        intercept[j] += f[0] * e[0];
        for (size_t i = 1; i < m; i++) {
            double sum = 0;
            for (size_t c = 0; c <= i; c++) {
                sum += f[i * m + c] * e[c];
            }
            slope[(i - 1) * a->d + j] += sum;
        }
    }
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
