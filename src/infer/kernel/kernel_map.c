/* The kernel as a function of the cosine c = cos t of two inputs. With
 *
 *     k0(c) = (pi - t)/pi,   k1(c) = (c (pi - t) + sin t)/pi,
 *
 * layer by layer (T, S) <- (k1(S) + T k0(S), k1(S)) from S = T = c, twice; the kernel is T/3.
 *
 * It is an analytic function of s = sqrt(1 - |c|), one for each sign of c, and so a polynomial of
 * degree 10 in s: off by at most 3e-8, and 2e-7 with the rounding of float32 (the tests have the
 * formula). 1 - |c| is formed in double and keeps its digits where c is near +-1.
 */
#include "infer/kernel/kernel_map.h"

#include "base/simd.h"
#include "base/tuned.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

size_t kernel_width(const kernel_space *s)
{
    return s->family == KERNEL_HOMOGENEOUS ? s->R : s->R + 1;
}

static int compare(const void *left, const void *right)
{
    const double *a = left;
    const double *b = right;
    return *a < *b ? -1 : *a > *b;
}

double kernel_scale(const kernel_space *s, size_t n, const float *f, double *lengths)
{
    bool centred = s->family != KERNEL_HOMOGENEOUS;
    double total = 0;
    for (size_t i = 0; i < n; i++) {
        double sum = 0;
        for (size_t k = 0; k < s->R; k++) {
            double x = (double)f[i * s->R + k] - (centred ? s->centre[k] : 0);
            sum += x * x;
        }
        lengths[i] = sum;
        total += sum;
    }
    double square = n > 0 ? total / (double)n : 0;
    if (!centred && n > 0) {
        qsort(lengths, n, sizeof *lengths, compare);
        /* more than half of the rows 0: what the others have */
        square = lengths[n / 2] > 0 ? lengths[n / 2] : square;
    }
    return square > 0 ? sqrt(square) : 1;
}

void kernel_points_of(const kernel_space *s, const float *f, const uint32_t *row, kernel_points *p)
{
    bool centred = s->family != KERNEL_HOMOGENEOUS;
    for (size_t i = 0; i < p->n; i++) {
        const float *from = f + (row != NULL ? row[i] : i) * s->R;
        double *to = p->unit + i * p->k;
        double sum = centred ? tuned_kernel_constant() * tuned_kernel_constant() : 0;
        for (size_t k = 0; k < s->R; k++) {
            to[k] = ((double)from[k] - (centred ? s->centre[k] : 0)) / s->scale;
            sum += to[k] * to[k];
        }
        if (centred) {
            to[s->R] = tuned_kernel_constant();
        }
        p->radius[i] = sqrt(sum);
        double inverse = sum > 0 ? 1 / p->radius[i] : 0;
        for (size_t k = 0; k < p->k; k++) {
            to[k] *= inverse;
        }
    }
}

bool kernel_lit(const kernel_space *s, double radius)
{
    return s->family != KERNEL_HOMOGENEOUS || radius >= tuned_kernel_dim();
}

double kernel_reach(const kernel_space *s, double radius)
{
    return kernel_lit(s, radius) ? radius : tuned_kernel_dim();
}

enum { DEGREE = 10 };
/* Coefficients of s^0, s^1, ...: for c >= 0, and for c < 0. */
static const float near_pole[DEGREE + 1] = {
    1.0F,         -0.45015949F,  -0.88737142F, 0.70527822F,   -0.17286889F, 0.034239680F,
    0.030436805F, -0.080595769F, 0.086721420F, -0.049489859F, 0.012378805F};
static const float far_pole[DEGREE + 1] = {
    0.10610332F, -0.075033046F, 0.00024821539F, 0.16522907F,  0.011960637F, -0.10152920F,
    0.31566587F, -0.46602848F,  0.46652070F,    -0.25910112F, 0.064533532F};

/* yes ? a : b, by bits: of a conditional the compiler makes a branch, and then no vectors. */
static inline float pick(bool yes, float a, float b)
{
    uint32_t mask = 0 - (uint32_t)yes;
    uint32_t first;
    uint32_t second;
    memcpy(&first, &a, sizeof first);
    memcpy(&second, &b, sizeof second);
    first = (first & mask) | (second & ~mask);
    memcpy(&a, &first, sizeof a);
    return a;
}

