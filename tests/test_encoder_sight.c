/* Networks of pictures as the encoder of a run: to disk and back bit for bit, z of new pictures as
 * the networks say, and damage, which must be seen. Nobody trained the networks: any will do. */
#include "encoder_testing.h"
#include "on_cpu.h"

enum { D = 3, MEMBERS = 3, STRETCH = STRETCH_SIDES * STRETCH_NUMBERS };

typedef struct fitted {
    lscm_dataset *data;
    size_t height, width, channels, rows, count;
    uint8_t *x; /* (rows, count) */
    design by;
    sight_reader reader;
    lscm_posterior *p; /* with the encoder */
} fitted;

/* Pictures without a dimension of channels where `channels` is 0. */
static void add_pictures(fitted *f, size_t channels)
{
    lcg random = {7 + f->height};
    f->data = made_new();
    f->x = made_field(f->data, LSCM_X, DTYPE_UINT8, f->rows, f->height, f->width, channels);
    uint8_t *targets = made_field(f->data, LSCM_TARGETS, DTYPE_UINT8, f->rows, D, 0, 0);
    double *values = made_field(f->data, LSCM_VALUES, DTYPE_FLOAT64, f->rows, D, 0, 0);
    for (size_t k = 0; k < f->rows * f->count; k++) {
        f->x[k] = (uint8_t)lcg_below(&random, 256);
    }
    for (size_t k = 0; k < f->rows * D; k++) {
        targets[k] = lcg_uniform(&random) < 0.3 && k % D != 1 ? 1 : 0; /* node 1 is never set */
        values[k] = targets[k] != 0 ? lcg_normal(&random) : (double)NAN;
    }
    assert_ok(design_of(&f->by, f->rows, D, targets, values, &why));
}

/* Both sides of every node, with labels below readings, above, and among them. */
static void add_stretches(sight_reader *r, lcg *random)
{
    for (size_t k = 0; k < (size_t)D * STRETCH_SIDES; k++) {
        double sign = k % 2 == 0 ? 1 : -1;
        double middle = (double)(k / 2) - 1;           /* about which limits lie */
        double root = 0.1 + 0.2 * lcg_uniform(random); /* C = (a, b; 0, c)'(a, b; 0, c) */
        double with = 0.1 * lcg_normal(random);
        double rest = 0.1 + 0.2 * lcg_uniform(random);
        const double side[STRETCH_NUMBERS] = {middle + sign * 0.1 * lcg_uniform(random),
                                              sign * (0.2 + lcg_uniform(random)),
                                              0.5 + lcg_uniform(random),
                                              0.7 * lcg_normal(random),
                                              0.3 * lcg_normal(random),
                                              root * root,
                                              root * with,
                                              with * with + rest * rest};
        memcpy(r->stretch + k * STRETCH_NUMBERS, side, sizeof side);
    }
}

static void add_reader(fitted *f)
{
    lcg random = {3};
    sight_reader *r = &f->reader;
    *r = (sight_reader){.d = D, .members = MEMBERS, .scale = 31.7};
    r->eye = picture_shape_of(f->height, f->width, f->channels, D);
    size_t count = picture_count(&r->eye);
    r->parameters = calloc(MEMBERS * count, sizeof *r->parameters);
    r->offset = calloc((2 * MEMBERS + 3 + STRETCH) * D, sizeof *r->offset);
    r->backdrop = calloc(f->count, sizeof *r->backdrop);
    assert_true(r->parameters != NULL && r->offset != NULL && r->backdrop != NULL);
    r->spread = r->offset + MEMBERS * D;
    r->error = r->spread + MEMBERS * D;
    r->stretch = r->error + (size_t)3 * D;
    for (size_t m = 0; m < MEMBERS; m++) {
        picture_f32_draw(&r->eye, (rng){5, m}, r->parameters + m * count);
    }
    for (size_t k = 0; k < MEMBERS * D; k++) {
        r->offset[k] = 0.3 * lcg_normal(&random);
        r->spread[k] = 0.5 + lcg_uniform(&random);
    }
    for (size_t k = 0; k < 3 * D; k++) {
        r->error[k] = 0.01 + 0.9 * lcg_uniform(&random);
    }
    add_stretches(r, &random);
    for (size_t k = 0; k < f->count; k++) {
        r->backdrop[k] = (float)(100 + 50 * lcg_uniform(&random));
    }
}

