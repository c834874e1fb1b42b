/* The kernel encoder against other routes to the same numbers: the kernel by its formula in long
 * double and by sampling Gaussians, the regression and its variance by Gauss elimination in double,
 * held-out errors and calibration by hand. */
#include "kernel_testing.h"

#include "infer/kernel/kernel.h"

/* ---- The kernel ---- */

static const long double pi = 3.141592653589793238462643L;

/* By the angle t of the inputs: no digits are lost near 0 and pi. */
static double kernel_of_angle(double angle)
{
    long double t = angle;
    long double T = cosl(t);
    for (int layer = 0; layer < 2; layer++) {
        long double sine = sinl(t);
        long double cosine = cosl(t);
        long double half = sinl(t / 2);
        long double k1 = (cosine * (pi - t) + sine) / pi;
        T = k1 + T * (1 - t / pi);
        t = 2 * asinl(sqrtl((2 * half * half - (sine - cosine * t) / pi) / 2));
    }
    return (double)(T / 3);
}

/* The same from vectors, in double. */
static double kernel_of(const double *a, const double *b, size_t k)
{
    double ab = 0;
    double apart = 0;
    double sum = 0;
    double aa = 0;
    double bb = 0;
    for (size_t i = 0; i < k; i++) {
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    for (size_t i = 0; i < k; i++) {
        double x = a[i] / sqrt(aa);
        double y = b[i] / sqrt(bb);
        ab += x * y;
        apart += (x - y) * (x - y);
        sum += (x + y) * (x + y);
    }
    return kernel_of_angle(ab > 0 ? 2 * asin(sqrt(apart) / 2)
                                  : (double)pi - 2 * asin(sqrt(sum) / 2));
}

static void the_map_is_the_formula(void **state)
{
    (void)state;
    enum { COUNT = 20001 };
    static double cosine[COUNT];
    static float out[COUNT];
    double worst = 0;
    for (size_t i = 0; i < COUNT; i++) {
        cosine[i] = cos((double)i / (COUNT - 1) * (double)pi);
    }
    kernel_map(COUNT, cosine, out);
    for (size_t i = 0; i < COUNT; i++) {
        double off = fabs((double)out[i] - kernel_of_angle((double)i / (COUNT - 1) * (double)pi));
        worst = off > worst || isnan(off) ? off : worst;
    }
    assert_near(worst, 0, 4e-7);
    const double beyond[] = {1 + 1e-15, 1, -1, -1 - 1e-15, 0};
    kernel_map(5, beyond, out);
    assert_near((double)out[0], 1, 1e-7);
    assert_near((double)out[1], 1, 1e-7);
    assert_near((double)out[2], kernel_of_angle((double)pi), 3e-7);
    assert_near((double)out[3], kernel_of_angle((double)pi), 3e-7);
    assert_near((double)out[4], kernel_of_angle((double)pi / 2), 3e-7);
}

/* k1 = 2 E relu(u) relu(w), k0 = 2 P(u > 0, w > 0) for Gaussians with correlation S: a network's
 * own expectations, sampled. */
static void the_map_is_a_network(void **state)
{
    (void)state;
    const double cosines[] = {-0.7, -0.2, 0.3, 0.8, 0.97};
    float k[5];
    kernel_map(5, cosines, k);
    for (size_t i = 0; i < 5; i++) {
        lcg g = {i};
        double S = cosines[i];
        double T = S;
        for (int layer = 0; layer < 2; layer++) {
            enum { DRAWS = 100000 };
            double both = 0;
            double product = 0;
            for (size_t draw = 0; draw < DRAWS; draw++) {
                double u = lcg_normal(&g);
                double w = S * u + sqrt(1 - S * S) * lcg_normal(&g);
                both += u > 0 && w > 0 ? 2.0 / DRAWS : 0;
                product += u > 0 && w > 0 ? 2 * u * w / DRAWS : 0;
            }
            T = product + T * both;
            S = product < 1 ? product : 1;
        }
        assert_near((double)k[i], T / 3, 0.02);
    }
}

/* Rows that are equal, nearly equal, opposite and anything: where single precision would be lost.
 */
static void near_duplicates_keep_their_digits(void **state)
{
    (void)state;
    enum { N = 300, R = 20 };
    lcg g = {4};
    float *f = floats((size_t)N * R);
    double *wide = numbers((size_t)N * R);
    float *k = floats((size_t)N * N);
    float *packed = floats((size_t)N * (N + 1) / 2);
    kernel_space s = {.family = KERNEL_HOMOGENEOUS, .R = R, .scale = 1};
    kernel_inputs in;
    for (size_t i = 0; i < N; i++) {
        for (size_t c = 0; c < R; c++) {
            double near = i % 3 == 1 ? 1e-4 : 1e-6;
            double before = i % 3 == 0 ? 0 : (double)f[(i - i % 3) * R + c];
            double x = i % 3 == 0 ? lcg_normal(&g) : before * (1 + near * lcg_normal(&g));
            f[i * R + c] = (float)(i % 7 == 6 ? -x : x);
            wide[i * R + c] = (double)f[i * R + c];
        }
    }
    assert_ok(kernel_inputs_of(&in, &s, f, NULL, N, &why));
    kernel_triangle(&in.points, in.cosine, k, N);
    kernel_triangle(&in.points, in.cosine, packed, 0);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j <= i; j++) {
            double direct = i == j ? 1 : kernel_of(wide + i * R, wide + j * R, R);
            assert_near((double)k[i * N + j], direct, 5e-7);
            assert_true(k[i * N + j] == packed[i * (i + 1) / 2 + j]);
        }
        k[i * N + i] += 1e-5F;
    }
    assert_true(kernel_cholesky(k, N));
    kernel_inputs_close(&in);
    free(f);
    free(wide);
    free(k);
    free(packed);
}

