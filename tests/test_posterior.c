/* Runs on disk: what was saved comes back bit for bit, equal runs are equal files, and a folder
 * that is not a whole, sound run is refused with a sentence. */
#include "made_posterior.h"

#include "testing.h"

#include "home.h"

#include <sys/stat.h>

static lscm_error why;

static void set_texts(lscm_posterior *p)
{
    p->config = strdup("{\"data\": \"data.nc\", \"seed\": 7}");
    p->summary = strdup("{\"method\": \"biols\", \"x\": 0.1}");
}

/* NaN equals NaN here: bits are compared. */
static void assert_same(const void *a, const void *b, size_t count, size_t size)
{
    assert_true(count == 0 || memcmp(a, b, count * size) == 0);
}

static void assert_equal_posteriors(const lscm_posterior *a, const lscm_posterior *b)
{
    size_t n = a->draws;
    size_t d = a->d;
    assert_int_equal(n, b->draws);
    assert_int_equal(d, b->d);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->features, b->features);
    assert_int_equal(a->x_ndim, b->x_ndim);
    assert_same(a->x_dims, b->x_dims, 3, sizeof(size_t));
    assert_same(a->w, b->w, n * d * d, sizeof(double));
    assert_same(a->sigma, b->sigma, n * d, sizeof(double));
    assert_same(a->intercept, b->intercept, n * d, sizeof(double));
    assert_same(a->order, b->order, n * d, sizeof(size_t));
    assert_same(a->log_p, b->log_p, n, sizeof(double));
    assert_same(a->log_q, b->log_q, n, sizeof(double));
    assert_same(a->edge_prob, b->edge_prob, d * d, sizeof(double));
    assert_same(a->z, b->z, a->rows * d, sizeof(double));
    assert_same(a->z_sd, b->z_sd, a->rows * d, sizeof(double));
    assert_near(a->threshold, b->threshold, 0);
    assert_int_equal(a->decode.kind, b->decode.kind);
    assert_int_equal(a->decode.layers, b->decode.layers);
    assert_same(a->decode.sizes, b->decode.sizes, a->decode.layers + 1, sizeof(size_t));
    assert_same(a->decode.weights, b->decode.weights, decoder_weights(&a->decode), sizeof(double));
    assert_int_equal(a->decode.between, b->decode.between);
    assert_int_equal(a->decode.biases, b->decode.biases);
    assert_int_equal(a->decode.bias != NULL, b->decode.bias != NULL);
    if (a->decode.bias != NULL) {
        assert_same(a->decode.bias, b->decode.bias, decoder_bias_count(&a->decode), sizeof(double));
    }
    assert_string_equal(a->encoder.kind, b->encoder.kind);
    assert_int_equal(a->encoder.count, b->encoder.count);
    for (size_t k = 0; k < a->encoder.count; k++) {
        const encoder_array *one = &a->encoder.array[k];
        const encoder_array *other = &b->encoder.array[k];
        assert_string_equal(one->name, other->name);
        assert_int_equal(one->shape.type, other->shape.type);
        assert_int_equal(one->shape.ndim, other->shape.ndim);
        assert_same(one->shape.dims, other->shape.dims, (size_t)one->shape.ndim, sizeof(size_t));
        assert_same(one->raw, other->raw, 1, shape_bytes(&one->shape));
    }
    assert_near(a->decode.x_noise, b->decode.x_noise, 0);
    for (size_t i = 0; i < d; i++) {
        const char *name = lscm_posterior_node_name(a, i);
        if (name != NULL) {
            assert_string_equal(name, lscm_posterior_node_name(b, i));
        } else {
            assert_null(lscm_posterior_node_name(b, i));
        }
    }
    assert_string_equal(lscm_posterior_config(a), lscm_posterior_config(b));
    assert_string_equal(lscm_posterior_summary(a), lscm_posterior_summary(b));
}