static fitted fitted_new(size_t height, size_t width, size_t channels, size_t rows)
{
    static const size_t none[] = {0};
    fitted f = {.height = height, .width = width, .rows = rows};
    f.channels = channels > 0 ? channels : 1;
    f.count = height * width * f.channels;
    const decoder g = made_decoder(DECODER_LINEAR, D, none, f.count);
    f.p = made_posterior(2, 3, &g);
    f.p->x_ndim = channels > 0 ? 4 : 3;
    f.p->x_dims[0] = height;
    f.p->x_dims[1] = width;
    f.p->x_dims[2] = channels;
    add_pictures(&f, channels);
    add_reader(&f);
    assert_ok(encoder_pack_sight(f.p, &f.reader, &f.by, &why));
    assert_string_equal(f.p->encoder.kind, "pictures");
    return f;
}

static void fitted_free(fitted *f)
{
    free(f->reader.parameters);
    free(f->reader.offset);
    free(f->reader.backdrop);
    design_close(&f->by);
    lscm_posterior_free(f->p);
    lscm_dataset_free(f->data);
}

static void assert_unpacked(const sight_reader *a, const sight_reader *b)
{
    assert_int_equal(a->d, b->d);
    assert_int_equal(a->members, b->members);
    assert_memory_equal(&a->eye, &b->eye, sizeof a->eye);
    assert_memory_equal(a->parameters, b->parameters,
                        a->members * picture_count(&a->eye) * sizeof(float));
    assert_memory_equal(a->offset, b->offset, a->members * D * sizeof(double));
    assert_memory_equal(a->spread, b->spread, a->members * D * sizeof(double));
    assert_memory_equal(a->backdrop, b->backdrop, sight_pixels(a) * sizeof(float));
    assert_memory_equal(a->error, b->error, (size_t)3 * D * sizeof(double));
    assert_memory_equal(a->stretch, b->stretch, (size_t)STRETCH * D * sizeof(double));
    assert_memory_equal(&a->scale, &b->scale, sizeof a->scale);
}

/* Readings move where they are beyond a side, and nowhere else; some are on either. */
static void assert_stretched(const fitted *f, const float *x, const answer *a)
{
    double nowhere[D * STRETCH] = {0};
    size_t sides[STRETCH_SIDES + 1] = {0};
    answer plain = answer_new(f->p, f->data);
    sight_reader flat = f->reader;
    flat.stretch = nowhere;
    assert_ok(sight_read(&flat, on_cpu(), f->rows, x, plain.z, plain.sd, NULL, &why));
    for (size_t k = 0; k < f->rows * D; k++) {
        const double *up = f->reader.stretch + k % D * STRETCH;
        const double *down = up + STRETCH_NUMBERS;
        size_t side = plain.z[k] > up[0] ? 0 : plain.z[k] < down[0] ? 1 : 2;
        bool moved = a->z[k] < plain.z[k] || a->z[k] > plain.z[k];
        sides[side]++;
        assert_true(moved == (side < STRETCH_SIDES));
        assert_true(side == 2 || (side == 0 ? a->z[k] > up[0] : a->z[k] < down[0]));
        assert_true(side < STRETCH_SIDES || fabs(a->sd[k] - plain.sd[k]) <= 0);
    }
    assert_true(sides[0] > 0 && sides[1] > 0);
    free(plain.z);
}

