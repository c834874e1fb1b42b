/* Anchors on signals made by hand: y = z M + noise with z from a random linear model under do(). */
#include "infer/anchor.h"
#include "infer/anchor_state.h"

#include "lcg.h"
#include "testing.h"

#include <lapacke.h>
#include <omp.h>

typedef struct design {
    size_t d, observational, sets, per_set;
    bool single;      /* one target per set, cycling; otherwise 1 .. d - 1 of them */
    double noise;     /* of the mechanisms */
    double value;     /* sd of the values */
    double x_noise;   /* of y */
    double actuator;  /* s_I */
    double constant;  /* not 0: all values are this */
    uint64_t seed;    /* of model and mixing */
    uint64_t samples; /* of the samples */
} design;

typedef struct made {
    signal s;
    double *z;       /* (rows, d) */
    double *mixing;  /* (d, d): M */
    double *inverse; /* (d, d) */
    double *w;       /* (d, d) */
    size_t *order;   /* (d) */
} made;

static void *zeros(size_t count, size_t size)
{
    void *p = calloc(count > 0 ? count : 1, size);
    assert_non_null(p);
    return p;
}

static void made_free(made *m)
{
    free(m->s.y);
    free(m->s.mask);
    free(m->s.values);
    free(m->z);
    free(m->mixing);
    free(m->inverse);
    free(m->w);
    free(m->order);
}

static void make_model(made *m, const design *c)
{
    lcg g = {c->seed * 7919 + 1};
    size_t d = c->d;
    int pivot[64];
    m->mixing = zeros(d * d, sizeof(double));
    m->inverse = zeros(d * d, sizeof(double));
    m->w = zeros(d * d, sizeof(double));
    m->order = zeros(d, sizeof(size_t));
    lcg_weights(&g, d, 2.0 / (double)d, m->order, m->w);
    for (size_t i = 0; i < d * d; i++) {
        m->mixing[i] = 4 * lcg_uniform(&g) - 2 + (i % (d + 1) == 0 ? 2.5 * sqrt((double)d) : 0);
    }
    memcpy(m->inverse, m->mixing, d * d * sizeof(double));
    assert_int_equal(LAPACKE_dgetrf(LAPACK_ROW_MAJOR, (int)d, (int)d, m->inverse, (int)d, pivot),
                     0);
    assert_int_equal(LAPACKE_dgetri(LAPACK_ROW_MAJOR, (int)d, m->inverse, (int)d, pivot), 0);
}

/* One row given its mask and values. */
static void make_row(made *m, const design *c, size_t row, lcg *g)
{
    size_t d = c->d;
    double *z = m->z + row * d;
    double *y = m->s.y + row * d;
    for (size_t k = 0; k < d; k++) {
        size_t i = m->order[k];
        if (m->s.mask[row * d + i] != 0) {
            z[i] = m->s.values[row * d + i] + c->actuator * lcg_normal(g);
            continue;
        }
        z[i] = c->noise * lcg_normal(g);
        for (size_t j = 0; j < d; j++) {
            z[i] += z[j] * m->w[j * d + i];
        }
    }
    for (size_t i = 0; i < d; i++) {
        y[i] = c->x_noise * lcg_normal(g);
        for (size_t j = 0; j < d; j++) {
            y[i] += z[j] * m->mixing[j * d + i];
        }
    }
}

static made make(const design *c)
{
    made m = {0};
    size_t d = c->d;
    size_t rows = c->observational + c->sets * c->per_set;
    size_t order[64];
    lcg pick = {c->seed * 31 + 5};
    lcg g = {(c->seed << 20) + c->samples * 104729 + 11};
    make_model(&m, c);
    m.z = zeros(rows * d, sizeof(double));
    m.s = (signal){.rows = rows, .d = d, .D = d, .rank = d, .x_noise = c->x_noise};
    m.s.y = zeros(rows * d, sizeof(double));
    m.s.mask = zeros(rows * d, 1);
    m.s.values = zeros(rows * d, sizeof(double));
    for (size_t k = 0; k < c->sets; k++) {
        size_t count = c->single || d == 1 ? 1 : 1 + lcg_below(&pick, d - 1);
        lcg_order(&pick, d, order);
        if (c->single) {
            order[0] = k % d;
        }
        for (size_t i = 0; i < c->per_set; i++) {
            size_t row = c->observational + k * c->per_set + i;
            for (size_t t = 0; t < count; t++) {
                size_t at = row * d + order[t];
                m.s.mask[at] = 1;
                m.s.values[at] = c->constant != 0 ? c->constant : c->value * lcg_normal(&g);
            }
        }
    }
    for (size_t row = 0; row < rows; row++) {
        make_row(&m, c, row, &g);
    }
    return m;
}

