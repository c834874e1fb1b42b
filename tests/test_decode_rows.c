/* lscm_posterior_decode against x that sampling makes of the same z, and arrays of pictures in
 * memory against the file that they are saved to. */
#include "made_posterior.h"

#include "testing.h"

enum { ROWS = 300, NODES = 3, FEATURES = 8 }; /* more than one tile of rows, none of them whole */

static lscm_error why;

static void decoded_as_sampled(void **state)
{
    static const size_t hidden[] = {6, 5, 0};
    static const size_t none[] = {0};
    static const decoder_kind kinds[] = {DECODER_LINEAR, DECODER_MLP, DECODER_IMAGE,
                                         DECODER_IDENTITY};
    const uint8_t targets[NODES] = {0, 1, 0};
    const double values[NODES] = {0, 2, 0};
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        bool network = kinds[k] == DECODER_MLP || kinds[k] == DECODER_IMAGE;
        const decoder g = made_decoder(kinds[k], NODES, network ? hidden : none, FEATURES);
        lscm_posterior *p = made_posterior(4, 5, &g);
        lscm_dataset *rows = NULL;
        double z[ROWS * NODES];
        double wanted[ROWS * FEATURES];
        double x[ROWS * FEATURES];
        size_t D = p->features;
        assert_ok(lscm_posterior_sample(&rows, p, targets, values, ROWS, 1, &why));
        assert_ok(lscm_dataset_read(rows, LSCM_Z, 0, ROWS, z, &why));
        assert_ok(lscm_dataset_read(rows, LSCM_X, 0, ROWS, wanted, &why));
        assert_ok(lscm_posterior_decode(p, ROWS, z, x, &why));
        assert_memory_equal(x, wanted, ROWS * D * sizeof *x);
        lscm_set_threads(1);
        assert_ok(lscm_posterior_decode(p, ROWS, z, x, &why));
        lscm_set_threads(2);
        assert_memory_equal(x, wanted, ROWS * D * sizeof *x);
        assert_ok(lscm_posterior_decode(p, 1, z, x, &why));
        assert_memory_equal(x, wanted, D * sizeof *x);
        assert_ok(lscm_posterior_decode(p, 0, z, x, &why));
        z[4] = NAN;
        assert_fails(lscm_posterior_decode(p, ROWS, z, x, &why), LSCM_VALUE, "node 1 in row 1");
        lscm_dataset_free(rows);
        lscm_posterior_free(p);
    }
}

static void arrays_of_pictures(void **state)
{
    double x[2 * 24];
    double back[24];
    lscm_dataset *data = NULL;
    lscm_arrays arrays = {.rows = 2, .features = 24, .x = x, .height = 4, .width = 6};
    (void)state;
    for (size_t k = 0; k < 48; k++) {
        x[k] = (double)k;
    }
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    lscm_shape shape = lscm_dataset_shape(data, LSCM_X);
    assert_true(shape.ndim == 3 && shape.dims[0] == 2 && shape.dims[1] == 4 && shape.dims[2] == 6);
    assert_int_equal(lscm_dataset_features(data), 24);
    assert_ok(lscm_dataset_read(data, LSCM_X, 1, 1, back, &why));
    assert_memory_equal(back, x + 24, sizeof back);
    lscm_dataset_free(data);

    arrays.width = 2;
    arrays.channels = 3;
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    shape = lscm_dataset_shape(data, LSCM_X);
    assert_true(shape.ndim == 4 && shape.dims[2] == 2 && shape.dims[3] == 3);
    lscm_dataset_free(data);

    arrays.channels = 2;
    assert_fails(lscm_dataset_wrap(&data, &arrays, &why), LSCM_SHAPE, "4 x 2 x 2");
    arrays.height = 0;
    assert_fails(lscm_dataset_wrap(&data, &arrays, &why), LSCM_SHAPE, "24 numbers");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoded_as_sampled),
        cmocka_unit_test(arrays_of_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
