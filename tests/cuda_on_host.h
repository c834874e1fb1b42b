/* What src/cuda/cuda.h takes of CUDA, on the host: kernels run block after block, and the threads
 * of a block are fibers that take turns at __syncthreads(), so that a missing barrier shows as a
 * wrong number (fibers run from barrier to barrier, one after the other, from either end in turn),
 * and sanitizers see every access. Memory of the "device" begins as NaN and may be made short
 * (cuda_on_host::most); a captured graph is a list of what to do again.
 */
#ifndef LSCM_TESTS_CUDA_ON_HOST_H
#define LSCM_TESTS_CUDA_ON_HOST_H

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <tuple>
#include <ucontext.h>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define CUDA_ON_HOST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CUDA_ON_HOST_ASAN 1
#endif
#endif
#ifdef CUDA_ON_HOST_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    dim3(size_t a = 1, size_t b = 1, size_t c = 1) : x((unsigned)a), y((unsigned)b), z((unsigned)c)
    {
    }
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
static inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}

namespace cuda_on_host
{

enum { STACK = 1 << 16, SHARED = 1 << 18 };

struct fiber {
    ucontext_t context;
    void *here[5]; /* where it waits */
    bool begun;
    std::vector<char> stack;
    dim3 at;
    bool done;
    void *fake;
};

struct machine {
    std::vector<fiber> fibers;
    ucontext_t back;
    void *there[5]; /* where fibers go back to */
    void *fake = nullptr;
    const void *stack = nullptr;
    size_t bytes = 0;
    size_t now = 0;
    dim3 block, blocks, threads;
    std::function<void()> body;
    std::vector<std::function<void()>> *capture = nullptr;
    std::map<void *, size_t> taken;
    size_t used = 0;
    alignas(16) char shared[SHARED];
};

inline machine &m()
{
    static machine one;
    return one;
}

/* Bytes of memory that the device has. */
inline size_t &most()
{
    static size_t bytes = (size_t)1 << 33;
    return bytes;
}

/* Sanitizers want to know of every change of stacks; without them one takes no call of the system.
 */
#ifdef CUDA_ON_HOST_ASAN

inline void leave(bool for_ever)
{
    fiber &f = m().fibers[m().now];
    __sanitizer_start_switch_fiber(for_ever ? nullptr : &f.fake, m().stack, m().bytes);
    swapcontext(&f.context, &m().back);
    __sanitizer_finish_switch_fiber(f.fake, &m().stack, &m().bytes);
}

inline void run_fiber()
{
    __sanitizer_finish_switch_fiber(nullptr, &m().stack, &m().bytes);
    m().body();
    m().fibers[m().now].done = true;
    leave(true);
}

inline void enter(size_t k)
{
    fiber &f = m().fibers[k];
    m().now = k;
    __sanitizer_start_switch_fiber(&m().fake, f.stack.data(), f.stack.size());
    swapcontext(&m().back, &f.context);
    __sanitizer_finish_switch_fiber(m().fake, nullptr, nullptr);
}

#else

__attribute__((noinline)) inline void go_back()
{
    __builtin_longjmp(m().there, 1);
}

__attribute__((noinline)) inline void leave(bool for_ever)
{
    (void)for_ever;
    if (__builtin_setjmp(m().fibers[m().now].here) == 0) {
        go_back();
    }
}

inline void run_fiber()
{
    m().body();
    m().fibers[m().now].done = true;
    leave(true);
}

__attribute__((noinline)) inline void go_on(fiber &f)
{
    if (f.begun) {
        __builtin_longjmp(f.here, 1);
    }
    f.begun = true;
    setcontext(&f.context);
}

__attribute__((noinline)) inline void enter(size_t k)
{
    m().now = k;
    if (__builtin_setjmp(m().there) == 0) {
        go_on(m().fibers[k]);
    }
}

#endif

inline void run_block(size_t threads)
{
    std::vector<fiber> &fibers = m().fibers;
    size_t left = threads;
    for (size_t k = 0; k < threads; k++) {
        fiber &f = fibers[k];
        f.stack.resize(STACK);
        f.at = dim3(k % m().threads.x, k / m().threads.x % m().threads.y,
                    k / m().threads.x / m().threads.y);
        f.done = f.begun = false;
        f.fake = nullptr;
        getcontext(&f.context);
        f.context.uc_stack.ss_sp = f.stack.data();
        f.context.uc_stack.ss_size = f.stack.size();
        f.context.uc_link = nullptr;
        makecontext(&f.context, run_fiber, 0);
    }
    for (size_t turn = 0; left > 0; turn++) {
        size_t before = left;
        for (size_t k = 0; k < threads; k++) {
            size_t at = turn % 2 == 0 ? k : threads - 1 - k;
            if (!fibers[at].done) {
                enter(at);
                left -= fibers[at].done ? 1 : 0;
            }
        }
        if (left != before && left != 0) {
            (void)fprintf(stderr, "a thread ended while others wait at a barrier\n");
            abort();
        }
    }
}

template <class Kernel, class Tuple>
void launch_now(dim3 blocks, dim3 threads, Kernel kernel, const Tuple &arguments)
{
    size_t count = (size_t)threads.x * threads.y * threads.z;
    if (m().fibers.size() < count) {
        m().fibers.resize(count);
    }
    m().blocks = blocks;
    m().threads = threads;
    m().body = [&]() { std::apply(kernel, arguments); };
    for (size_t b = 0; b < (size_t)blocks.x * blocks.y * blocks.z; b++) {
        m().block = dim3(b % blocks.x, b / blocks.x % blocks.y, b / blocks.x / blocks.y);
        memset(m().shared, 0xff, SHARED);
        run_block(count);
    }
}

inline void now_or_later(const std::function<void()> &what)
{
    if (m().capture != nullptr) {
        m().capture->push_back(what);
    } else {
        what();
    }
}

template <class... Parameters, class... Arguments>
void launch(dim3 blocks, dim3 threads, size_t bytes, void *stream, void (*kernel)(Parameters...),
            Arguments... arguments)
{
    std::tuple<Parameters...> kept(static_cast<Parameters>(arguments)...);
    (void)stream;
    if (bytes > SHARED || (size_t)threads.x * threads.y * threads.z > 1024 || blocks.x == 0 ||
        blocks.y == 0 || blocks.z == 0 || blocks.y > 65535 || blocks.z > 65535) {
        (void)fprintf(stderr, "a launch that no device would take\n");
        abort();
    }
    now_or_later([=]() { launch_now(blocks, threads, kernel, kept); });
}

} // namespace cuda_on_host

