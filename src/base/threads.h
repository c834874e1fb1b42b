/* Threads are OpenMP's, one level deep: inside a parallel region every BLAS call runs alone. */
#ifndef LSCM_BASE_THREADS_H
#define LSCM_BASE_THREADS_H

/* Makes BLAS run on one thread; returns how many it had, for threads_blas_restore. */
int threads_blas_single(void);
void threads_blas_restore(int count);

#endif
