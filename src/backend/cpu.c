/* Jobs are OpenMP's, one core each, and BLAS runs alone inside them: OpenBLAS is at its best on the
 * small products of a chunk (128 rows), and no sum then depends on the number of threads. */
#include "backend/cpu.h"

#include "base/threads.h"

#include <omp.h>

static size_t workers(void)
{
    return (size_t)omp_get_max_threads();
}

static void each(size_t team, size_t jobs, backend_job job, void *self)
{
    threads_blas_single();
#pragma omp parallel for num_threads((int)team) schedule(dynamic) if (team > 1 && jobs > 1)
    for (size_t k = 0; k < jobs; k++) {
        job(self, k, (size_t)omp_get_thread_num());
    }
    threads_blas_restore();
}

const backend_device cpu_device = {
    .name = "cpu",
    .rows_least = 32,
    .rows_most = 128,
    .open = arena_open,
    .close = arena_close,
    .workers = workers,
    .each = each,
};
