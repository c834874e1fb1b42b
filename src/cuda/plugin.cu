/* The one symbol of the plug-in: how many devices there are, what they are, and opening one. It
 * needs compute capability 8.0 (A100, RTX 30) and a driver that serves its CUDA. */
#include "cuda/plugin.h"

#include "cuda/dense_queue.h"
#include "cuda/picture_machine.h"

#include <stdio.h>
#include <stdlib.h>

enum { LEAST_MAJOR = 8 };

/* 12040 -> 12.4 */
static int major_of(int version)
{
    return version / 1000;
}

static int minor_of(int version)
{
    return version % 1000 / 10;
}

/* Before anything else: without a driver every call fails alike. */
static lscm_status check_driver(lscm_error *why)
{
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    if (driver == 0) {
        return fail(why, LSCM_MISSING,
                    "there is no NVIDIA driver here; install one (nvidia-smi tells whether it "
                    "works), or take --device cpu");
    }
    if (major_of(driver) < major_of(CUDART_VERSION)) {
        return fail(why, LSCM_MISSING,
                    "the NVIDIA driver serves CUDA %d.%d, and the plug-in was built with %d.%d; "
                    "renew the driver, or build the plug-in with an older CUDA",
                    major_of(driver), minor_of(driver), major_of(CUDART_VERSION),
                    minor_of(CUDART_VERSION));
    }
    return LSCM_OK;
}

static lscm_status count(size_t *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    int found = 0;
    cudaError_t code = cudaSuccess;
    *out = 0;
    TRY(check_driver(why));
    code = cudaGetDeviceCount(&found);
    if (code == cudaErrorNoDevice || (code == cudaSuccess && found == 0)) {
        (void)cudaGetLastError();
        status = fail(why, LSCM_MISSING,
                      "there is a driver, but no NVIDIA device that it shows "
                      "(CUDA_VISIBLE_DEVICES may hide what there is)");
        goto done;
    }
    TRY(cuda_done(code, "counting devices", why));
    *out = (size_t)found;
done:
    return status;
}

/* A device that is busy with somebody alone has no memory free. */
static lscm_status about(size_t index, device_about *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    cudaDeviceProp is;
    size_t all = 0;
    TRY(cuda_done(cudaGetDeviceProperties(&is, (int)index), "asking what a device is", why));
    *out = device_about();
    (void)snprintf(out->name, sizeof out->name, "%.*s", (int)sizeof out->name - 1, is.name);
    out->major = is.major;
    out->minor = is.minor;
    out->memory = is.totalGlobalMem;
    if (cudaSetDevice((int)index) != cudaSuccess ||
        cudaMemGetInfo(&out->memory_free, &all) != cudaSuccess) {
        (void)cudaGetLastError();
        out->memory_free = 0;
    }
done:
    return status;
}

static void close_device(device *on)
{
    cuda_self *self = (cuda_self *)on->self;
    (void)cuda_enter(on, NULL);
#ifdef __CUDACC__
    cuda_cholesky_close(self);
#endif
    free(self);
    *on = device();
}

static lscm_status open_device(device *out, size_t index, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    cudaDeviceProp is;
    cuda_self *self = NULL;
    TRY(cuda_done(cudaGetDeviceProperties(&is, (int)index), "asking what a device is", why));
    if (is.major < LEAST_MAJOR) {
        status = fail(why, LSCM_MISSING,
                      "cuda:%zu (%s) has compute capability %d.%d, and lscm needs %d.0 or later; "
                      "take another device, or --device cpu",
                      index, is.name, is.major, is.minor, (int)LEAST_MAJOR);
        goto done;
    }
    TRY(cuda_done(cudaSetDevice((int)index), "taking a device", why));
    TRY(cuda_done(cudaFree(NULL), "taking a device", why)); /* its context begins here */
    self = (cuda_self *)calloc(1, sizeof *self);
    if (self == NULL) {
        status = fail_memory(why, sizeof *self);
        goto done;
    }
    self->index = (int)index;
    self->shared_most = is.sharedMemPerBlockOptin;
    out->pictures = &cuda_pictures;
    out->dense = &dense_cuda;
    out->self = self;
#ifdef __CUDACC__ /* cuSOLVER's, not a kernel of ours */
    out->cholesky = &CUDA_CHOLESKY;
#endif
    out->close = close_device;
done:
    return status;
}

static const device_plugin PLUGIN = {LSCM_VERSION, sizeof(device), count, about, open_device};

extern "C" LSCM_API const device_plugin *lscm_device_plugin(void)
{
    return &PLUGIN;
}
