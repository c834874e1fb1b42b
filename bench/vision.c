/* One step of a network of pictures, 32 pictures of 64 x 64 x 3 and 6 nodes: encoder, decoder at
 * 128 pixels of each, gradients, update (infer/sight). And the products of its 3 x 3 convolutions,
 * 32 maps of 16 x 16 to 32, by tiles (net/vision) and by copies of the input and sgemm, on one
 * core. Prints one line of JSON: seconds, best of 40; GFLOP/s; the threads used. `vision cuda N`:
 * the step alone, of N pictures, on the first CUDA device. bench/vision_torch.py is the peer. */
#include "base/threads.h"
#include "clock.h"
#include "infer/sight/sight.h"

#include "base/clock.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 256, SIDE = 64, CHANNELS = 3, NODES = 6, PIXELS = 128, RUNS = 40 };
enum { MAP = 16, MAPS = 32 };

static device on;
static size_t batch = 32;

static lscm_status fill_design(design *by, lscm_error *why)
{
    uint8_t mask[ROWS * NODES];
    double values[ROWS * NODES];
    for (size_t k = 0; k < (size_t)ROWS * NODES; k++) {
        mask[k] = k % 5 < 2 ? 1 : 0;
        values[k] = rng_normal((rng){1, 1}, k);
    }
    return design_of(by, ROWS, NODES, mask, values, why);
}

static void lay_out(pictures *p, arena *a)
{
    p->row = arena_take(a, ROWS, sizeof *p->row);
    p->x = arena_take(a, ROWS * p->count, sizeof(float));
    p->backdrop = arena_take(a, p->count, sizeof(float));
    p->reach = arena_take(a, (size_t)SIDE * SIDE, sizeof(double));
}

static void fill_pictures(pictures *p)
{
    float *x = p->x;
    for (size_t k = 0; k < ROWS * p->count; k++) {
        x[k] = (float)rng_normal((rng){1, 2}, k);
    }
    for (size_t k = 0; k < ROWS; k++) {
        p->row[k] = (uint32_t)k;
    }
    for (size_t k = 0; k < (size_t)SIDE * SIDE; k++) {
        p->reach[k] = (double)(k + 1) / (SIDE * SIDE);
    }
}

/* A call takes one step, or on a device some. */
static double best_step(sight_net *n)
{
    lscm_error why;
    double best = 1e300;
    for (int k = 0; k < RUNS; k++) {
        uint64_t before = n->now.steps;
        double begun = clock_seconds();
        if (sight_net_step(n, &why) != LSCM_OK) {
            return 0;
        }
        best = fmin(best, (clock_seconds() - begun) / (double)(n->now.steps - before));
    }
    return best;
}

/* Seconds of a step, or 0. */
static double time_step(void)
{
    arena memory = {0};
    design by = {0};
    sight_net n = {0};
    lscm_error why;
    pictures p = {.rows = ROWS, .height = SIDE, .width = SIDE, .channels = CHANNELS, .kept = ROWS};
    sight_settings s = {&on, NULL, 100000, batch, PIXELS, 1e-3, 1};
    picture_store *store = NULL;
    double seconds = 0;
    p.count = (size_t)SIDE * SIDE * CHANNELS;
    p.type = DTYPE_FLOAT32;
    p.scale = 1;
    lay_out(&p, &memory);
    if (arena_open(&memory, &why) == LSCM_OK && fill_design(&by, &why) == LSCM_OK) {
        lay_out(&p, &memory);
        fill_pictures(&p);
        if (sight_store(&store, &p, &on, &why) == LSCM_OK) {
            s.store = store;
            if (sight_net_open(&n, &p, &by, NULL, &s, &why) == LSCM_OK) {
                seconds = best_step(&n);
            }
        }
    }
    sight_net_close(&n);
    if (store != NULL) {
        on.pictures->drop(store);
    }
    design_close(&by);
    arena_close(&memory);
    return seconds;
}

/* Each position's nine neighbours, side by side. */
static void copy_columns(const float *x, float *columns)
{
    for (size_t i = 0; i < MAP; i++) {
        for (size_t j = 0; j < MAP; j++) {
            for (size_t p = 0; p < 3; p++) {
                for (size_t k = 0; k < (size_t)3 * MAPS; k++) {
                    columns[((i * MAP + j) * 3 + p) * 3 * MAPS + k] =
                        x[((i + p) * (MAP + 2) + j) * MAPS + k];
                }
            }
        }
    }
}

static void time_convolution(double *tiles, double *copies)
{
    const conv c = {MAP, MAP, MAPS, MAPS, 1};
    size_t map = map_count(MAP, MAP, MAPS);
    float *x = calloc(2 * map + conv_weights(&c) + MAPS + (size_t)MAP * MAP * 9 * MAPS, sizeof *x);
    double work = 2e-9 * MAP * MAP * (double)conv_weights(&c);
    if (x == NULL) {
        return;
    }
    float *y = x + map;
    float *w = y + map;
    float *columns = w + conv_weights(&c) + MAPS;
    for (size_t k = 0; k < map; k++) {
        x[k] = (float)rng_normal((rng){1, 3}, k);
    }
    threads_blas_single();
    BEST_OF(*tiles, 50 * RUNS, conv_f32_forward(&c, w, x, y));
    BEST_OF(*copies, 50 * RUNS, copy_columns(x, columns);
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, MAP * MAP, MAPS, 9 * MAPS, 1,
                        columns, 9 * MAPS, w, MAPS, 0, y, MAPS));
    threads_blas_restore();
    *tiles = work / *tiles;
    *copies = work / *copies;
    free(x);
}

int main(int argc, char **argv)
{
    lscm_error why;
    double tiles = 0;
    double copies = 0;
    bool there = argc == 3 && strcmp(argv[1], "cuda") == 0;
    if (device_open(&on, there ? LSCM_DEVICE_CUDA : LSCM_DEVICE_CPU, NULL, &why) != LSCM_OK) {
        (void)fprintf(stderr, "%s\n", why.text);
        return 1;
    }
    batch = there ? strtoul(argv[2], NULL, 10) : batch;
    double step = time_step();
    if (there) {
        (void)printf("{\"step\": %.7f, \"batch\": %zu, \"device\": \"%s\"}\n", step, batch,
                     on.name);
    } else {
        time_convolution(&tiles, &copies);
        (void)printf("{\"step\": %.6f, \"tiles\": %.1f, \"copies\": %.1f, \"threads\": %zu}\n",
                     step, tiles, copies, on.workers(&on));
    }
    device_close(&on);
    return step > 0 ? 0 : 1;
}
