/* A device: who owns memory and runs the operations. It has a way to run pieces of work side by
 * side, and in either precision a table of about ten dense operations on row-major, contiguous
 * arrays: the CPU's (OpenBLAS, OpenMP), the reference that judges all else. A device of a plug-in
 * (backend/plugin.h) has these, too, and beside them machines: what it does whole, in its own way
 * and its own memory. Who has work for a machine looks whether there is one.
 *
 *     device on;
 *     TRY(device_open(&on, LSCM_DEVICE_CPU, NULL, why));
 *     lay_out(&a, &on);    TRY(on.claim(&on, &a, why));    lay_out(&a, &on);
 *     on.backend_f32->scale(&on, n, 2, x);
 *     on.release(&on, &a);
 *     device_close(&on);
 *
 * Float is what runs, double is what the tests differentiate, and there is one source for both: it
 * says REAL for float or double, and NAMED(network, pass) for network_f32_pass or network_f64_pass,
 * whichever of backend/float32.h and backend/float64.h was included last.
 */
#ifndef LSCM_BACKEND_BACKEND_H
#define LSCM_BACKEND_BACKEND_H

#include "base/arena.h"

/* f(a) of a = pre-activation, elementwise; GELU in its tanh form, ELU with alpha = 1. */
typedef enum activation {
    ACTIVATION_IDENTITY,
    ACTIVATION_GELU, /* a/2 (1 + tanh(sqrt(2/pi) (a + 0.044715 a^3))) */
    ACTIVATION_RELU,
    ACTIVATION_ELU,
    ACTIVATION_SIGMOID,
    ACTIVATION_TANH,
    ACTIVATION_COUNT
} activation;

typedef struct device device;

/* What an optimiser changes from step to step, in memory that the operations can be given: a queue
 * of steps (net/dense_machine.h) has nothing else that changes. */
typedef struct backend_dial {
    double rate;    /* Adam's: learning rate / (1 - b1^t) */
    double correct; /* Adam's: 1 / (1 - b2^t) */
    double scale;   /* Adam's: of the gradient */
} backend_dial;

/* One step of Adam, g = scale gradient, m <- b1 m + (1 - b1) g, s <- b2 s + (1 - b2) g^2 + inside,
 * p <- p - rate m / (sqrt(correct s) + outside); AdaBelief has (g - m)^2 for g^2, the new m. */
typedef struct backend_adam {
    bool belief;
    double b1, b2;
    double inside, outside;
    const backend_dial *dial;
} backend_adam;

/* backend_f32 or backend_f64, a product of matrices on it, and batch_norm.h's layer */
#define BACKEND TYPED(backend)
#define PRODUCT TYPED(product)
#define BATCH_NORM TYPED(batch_norm)

#include "backend/float32.h"

#include "backend/backend_table.h"

#include "backend/float64.h"

#include "backend/backend_table.h" /* NOLINT(readability-duplicate-include) */

/* Job number `job`, on the worker of that number; a worker does one job at a time. */
typedef void (*backend_job)(void *self, size_t job, size_t worker);

/* Rows of a batch are worked on in chunks: as many as keep a small network's activations in a
 * core's cache on a CPU, the whole batch on a device that wants it. */
struct device {
    char name[160];               /* "cpu", "cuda:0 NVIDIA H200" */
    size_t rows_least, rows_most; /* in a chunk */
    const backend_f32 *backend_f32;
    const backend_f64 *backend_f64;
    /* Memory, for an arena that was measured, that the operations can be given and the host can
     * read between calls of `each`. */
    lscm_status (*claim)(const device *on, arena *a, lscm_error *why);
    void (*release)(const device *on, arena *a);
    /* Workers that the calling thread may use. */
    size_t (*workers)(const device *on);
    /* Jobs 0 .. jobs - 1 in any order, side by side; done when it returns. */
    void (*each)(const device *on, size_t workers, size_t jobs, backend_job job, void *self);
    void (*close)(device *on);
    /* Machines, NULL where the operations above are the way: net/vision/picture_machine.h,
     * net/dense_machine.h, backend/cholesky_machine.h. */
    const struct picture_machine *pictures;
    const struct dense_machine *dense;
    const struct cholesky_machine *cholesky;
    void *self;    /* the plug-in's own */
    void *library; /* the plug-in; NULL: the CPU */
};

/* Ready for work; to be closed when all memory that was claimed has been released. What was asked
 * for is opened or refused: LSCM_MISSING where it is not there. AUTO is the first CUDA device, or
 * the CPU where there is none; `reason` (may be NULL) then says why, and is empty otherwise. */
enum { DEVICE_REASON = 1024 };
lscm_status device_open(device *out, lscm_device asked, char reason[DEVICE_REASON],
                        lscm_error *why);
/* Whether device_open would find it, without opening it; AUTO is always found. */
lscm_status device_find(lscm_device asked, lscm_error *why);
/* One that was never opened, all zero, too. */
void device_close(device *on);

#endif