/* z by hand: all pictures at once, values where they are set. */
static answer by_pieces(const fitted *f)
{
    answer a = answer_new(f->p, f->data);
    const sight_reader *r = &f->reader;
    float *x = calloc(f->rows * f->count, sizeof *x);
    assert_non_null(x);
    for (size_t k = 0; k < f->rows * f->count; k++) {
        double moved = (double)f->x[k] - (double)r->backdrop[k % f->count];
        x[k] = (float)(moved * (1 / r->scale));
    }
    assert_ok(sight_read(r, on_cpu(), f->rows, x, a.z, a.sd, NULL, &why));
    assert_stretched(f, x, &a);
    for (size_t k = 0; k < f->rows * D; k++) {
        bool set = design_is_set(&f->by, k / D, k % D);
        a.z[k] = set ? design_value(&f->by, k / D, k % D) : a.z[k];
        assert_true(a.sd[k] > 0);
        a.sd[k] = set ? 0 : a.sd[k];
    }
    free(x);
    return a;
}

/* Rows beyond what labels the nodes; node 1, which nothing labels, does not count. */
static size_t outside(const fitted *f, const double *z)
{
    size_t count = 0;
    double low[D];
    double high[D];
    for (size_t j = 0; j < D; j++) {
        low[j] = j == 1 ? -INFINITY : INFINITY;
        high[j] = -low[j];
        for (size_t row = 0; row < f->rows; row++) {
            if (design_is_set(&f->by, row, j)) {
                low[j] = fmin(low[j], design_value(&f->by, row, j));
                high[j] = fmax(high[j], design_value(&f->by, row, j));
            }
        }
    }
    for (size_t row = 0; row < f->rows; row++) {
        bool out = false;
        for (size_t j = 0; j < D; j++) {
            double at = z[row * D + j];
            out = out || (!design_is_set(&f->by, row, j) && (at < low[j] || at > high[j]));
        }
        count += out ? 1 : 0;
    }
    return count;
}

static void check_comes_back(size_t height, size_t width, size_t channels, size_t rows)
{
    fitted f = fitted_new(height, width, channels, rows);
    lscm_posterior *back = reopened(f.p);
    encoder e;
    assert_ok(encoder_open(&e, back, &why));
    assert_int_equal(e.kind, ENCODES_PICTURES);
    assert_int_equal(e.width, f.count);
    assert_unpacked(&f.reader, &e.sight);
    answer a = by_pieces(&f);
    a.outside = outside(&f, a.z);
    answer b = transformed(back, f.data);
    assert_equal_answers(&a, &b);
    free(a.z);
    free(b.z);
    lscm_posterior_free(back);
    fitted_free(&f);
}

static void networks_of_pictures_come_back_and_give_the_same(void **state)
{
    (void)state;
    check_comes_back(17, 20, 3, 37);
    check_comes_back(16, 16, 1, 13);
    check_comes_back(16, 18, 0, 23);
    check_comes_back(33, 17, 4, 9);
    check_comes_back(16, 16, 1, 270); /* more than are read between two looks at a stop */
}

/* Any chunks, any number of threads. */
static void chunks_and_threads_do_not_show(void **state)
{
    (void)state;
    fitted f = fitted_new(17, 20, 3, 53);
    answer whole = transformed(f.p, f.data);
    for (size_t many = 0; many < 60; many = 2 * many + 1) {
        answer parts = answer_new(f.p, f.data);
        lscm_set_threads(many % 3 == 0 ? 1 : 2);
        lscm_encoding out = {.z = parts.z, .sd = parts.sd};
        assert_ok(transform_within(f.p, f.data, many * f.count * sizeof(float) + 1, LSCM_DEVICE_CPU,
                                   &out, NULL, &why));
        parts.outside = out.outside;
        assert_equal_answers(&whole, &parts);
        free(parts.z);
    }
    lscm_set_threads(2);
    free(whole.z);
    fitted_free(&f);
}

