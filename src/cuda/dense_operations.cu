/* The operations of a queue: see dense_kernels.h for what each does. */
#include "cuda/dense_kernels.h"

static void copy(const device *on, size_t n, const float *x, float *y)
{
    cuda_queue *q = cuda_queue_of(on);
    cuda_queue_check(q, cudaMemcpyAsync(y, x, n * sizeof *y, cudaMemcpyDeviceToDevice, q->stream));
}

static void fill(const device *on, size_t n, float value, float *x)
{
    DENSE_OVER(cuda_queue_of(on), n, dense_fill, value, x);
}

static void scale(const device *on, size_t n, float factor, float *x)
{
    DENSE_OVER(cuda_queue_of(on), n, dense_scale, factor, x);
}

static void axpy(const device *on, size_t n, float factor, const float *x, float *y)
{
    DENSE_OVER(cuda_queue_of(on), n, dense_axpy, factor, x, y);
}

static void gemm(const device *on, const product_f32 *p)
{
    cuda_queue *q = cuda_queue_of(on);
    if (p->m > 0 && p->n > 0) {
        dense_gemm_run(&q->gemm, q->stream, p);
        cuda_queue_check(q, cudaGetLastError());
    }
}

static void activate(const device *on, activation f, size_t rows, size_t cols, const float *bias,
                     float *h, float *slope)
{
    if (f != ACTIVATION_IDENTITY || bias != NULL) {
        DENSE_OVER(cuda_queue_of(on), rows * cols, dense_activate, f, cols, bias, h,
                   f != ACTIVATION_IDENTITY ? slope : NULL);
    }
}

static void activate_back(const device *on, size_t rows, size_t cols, const float *slope, float *d,
                          float beta, float *bias)
{
    cuda_queue *q = cuda_queue_of(on);
    if (slope != NULL) {
        DENSE_OVER(q, rows * cols, dense_multiply, slope, d);
    }
    if (bias != NULL && cols > 0) {
        LAUNCH(dense_column_sums, (cols + DENSE_SIDE - 1) / DENSE_SIDE,
               dim3(DENSE_SIDE, DENSE_SIDE), 0, q->stream, rows, cols, d, beta, bias);
        cuda_queue_check(q, cudaGetLastError());
    }
}

static void norm(const device *on, const batch_norm_f32 *b, size_t rows, const float *parameters,
                 float *y, float *a, float *running)
{
    cuda_queue *q = cuda_queue_of(on);
    LAUNCH(dense_norm, b->cols, DENSE_NORM, 0, q->stream, *b, rows, parameters, y, a, running);
    cuda_queue_check(q, cudaGetLastError());
}

static void norm_back(const device *on, const batch_norm_f32 *b, size_t rows,
                      const float *parameters, const float *d, float *u, float *gradient)
{
    cuda_queue *q = cuda_queue_of(on);
    LAUNCH(dense_norm_back, b->cols, DENSE_NORM, 0, q->stream, *b, rows, parameters, d, u,
           gradient);
    cuda_queue_check(q, cudaGetLastError());
}

static void unit(const device *on, size_t n, float *x)
{
    cuda_queue *q = cuda_queue_of(on);
    size_t parts = dense_blocks(n) < (size_t)DENSE_SUMS ? dense_blocks(n) : (size_t)DENSE_SUMS;
    if (n > 0) {
        LAUNCH(dense_squares, parts, DENSE_THREADS, 0, q->stream, n, x, q->part);
        DENSE_OVER(q, n, dense_unit, parts, q->part, x);
    }
}

static void adam(const device *on, size_t n, const backend_adam *step, float *parameters,
                 const float *gradient, float *m, float *s)
{
    DENSE_OVER(cuda_queue_of(on), n, dense_adam, *step, parameters, gradient, m, s);
}

static void momentum(const device *on, size_t n, float keep, const float *gradient, float *m,
                     float *u)
{
    DENSE_OVER(cuda_queue_of(on), n, dense_momentum, keep, gradient, m, u);
}

static void descend(const device *on, size_t n, const backend_dial *dial, double decay, double size,
                    const float *u, float *w)
{
    DENSE_OVER(cuda_queue_of(on), n, dense_descend, dial, decay, size, u, w);
}

const backend_f32 dense_f32 = {.gemm = gemm,
                               .activate = activate,
                               .activate_back = activate_back,
                               .norm = norm,
                               .norm_back = norm_back,
                               .fill = fill,
                               .copy = copy,
                               .scale = scale,
                               .axpy = axpy,
                               .sum_squares = NULL, /* the host has to wait for sums */
                               .residual = NULL,
                               .unit = unit,
                               .adam = adam,
                               .momentum = momentum,
                               .descend = descend};

void dense_rows_gather(dense_queue *head, size_t n, size_t cols, const uint32_t *row,
                       const float *from, float *to)
{
    DENSE_OVER(cuda_queue_of(&head->on), n * cols, dense_gather, cols, row, from, to);
}

void dense_rows_misfit(dense_queue *head, const dense_misfit *m)
{
    cuda_queue *q = cuda_queue_of(&head->on);
    size_t threads = DENSE_SIDE;
    while (threads < m->cols && threads < (size_t)DENSE_THREADS) {
        threads *= 2;
    }
    if (m->rows > 0) {
        LAUNCH(dense_misfit_rows, m->rows, threads, 0, q->stream, *m);
        cuda_queue_check(q, cudaGetLastError());
    }
}

void dense_rows_tally(dense_queue *head, size_t n, double factor, const double *squares,
                      dense_tally *t)
{
    cuda_queue *q = cuda_queue_of(&head->on);
    LAUNCH(dense_tally_up, 1, DENSE_THREADS, 0, q->stream, n, factor, squares, t);
    cuda_queue_check(q, cudaGetLastError());
}
