#include "cuda/plugin.h"

lscm_status cuda_done(cudaError_t code, const char *doing, lscm_error *why)
{
    if (code == cudaSuccess) {
        return LSCM_OK;
    }
    (void)cudaGetLastError();
    if (code == cudaErrorMemoryAllocation) {
        return fail(why, LSCM_MEMORY,
                    "%s: the device has no memory left; end what else runs on it, or take --device "
                    "cpu",
                    doing);
    }
    return fail(why, LSCM_TOOL, "%s: CUDA says: %s", doing, cudaGetErrorString(code));
}

lscm_status cuda_enter(const device *on, lscm_error *why)
{
    return cuda_done(cudaSetDevice(((const cuda_self *)on->self)->index), "taking a device", why);
}