/* Mean squared error of z (d) over all rows. */
static void z_errors(const made *m, const anchor *a, double *error)
{
    size_t d = m->s.d;
    double *z = zeros(m->s.rows * d, sizeof(double));
    memset(error, 0, d * sizeof(double));
    anchor_apply(&m->s, a->intercept, a->slope, z);
    for (size_t i = 0; i < m->s.rows * d; i++) {
        double e = z[i] - m->z[i];
        error[i % d] += e * e / (double)m->s.rows;
    }
    free(z);
}

static void assert_nothing(const anchor *a, size_t j)
{
    assert_int_equal(a->kind[j], ANCHOR_NONE);
    assert_near(a->intercept[j], 0, 0);
    assert_near(a->residual[j], 0, 0);
    assert_near(a->standard_error[j], 0, 0);
    assert_near(a->noise[j], 0, 0);
    for (size_t c = 0; c < a->rank; c++) {
        assert_near(a->slope[c * a->d + j], 0, 0);
    }
}

static void test_exact(void **state)
{
    (void)state;
    static const design cases[] = {
        {.d = 5, .observational = 500, .sets = 20, .per_set = 100, .noise = 0.1, .value = 6},
        {.d = 20, .observational = 500, .sets = 100, .per_set = 50, .noise = 0.1, .value = 6},
        {.d = 6, .sets = 12, .per_set = 9, .noise = 0.1, .value = 6, .single = true},
        {.d = 3, .sets = 3, .per_set = 5, .noise = 0.1, .value = 6, .single = true},
        {.d = 1, .observational = 4, .sets = 1, .per_set = 3, .noise = 0.1, .value = 6},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (uint64_t seed = 1; seed <= 3; seed++) {
            lscm_error why;
            anchor a;
            double error[20];
            design c = cases[k];
            c.seed = seed;
            made m = make(&c);
            assert_ok(anchor_of(&a, &m.s, NULL, &why));
            z_errors(&m, &a, error);
            for (size_t j = 0; j < c.d; j++) {
                double scale = 0;
                for (size_t i = 0; i < m.s.rows; i++) {
                    scale += m.z[i * c.d + j] * m.z[i * c.d + j] / (double)m.s.rows;
                }
                assert_int_equal(a.kind[j], ANCHOR_VALUES);
                assert_near(sqrt(error[j] / scale), 0, 1e-10);
                assert_near(a.residual[j], 0, 1e-9);
                assert_near(a.standard_error[j], 0, 1e-9);
                /* half of 5 rows is too little to predict the others */
                assert_true(c.per_set <= 5 ? isnan(a.r2[j]) : a.r2[j] > 1 - 1e-9);
            }
            assert_near(a.actuator_noise, 0, 1e-9);
            anchor_close(&a);
            made_free(&m);
        }
    }
}

/* Without noise of x to correct for, b is what LAPACK's orthogonal decomposition gives, times one
 * factor for actuator noise; the factor makes the slope of z on v about 1. */
