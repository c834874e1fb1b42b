/* The operations of backend/backend_table.h and net/dense_machine.h on a device, in float32, one
 * kernel each (sums over everything: two). A thread has every so-many-th element; what is added up
 * is added in an order that depends on shapes alone. A NaN that goes in comes out.
 */
#ifndef LSCM_CUDA_DENSE_KERNELS_H
#define LSCM_CUDA_DENSE_KERNELS_H

#include "cuda/dense_activation.h"
#include "cuda/dense_block.h"

#include <stdint.h>

/* ---- Layers ---- */

/* h (n) of `cols` columns; bias, slope: or NULL */
static __global__ void dense_activate(size_t n, activation f, size_t cols, const float *bias,
                                      float *h, float *slope)
{
    DENSE_EACH(i, n)
    {
        float a = bias != NULL ? h[i] + bias[i % cols] : h[i];
        float2 p = dense_activation(f, a);
        h[i] = p.x;
        if (slope != NULL) {
            slope[i] = p.y;
        }
    }
}

static __global__ void dense_multiply(size_t n, const float *x, float *y)
{
    DENSE_EACH(i, n)
    {
        y[i] *= x[i];
    }
}

/* sums (cols) <- beta sums + those of d (rows, cols) */
static __global__ void dense_column_sums(size_t rows, size_t cols, const float *d, float beta,
                                         float *sums)
{
    __shared__ float part[DENSE_SIDE][DENSE_SIDE + 1];
    size_t c = (size_t)blockIdx.x * DENSE_SIDE + threadIdx.x;
    float mine = 0;
    for (size_t r = threadIdx.y; r < rows && c < cols; r += DENSE_SIDE) {
        mine += d[r * cols + c];
    }
    part[threadIdx.y][threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.y == 0 && c < cols) {
        float sum = beta == 0 ? 0 : beta * sums[c];
        for (int k = 0; k < DENSE_SIDE; k++) {
            sum += part[k][threadIdx.x];
        }
        sums[c] = sum;
    }
}

/* ---- Batch normalisation: a column a block ---- */

static __global__ void dense_norm(batch_norm_f32 b, size_t rows, const float *parameters, float *y,
                                  float *a, float *running)
{
    const size_t c = blockIdx.x;
    const double n = (double)rows;
    double sum = 0;
    for (size_t r = threadIdx.x; r < rows; r += blockDim.x) {
        sum += (double)y[r * b.cols + c];
    }
    const double mean = dense_block_sum(sum) / n;
    double squares = 0;
    for (size_t r = threadIdx.x; r < rows; r += blockDim.x) {
        double left = (double)y[r * b.cols + c] - mean;
        squares += left * left;
    }
    const double variance = dense_block_sum(squares) / n;
    const double inverse = 1 / sqrt(variance + BATCH_NORM_EPSILON);
    for (size_t r = threadIdx.x; r < rows; r += blockDim.x) {
        size_t i = r * b.cols + c;
        float u = (float)((double)y[i] - mean) * (float)inverse;
        y[i] = u;
        a[i] = parameters[b.cols + c] * u + parameters[c];
    }
    if (threadIdx.x == 0) {
        b.inverse[c] = inverse;
    }
    if (threadIdx.x == 0 && running != NULL) {
        double to = (rows > 1 ? n / (n - 1) : 1) * variance;
        running[c] += (float)(BATCH_NORM_NEWEST * (mean - (double)running[c]));
        running[b.cols + c] += (float)(BATCH_NORM_NEWEST * (to - (double)running[b.cols + c]));
    }
}

static __global__ void dense_norm_back(batch_norm_f32 b, size_t rows, const float *parameters,
                                       const float *d, float *u, float *gradient)
{
    const size_t c = blockIdx.x;
    double sum = 0;
    double product = 0;
    for (size_t r = threadIdx.x; r < rows; r += blockDim.x) {
        sum += (double)d[r * b.cols + c];
        product += (double)d[r * b.cols + c] * (double)u[r * b.cols + c];
    }
    sum = dense_block_sum(sum);
    product = dense_block_sum(product);
    const float factor = (float)(b.inverse[c] * (double)parameters[b.cols + c]);
    const float mean = (float)(sum / (double)rows);
    const float along = (float)(product / (double)rows);
    for (size_t r = threadIdx.x; r < rows; r += blockDim.x) {
        size_t i = r * b.cols + c;
        u[i] = factor * (d[i] - mean - u[i] * along);
    }
    if (threadIdx.x == 0) {
        gradient[c] = (float)sum;
        gradient[b.cols + c] = (float)product;
    }
}

