/* Bands against the definition, over a sorted copy of each column; rows that are draws of one law
 * take them along into an NPZ, in the shape of one row. */
#include "made.h"
#include "made_posterior.h"

#include "data/npy/npy.h"
#include "data/statistics/statistics.h"

#include "testing.h"

#include "home.h"

static lscm_error why;

enum { WIDE = 40 };

/* NumPy's linear quantile, by counting: the value at rank h is the least v with as many below. */
static double at_share(const double *values, size_t n, size_t stride, double share)
{
    double sorted[400];
    for (size_t k = 0; k < n; k++) {
        size_t rank = 0;
        for (size_t other = 0; other < n; other++) {
            double a = values[other * stride];
            double b = values[k * stride];
            rank += a < b || (a == b && other < k) ? 1 : 0;
        }
        sorted[rank] = values[k * stride];
    }
    double h = share * (double)(n - 1);
    double low = floor(h);
    double high = low + 1 < (double)n ? low + 1 : low;
    return (1 - (h - low)) * sorted[(size_t)low] + (h - low) * sorted[(size_t)high];
}

static void assert_bands(const double *values, size_t n, size_t columns, const lscm_bands *b)
{
    for (size_t k = 0; k < columns; k++) {
        double mean = 0;
        double square = 0;
        for (size_t row = 0; row < n; row++) {
            mean += values[row * columns + k] / (double)n;
        }
        for (size_t row = 0; row < n; row++) {
            square += pow(values[row * columns + k] - mean, 2) / (double)n;
        }
        assert_near(b->mean[k], mean, 1e-12);
        assert_near(b->sd[k], sqrt(square), 1e-12);
        assert_near(b->lower[k], at_share(values + k, n, columns, 0.05), 1e-12);
        assert_near(b->median[k], at_share(values + k, n, columns, 0.5), 1e-12);
        assert_near(b->upper[k], at_share(values + k, n, columns, 0.95), 1e-12);
    }
}

static void bands_are_those_of_the_columns(void **state)
{
    static const size_t rows[] = {1, 2, 3, 21, 400};
    double numbers[5][WIDE];
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        lcg random = {k + 1};
        lscm_dataset *data = made_new();
        double *x = made_field(data, LSCM_X, DTYPE_FLOAT64, rows[k], WIDE, 0, 0);
        for (size_t i = 0; i < rows[k] * WIDE; i++) {
            x[i] = i % 7 == 0 ? 1 : 3 + lcg_normal(&random);
        }
        const lscm_bands bands = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]};
        assert_ok(lscm_dataset_bands(data, LSCM_X, &bands, &why));
        assert_bands(x, rows[k], WIDE, &bands);
        lscm_dataset_free(data);
    }
}

/* Only what is wanted; a field that is not there, or is no rows. */
static void bands_of_what_is_there(void **state)
{
    double upper[WIDE];
    double w[4] = {0};
    (void)state;
    lscm_dataset *data = made_new();
    double *x = made_field(data, LSCM_X, DTYPE_FLOAT64, 3, 2, 0, 0);
    memcpy(made_field(data, LSCM_W, DTYPE_FLOAT64, 2, 2, 0, 0), w, sizeof w);
    x[5] = 10;
    assert_ok(lscm_dataset_bands(data, LSCM_X, &(lscm_bands){.upper = upper}, &why));
    assert_near(upper[0], 0, 0);
    assert_near(upper[1], 9, 1e-12);
    assert_fails(lscm_dataset_bands(data, LSCM_Z, &(lscm_bands){.upper = upper}, &why),
                 LSCM_MISSING, "no rows of 'z'");
    assert_fails(lscm_dataset_bands(data, LSCM_W, &(lscm_bands){.upper = upper}, &why),
                 LSCM_MISSING, "no rows of 'w'");
    lscm_dataset_free(data);
}

static bool stop(void *self, const char *what, uint64_t done, uint64_t total)
{
    (void)what;
    (void)done;
    (void)total;
    return --*(int *)self > 0;
}

