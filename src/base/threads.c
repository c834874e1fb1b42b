#include "base/threads.h"

#include "lscm.h"

#include <cblas.h>
#include <omp.h>

int threads_use(int count)
{
    int before = omp_get_max_threads();
    omp_set_num_threads(count); /* of the calling thread only */
    return before;
}

void lscm_set_threads(int count)
{
    if (count > 0) {
        (void)threads_use(count);
    }
}

int threads_blas_single(void)
{
    int count = openblas_get_num_threads();
    openblas_set_num_threads(1);
    return count;
}

void threads_blas_restore(int count)
{
    openblas_set_num_threads(count);
}