static void pictures_of_another_size_are_refused(void **state)
{
    (void)state;
    fitted f = fitted_new(17, 20, 3, 4);
    lscm_dataset *other = made_new();
    (void)made_field(other, LSCM_X, DTYPE_UINT8, 7, 20, 17, 3);
    refuse(f.p, other, LSCM_SHAPE,
           "made: a row of x is 20 x 17 x 3 but the run was fitted on 17 x");
    (void)made_field(other, LSCM_X, DTYPE_UINT8, 7, 17, 20, 1);
    refuse(f.p, other, LSCM_SHAPE, "made: x has 340 features but the run was fitted on 1020");
    (void)made_field(other, LSCM_X, DTYPE_UINT8, 7, 1020, 0, 0);
    refuse(f.p, other, LSCM_SHAPE, "made: a row of x is 1020 but the run was fitted on 17 x 20");
    lscm_dataset_free(other);
    fitted_free(&f);
}

/* ---- Damage ---- */

static encoder_array *array_named(const fitted *f, const char *name)
{
    encoder_store *store = &f->p->encoder;
    for (size_t k = 0; k < store->count; k++) {
        if (strcmp(store->array[k].name, name) == 0) {
            return &store->array[k];
        }
    }
    fail();
    return NULL;
}

static void assert_damaged(const fitted *f, const char *name)
{
    encoder e;
    char part[64];
    (void)snprintf(part, sizeof part, "of this run is damaged: '%s' is missing", name);
    assert_fails(encoder_open(&e, f->p, &why), LSCM_FORMAT, part);
}

static void arrays_that_do_not_fit_are_seen(void **state)
{
    static const char *const names[] = {"parameters", "offset", "spread", "backdrop",
                                        "scale",      "errors", "stretch"};
    (void)state;
    fitted f = fitted_new(17, 20, 3, 9);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        encoder_array *array = array_named(&f, names[k]);
        const encoder_array whole = *array;
        array->name[0] ^= 1;
        assert_damaged(&f, names[k]);
        *array = whole;
        array->shape.type = DTYPE_INT8;
        assert_damaged(&f, names[k]);
        *array = whole;
        array->shape.dims[array->shape.ndim++] = 1;
        assert_damaged(&f, names[k]);
        for (int i = 0; i < whole.shape.ndim; i++) {
            *array = whole;
            array->shape.dims[i]--;
            assert_fails(encoder_open(&(encoder){0}, f.p, &why), LSCM_FORMAT, "damaged");
        }
        *array = whole;
    }
    array_named(&f, "range")->shape.type = DTYPE_INT8;
    assert_damaged(&f, "range");
    fitted_free(&f);
}

/* Members have to be several, but no more than there may be. */
static void wrong_counts_of_members_are_seen(void **state)
{
    (void)state;
    fitted f = fitted_new(16, 16, 1, 9);
    encoder_array *array = array_named(&f, "parameters");
    for (size_t members = 0; members < 2 * SIGHT_MEMBERS; members++) {
        array->shape.dims[0] = members;
        if (members < 2 || members > SIGHT_MEMBERS) {
            assert_damaged(&f, "parameters");
        } else if (members != MEMBERS) {
            assert_damaged(&f, "offset");
        }
    }
    fitted_free(&f);
}

