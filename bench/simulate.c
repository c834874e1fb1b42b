/* Time to simulate paper-linear d = 20, N = 20 500 into memory (x, z, targets, values), and the
 * time of its irreducible parts alone, on the same threads: the random numbers it needs (one normal
 * and one uniform per node and row) and the product z A. Prints one line of JSON, seconds, best
 * of 20. */
#include "base/rng.h"
#include "base/threads.h"
#include "clock.h"
#include "data/dataset/dataset.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 20, FEATURES = 100, ROWS = 20500, STRIP = 128, RUNS = 20 };

static double x[ROWS * FEATURES];
static double z[ROWS * NODES];
static double values[ROWS * NODES];
static uint8_t targets[ROWS * NODES];
static double matrix[NODES * FEATURES];

static void simulate(const lscm_simulation *settings)
{
    lscm_dataset *data = NULL;
    lscm_error why;
    if (lscm_simulate(&data, settings, "paper-linear", &why) != LSCM_OK ||
        lscm_dataset_read(data, LSCM_X, 0, ROWS, x, &why) != LSCM_OK ||
        lscm_dataset_read(data, LSCM_Z, 0, ROWS, z, &why) != LSCM_OK ||
        lscm_dataset_read(data, LSCM_VALUES, 0, ROWS, values, &why) != LSCM_OK ||
        dataset_read_raw(data, LSCM_TARGETS, 0, ROWS, targets, &why) != LSCM_OK) {
        (void)fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    lscm_dataset_free(data);
}

static void numbers_alone(void)
{
#pragma omp parallel for schedule(static)
    for (int first = 0; first < ROWS; first += STRIP) {
        size_t rows = first + STRIP < ROWS ? STRIP : (size_t)(ROWS - first);
        size_t at = (size_t)first * NODES;
        rng_normals((rng){1, 1}, at, rows * NODES, z + at);
        rng_uniforms((rng){1, 2}, at, rows * NODES, values + at);
    }
}

static void product_alone(void)
{
    threads_blas_single();
#pragma omp parallel for schedule(static)
    for (int first = 0; first < ROWS; first += STRIP) {
        int rows = first + STRIP < ROWS ? STRIP : ROWS - first;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, FEATURES, NODES, 1,
                    z + (size_t)first * NODES, NODES, matrix, FEATURES, 0,
                    x + (size_t)first * FEATURES, FEATURES);
    }
    threads_blas_restore();
}

int main(void)
{
    lscm_simulation settings;
    lscm_error why;
    double whole = 0;
    double numbers = 0;
    double product = 0;
    if (lscm_simulation_preset(&settings, "paper-linear", NODES, &why) != LSCM_OK) {
        return 1;
    }
    settings.degree = 2;
    settings.seed = 1;
    BEST_OF(whole, RUNS, simulate(&settings));
    BEST_OF(numbers, RUNS, numbers_alone());
    BEST_OF(product, RUNS, product_alone());
    (void)printf("{\"whole\": %.6f, \"numbers\": %.6f, \"product\": %.6f}\n", whole, numbers,
                 product);
    return 0;
}
