/* net/latent_machine.h by kernels: a thread a row, or an element; what is summed over rows by one
 * block. In double, as on the CPU. */
#ifndef LSCM_CUDA_LATENT_KERNELS_H
#define LSCM_CUDA_LATENT_KERNELS_H

#include "cuda/dense_block.h"

extern "C" {
#include "net/latent_machine.h"
}

/* 5 tanh(raw/5) and its slope (infer/weights/weights.h) */
static __device__ __forceinline__ double latent_log_sd(double raw, double *slope)
{
    double t = tanh(raw / 5);
    *slope = 1 - t * t;
    return 5 * t;
}

static __global__ void latent_draw(size_t rows, latent_normal n)
{
    DENSE_EACH(r, rows)
    {
        double kl = 0;
        for (size_t i = 0; i < n.d; i++) {
            double slope;
            double m = (double)n.q[r * 2 * n.d + i];
            double log_s = latent_log_sd((double)n.q[r * 2 * n.d + n.d + i], &slope);
            double s = exp(log_s);
            n.z[r * n.d + i] = (float)(m + s * n.eps[r * n.d + i]);
            kl += (m * m + s * s - 1) / 2 - log_s;
        }
        n.kl[r] = kl;
    }
}

static __global__ void latent_draw_back(size_t count, latent_normal n)
{
    DENSE_EACH(k, count)
    {
        float *own = n.q + k / n.d * 2 * n.d + k % n.d;
        double rows = (double)n.rows;
        double by_z = (double)n.by_z[k];
        double slope;
        double s = exp(latent_log_sd((double)own[n.d], &slope));
        own[0] = (float)(by_z + (double)own[0] / rows);
        own[n.d] = (float)((by_z * n.eps[k] * s + (s * s - 1) / rows) * slope);
    }
}

/* The sum of x (n), by a block. */
static __device__ __forceinline__ double latent_sum(size_t n, const double *x)
{
    double mine = 0;
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) {
        mine += x[i];
    }
    return dense_block_sum(mine);
}

/* One block. */
static __global__ void latent_weigh(latent_likelihood l)
{
    double rows = (double)l.rows;
    double error = latent_sum(l.rows, l.squares) / (rows * (double)l.cols);
    double kl = latent_sum(l.rows, l.kl) / rows;
    double s = l.given > 0 ? l.given : sqrt(error);
    s = s < l.floor ? l.floor : s; /* NaN stays */
    if (threadIdx.x == 0) {
        latent_terms terms = {error, s, kl, 1 / (rows * s * s)};
        *l.terms = terms;
    }
}

static __global__ void latent_scale(size_t n, const latent_terms *terms, float *x)
{
    const float factor = (float)terms->factor;
    DENSE_EACH(i, n)
    {
        x[i] *= factor;
    }
}

#endif
