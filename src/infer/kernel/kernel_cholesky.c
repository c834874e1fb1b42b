/* a = L L', one block of columns after the other. With the columns before it done,
 *
 *     a_ij -= L_i L_j'  (all columns before at once),   L_jj = chol a_jj,   L_ij = a_ij L_jj'^-1,
 *
 * each step for all blocks of rows i in parallel, every block one call of BLAS: long inner products
 * are what BLAS is fastest at, and the cut does not depend on the number of threads.
 */
#include "infer/kernel/kernel_cholesky.h"

#include "backend/cholesky_machine.h"
#include "base/tuned.h"

#include <cblas.h>
#include <lapacke.h>

enum { COLUMNS = 256, ROWS = 192, SMALL = 512 }; /* SMALL: by one thread */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

bool kernel_cholesky(float *a, size_t n)
{
    int stride = (int)n;
    for (size_t j = 0; j < n; j += COLUMNS) {
        size_t columns = least(n - j, COLUMNS);
        float *corner = a + j * n + j;
        /* the diagonal block goes with the first rows below */
        size_t blocks = (n - j + ROWS - 1) / ROWS;
        if (j > 0) {
#pragma omp parallel for schedule(dynamic) if (n > SMALL)
            for (size_t b = 0; b < blocks; b++) {
                size_t i = j + b * ROWS;
                cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)least(n - i, ROWS),
                            (int)columns, (int)j, -1, a + i * n, stride, a + j * n, stride, 1,
                            a + i * n + j, stride);
            }
        }
        /* row-major lower is column-major upper */
        if (LAPACKE_spotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)columns, corner, stride) != 0) {
            return false;
        }
        size_t below = j + columns;
        blocks = (n - below + ROWS - 1) / ROWS;
#pragma omp parallel for schedule(dynamic) if (n > SMALL)
        for (size_t b = 0; b < blocks; b++) {
            size_t i = below + b * ROWS;
            cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit,
                        (int)least(n - i, ROWS), (int)columns, 1, corner, stride, a + i * n + j,
                        stride);
        }
    }
    return n == 0 || a[n * n - 1] > 0;
}

lscm_status kernel_cholesky_on(const device *on, float *a, size_t n, bool *definite,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t minor = 0;
    if (on == NULL || on->cholesky == NULL || n < tuned_device_labels()) {
        *definite = kernel_cholesky(a, n);
        return LSCM_OK;
    }
    TRY(on->cholesky->factor(on, n, a, &minor, why));
    *definite = minor == 0;
done:
    return status;
}

void kernel_cholesky_solve(const float *l, size_t n, float *x)
{
    cblas_strsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, l, (int)n, x, 1);
    cblas_strsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)n, l, (int)n, x, 1);
}

void kernel_cholesky_rows(const float *l, size_t n, size_t rows, float *x)
{
    cblas_strsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)rows, (int)n,
                1, l, (int)n, x, (int)n);
}