#define LAUNCH(kernel, blocks, threads, bytes, stream, ...)                                        \
    cuda_on_host::launch(blocks, threads, bytes, stream, kernel, __VA_ARGS__)
#define EXTERN_SHARED(type, name) type *name = (type *)(void *)cuda_on_host::m().shared
#define threadIdx (cuda_on_host::m().fibers[cuda_on_host::m().now].at)
#define blockIdx (cuda_on_host::m().block)
#define gridDim (cuda_on_host::m().blocks)
#define blockDim (cuda_on_host::m().threads)
#define __syncthreads() cuda_on_host::leave(false)

/* ---- The runtime ---- */

typedef int cudaError_t;
enum {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorNoDevice = 100
};
#define CUDART_VERSION 13000
typedef void *cudaStream_t;
typedef std::vector<std::function<void()>> *cudaGraph_t;
typedef std::vector<std::function<void()>> *cudaGraphExec_t;
enum cudaMemcpyKind {
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum { cudaStreamNonBlocking = 1, cudaStreamCaptureModeThreadLocal = 1 };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlockOptin;
    int major, minor, multiProcessorCount;
};

static inline cudaError_t cudaMalloc(void **out, size_t bytes)
{
    cuda_on_host::machine &m = cuda_on_host::m();
    if (m.used + bytes > cuda_on_host::most()) {
        *out = nullptr;
        return cudaErrorMemoryAllocation;
    }
    *out = malloc(bytes > 0 ? bytes : 1);
    memset(*out, 0xff, bytes);
    m.taken[*out] = bytes;
    m.used += bytes;
    return cudaSuccess;
}
static inline cudaError_t cudaFree(void *p)
{
    cuda_on_host::machine &m = cuda_on_host::m();
    if (p != nullptr) {
        m.used -= m.taken.at(p);
        m.taken.erase(p);
        free(p);
    }
    return cudaSuccess;
}
static inline cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    *out = malloc(bytes > 0 ? bytes : 1);
    return cudaSuccess;
}
static inline cudaError_t cudaFreeHost(void *p)
{
    free(p);
    return cudaSuccess;
}
static inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
                                          cudaStream_t)
{
    cuda_on_host::now_or_later([=]() { memmove(to, from, bytes); });
    return cudaSuccess;
}
static inline cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t)
{
    cuda_on_host::now_or_later([=]() { memset(to, value, bytes); });
    return cudaSuccess;
}
static inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned)
{
    *out = malloc(1);
    return cudaSuccess;
}
static inline cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    free(s);
    return cudaSuccess;
}
static inline cudaError_t cudaStreamSynchronize(cudaStream_t)
{
    return cudaSuccess;
}
static inline cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}
static inline const char *cudaGetErrorString(cudaError_t e)
{
    return e == cudaErrorMemoryAllocation ? "out of memory" : "an error";
}
static inline cudaError_t cudaGetDeviceCount(int *out)
{
    *out = 1;
    return cudaSuccess;
}
static inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *out, int)
{
    *out = cudaDeviceProp();
    (void)snprintf(out->name, sizeof out->name, "the host");
    out->totalGlobalMem = cuda_on_host::most();
    out->sharedMemPerBlockOptin = 99 << 10;
    out->major = 9;
    out->multiProcessorCount = 4;
    return cudaSuccess;
}
static inline cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    *total = cuda_on_host::most();
    *free_bytes = *total - cuda_on_host::m().used;
    return cudaSuccess;
}
static inline cudaError_t cudaSetDevice(int)
{
    return cudaSuccess;
}
static inline cudaError_t cudaRuntimeGetVersion(int *out)
{
    *out = 13000;
    return cudaSuccess;
}
static inline cudaError_t cudaDriverGetVersion(int *out)
{
    *out = 13000;
    return cudaSuccess;
}
template <class Kernel> cudaError_t cudaFuncSetAttribute(Kernel, int, int bytes)
{
    return bytes <= (99 << 10) ? cudaSuccess : cudaErrorInvalidValue;
}
static inline cudaError_t cudaStreamBeginCapture(cudaStream_t, int)
{
    cuda_on_host::m().capture = new std::vector<std::function<void()>>;
    return cudaSuccess;
}
static inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *out)
{
    *out = cuda_on_host::m().capture;
    cuda_on_host::m().capture = nullptr;
    return cudaSuccess;
}
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph,
                                               unsigned long long)
{
    *out = new std::vector<std::function<void()>>(*graph);
    return cudaSuccess;
}
static inline cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t)
{
    for (const std::function<void()> &what : *graph) {
        what();
    }
    return cudaSuccess;
}
static inline cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}
static inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
    delete graph;
    return cudaSuccess;
}

#endif
