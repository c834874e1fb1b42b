/* Cholesky factors of large float32 matrices on all threads, the same numbers on any number of
 * them; or on a device. BLAS must run on one thread (base/threads.h). Matrices are row-major, lower
 * triangle. */
#ifndef LSCM_INFER_KERNEL_KERNEL_CHOLESKY_H
#define LSCM_INFER_KERNEL_KERNEL_CHOLESKY_H

#include "backend/backend.h"

/* a (n, n), lower triangle, becomes L with a = L L'; above the diagonal it is scratch. False when a
 * is not positive definite (or not finite), and a is then spoilt. */
bool kernel_cholesky(float *a, size_t n);
/* The same, by the machine of the device, where it has one and a is large enough to be sent there.
 * on: NULL is none. Fails where the device does. */
lscm_status kernel_cholesky_on(const device *on, float *a, size_t n, bool *definite,
                               lscm_error *why);
/* x (n) becomes (L L')^-1 x. */
void kernel_cholesky_solve(const float *l, size_t n, float *x);
/* Rows x (rows, n) become x L'^-1: row i is then L^-1 x_i. By one thread. */
void kernel_cholesky_rows(const float *l, size_t n, size_t rows, float *x);

#endif