static void test_least_squares(void **state)
{
    (void)state;
    lscm_error why;
    anchor a;
    design c = {.d = 7, .observational = 50, .sets = 30, .per_set = 20, .noise = 1, .value = 2};
    c.x_noise = 0.3;
    c.actuator = 0.5;
    c.seed = 4;
    made m = make(&c);
    m.s.x_noise = 0;
    for (size_t i = 0; i < m.s.rows; i++) {
        m.s.y[i * 7 + 2] += 1e4; /* a far origin must not matter */
    }
    assert_ok(anchor_of(&a, &m.s, NULL, &why));
    double *matrix = zeros(m.s.rows * 8, sizeof(double));
    double *v = zeros(m.s.rows, sizeof(double));
    for (size_t j = 0; j < 7; j++) {
        size_t n = 0;
        double mean = 0;
        double product = 0;
        double squares = 0;
        for (size_t i = 0; i < m.s.rows; i++) {
            if (m.s.mask[i * 7 + j] != 0) {
                matrix[n * 8] = 1;
                memcpy(matrix + n * 8 + 1, m.s.y + i * 7, 7 * sizeof(double));
                matrix[n * 8 + 3] -= 1e4;
                v[n] = m.s.values[i * 7 + j];
                mean += v[n++];
            }
        }
        mean /= (double)n;
        assert_int_equal(n, a.samples[j]);
        for (size_t i = 0; i < n; i++) {
            double z = a.intercept[j] + 1e4 * a.slope[2 * 7 + j];
            for (size_t k = 0; k < 7; k++) {
                z += matrix[i * 8 + 1 + k] * a.slope[k * 7 + j];
            }
            product += (v[i] - mean) * z;
            squares += (v[i] - mean) * (v[i] - mean);
        }
        assert_near(product / squares, 1, 0.05);
        assert_int_equal(LAPACKE_dgels(LAPACK_ROW_MAJOR, 'N', (int)n, 8, 1, matrix, 8, v, 1), 0);
        double factor = a.slope[j] / v[1];
        assert_true(factor > 1 && factor < 1.5);
        for (size_t k = 0; k < 7; k++) {
            assert_near(a.slope[k * 7 + j], factor * v[k + 1], 1e-9 * fabs(factor * v[k + 1]));
        }
    }
    free(matrix);
    free(v);
    anchor_close(&a);
    made_free(&m);
}

enum { TIMES = 400, D = 3, M = D + 1 };

typedef struct tally {
    double mean[M], found[M][M], claimed[M][M]; /* of the error of (a, b) */
    double error, standard_error;               /* mean squares, of z */
} tally;

static void count_error(tally *t, const made *m, const anchor *a, size_t j)
{
    const double *f = a->factor + j * M * M;
    double e[M] = {a->intercept[j]};
    for (size_t i = 0; i < D; i++) {
        e[i + 1] = a->slope[i * D + j] - m->inverse[i * D + j];
    }
    for (size_t i = 0; i < M; i++) {
        t->mean[i] += e[i] / TIMES;
        for (size_t k = 0; k < M; k++) {
            t->found[i][k] += e[i] * e[k] / TIMES;
            for (size_t l = 0; l < M; l++) {
                t->claimed[i][k] += f[i * M + l] * f[k * M + l] / TIMES;
            }
        }
    }
    t->standard_error += a->standard_error[j] * a->standard_error[j] / TIMES;
    for (size_t i = 0; i < m->s.rows; i++) {
        double z = e[0];
        for (size_t k = 0; k < D; k++) {
            z += m->s.y[i * D + k] * e[k + 1];
        }
        t->error += z * z / (double)m->s.rows / TIMES;
    }
}

/* Over many data sets from one model, the error of (a, b) has mean 0 and the covariance that was
 * claimed, in every direction of a grid. */
static void check_covariance(design c)
{
    tally all[D] = {0};
    double actuator = 0;
    double spread = 5 * sqrt(2.0 / TIMES); /* of a variance found in that many errors */
    lscm_error why;
    for (c.samples = 1; c.samples <= TIMES; c.samples++) {
        anchor a;
        made m = make(&c);
        assert_ok(anchor_of(&a, &m.s, NULL, &why));
        actuator += a.actuator_noise * a.actuator_noise / TIMES;
        for (size_t j = 0; j < D; j++) {
            assert_int_equal(a.kind[j], ANCHOR_VALUES);
            count_error(all + j, &m, &a, j);
        }
        anchor_close(&a);
        made_free(&m);
    }
    assert_near(sqrt(actuator), c.actuator, 0.03 * c.actuator + 0.05 * c.x_noise);
    for (size_t j = 0; j < D; j++) {
        const tally *t = all + j;
        assert_near(t->standard_error / t->error, 1, spread);
        for (size_t code = 1; code < 81; code++) { /* directions in {-1, 0, 1}^4 */
            double mean = 0;
            double found = 0;
            double claimed = 0;
            double u[M];
            for (size_t i = 0, left = code; i < M; i++, left /= 3) {
                u[i] = (double)(left % 3) - 1;
            }
            for (size_t i = 0; i < M; i++) {
                mean += u[i] * t->mean[i];
                for (size_t k = 0; k < M; k++) {
                    found += u[i] * u[k] * t->found[i][k];
                    claimed += u[i] * u[k] * t->claimed[i][k];
                }
            }
            if (code != 40) { /* all 0 */
                assert_near(mean / sqrt(found / TIMES), 0, 4);
                assert_near(claimed / found, 1, spread);
            }
        }
    }
}