/* ---- Linear algebra ---- */

/* a (n, n) x = b (n), both used up; Gauss with pivots. */
static void eliminate(double *a, double *b, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k; i < n; i++) {
            best = fabs(a[i * n + k]) > fabs(a[best * n + k]) ? i : best;
        }
        for (size_t c = 0; c < n; c++) {
            double swap = a[k * n + c];
            a[k * n + c] = a[best * n + c];
            a[best * n + c] = swap;
        }
        double swap = b[k];
        b[k] = b[best];
        b[best] = swap;
        for (size_t i = k + 1; i < n; i++) {
            double factor = a[i * n + k] / a[k * n + k];
            for (size_t c = k; c < n; c++) {
                a[i * n + c] -= factor * a[k * n + c];
            }
            b[i] -= factor * b[k];
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t c = k + 1; c < n; c++) {
            b[k] -= a[k * n + c] * b[c];
        }
        b[k] /= a[k * n + k];
    }
}

static void factors_multiply_back(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 7, 256, 257, 700};
    for (size_t t = 0; t < 5; t++) {
        size_t n = sizes[t];
        float *a = floats(n * n);
        float *l = floats(n * n);
        float *x = floats(n);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                a[i * n + j] = l[i * n + j] =
                    (i == j ? 0.5F : 0) + expf(-0.02F * fabsf((float)i - (float)j));
            }
            x[i] = 1 + (float)(i % 5);
        }
        assert_true(kernel_cholesky(l, n));
        for (size_t i = 0; i < n; i += 13) {
            for (size_t j = 0; j <= i; j += 7) {
                double sum = 0;
                for (size_t c = 0; c <= j; c++) {
                    sum += (double)l[i * n + c] * (double)l[j * n + c];
                }
                assert_near(sum, (double)a[i * n + j], 2e-6);
            }
        }
        float *row = floats(n);
        memcpy(row, x, n * sizeof *row);
        kernel_cholesky_rows(l, n, 1, row);
        kernel_cholesky_solve(l, n, x);
        double square = 0; /* x' a^-1 x both ways */
        double product = 0;
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t j = 0; j < n; j++) {
                sum += (double)a[i * n + j] * (double)x[j];
            }
            assert_near(sum, 1 + (double)(i % 5), 2e-4);
            square += (double)row[i] * (double)row[i];
            product += (1 + (double)(i % 5)) * (double)x[i];
        }
        assert_near(square / product, 1, 1e-4);
        memcpy(l, a, n * n * sizeof *l);
        l[(n - 1) * n + n - 1] = -1;
        assert_false(kernel_cholesky(l, n));
        l[(n - 1) * n + n - 1] = NAN;
        assert_false(kernel_cholesky(l, n));
        free(a);
        free(l);
        free(x);
        free(row);
    }
}

