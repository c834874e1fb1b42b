/* What the tests of encoders share: z of a data set by a run, and small nonlinear problems with
 * their kernel encoder. */
#ifndef LSCM_TESTS_ENCODER_TESTING_H
#define LSCM_TESTS_ENCODER_TESTING_H

#include "made.h"
#include "made_posterior.h"

#include "infer/encoder/encoder.h"

#include "testing.h"

#include "home.h"

static lscm_error why;

/* z and sd of a data set by a run. */
typedef struct answer {
    double *z, *sd; /* (rows, d) */
    size_t rows, d, outside;
} answer;

static inline answer answer_new(const lscm_posterior *p, const lscm_dataset *data)
{
    answer a = {.rows = lscm_dataset_rows(data), .d = p->d};
    a.z = calloc(2 * a.rows * a.d, sizeof *a.z);
    assert_non_null(a.z);
    a.sd = a.z + a.rows * a.d;
    return a;
}

static inline answer transformed(const lscm_posterior *p, const lscm_dataset *data)
{
    answer a = answer_new(p, data);
    assert_ok(lscm_posterior_transform(p, data, a.z, a.sd, &a.outside, NULL, &why));
    return a;
}

static inline void assert_equal_answers(const answer *a, const answer *b)
{
    assert_int_equal(a->rows, b->rows);
    assert_memory_equal(a->z, b->z, 2 * a->rows * a->d * sizeof *a->z);
    assert_int_equal(a->outside, b->outside);
}

static inline lscm_simulation preset(const char *name, int64_t nodes)
{
    lscm_simulation s;
    assert_ok(lscm_simulation_preset(&s, name, nodes, &why));
    s.seed = 5;
    return s;
}

static inline lscm_dataset *simulated(const lscm_simulation *s)
{
    lscm_dataset *data = NULL;
    assert_ok(lscm_simulate(&data, s, NULL, &why));
    return data;
}

static inline double *field(const lscm_dataset *data, lscm_field which, size_t columns)
{
    size_t rows = lscm_dataset_rows(data);
    double *out = calloc(rows * columns, sizeof *out);
    assert_non_null(out);
    assert_ok(lscm_dataset_read(data, which, 0, rows, out, &why));
    return out;
}

/* Saved and opened again. */
static inline lscm_posterior *reopened(const lscm_posterior *p)
{
    lscm_posterior *back = NULL;
    assert_ok(posterior_save(p, home, &why));
    assert_ok(lscm_posterior_open(&back, home, &why));
    return back;
}

static inline void refuse(const lscm_posterior *p, const lscm_dataset *data, lscm_status code,
                          const char *part)
{
    answer a = answer_new(p, data);
    assert_fails(lscm_posterior_transform(p, data, a.z, a.sd, NULL, NULL, &why), code, part);
    free(a.z);
}

/* Rows with an entry that was not set and lies outside all values that were. */
static inline size_t count_outside(const lscm_dataset *learned, const lscm_dataset *data,
                                   const double *z)
{
    size_t d = lscm_dataset_nodes(learned);
    double *targets = field(learned, LSCM_TARGETS, d);
    double *values = field(learned, LSCM_VALUES, d);
    double *mask = field(data, LSCM_TARGETS, d);
    size_t count = 0;
    for (size_t row = 0; row < lscm_dataset_rows(data); row++) {
        bool outside = false;
        for (size_t j = 0; j < d; j++) {
            double low = INFINITY;
            double high = -INFINITY;
            for (size_t k = j; k < lscm_dataset_rows(learned) * d; k += d) {
                low = targets[k] != 0 ? fmin(low, values[k]) : low;
                high = targets[k] != 0 ? fmax(high, values[k]) : high;
            }
            double at = z[row * d + j];
            outside = outside || (mask[row * d + j] == 0 && (at < low || at > high));
        }
        count += outside ? 1 : 0;
    }
    free(targets);
    free(values);
    free(mask);
    return count;
}

/* ---- Kernels and networks ---- */

