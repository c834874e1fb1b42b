/* The Cholesky machine by cuSOLVER: row-major lower is column-major upper. cuSOLVER's results are
 * the same every time unless it is told otherwise. */
#include "cuda/plugin.h"

extern "C" {
#include "backend/cholesky_machine.h"
}

#include <cusolverDn.h>

/* Memory of the device while one matrix is factored. */
typedef struct room {
    float *a;    /* (n, n) */
    float *work; /* (words) */
    int *info;
    int words;
} room;

static lscm_status solver_done(cusolverStatus_t code, lscm_error *why)
{
    return code == CUSOLVER_STATUS_SUCCESS
               ? LSCM_OK
               : fail(why, LSCM_TOOL, "factoring a matrix: cuSOLVER gave status %d", (int)code);
}

/* Room on the device for `bytes`; says how much the matrix of n labels takes where there is none.
 */
static lscm_status take(void **out, size_t bytes, size_t n, lscm_error *why)
{
    size_t all = 0;
    size_t vacant = 0;
    cudaError_t code = cudaMalloc(out, bytes);
    if (code != cudaErrorMemoryAllocation) {
        return cuda_done(code, "taking memory of the device", why);
    }
    (void)cudaGetLastError();
    (void)cudaMemGetInfo(&vacant, &all);
    return fail(why, LSCM_MEMORY,
                "the kernel of %zu labels takes %.2f GB and more on the device, which has %.2f GB "
                "free; end what else runs there, or take --device cpu",
                n, (double)(n * n * sizeof(float)) / 1e9, (double)vacant / 1e9);
}

static lscm_status take_room(room *r, cusolverDnHandle_t solver, size_t n, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(take((void **)&r->a, n * n * sizeof(float), n, why));
    TRY(solver_done(cusolverDnSpotrf_bufferSize(solver, CUBLAS_FILL_MODE_UPPER, (int)n, r->a,
                                                (int)n, &r->words),
                    why));
    TRY(take((void **)&r->work, (size_t)r->words * sizeof(float), n, why));
    TRY(take((void **)&r->info, sizeof(int), n, why));
done:
    return status;
}

static void free_room(room *r)
{
    (void)cudaFree(r->a);
    (void)cudaFree(r->work);
    (void)cudaFree(r->info);
}

/* cuSOLVER's word, or the first number on the diagonal that is none. */
static size_t minor_of(const float *a, size_t n, int info)
{
    size_t minor = 0;
    for (size_t i = n; i-- > 0;) {
        minor = a[i * n + i] > 0 ? minor : i + 1;
    }
    return info > 0 ? (size_t)info : minor;
}

static lscm_status factor(const device *on, size_t n, float *a, size_t *minor, lscm_error *why)
{
    const char *doing = "factoring a matrix";
    lscm_status status = LSCM_OK;
    cuda_self *self = (cuda_self *)on->self;
    size_t bytes = n * n * sizeof(float);
    room r = {};
    int info = 0;
    *minor = 0;
    if (n == 0) {
        return LSCM_OK;
    }
    TRY(cuda_enter(on, why));
    if (self->solver == NULL) {
        TRY(solver_done(cusolverDnCreate(&self->solver), why));
    }
    TRY(take_room(&r, self->solver, n, why));
    TRY(cuda_done(cudaMemcpy(r.a, a, bytes, cudaMemcpyHostToDevice), doing, why));
    TRY(solver_done(cusolverDnSpotrf(self->solver, CUBLAS_FILL_MODE_UPPER, (int)n, r.a, (int)n,
                                     r.work, r.words, r.info),
                    why));
    TRY(cuda_done(cudaMemcpy(&info, r.info, sizeof info, cudaMemcpyDeviceToHost), doing, why));
    TRY(cuda_done(cudaMemcpy(a, r.a, bytes, cudaMemcpyDeviceToHost), doing, why));
    *minor = minor_of(a, n, info);
done:
    free_room(&r);
    return status;
}

extern const cholesky_machine CUDA_CHOLESKY = {factor};

void cuda_cholesky_close(cuda_self *self)
{
    if (self->solver != NULL) {
        (void)cusolverDnDestroy(self->solver);
    }
}
