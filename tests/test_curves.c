/* The effect of one node on another as a curve, against its definition by brute force: the child's
 * mean with the cause set to a value in all rows, other causes as they are there, less what that is
 * on average over the cause's own values; and what exports and scores say where mechanisms bend. */
#include "made_bent.h"

#include "data/npy/npy.h"

#include "testing.h"

#include "home.h"

#include <jansson.h>

enum { NODES = 4, DRAWS = 25, ROWS = 12, PLACES = 41 };

static lscm_error why;

static lscm_posterior *made(bool bent)
{
    const size_t none[] = {0};
    const decoder g = made_decoder(DECODER_IDENTITY, NODES, none, NODES);
    lscm_posterior *p = made_posterior(DRAWS, ROWS, &g);
    return bent ? made_to_bend(p) : p;
}

/* The mean over rows of the effect of all causes of `to`, `from` set to a value. */
static double set_to(const lscm_posterior *p, size_t draw, size_t from, size_t to, double value)
{
    double sum = 0;
    for (size_t row = 0; row < ROWS; row++) {
        double z[NODES];
        memcpy(z, p->z + row * NODES, sizeof z);
        z[from] = value;
        if (p->bent != NULL && made_bends(p, draw, to)) {
            sum += made_effect(p->bent, draw, to, z, -1) / ROWS;
            continue;
        }
        for (size_t j = 0; j < NODES; j++) {
            sum += p->w[(draw * NODES + j) * NODES + to] * z[j] / ROWS;
        }
    }
    return sum;
}

static double centred(const lscm_posterior *p, size_t draw, size_t from, size_t to, double value)
{
    double sum = set_to(p, draw, from, to, value);
    for (size_t row = 0; row < ROWS; row++) {
        sum -= set_to(p, draw, from, to, p->z[row * NODES + from]) / ROWS;
    }
    return sum;
}

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return a < b ? -1 : a > b ? 1 : 0;
}

static double quantile(const double *sorted, size_t n, double share)
{
    double at = share * (double)(n - 1);
    size_t low = (size_t)floor(at);
    size_t high = low + 1 < n ? low + 1 : low;
    return sorted[low] * (1 - (at - floor(at))) + sorted[high] * (at - floor(at));
}

static size_t draws_with(const lscm_posterior *p, size_t from, size_t to, double value,
                         double *effects)
{
    size_t count = 0;
    for (size_t s = 0; s < DRAWS; s++) {
        if (p->w[(s * NODES + from) * NODES + to] != 0) {
            effects[count++] = centred(p, s, from, to, value);
        }
    }
    return count;
}

static void assert_curve(const lscm_posterior *p, size_t from, size_t to)
{
    static const double at[] = {-5, -1.25, 0, 0.5, 4};
    double low[5];
    double mean[5];
    double high[5];
    double effects[DRAWS];
    lscm_curve curve = {5, at, low, mean, high, {0}};
    assert_ok(lscm_posterior_curve(&curve, p, from, to, &why));
    for (size_t k = 0; k < 5; k++) {
        size_t count = draws_with(p, from, to, at[k], effects);
        double sum = 0;
        for (size_t s = 0; s < count; s++) {
            sum += effects[s] / (double)count;
        }
        assert_true(count > 0);
        qsort(effects, count, sizeof *effects, ascending);
        assert_near(mean[k], sum, 1e-7 * (1 + fabs(sum)));
        assert_near(low[k], quantile(effects, count, 0.05), 1e-6);
        assert_near(high[k], quantile(effects, count, 0.95), 1e-6);
    }
    double least = INFINITY;
    double most = -INFINITY;
    for (size_t row = 0; row < ROWS; row++) {
        least = fmin(least, p->z[row * NODES + from]);
        most = fmax(most, p->z[row * NODES + from]);
    }
    assert_near(curve.seen[0], least, 0);
    assert_near(curve.seen[1], most, 0);
}

static void curves_are_effects_of_setting_a_cause(void **state)
{
    (void)state;
    for (int bent = 0; bent < 2; bent++) {
        lscm_posterior *p = made(bent == 1);
        for (size_t k = 0; k < NODES * NODES; k++) {
            if (k % (NODES + 1) != 0) {
                assert_curve(p, k / NODES, k % NODES);
            }
        }
        lscm_posterior_free(p);
    }
}

