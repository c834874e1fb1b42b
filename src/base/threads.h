/* Threads are OpenMP's, one level deep: inside a parallel region every BLAS call runs alone.
 *
 * BLAS has one number of threads for the whole process, so those who need it alone are counted: the
 * first makes it so, the last gives it back. Hence every call of the library that computes with
 * BLAS does so between the two, and its numbers are the same whoever else computes meanwhile. */
#ifndef LSCM_BASE_THREADS_H
#define LSCM_BASE_THREADS_H

/* BLAS runs on one thread until as many calls of threads_blas_restore; they nest. */
void threads_blas_single(void);
void threads_blas_restore(void);

/* OpenMP's threads for what the calling thread does next; returns how many there were. */
int threads_use(int count);

#endif