/* At x_noise 1 least squares alone would be off by many standard errors. */
static void test_covariance(void **state)
{
    (void)state;
    design c = {.d = D, .observational = 20, .sets = 6, .per_set = 40, .noise = 1, .value = 2};
    c.seed = 3;
    for (size_t k = 0; k < 4; k++) {
        c.x_noise = k < 2 ? 1 : 0.1 * (double)(3 - k);
        c.actuator = k == 0 ? 0 : 1;
        check_covariance(c);
    }
    c.x_noise = 0.3; /* 20 rows a node */
    c.actuator = 0.1;
    c.per_set = 10;
    c.single = true;
    check_covariance(c);
}

/* The correction for noise of x, on so many rows that little else is left. */
static void test_x_noise(void **state)
{
    (void)state;
    lscm_error why;
    anchor a;
    anchor plain;
    design c = {.d = 4, .sets = 40, .per_set = 1000, .noise = 1, .value = 2, .seed = 2};
    double bias = 0;
    double error = 0;
    c.x_noise = 3;
    made m = make(&c);
    assert_ok(anchor_of(&a, &m.s, NULL, &why));
    m.s.x_noise = 0;
    assert_ok(anchor_of(&plain, &m.s, NULL, &why));
    for (size_t j = 0; j < 4; j++) {
        double length = 0;
        for (size_t i = 0; i < 4; i++) {
            double b = m.inverse[i * 4 + j];
            error = fmax(error, fabs(a.slope[i * 4 + j] - b));
            bias = fmax(bias, fabs(plain.slope[i * 4 + j] - b));
            length += a.slope[i * 4 + j] * a.slope[i * 4 + j];
        }
        assert_near(a.noise[j], 3 * sqrt(length), 1e-12);
        assert_near(a.residual[j] / a.noise[j], 1, 0.05);
    }
    assert_near(error, 0, bias / 10);
    anchor_close(&a);
    anchor_close(&plain);
    made_free(&m);
}

static void test_actuator_noise(void **state)
{
    (void)state;
    static const double levels[] = {0, 0.1, 1};
    for (size_t k = 0; k < 3; k++) {
        for (int single = 0; single < 2; single++) {
            lscm_error why;
            anchor a;
            double error[10];
            double noise = levels[k];
            design c = {.d = 10, .observational = 500, .sets = 40, .per_set = 100, .noise = 1.4};
            c.value = 2;
            c.x_noise = 0.1;
            c.actuator = noise;
            c.single = single != 0;
            c.seed = 5;
            made m = make(&c);
            assert_ok(anchor_of(&a, &m.s, NULL, &why));
            assert_near(a.actuator_noise, noise, 0.02 + 0.05 * noise);
            z_errors(&m, &a, error);
            for (size_t j = 0; j < 10; j++) {
                double expected =
                    a.noise[j] * a.noise[j] + a.standard_error[j] * a.standard_error[j];
                assert_true(a.r2[j] > 1 - 1.5 * (noise * noise + a.noise[j] * a.noise[j]) /
                                              (4 + noise * noise));
                /* 10 coefficients: the realised error scatters about the claimed one */
                assert_true(error[j] < 4 * expected && error[j] > expected / 8);
            }
            anchor_close(&a);
            made_free(&m);
        }
    }
}