CLONED static void map_floats(size_t n, const float *restrict cosine, const float *restrict apart,
                              float *restrict out)
{
    for (size_t i = 0; i < n; i++) {
        bool far = cosine[i] < 0;
        float s = sqrtf(apart[i]);
        float p = pick(far, far_pole[10], near_pole[10]);
        p = p * s + pick(far, far_pole[9], near_pole[9]);
        p = p * s + pick(far, far_pole[8], near_pole[8]);
        p = p * s + pick(far, far_pole[7], near_pole[7]);
        p = p * s + pick(far, far_pole[6], near_pole[6]);
        p = p * s + pick(far, far_pole[5], near_pole[5]);
        p = p * s + pick(far, far_pole[4], near_pole[4]);
        p = p * s + pick(far, far_pole[3], near_pole[3]);
        p = p * s + pick(far, far_pole[2], near_pole[2]);
        p = p * s + pick(far, far_pole[1], near_pole[1]);
        out[i] = p * s + pick(far, far_pole[0], near_pole[0]);
    }
}

/* c and 1 - |c| of cosines that rounding may have put beyond +-1 */
CLONED static void split(size_t n, const double *restrict cosine, float *restrict c,
                         float *restrict apart)
{
    for (size_t i = 0; i < n; i++) {
        double u = 1 - fabs(cosine[i]);
        apart[i] = (float)(0.5 * (u + fabs(u)));
        c[i] = (float)cosine[i];
    }
}

void kernel_map(size_t count, const double *cosine, float *out)
{
    float c[KERNEL_COLUMNS];
    float apart[KERNEL_COLUMNS];
    for (size_t first = 0; first < count; first += KERNEL_COLUMNS) {
        size_t n = count - first < KERNEL_COLUMNS ? count - first : KERNEL_COLUMNS;
        split(n, cosine + first, c, apart);
        map_floats(n, c, apart, out + first);
    }
}

/* cosine (a_count, KERNEL_COLUMNS) */
static void cosines(const kernel_points *a, size_t a_first, size_t a_count, const kernel_points *b,
                    size_t b_first, size_t b_count, double *cosine)
{
    int k = (int)a->k;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)a_count, (int)b_count, k, 1,
                a->unit + a_first * a->k, k, b->unit + b_first * b->k, k, 0, cosine,
                KERNEL_COLUMNS);
}

kernel_points kernel_points_from(const kernel_points *p, size_t first, size_t most)
{
    size_t left = p->n - first;
    return (kernel_points){.n = left < most ? left : most,
                           .k = p->k,
                           .unit = p->unit + first * p->k,
                           .radius = p->radius + first};
}

void kernel_tile(const kernel_points *a, const kernel_points *b, double *cosine, float *out,
                 size_t stride)
{
    cosines(a, 0, a->n, b, 0, b->n, cosine);
    for (size_t i = 0; i < a->n; i++) {
        kernel_map(b->n, cosine + i * KERNEL_COLUMNS, out + i * stride);
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

void kernel_matrix(const kernel_points *a, const kernel_points *b, double *cosine, float *out)
{
    size_t across = (b->n + KERNEL_COLUMNS - 1) / KERNEL_COLUMNS;
    size_t down = (a->n + KERNEL_ROWS - 1) / KERNEL_ROWS;
#pragma omp parallel for schedule(dynamic) if (across * down > 4)
    for (size_t tile = 0; tile < across * down; tile++) {
        size_t i = tile / across * KERNEL_ROWS;
        size_t j = tile % across * KERNEL_COLUMNS;
        kernel_points rows = kernel_points_from(a, i, KERNEL_ROWS);
        kernel_points columns = kernel_points_from(b, j, KERNEL_COLUMNS);
        kernel_tile(&rows, &columns,
                    cosine + (size_t)omp_get_thread_num() * KERNEL_ROWS * KERNEL_COLUMNS,
                    out + i * b->n + j, b->n);
    }
}

void kernel_triangle(const kernel_points *a, double *cosine, float *out, size_t stride)
{
    size_t n = a->n;
    size_t across = (n + KERNEL_COLUMNS - 1) / KERNEL_COLUMNS;
    size_t down = (n + KERNEL_ROWS - 1) / KERNEL_ROWS;
#pragma omp parallel for schedule(dynamic) if (across * down > 4)
    for (size_t tile = 0; tile < across * down; tile++) {
        size_t i = tile / across * KERNEL_ROWS;
        size_t j = tile % across * KERNEL_COLUMNS;
        size_t rows = least(n - i, KERNEL_ROWS);
        double *c = cosine + (size_t)omp_get_thread_num() * KERNEL_ROWS * KERNEL_COLUMNS;
        if (j >= i + rows) {
            continue;
        }
        cosines(a, i, rows, a, j, least(n - j, KERNEL_COLUMNS), c);
        for (size_t row = i; row < i + rows; row++) {
            float *to = out + (stride > 0 ? row * stride : row * (row + 1) / 2);
            if (row >= j) {
                size_t count = least(row - j + 1, KERNEL_COLUMNS);
                kernel_map(count, c + (row - i) * KERNEL_COLUMNS, to + j);
                if (row - j < KERNEL_COLUMNS) {
                    to[row] = 1;
                }
            }
        }
    }
}
