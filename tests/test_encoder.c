/* Encoders to disk and back, bit for bit; z by them against z by the pieces that they were made of;
 * and damage, which must be seen. */
#include "encoder_testing.h"
#include "on_cpu.h"

static void assert_same(const void *a, const void *b, size_t bytes)
{
    assert_int_equal(a != NULL && bytes > 0, b != NULL && bytes > 0);
    assert_true(a == NULL || bytes == 0 || memcmp(a, b, bytes) == 0);
}

/* Every number that kernel_apply and generator_invert look at. */
static void assert_unpacked(const nonlinear *n, const encoder *e)
{
    const kernel_encoder *a = &n->kernel;
    const kernel_encoder *b = &e->kernel;
    size_t d = a->d;
    size_t R = a->space.R;
    assert_int_equal(e->width, R);
    assert_same(n->f.basis, e->basis, n->f.basis != NULL ? n->f.D * R * sizeof(double) : 0);
    assert_int_equal(a->space.family, b->space.family);
    assert_int_equal(R, b->space.R);
    assert_near(a->space.scale, b->space.scale, 0);
    assert_int_equal(a->m, b->m);
    assert_int_equal(a->sd_count, b->sd_count);
    assert_same(a->space.centre, b->space.centre, R * sizeof(double));
    assert_same(a->shift, b->shift, d * sizeof(double));
    assert_same(a->ridge, b->ridge, d * sizeof(double));
    assert_same(a->unit, b->unit, d * sizeof(double));
    assert_same(a->usable, b->usable, d * sizeof(bool));
    assert_same(a->alpha, b->alpha, a->m * d * sizeof(float));
    assert_same(a->inputs, b->inputs, a->m * R * sizeof(float));
    assert_same(a->sd_first, b->sd_first, (d + 1) * sizeof(size_t));
    assert_same(a->sd_row, b->sd_row, a->sd_count * sizeof(uint32_t));
    assert_same(a->factor, b->factor, d * a->m * a->m * sizeof(float));
    const kernel_shrink shrink = kernel_beyond_shrink(&n->beyond, true);
    assert_same(shrink.line, e->shrink.line, (R + 1) * d * sizeof(double));
    assert_same(shrink.rule, e->shrink.rule, 4 * d * sizeof(double));
    assert_same(shrink.line != NULL ? n->alike : NULL, e->alike, sizeof n->alike);
    assert_true(e->inverted == (n->count > 0));
    if (e->inverted) {
        const generator_inverse *g = &n->inverse;
        const generator_inverse *h = &e->inverse;
        assert_true(g->d == h->d && g->R == h->R && g->hidden == h->hidden);
        assert_true(g->homogeneous == h->homogeneous);
        assert_near(g->scale, h->scale, 0);
        assert_near(g->spread, h->spread, 0);
        assert_near(g->noise2, h->noise2, 0);
        assert_same(g->offset, h->offset, d * sizeof(double));
        assert_same(g->centre, h->centre, R * sizeof(double));
        assert_same(g->wrong, h->wrong, d * sizeof(double));
        assert_same(g->parameters, h->parameters, n->count * sizeof(float));
    }
}

/* z by hand: features of x, kernel, network, values where they are set. */
static answer by_pieces(const nonlinear *n)
{
    size_t rows = n->f.rows;
    size_t d = n->f.d;
    size_t count = rows * d;
    answer a = answer_new(n->p, n->data);
    double *x = field(n->data, LSCM_X, n->f.D);
    float *f = calloc(rows * n->f.R, sizeof *f);
    double *guess = calloc(2 * count, sizeof *guess);
    assert_non_null(f);
    assert_non_null(guess);
    features_project(&n->f, rows, x, f);
    assert_ok(kernel_apply(&n->kernel, rows, f, guess, guess + count, NULL, &why));
    memcpy(a.z, guess, 2 * count * sizeof *guess);
    if (n->count > 0) {
        const generator_rows from = {.rows = rows,
                                     .d = d,
                                     .R = n->f.R,
                                     .f = f,
                                     .design = &n->f.design,
                                     .z = guess,
                                     .sd = guess + count};
        assert_ok(generator_invert(&n->inverse, on_cpu(), &from, a.z, a.sd, &why));
    }
    const kernel_shrink shrink = kernel_beyond_shrink(&n->beyond, true);
    if (shrink.line != NULL) {
        kernel_shrink_rows(&shrink, rows, f, &n->f.design, a.z, a.sd);
    }
    for (size_t k = 0; k < count; k++) {
        bool set = design_is_set(&n->f.design, k / d, k % d);
        a.z[k] = set ? design_value(&n->f.design, k / d, k % d) : a.z[k];
        a.sd[k] = set ? 0 : a.sd[k];
    }
    for (size_t k = 0; k < count && shrink.line != NULL; k++) {
        double squares = a.sd[k] * a.sd[k];
        for (size_t p = 0; p < d; p++) {
            double e = n->alike[p * d + k % d] * (a.z[k / d * d + p] - n->alike[d * d + p]);
            squares += e * e;
        }
        a.sd[k] = a.sd[k] > 0 ? sqrt(squares) : 0;
    }
    a.outside = count_outside(n->data, n->data, a.z);
    free(guess);
    free(f);
    free(x);
    return a;
}