/* The values carry nothing; what stands still does. */
static void test_direction(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        lscm_error why;
        anchor a;
        design c = {.d = 5, .observational = 400, .sets = 10, .per_set = 100, .noise = 1};
        c.constant = k < 2 ? 3 : 1e-300; /* as good as 0 */
        c.x_noise = k % 2 == 0 ? 0 : 0.1;
        c.single = true;
        c.seed = 6;
        made m = make(&c);
        double *z = zeros(m.s.rows * 5, sizeof(double));
        assert_ok(anchor_of(&a, &m.s, NULL, &why));
        anchor_apply(&m.s, a.intercept, a.slope, z);
        for (size_t j = 0; j < 5; j++) {
            double n = 0;
            double sums[5] = {0};
            double here = 0;
            double largest = 0;
            assert_int_equal(a.kind[j], ANCHOR_DIRECTION);
            assert_true(a.r2[j] > 0.99 && a.r2[j] <= 1);
            for (size_t i = 0; i < m.s.rows; i++) {
                double found = z[i * 5 + j];
                double truth = m.z[i * 5 + j];
                if (m.s.mask[i * 5 + j] != 0) {
                    here += (found - c.constant) / 200;
                    continue;
                }
                n++;
                sums[0] += found;
                sums[1] += truth;
                sums[2] += found * found;
                sums[3] += truth * truth;
                sums[4] += found * truth;
            }
            double vz = (sums[2] - sums[0] * sums[0] / n) / (n - 1);
            double vt = (sums[3] - sums[1] * sums[1] / n) / (n - 1);
            double both = (sums[4] - sums[0] * sums[1] / n) / (n - 1);
            assert_near(here, 0, 1e-9);
            assert_near(vz - a.noise[j] * a.noise[j], 1, 1e-2);
            assert_near(fabs(both) / sqrt(vz * vt), 1, c.x_noise > 0 ? 0.01 : 1e-9);
            for (size_t i = 0; i < 5; i++) {
                double b = a.slope[i * 5 + j];
                largest = fabs(b) > fabs(largest) ? b : largest;
            }
            assert_true(largest > 0);
        }
        free(z);
        anchor_close(&a);
        made_free(&m);
    }
}

/* Nodes 0 and 1 always stand still together: nobody can say which is which. */
static void test_direction_ambiguous(void **state)
{
    (void)state;
    lscm_error why;
    anchor a;
    design c = {.d = 4, .observational = 400, .sets = 8, .per_set = 50, .noise = 1, .seed = 7};
    c.constant = 1;
    c.single = true;
    made m = make(&c);
    lcg g = {99};
    for (size_t i = 400; i < m.s.rows; i++) {
        uint8_t *mask = m.s.mask + i * 4;
        mask[0] = mask[1] = mask[0] | mask[1];
        m.s.values[i * 4] = mask[0];
        m.s.values[i * 4 + 1] = mask[1];
        make_row(&m, &c, i, &g);
    }
    assert_ok(anchor_of(&a, &m.s, NULL, &why));
    assert_nothing(&a, 0);
    assert_nothing(&a, 1);
    assert_int_equal(a.kind[2], ANCHOR_DIRECTION);
    assert_int_equal(a.samples[1], 200);
    anchor_close(&a);
    made_free(&m);
}

/* Never intervened on; too rarely; in every sample; always together with equal values. */
static void test_nodes(void **state)
{
    (void)state;
    lscm_error why;
    anchor a;
    double error[6];
    for (size_t noisy = 0; noisy < 2; noisy++) {
        lcg g = {17};
        design c = {.d = 6, .sets = 30, .per_set = 30, .noise = 0.5, .value = 2, .seed = 8};
        c.x_noise = noisy != 0 ? 0.05 : 0;
        made m = make(&c);
        for (size_t i = 0; i < m.s.rows; i++) {
            uint8_t *mask = m.s.mask + i * 6;
            double *values = m.s.values + i * 6;
            mask[0] = 0;
            mask[1] = i < 7;
            mask[2] = 1;
            values[2] = 2 * lcg_normal(&g);
            mask[4] = mask[3]; /* the same value in the same rows */
            for (size_t j = 0; j < 6; j++) {
                values[j] = mask[j] != 0 && values[j] == 0 ? 2 * lcg_normal(&g) : values[j];
                values[j] = mask[j] != 0 ? values[j] : 0;
            }
            values[4] = values[3];
            make_row(&m, &c, i, &g);
        }
        assert_ok(anchor_of(&a, &m.s, NULL, &why));
        z_errors(&m, &a, error);
        assert_nothing(&a, 0);
        assert_nothing(&a, 1);
        assert_nothing(&a, 3);
        assert_nothing(&a, 4);
        assert_int_equal(a.samples[0], 0);
        assert_int_equal(a.samples[1], 7);
        assert_int_equal(a.samples[2], m.s.rows);
        for (size_t j = 2; j < 6; j += 3) {
            assert_int_equal(a.kind[j], ANCHOR_VALUES);
            assert_near(error[j], 0, noisy != 0 ? 0.01 : 1e-20);
        }
        assert_true(isnan(a.r2[0]) && isnan(a.r2[1]));
        anchor_close(&a);

        /* constant y, and no direction at all */
        memset(m.s.y, 0, m.s.rows * 6 * sizeof(double));
        assert_ok(anchor_of(&a, &m.s, NULL, &why));
        for (size_t j = 0; j < 6; j++) {
            assert_nothing(&a, j);
        }
        anchor_close(&a);
        m.s.rank = 0;
        assert_ok(anchor_of(&a, &m.s, NULL, &why));
        for (size_t j = 0; j < 6; j++) {
            assert_nothing(&a, j);
        }
        anchor_close(&a);
        made_free(&m);
    }
}