static void round_trip(lscm_posterior *p)
{
    lscm_posterior *back = NULL;
    assert_ok(posterior_save(p, home, &why));
    assert_int_equal(entries(), 3);
    assert_ok(lscm_posterior_open(&back, home, &why));
    assert_equal_posteriors(p, back);
    lscm_posterior_free(back);
    lscm_posterior_free(p);
}

static void what_was_saved_comes_back(void **state)
{
    static char *const names[] = {"raf", "a=b, c", "\xc3\xbc"};
    (void)state;
    lscm_posterior *p = made_linear();
    set_texts(p);
    p->node_names = names_copy(names, 3);
    p->log_p[2] = NAN;
    p->log_q[3] = -INFINITY;
    round_trip(p);
}

static void pictures_and_networks_come_back(void **state)
{
    static const size_t hidden[] = {16, 64, 5, 0};
    (void)state;
    const decoder g = made_decoder(DECODER_IMAGE, 4, hidden, 30);
    lscm_posterior *p = made_posterior(9, 12, &g);
    p->x_ndim = 4;
    p->x_dims[0] = 5;
    p->x_dims[1] = 2;
    p->x_dims[2] = 3;
    round_trip(p);
}

static void relu_and_biases_come_back(void **state)
{
    static const size_t hidden[] = {6, 9, 0};
    (void)state;
    for (int biases = BIASES_NONE; biases <= BIASES_ALL; biases++) {
        decoder g = made_decoder(DECODER_MLP, 4, hidden, 12);
        g.between = (decoder_activation)biases; /* every one of them, too */
        g.biases = (decoder_biases)biases;
        lscm_posterior *p = made_posterior(3, 2, &g);
        p->x_ndim = 3;
        p->x_dims[0] = 3;
        p->x_dims[1] = 4;
        round_trip(p);
    }
}

/* Of every type that an encoder has, with all bits. */
static void encoders_come_back(void **state)
{
    static const dtype types[] = {DTYPE_FLOAT64, DTYPE_FLOAT32, DTYPE_UINT8, DTYPE_UINT32,
                                  DTYPE_UINT64};
    (void)state;
    lscm_posterior *p = made_linear();
    (void)snprintf(p->encoder.kind, sizeof p->encoder.kind, "kernel biased");
    for (size_t k = 0; k < 5; k++) {
        const array_shape shape = {true, types[k], 1 + (int)(k % 3), {k + 2, 3, 2}};
        char name[ENCODER_NAME];
        void *raw = NULL;
        (void)snprintf(name, sizeof name, "array_%zu", k);
        assert_ok(posterior_add_encoder(p, name, &shape, &raw, &why));
        for (size_t i = 0; i < shape_count(&shape); i++) {
            double number = 1.0 / (double)(i + 3);
            float single = (float)number;
            uint64_t whole = UINT64_MAX - i;
            const void *from = types[k] == DTYPE_FLOAT64   ? (const void *)&number
                               : types[k] == DTYPE_FLOAT32 ? (const void *)&single
                                                           : (const void *)&whole;
            size_t size = dtype_size(types[k]);
            memcpy((char *)raw + i * size, from, size);
        }
    }
    round_trip(p);
}

static void encoders_have_limits(void **state)
{
    const array_shape shape = {true, DTYPE_UINT8, 1, {1}};
    const array_shape huge = {true, DTYPE_FLOAT64, 2, {SIZE_MAX / 16, 4}};
    void *raw = NULL;
    (void)state;
    lscm_posterior *p = made_linear();
    assert_int_equal(posterior_add_encoder(p, "huge", &huge, &raw, &why), LSCM_MEMORY);
    assert_fails(
        posterior_add_encoder(p, "a_name_that_is_longer_than_any_of_ours", &shape, &raw, &why),
        LSCM_FORMAT, "names of 31 letters");
    for (size_t k = 0; k < ENCODER_ARRAYS; k++) {
        assert_ok(posterior_add_encoder(p, "one", &shape, &raw, &why));
    }
    assert_fails(posterior_add_encoder(p, "one", &shape, &raw, &why), LSCM_FORMAT,
                 "at most 40 arrays");
    lscm_posterior_free(p);
}