static void numbers_that_cannot_be_are_seen(void **state)
{
    static const struct {
        const char *name;
        double first, last; /* of the array */
    } wrong[] = {
        {"scale", 0, 0},           {"scale", -1, -1},         {"scale", INFINITY, INFINITY},
        {"scale", NAN, NAN},       {"offset", NAN, 0},        {"offset", 0, INFINITY},
        {"spread", 0, 1},          {"spread", 1, -1},         {"spread", 1, NAN},
        {"spread", INFINITY, 1},   {"errors", -1e-9, 0.5},    {"errors", NAN, 0.5},
        {"errors", INFINITY, 0.5}, {"errors", 1, 1.0000001},  {"errors", 1, -1e-9},
        {"errors", 1, NAN},        {"parameters", NAN, 0},    {"parameters", 0, -INFINITY},
        {"backdrop", NAN, 0},      {"backdrop", 0, INFINITY}, {"stretch", NAN, 0},
        {"stretch", 0, INFINITY},
    };
    (void)state;
    fitted f = fitted_new(16, 17, 2, 9);
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        const encoder_array *array = array_named(&f, wrong[k].name);
        size_t last = shape_count(&array->shape) - 1;
        encoder e;
        if (array->shape.type == DTYPE_FLOAT32) {
            float *numbers = array->raw;
            const float kept[2] = {numbers[0], numbers[last]};
            numbers[0] = (float)wrong[k].first;
            numbers[last] = (float)wrong[k].last;
            assert_damaged(&f, wrong[k].name);
            numbers[0] = kept[0];
            numbers[last] = kept[1];
        } else {
            double *numbers = array->raw;
            const double kept[2] = {numbers[0], numbers[last]};
            numbers[0] = wrong[k].first;
            numbers[last] = wrong[k].last;
            assert_damaged(&f, wrong[k].name);
            numbers[0] = kept[0];
            numbers[last] = kept[1];
        }
        assert_ok(encoder_open(&e, f.p, &why));
    }
    double *errors = array_named(&f, "errors")->raw;
    encoder e;
    double *stretch = array_named(&f, "stretch")->raw;
    memset(errors, 0, (size_t)3 * D * sizeof *errors); /* exact readings may be, .. */
    for (size_t k = 0; k < (size_t)D * STRETCH; k++) { /* .. and stretches that are known */
        stretch[k] = k % STRETCH_NUMBERS < 5 ? stretch[k] : 0;
    }
    assert_ok(encoder_open(&e, f.p, &why));
    answer a = transformed(f.p, f.data);
    for (size_t k = 0; k < f.rows * D; k++) {
        assert_near(a.sd[k], 0, 0);
    }
    free(a.z);
    fitted_free(&f);
}

/* What a side of a stretch may not be, and what it just may. */
static void stretches_that_cannot_be_are_seen(void **state)
{
    enum { LIMIT, HALF, FAR, A, B, CAA, CAB, CBB };
    static const struct {
        size_t number[2];
        double is[2];
        bool may;
    } cases[] = {
        {{FAR, FAR}, {0, -1e-9}, false},
        {{FAR, FAR}, {0, -INFINITY}, false},
        {{FAR, FAR}, {0, NAN}, false},
        {{HALF, FAR}, {0, 1}, false},
        {{HALF, FAR}, {0, 1e-300}, false},
        {{HALF, FAR}, {0, 0}, true},
        {{CAA, CAB}, {-1e-9, 0}, false},
        {{CBB, CAB}, {-1e-9, 0}, false},
        {{CAA, CBB}, {-1, -1}, false},
        {{CAA, CAA}, {0, 0}, false},
        {{CAB, CAB}, {0, 10}, false},
        {{CAB, CAB}, {0, -10}, false},
        {{CAB, CAB}, {0, 0}, true},
        {{CAA, CAB}, {0, 0}, true},
        {{LIMIT, LIMIT}, {0, NAN}, false},
        {{A, A}, {0, INFINITY}, false},
        {{B, B}, {0, -INFINITY}, false},
        {{B, B}, {0, NAN}, false},
        {{HALF, HALF}, {0, -INFINITY}, false},
        {{CBB, CBB}, {0, INFINITY}, false},
    };
    (void)state;
    fitted f = fitted_new(16, 16, 1, 9);
    const encoder_array *array = array_named(&f, "stretch");
    assert_int_equal(shape_count(&array->shape), D * STRETCH);
    for (size_t side = 0; side < (size_t)D * STRETCH_SIDES; side++) {
        double *numbers = (double *)array->raw + side * STRETCH_NUMBERS;
        double kept[STRETCH_NUMBERS];
        memcpy(kept, numbers, sizeof kept);
        for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
            encoder e;
            numbers[cases[k].number[0]] = cases[k].is[0];
            numbers[cases[k].number[1]] = cases[k].is[1];
            if (cases[k].may) {
                assert_ok(encoder_open(&e, f.p, &why));
            } else {
                assert_damaged(&f, "stretch");
            }
            memcpy(numbers, kept, sizeof kept);
        }
    }
    fitted_free(&f);
}