/* A direction in which y varies nowhere takes nothing away; one that is noise only, little. */
static void test_missing_direction(void **state)
{
    (void)state;
    for (size_t noisy = 0; noisy < 2; noisy++) {
        lscm_error why;
        anchor a;
        double error[5];
        lcg g = {3};
        design c = {.d = 5, .observational = 100, .sets = 30, .per_set = 50, .noise = 1};
        c.value = 2;
        c.x_noise = noisy != 0 ? 0.1 : 0;
        c.seed = 9;
        made m = make(&c);
        made wide = m;
        wide.s.rank = 6;
        wide.s.d = 5;
        wide.s.y = zeros(m.s.rows * 6, sizeof(double));
        for (size_t i = 0; i < m.s.rows; i++) {
            double *y = wide.s.y + i * 6;
            memcpy(y, m.s.y + i * 5, 5 * sizeof(double));
            y[5] = noisy != 0 ? c.x_noise * lcg_normal(&g) : y[1] - 2 * y[3];
        }
        assert_ok(anchor_of(&a, &wide.s, NULL, &why));
        z_errors(&wide, &a, error);
        for (size_t j = 0; j < 5; j++) {
            assert_int_equal(a.kind[j], ANCHOR_VALUES);
            assert_near(sqrt(error[j]), a.noise[j], noisy != 0 ? 0.3 * a.noise[j] : 1e-9);
            assert_true(isfinite(a.standard_error[j]) && isfinite(a.residual[j]));
        }
        anchor_close(&a);
        free(wide.s.y);
        made_free(&m);
    }
}

/* One direction of y is hardly more than noise, everywhere. What z has there is noise of z: it is
 * neither forgotten nor taken for actuator noise. */
static void test_lost_direction(void **state)
{
    (void)state;
    lscm_error why;
    anchor a;
    double error[4];
    double most = 0;
    lcg g = {41};
    design c = {.d = 4, .sets = 24, .per_set = 50, .noise = 1, .value = 2, .x_noise = 0.3};
    c.seed = 15;
    made m = make(&c);
    for (size_t i = 0; i < 4; i++) {
        m.mixing[i * 4 + 3] *= 0.01;
    }
    for (size_t i = 0; i < m.s.rows; i++) {
        make_row(&m, &c, i, &g);
    }
    assert_ok(anchor_of(&a, &m.s, NULL, &why));
    z_errors(&m, &a, error);
    assert_near(a.actuator_noise, 0, 0.1);
    for (size_t j = 0; j < 4; j++) {
        if (j == 3) { /* nearly all of it */
            assert_nothing(&a, j);
        } else {
            most = fmax(most, a.noise[j]);
            assert_near(sqrt(error[j]) / a.noise[j], 1, 0.2);
        }
    }
    assert_true(most > 0.2);
    anchor_close(&a);
    made_free(&m);
}

/* A node that x does not show has no anchor, however many rows. */
static void test_invisible(void **state)
{
    (void)state;
    lscm_error why;
    anchor a;
    lcg g = {23};
    design c = {.d = 4, .sets = 40, .per_set = 25, .noise = 1, .value = 2, .x_noise = 0.1};
    c.single = true;
    c.seed = 10;
    made m = make(&c);
    memset(m.w, 0, 16 * sizeof(double));
    memset(m.mixing + 4, 0, 4 * sizeof(double)); /* node 1 */
    for (size_t i = 0; i < m.s.rows; i++) {
        make_row(&m, &c, i, &g);
    }
    assert_ok(anchor_of(&a, &m.s, NULL, &why));
    assert_nothing(&a, 1);
    assert_true(a.r2[1] < 0.1);
    anchor_close(&a);
    made_free(&m);
}

