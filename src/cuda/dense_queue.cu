#include "cuda/dense_queue.h"

#include "cuda/plugin.h"

extern "C" {
#include "base/status.h"
}

#include <stdlib.h>
#include <string.h>

enum { STAGING = 8 << 20 };

struct dense_steps {
    cudaGraphExec_t graph;
};

/* ---- Memory ---- */

/* Bytes that were asked for and are not there. */
static lscm_status fail_device(size_t bytes, lscm_error *why)
{
    size_t left = 0;
    size_t all = 0;
    (void)cudaGetLastError();
    (void)cudaMemGetInfo(&left, &all);
    return fail(why, LSCM_MEMORY,
                "the device has %.1f MB of memory left and %.1f MB are needed; end other programs "
                "on it, take fewer rows (--batch), or --device cpu",
                (double)left / 1e6, (double)bytes / 1e6);
}

static lscm_status claim(const device *on, arena *a, lscm_error *why)
{
    cuda_queue *q = cuda_queue_of(on);
    void *block = NULL;
    if (a->overflowed) {
        return fail_memory(why, SIZE_MAX);
    }
    (void)cudaSetDevice(q->index);
    if (cudaMalloc(&block, a->used + ARENA_ALIGN) != cudaSuccess) {
        return fail_device(a->used, why);
    }
    cuda_queue_check(q, cudaMemsetAsync(block, 0, a->used + ARENA_ALIGN, q->stream));
    a->size = a->used;
    a->used = 0;
    a->block = block;
    a->base = (char *)block; /* the device begins memory at multiples of 256 bytes */
    return LSCM_OK;
}

static void release(const device *on, arena *a)
{
    (void)cudaSetDevice(cuda_queue_of(on)->index);
    (void)cudaStreamSynchronize(cuda_queue_of(on)->stream);
    (void)cudaFree(a->block);
    *a = arena{};
}

/* ---- Jobs: there is one queue ---- */

static size_t one_worker(const device *on)
{
    (void)on;
    return 1;
}

static void each(const device *on, size_t workers, size_t jobs, backend_job job, void *self)
{
    (void)on;
    (void)workers;
    for (size_t k = 0; k < jobs; k++) {
        job(self, k, 0);
    }
}

/* ---- Copies ---- */

static void put(dense_queue *head, size_t bytes, const void *from, void *to)
{
    cuda_queue *q = cuda_queue_of(&head->on);
    (void)cudaSetDevice(q->index);
    for (size_t at = 0; at < bytes;) {
        if (q->staged == STAGING) {
            cuda_queue_check(q, cudaStreamSynchronize(q->stream));
            q->staged = 0;
        }
        size_t n = bytes - at < STAGING - q->staged ? bytes - at : STAGING - q->staged;
        memcpy(q->staging + q->staged, (const char *)from + at, n);
        cuda_queue_check(q, cudaMemcpyAsync((char *)to + at, q->staging + q->staged, n,
                                            cudaMemcpyHostToDevice, q->stream));
        q->staged += n;
        at += n;
    }
}

static void get(dense_queue *head, size_t bytes, const void *from, void *to)
{
    cuda_queue *q = cuda_queue_of(&head->on);
    (void)cudaSetDevice(q->index);
    cuda_queue_check(q, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, q->stream));
    cuda_queue_check(q, cudaStreamSynchronize(q->stream));
    q->staged = 0;
}

static lscm_status wait(dense_queue *head, lscm_error *why)
{
    cuda_queue *q = cuda_queue_of(&head->on);
    (void)cudaSetDevice(q->index);
    cuda_queue_check(q, cudaStreamSynchronize(q->stream));
    cuda_queue_check(q, cudaGetLastError());
    q->staged = 0;
    const char *wrong = q->gemm.wrong != NULL     ? q->gemm.wrong
                        : q->wrong != cudaSuccess ? cudaGetErrorString(q->wrong)
                                                  : NULL;
    q->gemm.wrong = NULL;
    q->wrong = cudaSuccess;
    return wrong == NULL
               ? LSCM_OK
               : fail(why, LSCM_TOOL,
                      "the device %s stopped: %s; take --resume to go on, or --device cpu",
                      q->head.on.name, wrong);
}