static void check_nonlinear(size_t D, kernel_family kind, bool network)
{
    nonlinear n = nonlinear_new(D, kind, network);
    lscm_posterior *back = reopened(n.p);
    encoder e;
    assert_ok(encoder_open(&e, back, &why));
    assert_unpacked(&n, &e);
    answer a = by_pieces(&n);
    answer b = transformed(back, n.data);
    assert_equal_answers(&a, &b);
    free(a.z);
    free(b.z);
    lscm_posterior_free(back);
    nonlinear_free(&n);
}

static void kernels_come_back_and_give_the_same(void **state)
{
    (void)state;
    check_nonlinear(30, KERNEL_LINEAR, false);
    check_nonlinear(30, KERNEL_HOMOGENEOUS, false);
    check_nonlinear(200, KERNEL_BIASED, false);
}

static void networks_come_back_and_give_the_same(void **state)
{
    (void)state;
    check_nonlinear(200, KERNEL_HOMOGENEOUS, true);
    check_nonlinear(30, KERNEL_BIASED, true);
}

/* Small blocks of x, several chunks of coordinates, any number of threads. */
static void blocks_and_threads_do_not_show(void **state)
{
    enum { ROWS = 9000, FEATURES = 30 };
    (void)state;
    nonlinear n = nonlinear_new(FEATURES, KERNEL_HOMOGENEOUS, false);
    double *x = field(n.data, LSCM_X, FEATURES);
    double *many = calloc((size_t)ROWS * FEATURES, sizeof *many);
    assert_non_null(many);
    lcg random = {4};
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t k = 0; k < FEATURES; k++) {
            many[row * FEATURES + k] =
                x[row % n.f.rows * FEATURES + k] * (1 + 0.1 * lcg_uniform(&random));
        }
    }
    const lscm_arrays arrays = {.rows = ROWS, .features = FEATURES, .x = many};
    lscm_dataset *data = NULL;
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    lscm_set_threads(2);
    answer whole = transformed(n.p, data);
    answer parts = answer_new(n.p, data);
    lscm_set_threads(1);
    lscm_encoding out = {.z = parts.z, .sd = parts.sd};
    assert_ok(transform_within(n.p, data, 64 * FEATURES * sizeof(double), LSCM_DEVICE_CPU, &out,
                               NULL, &why));
    parts.outside = out.outside;
    lscm_set_threads(2);
    assert_equal_answers(&whole, &parts);
    assert_true(whole.outside < ROWS);
    free(whole.z);
    free(parts.z);
    free(many);
    free(x);
    lscm_dataset_free(data);
    nonlinear_free(&n);
}

static void damage_is_seen(void **state)
{
    (void)state;
    nonlinear n = nonlinear_new(200, KERNEL_HOMOGENEOUS, true);
    encoder_store *store = &n.p->encoder;
    for (size_t k = 0; k < store->count; k++) {
        encoder_array *array = &store->array[k];
        const encoder_array whole = *array;
        encoder e;
        array->name[0] ^= 1;
        bool optional = strcmp(whole.name, "range") == 0 || strcmp(whole.name, "alike") == 0 ||
                        strcmp(whole.name, "generator") == 0;
        if (optional) {
            assert_ok(encoder_open(&e, n.p, &why));
        } else {
            assert_fails(encoder_open(&e, n.p, &why), LSCM_FORMAT, "damaged");
        }
        *array = whole;
        array->shape.type = DTYPE_INT8;
        assert_fails(encoder_open(&e, n.p, &why), LSCM_FORMAT, "damaged");
        *array = whole;
        if (--array->shape.dims[array->shape.ndim - 1] > 0) {
            assert_fails(encoder_open(&e, n.p, &why), LSCM_FORMAT, "damaged");
        }
        *array = whole;
        array->shape.dims[array->shape.ndim++] = 1;
        assert_fails(encoder_open(&e, n.p, &why), LSCM_FORMAT, "damaged");
        *array = whole;
        uint64_t first = 0;
        size_t size = dtype_size(whole.shape.type);
        memcpy(&first, whole.raw, size);
        memset(whole.raw, 0x7f, size); /* an index far away, a flag that is none */
        bool index = strcmp(whole.name, "sd_row") == 0 || strcmp(whole.name, "sd_first") == 0 ||
                     strcmp(whole.name, "usable") == 0 || strcmp(whole.name, "generator") == 0;
        if (index) {
            assert_fails(encoder_open(&e, n.p, &why), LSCM_FORMAT, "damaged");
        }
        memcpy(whole.raw, &first, size);
    }
    for (size_t k = 0; k < store->count; k++) {
        encoder e;
        if (strcmp(store->array[k].name, "alike") == 0) {
            double *number = store->array[k].raw;
            double kept = *number;
            *number = NAN;
            assert_fails(encoder_open(&e, n.p, &why), LSCM_FORMAT, "'alike'");
            *number = kept;
        }
    }
    for (size_t k = 0; k < 3; k++) {
        static const char *const kinds[] = {"kernel", "kernel cubic", "quadratic"};
        (void)snprintf(store->kind, sizeof store->kind, "%s", kinds[k]);
        refuse(n.p, n.data, LSCM_FORMAT, "which is unknown");
    }
    (void)snprintf(store->kind, sizeof store->kind, "linear");
    refuse(n.p, n.data, LSCM_FORMAT, "damaged");
    nonlinear_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_AT_HOME(kernels_come_back_and_give_the_same),
        TEST_AT_HOME(networks_come_back_and_give_the_same),
        cmocka_unit_test(blocks_and_threads_do_not_show),
        cmocka_unit_test(damage_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