/* Rows that are not kept might as well not be there. */
static void test_keep(void **state)
{
    (void)state;
    lscm_error why;
    anchor a;
    anchor b;
    design c = {.d = 4, .observational = 60, .sets = 20, .per_set = 20, .noise = 1, .value = 2};
    c.x_noise = 0.2;
    c.seed = 11;
    made m = make(&c);
    uint8_t *keep = zeros(m.s.rows, 1);
    signal part = m.s;
    part.rows = 0;
    part.y = zeros(m.s.rows * 4, sizeof(double));
    part.mask = zeros(m.s.rows * 4, 1);
    part.values = zeros(m.s.rows * 4, sizeof(double));
    for (size_t i = 0; i < m.s.rows; i++) {
        keep[i] = i % 3 != 0;
        if (keep[i] != 0) {
            memcpy(part.y + part.rows * 4, m.s.y + i * 4, 4 * sizeof(double));
            memcpy(part.values + part.rows * 4, m.s.values + i * 4, 4 * sizeof(double));
            memcpy(part.mask + part.rows++ * 4, m.s.mask + i * 4, 4);
        }
    }
    assert_ok(anchor_of(&a, &m.s, keep, &why));
    assert_ok(anchor_of(&b, &part, NULL, &why));
    for (size_t i = 0; i < 16; i++) {
        assert_near(a.slope[i], b.slope[i], 1e-12);
    }
    for (size_t j = 0; j < 4; j++) {
        assert_int_equal(a.samples[j], b.samples[j]);
        assert_near(a.intercept[j], b.intercept[j], 1e-12);
        assert_near(a.r2[j], b.r2[j], 1e-12);
        assert_near(a.standard_error[j], b.standard_error[j], 1e-12);
    }
    anchor_close(&a);
    anchor_close(&b);
    free(keep);
    free(part.y);
    free(part.mask);
    free(part.values);
    made_free(&m);
}

/* Several tiles and chunks, rows in any order, any number of threads: the same numbers. */
static void test_threads(void **state)
{
    (void)state;
    enum { WIDE = 70 };
    lscm_error why;
    anchor one;
    anchor two;
    int before = omp_get_max_threads();
    lcg g = {5};
    design c = {.d = 10, .sets = 1, .per_set = 1200, .noise = 1, .value = 2, .seed = 12};
    made m = make(&c);
    double *y = zeros(1200 * WIDE, sizeof(double));
    for (size_t i = 0; i < 1200; i++) { /* every row its own set, or nearly so */
        for (size_t j = 0; j < 10; j++) {
            m.s.mask[i * 10 + j] = lcg_below(&g, 2) != 0;
            m.s.values[i * 10 + j] = m.s.mask[i * 10 + j] != 0 ? lcg_normal(&g) : 0;
        }
        make_row(&m, &c, i, &g);
        for (size_t k = 0; k < WIDE; k++) {
            y[i * WIDE + k] = k < 10 ? m.s.y[i * 10 + k] : 0.1 * lcg_normal(&g);
        }
    }
    free(m.s.y);
    m.s.y = y;
    m.s.rank = WIDE;
    omp_set_num_threads(1);
    assert_ok(anchor_of(&one, &m.s, NULL, &why));
    omp_set_num_threads(3);
    assert_ok(anchor_of(&two, &m.s, NULL, &why));
    omp_set_num_threads(before);
    assert_memory_equal(one.slope, two.slope, WIDE * 10 * sizeof(double));
    assert_memory_equal(one.factor, two.factor, 10L * (WIDE + 1) * (WIDE + 1) * sizeof(double));
    assert_memory_equal(one.standard_error, two.standard_error, 10 * sizeof(double));
    assert_memory_equal(one.r2, two.r2, 10 * sizeof(double));
    for (size_t j = 0; j < 10; j++) {
        assert_int_equal(one.kind[j], ANCHOR_VALUES);
        for (size_t i = 0; i < WIDE; i++) {
            assert_near(one.slope[i * 10 + j], i < 10 ? m.inverse[i * 10 + j] : 0, 1e-10);
        }
    }
    anchor_close(&one);
    anchor_close(&two);
    made_free(&m);
}