typedef struct nonlinear {
    lscm_dataset *data;
    features f;
    kernel_encoder kernel;
    double *numbers;           /* of the inverse */
    float *parameters;         /* of its network */
    size_t count;              /* of these; 0: there is none */
    kernel_beyond beyond;      /* linear kernels are without it, as older runs are */
    double alike[(3 + 1) * 3]; /* nor have they this */
    generator_inverse inverse;
    lscm_posterior *p; /* with the encoder */
} nonlinear;

/* A network that nobody trained: any will do here. */
static inline void add_network(nonlinear *n, bool homogeneous)
{
    size_t d = n->f.d;
    size_t R = n->f.R;
    lcg random = {n->f.D};
    generator_inverse g = {.d = d, .R = R, .hidden = 7, .homogeneous = homogeneous};
    const network_shape shape = network_dense(
        &(network_stack){.layers = 3, .width = (size_t[]){d, 7, 7, R}, .bias = !homogeneous});
    n->count = network_count(&shape);
    n->numbers = calloc(2 * d + R, sizeof *n->numbers);
    n->parameters = calloc(n->count, sizeof *n->parameters);
    assert_non_null(n->numbers);
    assert_non_null(n->parameters);
    for (size_t k = 0; k < 2 * d + R; k++) {
        n->numbers[k] = homogeneous && k >= d ? 0 : 0.1 + lcg_uniform(&random);
    }
    for (size_t k = 0; k < n->count; k++) {
        n->parameters[k] = (float)lcg_normal(&random);
    }
    g.wrong = n->numbers;
    g.offset = n->numbers + d;
    g.centre = n->numbers + 2 * d;
    g.parameters = n->parameters;
    g.scale = 3.25;
    g.spread = 1.5;
    g.noise2 = 0.01;
    n->inverse = g;
}

/* D = 30 is taken as it is, D = 200 has a basis. */
static inline nonlinear nonlinear_new(size_t D, kernel_family kind, bool network)
{
    static const size_t none[] = {0};
    const kernel_settings settings = {.seed = 3, .family = kind};
    const decoder g = made_decoder(DECODER_LINEAR, 3, none, D);
    nonlinear n = {.p = made_posterior(2, 3, &g)};
    lscm_simulation s = preset("paper-nonlinear", 3);
    s.observational = 60;
    s.sets = 12;
    s.per_set = 20;
    s.features = (int64_t)D;
    n.data = simulated(&s);
    assert_ok(features_of(&n.f, n.data, NULL, &why));
    assert_true((n.f.basis != NULL) == (D > FEATURES_NARROW));
    double *z = calloc(2 * n.f.rows * n.f.d, sizeof *z); /* z, sd */
    assert_non_null(z);
    assert_ok(kernel_encode(&n.kernel, z, z + n.f.rows * n.f.d, &n.f, &settings, NULL, &why));
    free(z);
    if (kind != KERNEL_LINEAR) {
        assert_ok(kernel_beyond_of(&n.beyond, &n.kernel, &n.f, &settings, NULL, &why));
    }
    if (network) {
        add_network(&n, kind == KERNEL_HOMOGENEOUS);
    }
    assert_ok(encoder_pack_nonlinear(n.p, &n.f, &n.kernel, network ? &n.inverse : NULL, &why));
    if (kind != KERNEL_LINEAR) {
        const kernel_shrink shrink = kernel_beyond_shrink(&n.beyond, true);
        assert_ok(encoder_pack_shrink(n.p, &shrink, &why));
        for (size_t k = 0; k < sizeof n.alike / sizeof n.alike[0]; k++) {
            n.alike[k] = 0.01 * (double)(k + 1);
        }
        assert_ok(encoder_pack_alike(n.p, n.alike, &why));
    }
    return n;
}

static inline void nonlinear_free(nonlinear *n)
{
    free(n->numbers);
    free(n->parameters);
    kernel_beyond_close(&n->beyond);
    kernel_encoder_close(&n->kernel);
    features_close(&n->f);
    lscm_posterior_free(n->p);
    lscm_dataset_free(n->data);
}

#endif
