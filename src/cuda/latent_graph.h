/* latent_graph of net/latent_machine.h by kernels: a thread a row, a pair or an element; a gate's
 * slope, a sum over rows, by a block. */
#ifndef LSCM_CUDA_LATENT_GRAPH_H
#define LSCM_CUDA_LATENT_GRAPH_H

#include "cuda/latent_kernels.h"

/* ---- Gates ---- */

/* Positions a < k of a pair; k (k - 1)/2 <= pair. */
static __device__ __forceinline__ size_t latent_position(size_t pair, size_t *a)
{
    size_t k = 1;
    while ((k + 1) * k / 2 <= pair) {
        k++;
    }
    *a = pair - k * (k - 1) / 2;
    return k;
}

static __global__ void latent_graph_open(size_t pairs, latent_graph g)
{
    DENSE_EACH(pair, pairs)
    {
        size_t a;
        size_t k = latent_position(pair, &a);
        double u = ((double)g.logits[pair] + g.drawn[pair]) / g.drawn[pairs];
        g.gate[g.order[a] * g.d + g.order[k]] = 1 / (1 + exp(-u));
    }
}

static __global__ void latent_graph_close(size_t pairs, latent_graph g)
{
    DENSE_EACH(pair, pairs)
    {
        size_t a;
        size_t k = latent_position(pair, &a);
        size_t at = g.order[a] * g.d + g.order[k];
        double c = g.gate[at];
        g.by_logits[pair] = (float)(g.by[at] * c * (1 - c) / g.drawn[pairs]);
    }
}

/* ---- What a node sees ---- */

/* Nothing of what comes later: its gate is 0. */
static __global__ void latent_graph_see(size_t count, latent_graph g, size_t k)
{
    const size_t i = g.order[k];
    float *seen = g.seen + (k - 1) * count;
    DENSE_EACH(at, count)
    {
        seen[at] = (float)(g.gate[at % g.d * g.d + i] * (double)g.z[at]);
    }
}

/* A block for each position before k. */
static __global__ void latent_graph_see_back(latent_graph g, size_t k)
{
    const size_t i = g.order[k];
    const size_t j = g.order[blockIdx.x];
    const double c = g.gate[j * g.d + i];
    double mine = 0;
    for (size_t r = threadIdx.x; r < g.rows; r += blockDim.x) {
        double by = (double)g.back[r * g.d + j];
        mine += by * (double)g.z[r * g.d + j];
        g.by_z[r * g.d + j] += (float)(c * by);
    }
    double sum = dense_block_sum(mine);
    if (threadIdx.x == 0) {
        g.by[j * g.d + i] = sum;
    }
}

/* ---- Its z ---- */

/* graphvae_fusion */
struct latent_fusion {
    double st, e, h, m, s, slope_b, slope_t, kl;
};

static __device__ __forceinline__ latent_fusion latent_fuse(const latent_graph &g, size_t r,
                                                            size_t i, const float *above)
{
    latent_fusion f;
    double mt = 0;
    double log_st = 0;
    double log_sb = latent_log_sd((double)g.below[r * 2 * g.d + g.d + i], &f.slope_b);
    f.slope_t = 0;
    if (above != NULL) {
        mt = (double)above[2 * r];
        log_st = latent_log_sd((double)above[2 * r + 1], &f.slope_t);
    }
    double ratio = exp(2 * (log_st - log_sb));
    f.st = exp(log_st);
    f.e = (double)g.below[r * 2 * g.d + i] - mt;
    f.h = ratio / (1 + ratio);
    f.m = mt + f.h * f.e;
    f.s = f.st / sqrt(1 + ratio);
    double pull = f.h * f.e / f.st;
    f.kl = (log1p(ratio) + 1 / (1 + ratio) + pull * pull - 1) / 2;
    return f;
}

/* above: NULL at position 0 */
static __global__ void latent_graph_draw(size_t rows, latent_graph g, size_t k, const float *above)
{
    const size_t i = g.order[k];
    DENSE_EACH(r, rows)
    {
        latent_fusion f = latent_fuse(g, r, i, above);
        g.z[r * g.d + i] = (float)(f.m + f.s * g.eps[r * g.d + i]);
        g.kl[r] += f.kl;
    }
}

static __global__ void latent_graph_draw_back(size_t rows, latent_graph g, size_t k, float *above)
{
    const size_t i = g.order[k];
    const double n = (double)rows;
    DENSE_EACH(r, rows)
    {
        latent_fusion f = latent_fuse(g, r, i, above);
        double by_z = (double)g.by_z[r * g.d + i];
        double by_s = by_z * g.eps[r * g.d + i] * f.s;
        double along = f.e / (f.st * f.st) / n;
        double pull = f.h * f.h * along;
        double by_r =
            f.h * (1 - f.h) * f.e * (by_z + f.h * along) + f.h * f.h / (2 * n) - f.h * by_s / 2;
        g.below[r * 2 * g.d + i] = (float)(f.h * by_z + pull);
        g.below[r * 2 * g.d + g.d + i] = (float)(-2 * by_r * f.slope_b);
        if (above != NULL) {
            above[2 * r] = (float)((1 - f.h) * by_z - pull);
            above[2 * r + 1] = (float)((by_s - pull * f.e + 2 * by_r) * f.slope_t);
        }
    }
}

#endif