/* Beyond rank 128 only one fold is left out; still the same answer. */
static void test_wide(void **state)
{
    (void)state;
    enum { WIDE = 150 };
    lscm_error why;
    anchor a;
    lcg g = {6};
    design c = {.d = 4, .sets = 20, .per_set = 40, .noise = 1, .value = 2, .seed = 13};
    made m = make(&c);
    double *y = zeros(800 * WIDE, sizeof(double));
    for (size_t i = 0; i < 800; i++) {
        for (size_t k = 0; k < WIDE; k++) {
            y[i * WIDE + k] = k < 4 ? m.s.y[i * 4 + k] : 0.1 * lcg_normal(&g);
        }
    }
    free(m.s.y);
    m.s.y = y;
    m.s.rank = WIDE;
    assert_ok(anchor_of(&a, &m.s, NULL, &why));
    for (size_t j = 0; j < 4; j++) {
        assert_int_equal(a.kind[j], ANCHOR_VALUES);
        assert_near(a.r2[j], 1, 1e-9);
        for (size_t i = 0; i < WIDE; i++) {
            assert_near(a.slope[i * 4 + j], i < 4 ? m.inverse[i * 4 + j] : 0, 1e-10);
        }
    }
    anchor_close(&a);
    made_free(&m);
}

static void test_draws(void **state)
{
    (void)state;
    enum { DRAWS = 4000 };
    lscm_error why;
    anchor a;
    design c = {.d = D, .sets = 20, .per_set = 20, .noise = 1, .value = 2, .x_noise = 0.5};
    double mean[M] = {0};
    double found[M][M] = {{0}};
    double intercept[D];
    double slope[D * D];
    double again[D * D];
    c.seed = 14;
    made m = make(&c);
    assert_ok(anchor_of(&a, &m.s, NULL, &why));
    const double *f = a.factor + M * M; /* of node 1 */
    for (uint64_t k = 0; k < DRAWS; k++) {
        double e[M];
        anchor_draw(&a, (rng){7, 1}, k, intercept, slope);
        e[0] = intercept[1] - a.intercept[1];
        for (size_t i = 0; i < D; i++) {
            e[i + 1] = slope[i * D + 1] - a.slope[i * D + 1];
        }
        for (size_t i = 0; i < M; i++) {
            mean[i] += e[i] / DRAWS;
            for (size_t l = 0; l < M; l++) {
                found[i][l] += e[i] * e[l] / DRAWS;
            }
        }
    }
    for (size_t i = 0; i < M; i++) {
        double claimed = 0;
        for (size_t l = 0; l < M; l++) {
            assert_true(l <= i || f[i * M + l] == 0);
            claimed += f[i * M + l] * f[i * M + l];
        }
        assert_near(found[i][i] / claimed, 1, 5 * sqrt(2.0 / DRAWS));
        assert_near(mean[i] / sqrt(claimed / DRAWS), 0, 4.5);
    }
    anchor_draw(&a, (rng){7, 1}, DRAWS - 1, intercept, again);
    assert_memory_equal(slope, again, sizeof slope);
    double *kept = a.factor;
    a.factor = NULL;
    anchor_draw(&a, (rng){7, 1}, 0, intercept, again);
    assert_memory_equal(again, a.slope, sizeof again);
    a.factor = kept;
    anchor_close(&a);
    made_free(&m);
}

/* Rows are grouped by mask wherever they stand, halved where a node has one set only. */
static void test_sets(void **state)
{
    (void)state;
    lscm_error why;
    row_sets sets;
    uint8_t mask[7 * 2] = {1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1};
    signal s = {.rows = 7, .d = 2, .mask = mask};
    static const size_t rows[] = {0, 3, 5, 1, 4, 6};
    static const row_piece pieces[] = {
        {0, 2, 2, 0, 0}, {1, 1, 2, 0, 1}, {3, 2, 2, 1, 0}, {4, 1, 2, 1, 1}};
    assert_ok(row_sets_of(&sets, &s, NULL, &why));
    assert_int_equal(sets.sets, 2);
    assert_int_equal(sets.rows, 6);
    assert_int_equal(sets.pieces, 4);
    assert_memory_equal(sets.row, rows, sizeof rows);
    assert_memory_equal(sets.piece, pieces, sizeof pieces);
    row_sets_close(&sets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets),           cmocka_unit_test(test_exact),
        cmocka_unit_test(test_least_squares),  cmocka_unit_test(test_covariance),
        cmocka_unit_test(test_x_noise),        cmocka_unit_test(test_actuator_noise),
        cmocka_unit_test(test_direction),      cmocka_unit_test(test_direction_ambiguous),
        cmocka_unit_test(test_nodes),          cmocka_unit_test(test_missing_direction),
        cmocka_unit_test(test_lost_direction), cmocka_unit_test(test_invisible),
        cmocka_unit_test(test_keep),           cmocka_unit_test(test_threads),
        cmocka_unit_test(test_wide),           cmocka_unit_test(test_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
