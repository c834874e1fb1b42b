/* Networks of pictures as a fit has them: what is refused before and after they learn, who is shown
 * what, and z of rows by formulas over all members at once. They learn next to nothing here. */
#include "made.h"
#include "on_cpu.h"

#include "infer/anchored/anchored.h"

#include "lcg.h"
#include "testing.h"

#include <stdbool.h>

static lscm_error why;

enum { SIDE = 16, COUNT = SIDE * SIDE, D = 2, ROWS = 90 };

/* A spot whose place is z, times `scale`, on a ground of `level`. Rows in threes: nothing is set,
 * node 0, node 1. */
static lscm_dataset *spots(double scale, double level)
{
    lcg random = {4};
    lscm_dataset *data = made_new();
    double *x = made_field(data, LSCM_X, DTYPE_FLOAT64, ROWS, SIDE, SIDE, 0);
    uint8_t *targets = made_field(data, LSCM_TARGETS, DTYPE_UINT8, ROWS, D, 0, 0);
    double *values = made_field(data, LSCM_VALUES, DTYPE_FLOAT64, ROWS, D, 0, 0);
    for (size_t row = 0; row < ROWS; row++) {
        double z[D];
        for (size_t j = 0; j < D; j++) {
            z[j] = 3 * lcg_uniform(&random) - 1.5;
            targets[row * D + j] = row % 3 == j + 1 ? 1 : 0;
            values[row * D + j] = row % 3 == j + 1 ? z[j] : (double)NAN;
        }
        for (size_t k = 0; k < COUNT; k++) {
            double down = (double)(k / SIDE) - 7.5 - 3 * z[0];
            double right = (double)(k % SIDE) - 7.5 - 3 * z[1];
            x[row * COUNT + k] = level + scale * exp(-(down * down + right * right) / 8);
        }
    }
    return data;
}

static lscm_fit_settings few_steps(int64_t seed)
{
    lscm_fit_settings s;
    lscm_settings_defaults(lscm_fit_table(), &s);
    s.steps = 6;
    s.batch = 4;
    s.seed = seed;
    return s;
}

/* It must stay where it is. */
static void open_at(viewing *v, const lscm_dataset *data, int64_t seed)
{
    const lscm_fit_settings s = few_steps(seed);
    memset(v, 0, sizeof *v);
    assert_ok(viewing_open(v, data, on_cpu(), (uint64_t)seed, NULL, &why));
    assert_ok(viewing_begin(v, &s, &why));
    assert_int_equal(v->members, 3);
}

static void learn(viewing *v)
{
    for (size_t m = 0; m < v->members; m++) {
        while (!sight_net_over(&v->net[m])) {
            assert_ok(sight_net_step(&v->net[m], &why));
        }
    }
}

static void refuse(const lscm_dataset *data, const char *part)
{
    viewing v = {0};
    assert_fails(viewing_open(&v, data, on_cpu(), 1, NULL, &why), LSCM_VALUE, part);
    viewing_close(&v);
}

static void sizes_that_floats_do_not_have_are_refused(void **state)
{
    static const struct {
        double scale, level;
        const char *says; /* NULL: fine */
    } cases[] = {
        {1, 0, NULL},
        {1e30, -1e30, NULL},
        {1e-30, 0, NULL},
        {0, 3, "all pictures are the same"},
        {1e60, 0, "too large for single precision; scale them down"},
        {1e200, 0, "too large for single precision; scale them down"},
        {1e36, 1e39, "too large for single precision; scale them down"},
        {1e307, -1e307, "too large for single precision; scale them down"},
        {1e-60, 0, "too small for single precision; scale them up"},
        {1e-150, 0, "too small for single precision; scale them up"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        lscm_dataset *data = spots(cases[k].scale, cases[k].level);
        if (cases[k].says != NULL) {
            refuse(data, cases[k].says);
        } else {
            viewing v;
            open_at(&v, data, 1);
            learn(&v);
            viewing_close(&v);
        }
        lscm_dataset_free(data);
    }
}

static void nodes_that_labels_do_not_tell_are_refused(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        lscm_dataset *data = spots(1, 0);
        uint8_t *targets = ((made_source *)(void *)data->source)->raw[LSCM_TARGETS];
        double *values = ((made_source *)(void *)data->source)->raw[LSCM_VALUES];
        for (size_t k = 1; k < (size_t)ROWS * D; k += D) { /* node 1: never, always 7, 3 times */
            bool set = targets[k] != 0 && (how == 1 || (how == 2 && k < (size_t)9 * D));
            targets[k] = set ? 1 : 0;
            values[k] = !set ? (double)NAN : how == 1 ? 7 : values[k];
        }
        refuse(data, "node 1 was set by do() in too few rows, or always to the same value");
        lscm_dataset_free(data);
    }
}

