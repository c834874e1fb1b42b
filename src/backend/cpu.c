/* Jobs are OpenMP's, one core each, and BLAS runs alone inside them: OpenBLAS is at its best on the
 * small products of a chunk (128 rows), and no sum then depends on the number of threads. */
#include "backend/cpu.h"

#include "base/threads.h"

#include <omp.h>

static lscm_status claim(const device *on, arena *a, lscm_error *why)
{
    (void)on;
    return arena_open(a, why);
}

static void release(const device *on, arena *a)
{
    (void)on;
    arena_close(a);
}

static size_t workers(const device *on)
{
    (void)on;
    return (size_t)omp_get_max_threads();
}

static void each(const device *on, size_t team, size_t jobs, backend_job job, void *self)
{
    (void)on;
    threads_blas_single();
#pragma omp parallel for num_threads((int)team) schedule(dynamic) if (team > 1 && jobs > 1)
    for (size_t k = 0; k < jobs; k++) {
        job(self, k, (size_t)omp_get_thread_num());
    }
    threads_blas_restore();
}

/* What is used after it is found out at once. */
static void forget(device *on)
{
    *on = (device){0};
}

lscm_status cpu_open(device *out, lscm_error *why)
{
    (void)why;
    *out = (device){
        .name = "cpu",
        .rows_least = 32,
        .rows_most = 128,
        .backend_f32 = &cpu_f32,
        .backend_f64 = &cpu_f64,
        .claim = claim,
        .release = release,
        .workers = workers,
        .each = each,
        .close = forget,
    };
    return LSCM_OK;
}