/* ---- Vectors ---- */

static __global__ void dense_fill(size_t n, float value, float *x)
{
    DENSE_EACH(i, n)
    {
        x[i] = value;
    }
}

static __global__ void dense_scale(size_t n, float factor, float *x)
{
    DENSE_EACH(i, n)
    {
        x[i] *= factor;
    }
}

static __global__ void dense_axpy(size_t n, float factor, const float *x, float *y)
{
    DENSE_EACH(i, n)
    {
        y[i] += factor * x[i];
    }
}

/* part (blocks): sums of squares, a block each */
static __global__ void dense_squares(size_t n, const float *x, double *part)
{
    double mine = 0;
    DENSE_EACH(i, n)
    {
        mine += (double)x[i] * (double)x[i];
    }
    double sum = dense_block_sum(mine);
    if (threadIdx.x == 0) {
        part[blockIdx.x] = sum;
    }
}

/* x / |x| by the sums of its squares */
static __global__ void dense_unit(size_t n, size_t parts, const double *part, float *x)
{
    double sum = 0;
    for (size_t k = 0; k < parts; k++) {
        sum += part[k];
    }
    float factor = (float)(1 / (sqrt(sum) + 1e-30));
    DENSE_EACH(i, n)
    {
        x[i] *= factor;
    }
}

/* ---- Steps ---- */

static __global__ void dense_adam(size_t n, backend_adam step, float *parameters,
                                  const float *gradient, float *m, float *s)
{
    const float b1 = (float)step.b1;
    const float b2 = (float)step.b2;
    const float rest1 = (float)(1 - step.b1);
    const float rest2 = (float)(1 - step.b2);
    const float rate = (float)step.dial->rate;
    const float correct = (float)step.dial->correct;
    const float factor = (float)step.dial->scale;
    DENSE_EACH(i, n)
    {
        float g = factor * gradient[i];
        float mean = b1 * m[i] + rest1 * g;
        float e = step.belief ? g - mean : g;
        float square = b2 * s[i] + rest2 * e * e + (float)step.inside;
        m[i] = mean;
        s[i] = square;
        parameters[i] -= rate * mean / (sqrtf(correct * square) + (float)step.outside);
    }
}

static __global__ void dense_momentum(size_t n, float keep, const float *gradient, float *m,
                                      float *u)
{
    DENSE_EACH(i, n)
    {
        float mean = keep * m[i] + gradient[i];
        m[i] = mean;
        u[i] = gradient[i] + keep * mean;
    }
}

static __global__ void dense_descend(size_t n, const backend_dial *dial, double decay, double size,
                                     const float *u, float *w)
{
    const float keep = (float)(1 - dial->rate * decay);
    const float factor = (float)(dial->rate * size);
    DENSE_EACH(i, n)
    {
        w[i] = keep * w[i] - factor * u[i];
    }
}

/* ---- Rows ---- */

/* to (n) of `cols` columns: rows row[..] of `from` */
static __global__ void dense_gather(size_t n, size_t cols, const uint32_t *row, const float *from,
                                    float *to)
{
    DENSE_EACH(i, n)
    {
        to[i] = from[row[i / cols] * cols + i % cols];
    }
}

/* A row a block. */
static __global__ void dense_misfit_rows(dense_misfit m)
{
    const size_t r = blockIdx.x;
    const float *target = m.target + (m.row != NULL ? m.row[r] : r) * m.cols;
    float *y = m.y + r * m.cols;
    double mine = 0;
    for (size_t c = threadIdx.x; c < m.cols; c += blockDim.x) {
        float e = y[c] - target[c];
        mine += (double)e * (double)e;
        y[c] = m.factor * e;
    }
    double sum = dense_block_sum(mine);
    if (threadIdx.x == 0) {
        m.squares[r] = sum;
    }
}

/* One block. */
static __global__ void dense_tally_up(size_t n, double factor, const double *squares,
                                      dense_tally *t)
{
    double mine = 0;
    for (size_t i = threadIdx.x; i < n; i += DENSE_THREADS) {
        mine += squares[i];
    }
    double sum = dense_block_sum(mine);
    if (threadIdx.x == 0) {
        t->sum += factor * sum;
        t->steps += 1;
        t->lost = t->lost == 0 && !(sum <= 1.7e308) ? t->steps : t->lost;
    }
}

#endif
