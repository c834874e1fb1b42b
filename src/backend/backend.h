/* What a device supplies: a way to run pieces of work side by side, and about ten dense operations
 * on row-major, contiguous arrays. Networks and optimisers call nothing else, so a device is
 * replaced by handing them another table; the CPU's (OpenBLAS, OpenMP) is the reference that judges
 * the others.
 *
 *     backend_cpu_f32, backend_cpu_f64        the tables, see backend_table.h
 *
 * Float is what runs, double is what the tests differentiate, and there is one source for both: it
 * says REAL for float or double, and NAMED(mlp, pass) for mlp_f32_pass or mlp_f64_pass, whichever
 * of backend/float32.h and backend/float64.h was included last.
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

/* Job number `job`, on the worker of that number; a worker does one job at a time. */
typedef void (*backend_job)(void *self, size_t job, size_t worker);

/* Rows of a batch are worked on in chunks: as many as keep a small network's activations in a
 * core's cache on a CPU, the whole batch on a device that wants it. */
typedef struct backend_device {
    const char *name;
    size_t rows_least, rows_most; /* in a chunk */
    /* Memory that the operations can be given and the host can read between calls of `each`. */
    lscm_status (*open)(arena *a, lscm_error *why);
    void (*close)(arena *a);
    /* Workers that the calling thread may use. */
    size_t (*workers)(void);
    /* Jobs 0 .. jobs - 1 in any order, side by side; done when it returns. */
    void (*each)(size_t workers, size_t jobs, backend_job job, void *self);
} backend_device;

/* One step of Adam, m <- b1 m + (1 - b1) g, s <- b2 s + (1 - b2) g^2 + inside,
 * p <- p - rate m / (sqrt(correct s) + outside); AdaBelief has (g - m)^2 for g^2, the new m. */
typedef struct backend_adam {
    bool belief;
    double b1, b2;
    double inside, outside;
    double rate;    /* learning rate / (1 - b1^t) */
    double correct; /* 1 / (1 - b2^t) */
} backend_adam;

/* backend_f32 or backend_f64 */
#define BACKEND TYPED(backend)

#include "backend/float32.h"

#include "backend/backend_table.h"

#include "backend/float64.h"

#include "backend/backend_table.h" /* NOLINT(readability-duplicate-include) */

#endif
