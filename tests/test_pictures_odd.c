/* Pictures with which something is odd, as a fit meets them: a channel that says nothing changes
 * nothing, pictures that are all the same or lack a pixel are refused by name. */
#include "read_all.h"
#include "simulated.h"

static lscm_error why;

enum { MOST_CHANNELS = 4 };

/* Pictures of blobs, in channels that are shares of one, or a constant. */
typedef struct odd {
    size_t rows, nodes, height, width, channels;
    double *x, *values;
    uint8_t *targets;
} odd;

static odd pictures(size_t channels, const double share[MOST_CHANNELS],
                    const double constant[MOST_CHANNELS])
{
    lscm_dataset *data = simulated_as(
        "blobs", 3, "observational=60 sets=6 per_set=20 x_noise=0.02 targets=cycle seed=4");
    lscm_shape shape = lscm_dataset_shape(data, LSCM_X);
    odd p = {lscm_dataset_rows(data), 3, shape.dims[1], shape.dims[2], channels, NULL, NULL, NULL};
    size_t numbers = p.rows * p.height * p.width;
    double *x = read_all(data, LSCM_X, NULL);
    double *targets = read_all(data, LSCM_TARGETS, NULL);
    p.values = read_all(data, LSCM_VALUES, NULL);
    p.x = malloc(numbers * channels * sizeof *p.x);
    p.targets = malloc(p.rows * p.nodes);
    assert_true(p.x != NULL && p.targets != NULL);
    for (size_t i = 0; i < numbers * channels; i++) {
        size_t c = i % channels;
        p.x[i] = share[c] * x[i / channels] + constant[c];
    }
    for (size_t i = 0; i < p.rows * p.nodes; i++) {
        p.targets[i] = targets[i] != 0 ? 1 : 0;
    }
    free(x);
    free(targets);
    lscm_dataset_free(data);
    return p;
}

static void free_pictures(odd *p)
{
    free(p->x);
    free(p->values);
    free(p->targets);
}

static lscm_dataset *wrapped(const odd *p)
{
    lscm_dataset *data = NULL;
    const lscm_arrays all = {.rows = p->rows,
                             .nodes = p->nodes,
                             .features = p->height * p->width * p->channels,
                             .x = p->x,
                             .targets = p->targets,
                             .values = p->values,
                             .height = p->height,
                             .width = p->width,
                             .channels = p->channels > 1 ? p->channels : 0};
    assert_ok(lscm_dataset_wrap(&data, &all, &why));
    return data;
}

/* Red, green and blue, of which green is the same everywhere, are what red and blue are alone; and
 * an opaque fourth channel adds nothing. */
static void a_constant_channel_changes_nothing(void **state)
{
    (void)state;
    const double shares[3][MOST_CHANNELS] = {{1, 0.5}, {1, 0, 0.5}, {1, 0, 0.5, 0}};
    const double constants[3][MOST_CHANNELS] = {{0}, {0, 0.3, 0, 0}, {0, 0.3, 0, 1}};
    double edges[3][9];
    for (size_t k = 0; k < 3; k++) {
        odd p = pictures(2 + k, shares[k], constants[k]);
        lscm_dataset *data = wrapped(&p);
        lscm_posterior *posterior = NULL;
        assert_ok(lscm_check(&posterior, data, NULL, &why));
        memcpy(edges[k], lscm_posterior_edge_prob(posterior), sizeof edges[k]);
        lscm_posterior_free(posterior);
        lscm_dataset_free(data);
        free_pictures(&p);
    }
    for (size_t i = 0; i < 9; i++) {
        assert_near(edges[1][i], edges[0][i], 0.03);
        assert_near(edges[2][i], edges[0][i], 0.03);
    }
}

static void pictures_that_say_nothing_are_refused(void **state)
{
    (void)state;
    odd p = pictures(1, (const double[]){1, 0, 0, 0}, (const double[]){0, 0, 0, 0});
    size_t features = p.height * p.width;
    lscm_dataset *data = wrapped(&p);
    lscm_posterior *posterior = NULL;
    double kept = p.x[17 * features + 2 * p.width + 5];
    p.x[17 * features + 2 * p.width + 5] = INFINITY;
    assert_fails(lscm_check(&posterior, data, NULL, &why), LSCM_VALUE, "row 17, pixel (2, 5)");
    assert_null(posterior);
    p.x[17 * features + 2 * p.width + 5] = kept;
    for (size_t row = 0; row < p.rows; row++) {
        p.x[row * features + 3 * p.width + 1] = NAN;
    }
    assert_fails(lscm_check(&posterior, data, NULL, &why), LSCM_VALUE,
                 "pixel (3, 1) (0-based) has no number in any picture");
    assert_null(posterior);
    for (size_t row = 0; row < p.rows; row++) {
        for (size_t i = 0; i < features; i++) {
            p.x[row * features + i] = 0.25;
        }
    }
    assert_int_equal(lscm_check(&posterior, data, NULL, &why), LSCM_VALUE);
    assert_null(posterior);
    lscm_dataset_free(data);
    free_pictures(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_channel_changes_nothing),
        cmocka_unit_test(pictures_that_say_nothing_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
