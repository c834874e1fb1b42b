/* network [PEER [TURNS]]: one training step of the network x = g(z) that refines the causal
 * variables (infer/generator/generator_net.h): 20-128-128-100, ReLU, no biases, batches of 512 of
 * 4000 rows: picking rows, forward, squared error, back, orthogonal momentum. Prints one line of
 * JSON for each number of threads: steps per second; flops of a step (6 parameters batch, and the
 * products of the Newton-Schulz iteration); their rate, and that of sgemm (1024 cubed) on as many
 * threads, taken in turns, best of TURNS (40) each; the share. PEER is a command, e.g. "python3
 * bench/network_torch.py": it is given the number of threads and prints its seconds for a step, and
 * for one with the same momentum; without PyTorch it is left out. */
#include "base/rng.h"
#include "base/threads.h"
#include "clock.h"
#include "infer/generator/generator.h"

#include <cblas.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 20, FEATURES = 100, HIDDEN = 128, BATCH = 512, ROWS = 4000 };
enum { STEPS = 5, SIDE = 1024 };

typedef struct rows_memory {
    float *f;         /* (ROWS, FEATURES) */
    uint8_t *mask;    /* (ROWS, NODES): 0; nothing is set, or held out */
    double *z, *sd;   /* (ROWS, NODES); sd is 1 */
    float *a, *b, *c; /* (SIDE, SIDE) */
} rows_memory;

static void lay_out(rows_memory *m, arena *a)
{
    size_t entries = (size_t)ROWS * NODES;
    size_t square = (size_t)SIDE * SIDE;
    m->f = arena_take(a, (size_t)ROWS * FEATURES, sizeof(float));
    m->mask = arena_take(a, entries, 1);
    m->z = arena_take(a, entries, sizeof(double));
    m->sd = arena_take(a, entries, sizeof(double));
    m->a = arena_take(a, square, sizeof(float));
    m->b = arena_take(a, square, sizeof(float));
    m->c = arena_take(a, square, sizeof(float));
}

static void fill(const rows_memory *m)
{
    for (size_t k = 0; k < (size_t)ROWS * FEATURES; k++) {
        m->f[k] = (float)rng_normal((rng){1, 1}, k);
    }
    for (size_t k = 0; k < (size_t)ROWS * NODES; k++) {
        m->z[k] = rng_normal((rng){1, 2}, k);
        m->sd[k] = 1;
    }
    for (size_t k = 0; k < (size_t)SIDE * SIDE; k++) {
        m->a[k] = m->b[k] = (float)rng_normal((rng){1, 3}, k);
    }
}

/* Flops of a step. */
static double work_of(const network_shape *shape)
{
    double flops = 6.0 * (double)network_count(shape) * BATCH;
    for (size_t l = 0; l < shape->layers; l++) {
        double in = (double)shape->layer[l].in;
        double out = (double)shape->layer[l].out;
        double least = in < out ? in : out;
        flops += 5 * (2 * 2 * in * out * least + 2 * least * least * least);
    }
    return flops;
}

static int take_steps(generator *g)
{
    for (int k = 0; k < STEPS; k++) {
        if (generator_step(g, NULL) != LSCM_OK) {
            return 1;
        }
    }
    return 0;
}

static void multiply(const rows_memory *m)
{
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, m->a, SIDE, m->b,
                SIDE, 0, m->c, SIDE);
}

/* Seconds of a step, and of one with the same momentum, by the peer; 0 where there is none. */
static void ask_peer(const char *peer, int threads, double *plain, double *same)
{
    char command[4096];
    *plain = *same = 0;
    (void)snprintf(command, sizeof command, "%s %d", peer, threads);
    FILE *answer = peer != NULL ? popen(command, "r") : NULL; /* NOLINT(cert-env33-c) */
    if (answer != NULL) {
        if (fgets(command, sizeof command, answer) != NULL) {
            char *end = command;
            *plain = strtod(command, &end);
            *same = strtod(end, NULL);
        }
        (void)pclose(answer);
    }
}

static int measure(const rows_memory *m, const char *peer, int turns, int threads)
{
    design none = {0};
    const generator_rows rows = {ROWS, NODES, FEATURES, m->f, &none, m->mask, m->z, m->sd};
    device cpu = {0};
    const generator_settings settings = {.device = &cpu,
                                         .homogeneous = true,
                                         .hidden = HIDDEN,
                                         .batch = BATCH,
                                         .first = 1000000,
                                         .rate = 0.01,
                                         .seed = 1};
    generator *g = NULL;
    double step = 1e300;
    double sgemm = 1e300;
    double plain = 0;
    double same = 0;
    int bad = 0;
    (void)threads_use(threads);
    if (design_of(&none, ROWS, NODES, m->mask, NULL, NULL) != LSCM_OK ||
        device_open(&cpu, LSCM_DEVICE_CPU, NULL, NULL) != LSCM_OK ||
        generator_open(&g, &rows, &settings, NULL) != LSCM_OK) {
        return 1;
    }
    for (int turn = 0; turn < turns && bad == 0; turn++) {
        double one = 0;
        threads_blas_single();
        BEST_OF(one, 1, bad |= take_steps(g));
        step = one / STEPS < step ? one / STEPS : step;
        openblas_set_num_threads(threads);
        BEST_OF(one, 2, multiply(m));
        sgemm = one < sgemm ? one : sgemm;
        threads_blas_restore();
    }
    ask_peer(peer, threads, &plain, &same);
    network_shape shape = generator_shape(g);
    double rate = work_of(&shape) / step;
    double best = 2.0 * SIDE * SIDE * SIDE / sgemm;
    (void)printf("{\"threads\": %d, \"steps_per_second\": %.0f, \"megaflop\": %.1f, \"gflops\": "
                 "%.1f, \"sgemm_gflops\": %.1f, \"share\": %.2f",
                 threads, 1 / step, 1e-6 * work_of(&shape), 1e-9 * rate, 1e-9 * best, rate / best);
    if (plain > 0) {
        (void)printf(", \"torch_steps_per_second\": %.0f, \"times_torch\": %.2f, "
                     "\"times_torch_same_momentum\": %.2f",
                     1 / plain, plain / step, same / step);
    }
    (void)printf("}\n");
    generator_close(g);
    design_close(&none);
    device_close(&cpu);
    return bad;
}

int main(int argc, char **argv)
{
    rows_memory m = {0};
    arena memory = {0};
    int most = omp_get_max_threads();
    const char *peer = argc > 1 ? argv[1] : NULL;
    int turns = argc > 2 ? atoi(argv[2]) : 40;
    lay_out(&m, &memory);
    if (arena_open(&memory, NULL) != LSCM_OK) {
        return 1;
    }
    lay_out(&m, &memory);
    fill(&m);
    int bad = measure(&m, peer, turns, 1);
    if (most > 1) {
        bad |= measure(&m, peer, turns, most);
    }
    arena_close(&memory);
    return bad;
}