/* Each begins elsewhere and is shown other labels; the same seed, the same members. */
static void members_differ(void **state)
{
    (void)state;
    lscm_dataset *data = spots(1, 0);
    viewing v;
    open_at(&v, data, 5);
    viewing again;
    open_at(&again, data, 5);
    viewing other;
    open_at(&other, data, 6);
    size_t entries = (size_t)ROWS * D;
    for (size_t m = 0; m < v.members; m++) {
        const sight_net *n = &v.net[m];
        size_t held = 0;
        assert_ptr_equal(n->held, v.held + m * entries);
        assert_int_equal(n->settings.steps, 6);
        assert_int_equal(n->settings.batch, 4);
        for (size_t k = 0; k < entries; k++) {
            held += n->held[k];
            assert_true(n->held[k] == 0 || design_is_set(&v.by, k / D, k % D));
        }
        assert_true(held > 0 && held < (size_t)ROWS / 3);
        assert_memory_equal(n->parameters, again.net[m].parameters, n->count * sizeof(float));
        assert_memory_equal(n->held, again.net[m].held, entries);
        for (size_t k = 0; k < v.members; k++) {
            bool same = memcmp(n->parameters, v.net[k].parameters, n->count * sizeof(float)) == 0;
            assert_true(same == (k == m));
            assert_true((memcmp(n->held, v.net[k].held, entries) == 0) == (k == m));
            assert_true(memcmp(n->parameters, other.net[k].parameters, n->count * sizeof(float)) !=
                        0);
        }
    }
    viewing_close(&v);
    viewing_close(&again);
    viewing_close(&other);
    lscm_dataset_free(data);
}

/* Cause of errors a and b where i is free: by the definition. */
static double blur_of(const viewing *v, size_t i, size_t a, size_t b)
{
    double sum = 0;
    double rows = 0;
    for (size_t row = 0; row < ROWS; row++) {
        bool known = design_is_set(&v->by, row, a) || design_is_set(&v->by, row, b);
        rows += design_is_set(&v->by, row, i) ? 0 : 1;
        if (design_is_set(&v->by, row, i) || known) {
            continue;
        }
        for (size_t m = 0; m < 3; m++) { /* by pairs of members */
            for (size_t k = 0; k < m; k++) {
                const double *one = v->each + (m * ROWS + row) * D;
                const double *other = v->each + (k * ROWS + row) * D;
                sum += (one[a] - other[a]) * (one[b] - other[b]) / (3 * 2);
            }
        }
    }
    const double *V = v->reader.error;
    return sum / rows * sqrt(V[a] / V[D + a] * V[b] / V[D + b]);
}

static double slope_of(const viewing *v, size_t m, size_t j)
{
    double sums[5] = {0};
    for (size_t row = 0; row < ROWS; row++) {
        if (!design_is_set(&v->by, row, j)) {
            double all = 0;
            for (size_t k = 0; k < 3; k++) {
                all += v->each[(k * ROWS + row) * D + j] / 3;
            }
            double own = v->each[(m * ROWS + row) * D + j];
            sums[0]++;
            sums[1] += all;
            sums[2] += own;
            sums[3] += all * all;
            sums[4] += all * own;
        }
    }
    return (sums[4] - sums[1] * sums[2] / sums[0]) / (sums[3] - sums[1] * sums[1] / sums[0]);
}

static void rows_are_read_as_the_formulas_say(void **state)
{
    (void)state;
    lscm_dataset *data = spots(2, 1);
    viewing v;
    open_at(&v, data, 1);
    learn(&v);
    assert_ok(viewing_read(&v, data, NULL, &why));
    for (size_t k = 0; k < (size_t)ROWS * D; k++) {
        double mean = 0;
        for (size_t m = 0; m < 3; m++) {
            mean += v.each[m * ROWS * D + k] / 3;
        }
        bool set = design_is_set(&v.by, k / D, k % D);
        assert_near(v.off.z[k], set ? design_value(&v.by, k / D, k % D) : mean, 1e-12);
        assert_true(set ? v.off.sd[k] <= 0 && v.off.sd[k] >= 0 : v.off.sd[k] > 0);
    }
    double gain = 0;
    for (size_t j = 0; j < D; j++) {
        double slopes[3] = {slope_of(&v, 0, j), slope_of(&v, 1, j), slope_of(&v, 2, j)};
        double pairs = pow(slopes[0] - slopes[1], 2) + pow(slopes[0] - slopes[2], 2) +
                       pow(slopes[1] - slopes[2], 2);
        gain += pairs / 6 * v.reader.error[j] / v.reader.error[D + j] / D;
        for (size_t a = 0; a < D; a++) {
            for (size_t b = 0; b < D; b++) {
                double blur = blur_of(&v, j, a, b);
                assert_near(v.off.blur[(j * D + a) * D + b], blur, 1e-9 * (1 + fabs(blur)));
            }
        }
    }
    assert_true(v.off.blurred);
    assert_near(v.off.gain, sqrt(gain), 1e-6 * sqrt(gain));
    viewing_close(&v);
    lscm_dataset_free(data);
}

/* A rate far too large killed all units: what was read was the same z of all pictures, which made a
 * posterior that was not a number of it. */
static void networks_that_died_are_refused(void **state)
{
    (void)state;
    lscm_dataset *data = spots(1, 0);
    viewing v;
    open_at(&v, data, 1);
    for (size_t m = 0; m < v.members; m++) {
        sight_net *n = &v.net[m];
        memset(n->parameters, 0, n->count * sizeof *n->parameters);
        n->parameters[n->eyes - 1] = 0.1F;
        n->offset[0] += 0.1 * (double)m; /* they may still disagree */
    }
    assert_fails(viewing_read(&v, data, NULL, &why), LSCM_VALUE,
                 "read the same z of node 0 off all of them");
    viewing_close(&v);
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_floats_do_not_have_are_refused),
        cmocka_unit_test(nodes_that_labels_do_not_tell_are_refused),
        cmocka_unit_test(members_differ),
        cmocka_unit_test(rows_are_read_as_the_formulas_say),
        cmocka_unit_test(networks_that_died_are_refused),
    };
    lscm_set_threads(1); /* steps so small that waiting for threads would take longer */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
