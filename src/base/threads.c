#include "base/threads.h"

#include "lscm.h"

#include <cblas.h>
#include <omp.h>
#include <pthread.h>

int threads_use(int count)
{
    int before = omp_get_max_threads();
    omp_set_num_threads(count); /* of the calling thread only */
    return before;
}

int lscm_set_threads(int count)
{
    return count > 0 ? threads_use(count) : omp_get_max_threads();
}

/* OpenBLAS has one number of threads for the whole process. */
static pthread_mutex_t the_lock = PTHREAD_MUTEX_INITIALIZER;
static int users; /* who need BLAS alone now */
static int saved; /* threads it had when the first of them came */

void threads_blas_single(void)
{
    (void)pthread_mutex_lock(&the_lock);
    if (users++ == 0) {
        saved = openblas_get_num_threads();
        openblas_set_num_threads(1);
    }
    (void)pthread_mutex_unlock(&the_lock);
}

void threads_blas_restore(void)
{
    (void)pthread_mutex_lock(&the_lock);
    if (--users == 0) {
        openblas_set_num_threads(saved);
    }
    (void)pthread_mutex_unlock(&the_lock);
}