/* A run whose x is no pictures that networks take. */
static void rows_that_are_no_pictures_are_seen(void **state)
{
    static const struct {
        int ndim;
        size_t dims[3];
    } wrong[] = {
        {2, {1020}},        /* numbers in a row */
        {3, {17, 60}},      /* the same numbers of one channel: other networks */
        {4, {17, 12, 5}},   /* channels that there are not */
        {4, {12, 85, 1}},   /* sides too short, .. */
        {4, {17, 2, 30}},   /* .. */
        {3, {1020, 1}},     /* .. too long */
        {4, {512, 512, 3}}, /* .. so long that its convolutions would not end */
        {4, {17, 20, 0}},   /* none */
        {4, {18, 20, 3}},   /* not what features says */
    };
    (void)state;
    fitted f = fitted_new(17, 20, 3, 9);
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        encoder e;
        f.p->x_ndim = wrong[k].ndim;
        memcpy(f.p->x_dims, wrong[k].dims, sizeof f.p->x_dims);
        assert_fails(encoder_open(&e, f.p, &why), LSCM_FORMAT, "damaged");
    }
    f.p->x_ndim = 4;
    memcpy(f.p->x_dims, (size_t[]){512, 512, 3}, sizeof f.p->x_dims);
    f.p->features = (size_t)512 * 512 * 3;
    assert_damaged(&f, "backdrop");
    fitted_free(&f);
}

/* Networks whose answer overflows are found out, not believed. */
static void numbers_too_large_are_said(void **state)
{
    (void)state;
    fitted f = fitted_new(16, 16, 0, 9);
    double *offset = array_named(&f, "offset")->raw;
    double *spread = array_named(&f, "spread")->raw;
    for (size_t m = 0; m < MEMBERS; m++) {
        offset[m * D + 1] = spread[m * D + 1] = 1e308;
    }
    refuse(f.p, f.data, LSCM_VALUE, "at row 0 (0-based) are too large for the encoder");
    fitted_free(&f);
}

static bool stops(void *self, const char *what, uint64_t done, uint64_t total)
{
    (void)what;
    assert_true(done <= total);
    return --*(int *)self > 0;
}

static void a_stop_is_heard(void **state)
{
    (void)state;
    fitted f = fitted_new(16, 16, 1, 530);
    for (int after = 1; after < 5; after++) { /* one block of x, three parts of the pictures */
        int left = after;
        const lscm_progress progress = {stops, &left};
        answer a = answer_new(f.p, f.data);
        assert_int_equal(lscm_posterior_transform(f.p, f.data, a.z, a.sd, NULL, &progress, &why),
                         LSCM_STOPPED);
        free(a.z);
    }
    fitted_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_AT_HOME(networks_of_pictures_come_back_and_give_the_same),
        cmocka_unit_test(chunks_and_threads_do_not_show),
        cmocka_unit_test(pictures_of_another_size_are_refused),
        cmocka_unit_test(arrays_that_do_not_fit_are_seen),
        cmocka_unit_test(wrong_counts_of_members_are_seen),
        cmocka_unit_test(numbers_that_cannot_be_are_seen),
        cmocka_unit_test(stretches_that_cannot_be_are_seen),
        cmocka_unit_test(rows_that_are_no_pictures_are_seen),
        cmocka_unit_test(numbers_too_large_are_said),
        cmocka_unit_test(a_stop_is_heard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