/* ---- The regression, densely ---- */

/* Inputs (n, k) as kernel.h has them, and their lengths. */
static double *dense_inputs(const rows_of *r, kernel_family family, double scale, double *length)
{
    size_t R = r->f.R;
    size_t k = R + 1;
    double *u = numbers(r->f.rows * k);
    for (size_t i = 0; i < r->f.rows; i++) {
        double sum = 0;
        for (size_t c = 0; c < R; c++) {
            double x = (double)r->f.f[i * R + c];
            u[i * k + c] = (family == KERNEL_HOMOGENEOUS ? x : x - r->f.mean[c]) / scale;
        }
        u[i * k + R] = family == KERNEL_HOMOGENEOUS ? 0 : family == KERNEL_BIASED ? 0.3 : 1;
        for (size_t c = 0; c < k; c++) {
            sum += u[i * k + c] * u[i * k + c];
        }
        length[i] = family == KERNEL_LINEAR ? 1 : sqrt(sum);
    }
    return u;
}

static double dense_kernel(kernel_family family, const double *a, const double *b, size_t k)
{
    double sum = 0;
    for (size_t c = 0; c < k; c++) {
        sum += a[c] * b[c];
    }
    return family == KERNEL_LINEAR ? sum : kernel_of(a, b, k);
}

typedef struct dense {
    size_t n, k;
    kernel_family family;
    double *u, *length;         /* all rows */
    size_t *row;                /* (n): labels */
    double *gram;               /* (n, n): K + ridge I */
    double *alpha;              /* (n) */
    double shift, ridge, scale; /* scale: y'alpha / n */
} dense;

static dense dense_fit(const rows_of *r, const kernel_encoder *e, const kernel_labels *l, size_t j,
                       unsigned roles)
{
    const features *f = &r->f;
    dense out = {.k = f->R + 1, .family = e->space.family, .shift = e->shift[j]};
    out.ridge = e->ridge[j];
    out.length = numbers(f->rows);
    out.u = dense_inputs(r, out.family, e->space.scale, out.length);
    out.row = calloc(f->rows, sizeof *out.row);
    out.alpha = numbers(f->rows);
    assert_non_null(out.row);
    for (size_t row = 0; row < f->rows; row++) {
        if ((l->role[row * f->d + j] & roles) != 0) {
            out.alpha[out.n] = (design_value(&f->design, row, j) - out.shift) / out.length[row];
            out.row[out.n++] = row;
        }
    }
    size_t n = out.n;
    out.gram = numbers(n * n);
    double *used = numbers(n * n);
    double *y = numbers(n);
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) {
            double value = dense_kernel(out.family, out.u + out.row[a] * out.k,
                                        out.u + out.row[b] * out.k, out.k);
            out.gram[a * n + b] = used[a * n + b] = value + (a == b ? out.ridge : 0);
        }
        y[a] = out.alpha[a];
    }
    eliminate(used, out.alpha, n);
    for (size_t a = 0; a < n; a++) {
        out.scale += y[a] * out.alpha[a] / (double)n;
    }
    free(used);
    free(y);
    return out;
}