static void work_can_be_stopped(void **state)
{
    int left = 1;
    double mean[2];
    (void)state;
    lscm_dataset *data = made_new();
    (void)made_field(data, LSCM_X, DTYPE_FLOAT64, 3, 2, 0, 0);
    const lscm_progress progress = {stop, &left};
    meter m = {.progress = &progress, .what = "here"};
    assert_fails(bands_of(data, LSCM_X, &(lscm_bands){.mean = mean}, &m, &why), LSCM_STOPPED,
                 "here: stopped");
    lscm_dataset_free(data);
}

/* `columns` numbers under that name, against the bands of `rows` (n, columns). */
static void assert_stored(npz_file *file, const char *name, int ndim, double share,
                          const double *rows, size_t n, size_t columns)
{
    double *numbers = NULL;
    array_shape shape;
    assert_ok(npz_file_read_double(file, name, &numbers, &shape, &why));
    assert_non_null(numbers);
    assert_int_equal(shape.ndim, ndim);
    assert_int_equal(shape_count(&shape), columns);
    for (size_t k = 0; k < columns; k++) {
        double mean = 0;
        for (size_t row = 0; row < n; row++) {
            mean += rows[row * columns + k] / (double)n;
        }
        assert_near(numbers[k], share < 0 ? mean : at_share(rows + k, n, columns, share), 1e-12);
    }
    free(numbers);
}

static void samples_take_their_bands_along(void **state)
{
    enum { ROWS = 150, D = 3, H = 4, W = 5 };
    static const size_t hidden[] = {6, 0};
    static double x[ROWS * H * W];
    static double z[ROWS * D];
    const uint8_t targets[D] = {0, 1, 0};
    const double values[D] = {0, 1, 0};
    lscm_dataset *data = NULL;
    lscm_dataset *back = NULL;
    npz_file *file = NULL;
    (void)state;
    const decoder g = made_decoder(DECODER_IMAGE, D, hidden, H * W);
    lscm_posterior *p = made_posterior(20, 1, &g);
    p->x_ndim = 3;
    p->x_dims[0] = H;
    p->x_dims[1] = W;
    assert_ok(lscm_posterior_sample(&data, p, targets, values, ROWS, 5, &why));
    assert_ok(lscm_dataset_read(data, LSCM_X, 0, ROWS, x, &why));
    assert_ok(lscm_dataset_read(data, LSCM_Z, 0, ROWS, z, &why));
    assert_ok(lscm_dataset_save(data, at("seen.npz"), false, NULL, &why));
    assert_ok(npz_file_open(&file, at("seen.npz"), &why));
    assert_stored(file, "x_mean", 2, -1, x, ROWS, (size_t)H * W);
    assert_stored(file, "x_lower", 2, 0.05, x, ROWS, (size_t)H * W);
    assert_stored(file, "x_upper", 2, 0.95, x, ROWS, (size_t)H * W);
    assert_stored(file, "z_mean", 1, -1, z, ROWS, D);
    assert_stored(file, "z_lower", 1, 0.05, z, ROWS, D);
    assert_stored(file, "z_upper", 1, 0.95, z, ROWS, D);
    npz_file_close(file);

    /* read as data, and written again, they are gone: only rows are data */
    array_shape shape;
    assert_ok(lscm_dataset_open(&back, at("seen.npz"), NULL, &why));
    assert_ok(lscm_dataset_save(back, at("again.npz"), false, NULL, &why));
    assert_ok(npz_file_open(&file, at("again.npz"), &why));
    assert_ok(npz_file_shape(file, "x_mean", &shape, &why));
    assert_false(shape.present);
    npz_file_close(file);
    lscm_dataset_free(back);
    lscm_dataset_free(data);
    lscm_posterior_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_are_those_of_the_columns),
        cmocka_unit_test(bands_of_what_is_there),
        cmocka_unit_test(work_can_be_stopped),
        TEST_AT_HOME(samples_take_their_bands_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
