/* The anchored method on degenerate data, which must end in a sentence or in finite numbers. */
#include "anchored_testing.h"
#include "lcg.h"

typedef struct rows_of {
    size_t rows, d, D;
    double x[600 * 6], values[600 * 4];
    uint8_t targets[600 * 4];
} rows_of;

/* d = 4, D = 6: a chain 0 -> 1 -> 2 -> 3 with single targets in turn. */
static void make_rows(rows_of *r, size_t rows, lcg *g)
{
    double mix[24];
    *r = (rows_of){.rows = rows, .d = 4, .D = 6};
    for (size_t k = 0; k < 24; k++) {
        mix[k] = lcg_normal(g);
    }
    for (size_t row = 0; row < rows; row++) {
        double before = 0;
        for (size_t i = 0; i < 4; i++) {
            bool target = row % 5 == i;
            double z = target ? 2 * lcg_normal(g) : before + 0.5 * lcg_normal(g);
            r->targets[row * 4 + i] = target ? 1 : 0;
            r->values[row * 4 + i] = target ? z : 0;
            for (size_t j = 0; j < 6; j++) {
                r->x[row * 6 + j] += z * mix[i * 6 + j];
            }
            before = z;
        }
    }
}

/* A sentence, or finite numbers; true when numbers. */
static bool survives(const rows_of *r, bool identity, const char *noise)
{
    lscm_arrays arrays = {.rows = r->rows,
                          .nodes = r->d,
                          .features = r->D,
                          .x = r->x,
                          .targets = r->targets,
                          .values = identity ? NULL : r->values};
    lscm_dataset *data = NULL;
    lscm_fit_settings settings = defaults();
    linear_view s;
    anchored a;
    bool fitted = false;
    assert_ok(lscm_settings_set(lscm_fit_table(), &settings, "noise", noise, &why));
    assert_ok(lscm_dataset_wrap(&data, &arrays, &why));
    if (identity) {
        assert_ok(linear_view_identity(&s, data, NULL, &why));
    } else {
        assert_ok(linear_view_of(&s, data, 0, NULL, &why));
    }
    anchored_input in = {.view = &s, .settings = &settings, .draws = 40};
    lscm_status status = anchored_infer(&a, &in, &why);
    if (status == LSCM_OK) {
        check_finite(&a, &s);
        anchored_close(&a);
        fitted = true;
    } else {
        assert_true(status == LSCM_VALUE && strlen(why.text) > 20);
    }
    linear_view_close(&s);
    lscm_dataset_free(data);
    return fitted;
}

enum {
    CONSTANT_X,
    DUPLICATE_FEATURES,
    ALWAYS_TARGET,
    FEW_ROWS,
    EQUAL_VALUES,
    ZERO_VALUES,
    TOGETHER,
    LOW_RANK,
    NEVER_TARGET,
    ONE_TARGET,
    TWICE,
    HUGE_UNITS,
    DEGENERATE
};

static void spoil(rows_of *r, int how, lcg *g)
{
    for (size_t row = 0; row < r->rows; row++) {
        double *x = r->x + row * 6;
        double *values = r->values + row * 4;
        uint8_t *targets = r->targets + row * 4;
        for (size_t j = 0; j < 6; j++) {
            x[j] = how == CONSTANT_X                 ? 3
                   : how == DUPLICATE_FEATURES       ? x[j % 2 + 1]
                   : how == LOW_RANK && j >= 3       ? x[0] - x[1]
                   : how == TWICE && row % 2 == 1    ? x[(ptrdiff_t)j - 6]
                   : how == HUGE_UNITS && j % 2 == 0 ? 1e9 * x[j]
                   : how == HUGE_UNITS               ? 1e-9 * x[j]
                                                     : x[j];
        }
        for (size_t i = 0; i < 4; i++) {
            if (how == ALWAYS_TARGET && i == 0) {
                targets[0] = 1;
                values[0] = values[0] != 0 ? values[0] : lcg_normal(g);
            } else if (how == EQUAL_VALUES) {
                values[i] = targets[i] != 0 ? 1.5 : 0;
            } else if (how == ZERO_VALUES) {
                values[i] = 0;
            } else if (how == TOGETHER && i == 1) {
                targets[1] = targets[0];
                values[1] = values[0];
            } else if ((how == NEVER_TARGET && i == 2) || (how == ONE_TARGET && i > 0)) {
                targets[i] = 0;
                values[i] = 0;
            } else if (how == TWICE && row % 2 == 1) {
                targets[i] = targets[(ptrdiff_t)i - 4];
                values[i] = values[(ptrdiff_t)i - 4];
            }
        }
    }
}

static void test_degenerate(void **state)
{
    (void)state;
    lcg g = {36};
    static rows_of r;
    for (int how = 0; how < DEGENERATE; how++) {
        for (int equal = 0; equal < 2; equal++) {
            make_rows(&r, how == FEW_ROWS ? 3 : 300, &g);
            spoil(&r, how, &g);
            bool fitted = survives(&r, false, equal != 0 ? "equal" : "unequal");
            assert_true(how != CONSTANT_X || !fitted);
            assert_true(how != TWICE || fitted);
        }
    }
}

/* Observed variables: constant, duplicate and always set columns, fewer rows than nodes. */
static void test_degenerate_identity(void **state)
{
    (void)state;
    lcg g = {37};
    static rows_of r;
    for (int how = 0; how < 6; how++) {
        for (int equal = 0; equal < 2; equal++) {
            make_rows(&r, how == 0 ? 2 : how == 1 ? 3 : 200, &g);
            r.D = 4;
            for (size_t row = 0; row < r.rows; row++) { /* rows of 6 become rows of 4 */
                memmove(r.x + row * 4, r.x + row * 6, 4 * sizeof(double));
                r.x[row * 4 + 1] = how == 2 ? 7 : how == 3 ? r.x[row * 4] : r.x[row * 4 + 1];
                for (size_t i = 0; i < 4; i++) {
                    r.x[row * 4 + i] = how == 4 ? 0 : r.x[row * 4 + i];
                    r.targets[row * 4 + i] = how == 5 && i == 2 ? 1 : r.targets[row * 4 + i];
                }
            }
            assert_true(survives(&r, true, equal != 0 ? "equal" : "unequal"));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_degenerate_identity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
