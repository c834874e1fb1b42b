#include "cuda/dense_gemm.h"

extern "C" {
#include "base/status.h"
}

#include <stdint.h>

#ifdef __CUDACC__

#include <cublasLt.h>

enum { WORKSPACE = 32 << 20 };

lscm_status dense_gemm_open(dense_gemm *g, lscm_error *why)
{
    cublasLtHandle_t handle = NULL;
    *g = dense_gemm{};
    if (cublasLtCreate(&handle) != CUBLAS_STATUS_SUCCESS) {
        return fail(why, LSCM_TOOL, "cuBLAS could not be started on the device; take --device cpu");
    }
    g->handle = handle;
    g->bytes = WORKSPACE;
    if (cudaMalloc(&g->workspace, g->bytes) != cudaSuccess) {
        dense_gemm_close(g);
        return fail_memory(why, WORKSPACE);
    }
    return LSCM_OK;
}

void dense_gemm_close(dense_gemm *g)
{
    (void)cudaFree(g->workspace);
    if (g->handle != NULL) {
        (void)cublasLtDestroy((cublasLtHandle_t)g->handle);
    }
    *g = dense_gemm{};
}

/* Where an address stands on, up to 256 bytes: cuBLASLt would take the latter for granted. */
static uint32_t alignment_of(const void *at)
{
    uintptr_t low = (uintptr_t)at & (~(uintptr_t)at + 1);
    return low == 0 || low > 256 ? 256 : (uint32_t)low;
}

/* One product's descriptions. */
typedef struct gemm_call {
    cublasLtMatmulDescOpaque_t product;
    cublasLtMatrixLayoutOpaque_t a, b, c;
    cublasLtMatmulPreferenceOpaque_t preference;
    cublasLtMatmulHeuristicResult_t choice;
} gemm_call;

/* Columns first, as cuBLAS has it, a matrix of ours is its transpose: c' = op(b)' op(a)'. */
static bool describe(const product_f32 *p, gemm_call *call)
{
    cublasOperation_t first = p->flip_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t second = p->flip_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    uint64_t wide_a = p->flip_a ? p->m : p->k;
    uint64_t wide_b = p->flip_b ? p->k : p->n;
    return cublasLtMatmulDescInit(&call->product, CUBLAS_COMPUTE_32F, CUDA_R_32F) == 0 &&
           cublasLtMatmulDescSetAttribute(&call->product, CUBLASLT_MATMUL_DESC_TRANSA, &first,
                                          sizeof first) == 0 &&
           cublasLtMatmulDescSetAttribute(&call->product, CUBLASLT_MATMUL_DESC_TRANSB, &second,
                                          sizeof second) == 0 &&
           cublasLtMatrixLayoutInit(&call->b, CUDA_R_32F, wide_b, p->flip_b ? p->n : p->k,
                                    (int64_t)wide_b) == 0 &&
           cublasLtMatrixLayoutInit(&call->a, CUDA_R_32F, wide_a, p->flip_a ? p->k : p->m,
                                    (int64_t)wide_a) == 0 &&
           cublasLtMatrixLayoutInit(&call->c, CUDA_R_32F, p->n, p->m, (int64_t)p->n) == 0;
}

/* The first of cuBLASLt's own choices. */
static bool choose(const dense_gemm *g, const product_f32 *p, const float *add, gemm_call *call)
{
    static const cublasLtMatmulPreferenceAttributes_t which[4] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    const uint32_t aligned[4] = {alignment_of(p->b), alignment_of(p->a), alignment_of(add),
                                 alignment_of(p->c)};
    int found = 0;
    bool sound = cublasLtMatmulPreferenceInit(&call->preference) == 0 &&
                 cublasLtMatmulPreferenceSetAttribute(&call->preference,
                                                      CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                      &g->bytes, sizeof g->bytes) == 0;
    for (int k = 0; k < 4 && sound; k++) {
        sound = cublasLtMatmulPreferenceSetAttribute(&call->preference, which[k], &aligned[k],
                                                     sizeof aligned[k]) == 0;
    }
    return sound &&
           cublasLtMatmulAlgoGetHeuristic((cublasLtHandle_t)g->handle, &call->product, &call->b,
                                          &call->a, &call->c, &call->c, &call->preference, 1,
                                          &call->choice, &found) == 0 &&
           found == 1;
}

void dense_gemm_run(dense_gemm *g, cudaStream_t stream, const product_f32 *p)
{
    const float *add = p->add != NULL ? p->add : p->c;
    gemm_call call = {};
    bool sound = describe(p, &call) && choose(g, p, add, &call) &&
                 cublasLtMatmul((cublasLtHandle_t)g->handle, &call.product, &p->alpha, p->b,
                                &call.b, p->a, &call.a, &p->beta, add, &call.c, p->c, &call.c,
                                &call.choice.algo, g->workspace, g->bytes, stream) == 0;
    if (!sound) {
        g->wrong = "cuBLAS refused a product";
    }
}

#else

lscm_status dense_gemm_open(dense_gemm *g, lscm_error *why)
{
    (void)why;
    *g = dense_gemm{};
    return LSCM_OK;
}

void dense_gemm_close(dense_gemm *g)
{
    *g = dense_gemm{};
}

/* A row a thread. */
static __global__ void rows_of(product_f32 p, const float *add)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t j = 0; j < p.n && i < p.m; j++) {
        float sum = 0;
        for (size_t k = 0; k < p.k; k++) {
            sum += p.a[p.flip_a ? k * p.m + i : i * p.k + k] *
                   p.b[p.flip_b ? j * p.k + k : k * p.n + j];
        }
        p.c[i * p.n + j] = p.alpha * sum + (p.beta == 0 ? 0 : p.beta * add[i * p.n + j]);
    }
}

void dense_gemm_run(dense_gemm *g, cudaStream_t stream, const product_f32 *p)
{
    (void)g;
    LAUNCH(rows_of, (p->m + 31) / 32, 32, 0, stream, *p, p->add != NULL ? p->add : p->c);
}

#endif
