/* Rows in which nothing is cut off: free entries below their bounds, whatever do() set; all rows
 * where those are too few. The bounds against their formula. */
#include "infer/anchored/anchored.h"
#include "infer/sample/sample.h"

#include "design_testing.h"
#include "testing.h"

enum { D = 2, ROWS = 100 };

static double z[ROWS * D];
static uint8_t mask[ROWS * D];

static void bounds_leave_room_for_errors(void **state)
{
    (void)state;
    double noise[] = {0.03, 5};
    double error[] = {0.04, 0};
    const double reach[] = {3, 7};
    double bound[D];
    anchor a = {.d = D, .noise = noise, .standard_error = error};
    clip_bounds(8, NULL, &a, bound);
    assert_near(bound[0], 8 - 4 * 0.05 - 0.008, 1e-12);
    assert_near(bound[1], 4, 1e-12);
    clip_bounds(8, reach, &(anchor){.d = D}, bound);
    assert_near(bound[0], 3, 0);
    assert_near(bound[1], 7, 0);
}

/* Every `inside`-th row has all within reach, and one more only because do() set the rest. */
static size_t known(size_t inside, uint8_t **keep)
{
    lscm_error why = {0};
    const double reach[] = {3, 7};
    linear_view s = {.d = D, .rank = D, .rows = ROWS};
    anchored a = {.d = D, .rank = D, .rows = ROWS, .clip = 7, .z = z, .anchor = {.d = D}};
    anchored_input in = {.view = &s, .reach = reach};
    size_t count = 0;
    memset(mask, 0, sizeof mask);
    for (size_t k = 0; k < ROWS; k++) {
        z[k * D] = k % inside == 0 ? -2.9 : k % 2 == 0 ? -3.1 : 2;
        z[k * D + 1] = k % inside == 0 ? 6.9 : k % 2 == 0 ? 0 : 7;
    }
    z[1 * D + 1] = 100;
    mask[1 * D + 1] = 1;
    design_again(&s.design, ROWS, D, mask, NULL);
    assert_ok(anchored_rows_known(&a, &in, keep, &why));
    design_close(&s.design);
    for (size_t k = 0; k < ROWS; k++) {
        count += (*keep)[k];
    }
    return count;
}

static void rows_are_known_where_nothing_is_cut(void **state)
{
    (void)state;
    uint8_t *keep = NULL;
    assert_int_equal(known(2, &keep), ROWS / 2 + 1);
    for (size_t k = 0; k < ROWS; k++) {
        assert_int_equal(keep[k], k % 2 == 0 || k == 1 ? 1 : 0);
    }
    free(keep);
}

static void few_known_rows_are_not_enough(void **state)
{
    (void)state;
    uint8_t *keep = NULL;
    assert_int_equal(known(10, &keep), ROWS); /* 11 of them, less than 20 for each node */
    free(keep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_leave_room_for_errors),
        cmocka_unit_test(rows_are_known_where_nothing_is_cut),
        cmocka_unit_test(few_known_rows_are_not_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