static void shares_that_bend_are_of_the_draws_with_the_edge(void **state)
{
    (void)state;
    lscm_posterior *p = made(true);
    assert_true(lscm_posterior_any_bends(p));
    for (size_t k = 0; k < NODES * NODES; k++) {
        double there = 0;
        double bends = 0;
        for (size_t s = 0; s < DRAWS; s++) {
            bool edge = p->w[s * NODES * NODES + k] != 0;
            there += edge;
            bends += edge && made_bends(p, s, k % NODES);
        }
        double share = lscm_posterior_bends(p, k / NODES, k % NODES);
        assert_true(there > 0 ? fabs(share - bends / there) < 1e-12 : isnan(share));
    }
    assert_true(isnan(lscm_posterior_bends(p, NODES, 0)));
    lscm_posterior_free(p);
    p = made(false);
    assert_false(lscm_posterior_any_bends(p));
    lscm_posterior_free(p);
}

static void without_the_edge_there_is_no_curve(void **state)
{
    double at = 0;
    double low = 0;
    double mean = 0;
    double high = 0;
    lscm_curve curve = {1, &at, &low, &mean, &high, {0}};
    (void)state;
    lscm_posterior *p = made(true);
    for (size_t s = 0; s < DRAWS; s++) {
        p->w[s * NODES * NODES + 1] = 0;
    }
    assert_ok(lscm_posterior_curve(&curve, p, 0, 1, &why));
    assert_true(isnan(low) && isnan(mean) && isnan(high));
    assert_fails(lscm_posterior_curve(&curve, p, 1, 1, &why), LSCM_USAGE, "from node 1 to node 1");
    assert_fails(lscm_posterior_curve(&curve, p, 0, NODES, &why), LSCM_USAGE, "to node 4");
    at = NAN;
    assert_fails(lscm_posterior_curve(&curve, p, 0, 1, &why), LSCM_VALUE, "place 0");
    lscm_posterior_free(p);
    const size_t none[] = {0};
    const decoder g = made_decoder(DECODER_IDENTITY, 2, none, 2);
    p = made_posterior(3, 0, &g);
    assert_fails(lscm_posterior_curve(&curve, p, 0, 1, &why), LSCM_MISSING, "no z of its rows");
    lscm_posterior_free(p);
}

static void places_reach_an_eighth_beyond_the_rows(void **state)
{
    double at[PLACES];
    lscm_curve curve = {0};
    (void)state;
    lscm_posterior *p = made(true);
    lscm_posterior_places(p, 2, PLACES, at);
    assert_ok(lscm_posterior_curve(&curve, p, 2, 0, &why));
    double range = curve.seen[1] - curve.seen[0];
    assert_near(at[0], curve.seen[0] - range / 8, 1e-12);
    assert_near(at[4], curve.seen[0], 1e-12);
    assert_near(at[36], curve.seen[1], 1e-12);
    assert_near(at[40], curve.seen[1] + range / 8, 1e-12);
    lscm_posterior_free(p);
}

/* Sure of 0 -> 1 and of 2 -> 3, of the rest not. */
static lscm_posterior *made_sure(bool bent)
{
    lscm_posterior *p = made(bent);
    for (size_t k = 0; k < NODES * NODES; k++) {
        p->edge_prob[k] = k == 1 ? 0.9 : k == 2 * NODES + 3 ? 0.8 : 0.1;
    }
    return p;
}

static void assert_numbers(const json_t *list, const double *values, size_t count)
{
    assert_int_equal(json_array_size(list), count);
    for (size_t k = 0; k < count; k++) {
        double number = json_number_value(json_array_get(list, k));
        assert_near(number, values[k], 1e-9 * (1 + fabs(values[k])));
    }
}