/* ---- Steps ---- */

static lscm_status record(dense_queue *head, lscm_error *why)
{
    cuda_queue *q = cuda_queue_of(&head->on);
    lscm_status status = LSCM_OK;
    TRY(wait(head, why));
    cuda_queue_check(q, cudaStreamBeginCapture(q->stream, cudaStreamCaptureModeThreadLocal));
done:
    return status;
}

static lscm_status recorded(dense_queue *head, dense_steps **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    cuda_queue *q = cuda_queue_of(&head->on);
    cudaGraph_t graph = NULL;
    dense_steps *s = (dense_steps *)calloc(1, sizeof *s);
    cuda_queue_check(q, cudaStreamEndCapture(q->stream, &graph));
    if (s == NULL) {
        status = fail_memory(why, sizeof *s);
        goto done;
    }
    if (q->wrong == cudaSuccess) {
        cuda_queue_check(q, cudaGraphInstantiate(&s->graph, graph, 0));
    }
    TRY(wait(head, why));
    *out = s;
    s = NULL;
done:
    if (graph != NULL) {
        (void)cudaGraphDestroy(graph);
    }
    free(s);
    return status;
}

static void replay(dense_queue *head, const dense_steps *s)
{
    cuda_queue *q = cuda_queue_of(&head->on);
    (void)cudaSetDevice(q->index);
    cuda_queue_check(q, cudaGraphLaunch(s->graph, q->stream));
}

static void forget(dense_steps *s)
{
    if (s != NULL) {
        (void)cudaGraphExecDestroy(s->graph);
        free(s);
    }
}

/* ---- The queue ---- */

static void close(dense_queue *head)
{
    if (head == NULL) {
        return;
    }
    cuda_queue *q = cuda_queue_of(&head->on);
    (void)cudaSetDevice(q->index);
    if (q->stream != NULL) {
        (void)cudaStreamSynchronize(q->stream);
        (void)cudaStreamDestroy(q->stream);
    }
    (void)cudaFreeHost(q->staging);
    (void)cudaFree(q->part);
    dense_gemm_close(&q->gemm);
    free(q);
}

static lscm_status open(dense_queue **out, const device *on, size_t rows, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    cuda_queue *q = (cuda_queue *)calloc(1, sizeof *q);
    if (q == NULL) {
        return fail_memory(why, sizeof *q);
    }
    q->head.on = *on;
    q->head.on.rows_least = q->head.on.rows_most = rows;
    q->head.on.backend_f32 = &dense_f32;
    q->head.on.backend_f64 = NULL;
    q->head.on.claim = claim;
    q->head.on.release = release;
    q->head.on.workers = one_worker;
    q->head.on.each = each;
    q->head.on.close = NULL;
    q->head.on.pictures = NULL;
    q->head.on.dense = NULL;
    q->head.on.cholesky = NULL;
    q->head.does = &dense_cuda;
    q->index = ((const cuda_self *)on->self)->index;
    TRY(cuda_enter(on, why));
    TRY(dense_gemm_open(&q->gemm, why));
    if (cudaMalloc((void **)&q->part, DENSE_SUMS * sizeof(double)) != cudaSuccess) {
        status = fail_device(DENSE_SUMS * sizeof(double), why);
        goto done;
    }
    if (cudaMallocHost((void **)&q->staging, STAGING) != cudaSuccess) {
        (void)cudaGetLastError();
        status = fail_memory(why, STAGING);
        goto done;
    }
    cuda_queue_check(q, cudaStreamCreateWithFlags(&q->stream, cudaStreamNonBlocking));
    TRY(wait(&q->head, why));
    *out = &q->head;
    q = NULL;
done:
    close(q != NULL ? &q->head : NULL);
    return status;
}

const dense_machine dense_cuda = {.open = open,
                                  .close = close,
                                  .put = put,
                                  .get = get,
                                  .wait = wait,
                                  .record = record,
                                  .recorded = recorded,
                                  .replay = replay,
                                  .forget = forget,
                                  .gather = dense_rows_gather,
                                  .misfit = dense_rows_misfit,
                                  .tally = dense_rows_tally,
                                  .latents = &dense_latents};