static void observed_variables_without_rows_come_back(void **state)
{
    static const size_t none[] = {0};
    (void)state;
    const decoder g = made_decoder(DECODER_IDENTITY, 2, none, 2);
    lscm_posterior *p = made_posterior(1, 0, &g);
    p->threshold = 0;
    round_trip(p);
}

static void a_linear_decoder_without_bias_comes_back(void **state)
{
    (void)state;
    lscm_posterior *p = made_linear();
    p->decode.bias = NULL;
    p->decode.biases = BIASES_NONE;
    round_trip(p);
}

static char *bytes_of(const char *path, size_t *count)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = calloc(1, 1 << 20);
    assert_non_null(bytes);
    *count = fread(bytes, 1, 1 << 20, file);
    (void)fclose(file);
    return bytes;
}

static void equal_runs_are_equal_files(void **state)
{
    size_t counts[2];
    char *bytes[2];
    (void)state;
    for (int k = 0; k < 2; k++) {
        lscm_posterior *p = made_linear();
        set_texts(p);
        assert_ok(posterior_save(p, home, &why));
        bytes[k] = bytes_of(at("posterior.nc"), &counts[k]);
        lscm_posterior_free(p);
    }
    assert_int_equal(counts[0], counts[1]);
    assert_memory_equal(bytes[0], bytes[1], counts[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static void refuse(lscm_status code, const char *part)
{
    lscm_posterior *back = NULL;
    assert_fails(lscm_posterior_open(&back, home, &why), code, part);
    assert_null(back);
}

static void a_run_that_is_not_whole_is_refused(void **state)
{
    lscm_posterior *back = NULL;
    (void)state;
    assert_fails(lscm_posterior_open(&back, at("nowhere"), &why), LSCM_MISSING, "no such run");
    refuse(LSCM_MISSING, "no posterior.nc");
    put(at("checkpoint"), "half way");
    refuse(LSCM_MISSING, ": the fit did not finish; continue it with lscm fit --resume");
    assert_fails(lscm_posterior_open(&back, at("checkpoint"), &why), LSCM_FORMAT, "not a run");
    put(at("posterior.nc"), "this is no netCDF file");
    refuse(LSCM_FORMAT, "not a netCDF-4 file");

    lscm_posterior *p = made_linear();
    set_texts(p);
    assert_ok(posterior_save(p, home, &why));
    lscm_posterior_free(p);
    put(at("config.json"), "{\"seed\": ");
    refuse(LSCM_FORMAT, "config.json: this is not a JSON object");
    put(at("config.json"), "[1]");
    refuse(LSCM_FORMAT, "config.json: this is not a JSON object");
    assert_int_equal(unlink(at("summary.json")), 0);
    put(at("config.json"), "{}");
    refuse(LSCM_MISSING, "summary.json");
    assert_ok(truncate(at("posterior.nc"), 3000) == 0 ? LSCM_OK : LSCM_READ);
    refuse(LSCM_READ, "posterior.nc");
}

/* A data file is not a posterior, though it is netCDF. */
static void another_netcdf_file_is_refused(void **state)
{
    lscm_simulation settings;
    lscm_dataset *data = NULL;
    (void)state;
    assert_ok(lscm_simulation_preset(&settings, "paper-linear", 3, &why));
    assert_ok(lscm_simulate(&data, &settings, "paper-linear", &why));
    assert_ok(lscm_dataset_save(data, at("posterior.nc"), false, NULL, &why));
    refuse(LSCM_FORMAT, "not a posterior of lscm: 'posterior/w' is missing");
    lscm_dataset_free(data);
}

typedef void (*spoil_fn)(lscm_posterior *p);

static void spoil_w(lscm_posterior *p)
{
    p->w[10] = NAN;
}

static void spoil_sigma(lscm_posterior *p)
{
    p->sigma[4] = -1;
}

static void spoil_intercept(lscm_posterior *p)
{
    p->intercept[4] = NAN;
}

static void spoil_bias(lscm_posterior *p)
{
    p->decode.bias[3] = INFINITY;
}

static void spoil_encoder(lscm_posterior *p)
{
    const array_shape shape = {true, DTYPE_FLOAT32, 1, {2}};
    void *raw = NULL;
    (void)snprintf(p->encoder.kind, sizeof p->encoder.kind, "linear");
    assert_ok(posterior_add_encoder(p, "slope", &shape, &raw, &why));
    memcpy(raw, (const float[]){1, NAN}, 2 * sizeof(float));
}

static void spoil_order(lscm_posterior *p)
{
    p->order[3] = p->order[4];
}

static void spoil_far_order(lscm_posterior *p)
{
    p->order[3] = SIZE_MAX / 4;
}

static void spoil_z(lscm_posterior *p)
{
    p->z[0] = INFINITY;
}

static void spoil_decoder(lscm_posterior *p)
{
    p->decode.weights[11] = NAN;
}

static void spoil_kind(lscm_posterior *p)
{
    p->decode.kind = DECODER_IDENTITY;
}

static void spoil_shape(lscm_posterior *p)
{
    p->x_dims[0] = 5;
}

static void spoil_threshold(lscm_posterior *p)
{
    p->threshold = NAN;
}

/* The edge against the order of draw 2, which has both nodes. */
static void spoil_graph(lscm_posterior *p)
{
    const size_t *order = p->order + 6;
    p->w[18 + order[2] * 3 + order[0]] = 1;
}

static void unsound_posteriors_are_refused(void **state)
{
    static const struct {
        spoil_fn spoil;
        lscm_status code;
        const char *part;
    } cases[] = {
        {spoil_w, LSCM_VALUE, "'w' is"},
        {spoil_sigma, LSCM_VALUE, "'sigma' is negative in draw 1"},
        {spoil_intercept, LSCM_VALUE, "'intercept' is"},
        {spoil_bias, LSCM_VALUE, "'bias' is"},
        {spoil_encoder, LSCM_VALUE, "'slope' of the encoder is not finite"},
        {spoil_order, LSCM_VALUE, "'order' of draw 1"},
        {spoil_far_order, LSCM_VALUE, "'order' of draw 1"},
        {spoil_z, LSCM_VALUE, "'z' is"},
        {spoil_decoder, LSCM_VALUE, "'decoder' is"},
        {spoil_kind, LSCM_SHAPE, "decoder"},
        {spoil_shape, LSCM_SHAPE, "does not fit x of 5 features"},
        {spoil_threshold, LSCM_FORMAT, "threshold"},
        {spoil_graph, LSCM_VALUE, "'order' of draw 2"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        lscm_posterior *p = made_linear();
        cases[k].spoil(p);
        assert_ok(posterior_save(p, home, &why));
        refuse(cases[k].code, cases[k].part);
        lscm_posterior_free(p);
    }
}

static void saving_needs_a_folder(void **state)
{
    (void)state;
    lscm_posterior *p = made_linear();
    assert_fails(posterior_save(p, at("nowhere"), &why), LSCM_WRITE, "nowhere");
    assert_int_equal(entries(), 0);
    lscm_posterior_free(p);
    lscm_posterior_free(NULL);
    assert_int_equal(posterior_new(&p, SIZE_MAX / 8, 7, 1, 1, 1, NULL), LSCM_MEMORY);
    assert_null(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_AT_HOME(what_was_saved_comes_back),
        TEST_AT_HOME(pictures_and_networks_come_back),
        TEST_AT_HOME(relu_and_biases_come_back),
        TEST_AT_HOME(encoders_come_back),
        cmocka_unit_test(encoders_have_limits),
        TEST_AT_HOME(observed_variables_without_rows_come_back),
        TEST_AT_HOME(a_linear_decoder_without_bias_comes_back),
        TEST_AT_HOME(equal_runs_are_equal_files),
        TEST_AT_HOME(a_run_that_is_not_whole_is_refused),
        TEST_AT_HOME(another_netcdf_file_is_refused),
        TEST_AT_HOME(unsound_posteriors_are_refused),
        TEST_AT_HOME(saving_needs_a_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