static void exports_have_the_curves_of_likely_edges(void **state)
{
    static const size_t edges[2][2] = {{0, 1}, {2, 3}};
    static const char *const names[] = {"curve_low", "curve_mean", "curve_high", "curve_at"};
    double at_places[PLACES];
    double bands[3][PLACES];
    npz_file *file = NULL;
    (void)state;
    lscm_posterior *p = made_sure(true);
    assert_ok(lscm_posterior_export(p, at("out.json"), false, &why));
    assert_ok(lscm_posterior_export(p, at("out.npz"), false, &why));
    json_t *object = json_load_file(at("out.json"), 0, NULL);
    const json_t *curves = json_object_get(object, "curves");
    assert_int_equal(json_array_size(curves), 2);
    assert_ok(npz_file_open(&file, at("out.npz"), &why));
    for (size_t k = 0; k < 2; k++) {
        const json_t *one = json_array_get(curves, k);
        lscm_curve curve = {PLACES, at_places, bands[0], bands[1], bands[2], {0}};
        lscm_posterior_places(p, edges[k][0], PLACES, at_places);
        assert_ok(lscm_posterior_curve(&curve, p, edges[k][0], edges[k][1], &why));
        assert_int_equal(json_integer_value(json_object_get(one, "from")), edges[k][0]);
        assert_int_equal(json_integer_value(json_object_get(one, "to")), edges[k][1]);
        assert_numbers(json_object_get(one, "at"), at_places, PLACES);
        assert_numbers(json_object_get(one, "low"), bands[0], PLACES);
        assert_numbers(json_object_get(one, "mean"), bands[1], PLACES);
        assert_numbers(json_object_get(one, "high"), bands[2], PLACES);
        assert_numbers(json_object_get(one, "seen"), curve.seen, 2);
        assert_near(json_number_value(json_object_get(one, "bends")),
                    lscm_posterior_bends(p, edges[k][0], edges[k][1]), 1e-12);
        for (size_t i = 0; i < 4; i++) {
            double *numbers = NULL;
            array_shape shape;
            assert_ok(npz_file_read_double(file, names[i], &numbers, &shape, &why));
            assert_int_equal(shape.dims[0], 2);
            assert_int_equal(shape.dims[1], PLACES);
            assert_memory_equal(numbers + k * PLACES, i < 3 ? bands[i] : at_places,
                                PLACES * sizeof *numbers);
            free(numbers);
        }
    }
    npz_file_close(file);
    json_decref(object);
    lscm_posterior_free(p);
}

static void exports_of_linear_runs_have_none(void **state)
{
    array_shape shape;
    npz_file *file = NULL;
    (void)state;
    lscm_posterior *p = made_sure(false);
    assert_ok(lscm_posterior_export(p, at("out.json"), false, &why));
    assert_ok(lscm_posterior_export(p, at("out.npz"), false, &why));
    json_t *object = json_load_file(at("out.json"), 0, NULL);
    assert_non_null(object);
    assert_null(json_object_get(object, "curves"));
    assert_ok(npz_file_open(&file, at("out.npz"), &why));
    assert_ok(npz_file_shape(file, "curve_at", &shape, &why));
    assert_false(shape.present);
    npz_file_close(file);
    json_decref(object);
    lscm_posterior_free(p);
}

static void tables_of_edges_say_how_often_they_bend(void **state)
{
    char line[256];
    (void)state;
    for (int bent = 0; bent < 2; bent++) {
        lscm_posterior *p = made_sure(bent == 1);
        assert_ok(lscm_posterior_export(p, at("out.csv"), true, &why));
        FILE *file = fopen(at("out.csv"), "r");
        assert_non_null(file);
        assert_non_null(fgets(line, sizeof line, file));
        assert_int_equal(strstr(line, "directed,bends\n") != NULL, bent);
        assert_non_null(fgets(line, sizeof line, file));
        if (bent == 1) {
            assert_near(strtod(strrchr(line, ',') + 1, NULL), lscm_posterior_bends(p, 0, 1), 1e-6);
        }
        (void)fclose(file);
        lscm_posterior_free(p);
    }
}

/* The closed form of kl_z is of linear mechanisms. */
static void the_divergence_is_of_linear_mechanisms_alone(void **state)
{
    double w[NODES * NODES] = {0, 1};
    const double sigma[NODES] = {1, 1, 1, 1};
    const uint8_t targets[NODES] = {0};
    const lscm_arrays arrays = {.rows = 1,
                                .nodes = NODES,
                                .features = NODES,
                                .x = w,
                                .targets = targets,
                                .w = w,
                                .sigma = sigma};
    (void)state;
    w[1] = 0.5;
    for (int bent = 0; bent < 2; bent++) {
        lscm_dataset *truth = NULL;
        lscm_scores *scores = lscm_scores_new();
        lscm_posterior *p = made(bent == 1);
        p->rows = 1;
        assert_non_null(scores);
        assert_ok(lscm_dataset_wrap(&truth, &arrays, &why));
        assert_ok(lscm_posterior_evaluate(scores, p, truth, &why));
        assert_int_equal(isnan(scores->kl_z) != 0, bent);
        assert_true(isfinite(scores->w_mse));
        lscm_dataset_free(truth);
        lscm_scores_free(scores);
        lscm_posterior_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_are_effects_of_setting_a_cause),
        cmocka_unit_test(shares_that_bend_are_of_the_draws_with_the_edge),
        cmocka_unit_test(without_the_edge_there_is_no_curve),
        cmocka_unit_test(places_reach_an_eighth_beyond_the_rows),
        TEST_AT_HOME(exports_have_the_curves_of_likely_edges),
        TEST_AT_HOME(exports_of_linear_runs_have_none),
        TEST_AT_HOME(tables_of_edges_say_how_often_they_bend),
        cmocka_unit_test(the_divergence_is_of_linear_mechanisms_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