/* z and variance / u^2 of a row */
static double dense_row(const dense *d, size_t row, double *variance)
{
    size_t n = d->n;
    double z = 0;
    double *k = numbers(n);
    double *solved = numbers(n);
    double *gram = numbers(n * n);
    memcpy(gram, d->gram, n * n * sizeof *gram);
    const double *u = d->u + row * d->k;
    *variance = dense_kernel(d->family, u, u, d->k) + d->ridge;
    for (size_t a = 0; a < n; a++) {
        k[a] = solved[a] = dense_kernel(d->family, u, d->u + d->row[a] * d->k, d->k);
        z += k[a] * d->alpha[a];
    }
    eliminate(gram, solved, n);
    for (size_t a = 0; a < n; a++) {
        *variance -= k[a] * solved[a];
    }
    *variance *= d->length[row] * d->length[row];
    free(k);
    free(solved);
    free(gram);
    return d->shift + d->length[row] * z;
}

static void dense_close(dense *d)
{
    free(d->u);
    free(d->length);
    free(d->row);
    free(d->gram);
    free(d->alpha);
}

/* Of one node: z, sd, calibration, held-out R2 and residual. */
static void check_node(const rows_of *r, const encoded *e, const kernel_labels *l, size_t j)
{
    size_t d = r->f.d;
    double ratio = 0;
    double squares = 0;
    double held = 0;
    dense part = dense_fit(r, &e->e, l, j, KERNEL_TRAIN);
    for (size_t row = 0; row < r->f.rows; row++) {
        if (l->role[row * d + j] == KERNEL_HELD) {
            double variance = 0;
            double off = r->values[row * d + j] - dense_row(&part, row, &variance);
            ratio += off * off / variance / part.scale;
            squares += off * off;
            held++;
        }
    }
    assert_true(held > 0);
    double share = squares / held / l->variance[j];
    assert_near(e->e.calibration[j], ratio / held, 0.01 * ratio / held);
    assert_near(e->e.residual[j], sqrt(squares / held), 0.01 * sqrt(squares / held));
    assert_near(1 - e->e.node_r2[j], share, 0.01 * share);
    dense all = dense_fit(r, &e->e, l, j, KERNEL_TRAIN | KERNEL_HELD);
    double unit = sqrt(all.scale * ratio / held);
    assert_near(e->e.unit[j] / unit, 1, 0.01);
    for (size_t row = 0; row < r->f.rows; row += 17) {
        double variance = 0;
        double z = dense_row(&all, row, &variance);
        double sd = unit * sqrt(variance);
        assert_near(e->z[row * d + j], z, 1e-4 * sqrt(l->variance[j]));
        assert_near(e->sd[row * d + j] / sd, 1, 0.02);
    }
    dense_close(&part);
    dense_close(&all);
}

static void it_is_kernel_ridge_regression(void **state)
{
    (void)state;
    for (size_t family = 0; family < KERNEL_FAMILIES; family++) {
        rows_of r = make(RELU, 220, 3, 8, 9, 0.05);
        kernel_settings s = {.seed = 3, .family = (kernel_family)family, .ridge = 1e-3};
        encoded e = encode(&r, s);
        kernel_labels l;
        assert_ok(kernel_labels_of(&l, &r.f, 3, &why));
        assert_true(e.e.space.family == family);
        for (size_t j = 0; j < 3; j++) {
            assert_true(e.e.usable[j]);
            check_node(&r, &e, &l, j);
        }
        kernel_labels_close(&l);
        discard(&e);
        drop(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_map_is_the_formula),
        cmocka_unit_test(the_map_is_a_network),
        cmocka_unit_test(near_duplicates_keep_their_digits),
        cmocka_unit_test(factors_multiply_back),
        cmocka_unit_test(it_is_kernel_ridge_regression),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
