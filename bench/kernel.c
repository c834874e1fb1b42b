/* The kernel encoder, one line of JSON each:
 *
 *   bench_kernel rate [N [R]]   the kernel of N rows of R features (4 000, 100): the whole matrix,
 *                               the lower triangle that a fit evaluates; a Cholesky factor of it
 *                               and the same operations as one sgemm, all on all threads
 *   bench_kernel stage FILE     features and encoder of a data set
 *   bench_kernel large [N]      the encoder of N rows (100 000), 256 features, 10 nodes: seconds
 *                               and peak memory */
#define _DEFAULT_SOURCE
#include "infer/kernel/kernel.h"
#include "base/rng.h"
#include "base/threads.h"
#include "clock.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static float *random_rows(size_t n, size_t R)
{
    float *f = malloc(n * R * sizeof *f);
    for (size_t i = 0; f != NULL && i < n * R; i++) {
        f[i] = (float)rng_normal((rng){1, 1}, i);
    }
    return f;
}

/* Seconds of a Cholesky factor, without the copy that it spoils. */
static double factor(float *a, const float *k, size_t n)
{
    double best = 1e300;
    for (int run = 0; run < 5; run++) {
        memcpy(a, k, n * n * sizeof *a);
        double begun = clock_now();
        (void)kernel_cholesky(a, n);
        double spent = clock_now() - begun;
        best = spent < best ? spent : best;
    }
    return best;
}

static int rate(size_t n, size_t R)
{
    int status = 1;
    kernel_space s = {.family = KERNEL_HOMOGENEOUS, .R = R, .scale = 1};
    kernel_inputs in = {0};
    float *f = random_rows(n, R);
    float *k = calloc(n * n, sizeof *k);
    float *a = calloc(n * n, sizeof *a);
    float *c = calloc(n * n, sizeof *c);
    double whole = 0;
    double lower = 0;
    double chol = 0;
    double gemm = 0;
    if (f == NULL || k == NULL || a == NULL || c == NULL ||
        kernel_inputs_of(&in, &s, f, NULL, n, NULL) != LSCM_OK) {
        goto done;
    }
    threads_blas_single();
    BEST_OF(whole, 10, kernel_matrix(&in.points, &in.points, in.cosine, k));
    BEST_OF(lower, 10, kernel_triangle(&in.points, in.cosine, k, n));
    for (size_t i = 0; i < n; i++) {
        k[i * n + i] = 1.0001F;
    }
    chol = factor(a, k, n);
    threads_blas_restore();
    BEST_OF(gemm, 5,
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)n, (int)n, (int)n, 1, k,
                        (int)n, a, (int)n, 0, c, (int)n));
    double size = (double)n;
    (void)printf("{\"matrix\": %.6f, \"triangle\": %.6f, \"cholesky\": %.6f, "
                 "\"cholesky_gflops\": %.1f, \"sgemm_gflops\": %.1f}\n",
                 whole, lower, chol, 1e-9 * size * size * size / 3 / chol,
                 1e-9 * 2 * size * size * size / gemm);
    status = 0;
done:
    kernel_inputs_close(&in);
    free(f);
    free(k);
    free(a);
    free(c);
    return status;
}

static double peak(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1e3;
}

static int encode(const features *f)
{
    lscm_error why;
    kernel_encoder e = {0};
    const kernel_settings settings = {.family = KERNEL_FAMILIES};
    double *z = malloc(f->rows * f->d * sizeof *z);
    double *sd = malloc(f->rows * f->d * sizeof *sd);
    double begun = clock_now();
    if (z == NULL || sd == NULL || kernel_encode(&e, z, sd, f, &settings, NULL, &why) != LSCM_OK) {
        (void)fprintf(stderr, "bench_kernel: %s\n", why.text);
        free(z);
        free(sd);
        return 1;
    }
    (void)printf("{\"rows\": %zu, \"nodes\": %zu, \"features\": %zu, \"encoder\": %.3f, "
                 "\"family\": \"%s\", \"inputs\": %zu, \"r2\": %.4f, \"peak_mb\": %.0f}\n",
                 f->rows, f->d, f->R, clock_now() - begun, kernel_family_name(e.space.family), e.m,
                 e.r2[e.space.family], peak());
    kernel_encoder_close(&e);
    free(z);
    free(sd);
    return 0;
}

static int stage(const char *path)
{
    lscm_error why;
    lscm_dataset *data = NULL;
    features f = {0};
    const lscm_open_options options = {0};
    int status = 1;
    if (lscm_dataset_open(&data, path, &options, &why) != LSCM_OK ||
        features_of(&f, data, NULL, &why) != LSCM_OK) {
        (void)fprintf(stderr, "%s\n", why.text);
    } else {
        status = encode(&f);
    }
    features_close(&f);
    lscm_dataset_free(data);
    return status;
}

/* z random, x = relu(z A) B, each node a target in half of the sets of 100 rows. */
static int large(size_t rows)
{
    enum { NODES = 10, HIDDEN = 64, R = 256, PER_SET = 100 };
    static float a[NODES * HIDDEN];
    static float b[HIDDEN * R];
    static double mean[R];
    features f = {.rows = rows, .d = NODES, .D = R, .R = R, .mean = mean};
    f.f = malloc(rows * R * sizeof(float));
    double *values = malloc(rows * NODES * sizeof(double));
    uint8_t *mask = malloc(rows * NODES);
    int status = f.f == NULL || values == NULL || mask == NULL;
    for (size_t i = 0; i < (size_t)NODES * HIDDEN; i++) {
        a[i] = (float)rng_normal((rng){1, 2}, i);
    }
    for (size_t i = 0; i < (size_t)HIDDEN * R; i++) {
        b[i] = (float)rng_normal((rng){1, 3}, i) / 8;
    }
    for (size_t row = 0; row < rows && status == 0; row++) {
        float h[HIDDEN] = {0};
        for (size_t j = 0; j < NODES; j++) {
            double z = rng_normal((rng){1, 4}, row * NODES + j);
            bool target = rng_uniform((rng){1, 5}, row / PER_SET * NODES + j) < 0.5;
            mask[row * NODES + j] = target ? 1 : 0;
            values[row * NODES + j] = target ? z : 0;
            cblas_saxpy(HIDDEN, (float)z, a + j * HIDDEN, 1, h, 1);
        }
        for (size_t k = 0; k < HIDDEN; k++) {
            h[k] = h[k] > 0 ? h[k] : 0;
        }
        cblas_sgemv(CblasRowMajor, CblasTrans, HIDDEN, R, 1, b, R, h, 1, 0, f.f + row * R, 1);
        for (size_t k = 0; k < R; k++) {
            mean[k] += (double)f.f[row * R + k] / (double)rows;
        }
    }
    status = status != 0 || design_of(&f.design, rows, NODES, mask, values, NULL) != LSCM_OK
                 ? 1
                 : encode(&f);
    design_close(&f.design);
    free(f.f);
    free(values);
    free(mask);
    return status;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    size_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    size_t second = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    if (strcmp(what, "rate") == 0) {
        return rate(first > 0 ? first : 4000, second > 0 ? second : 100);
    }
    if (strcmp(what, "stage") == 0 && argc == 3) {
        return stage(argv[2]);
    }
    if (strcmp(what, "large") == 0) {
        return large(first > 0 ? first : 100000);
    }
    (void)fprintf(stderr, "usage: bench_kernel rate [N [R]] | stage FILE | large [N]\n");
    return 2;
}
