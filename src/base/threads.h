/* Threads are OpenMP's, one level deep: inside a parallel region every BLAS call runs alone. */
#ifndef LSCM_BASE_THREADS_H
#define LSCM_BASE_THREADS_H

/* Makes BLAS run on one thread; returns how many it had, for threads_blas_restore. */
int threads_blas_single(void);
void threads_blas_restore(int count);

/* OpenMP's threads for what the calling thread does next; returns how many there were. */
int threads_use(int count);

#endif
