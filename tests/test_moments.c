/* Moments by set against plain loops over the rows: every row finds its own mask in the list, and
 * sums of products are added one at a time. Masks repeat and interleave, values off target are
 * noise that must not count, and the rows do not fill their last block. */
#include "data/statistics/statistics.h"
#include "lcg.h"
#include "rows_of.h"
#include "simulated.h"

static lscm_error why;

/* `kinds` masks, the empty one among them; each `run` rows choose one. `off` stands in the values
 * where there is no target. */
static rows_of make(size_t n, size_t d, size_t D, size_t kinds, size_t run, double off)
{
    lcg random = {n + 7 * d + 31 * D};
    rows_of r = {
        n,   d, D, calloc(n * D, sizeof(double)), calloc(n * d, sizeof(double)), calloc(n * d, 1),
        NULL};
    uint8_t *masks = calloc(kinds * d, 1);
    if (r.x == NULL || r.values == NULL || r.targets == NULL || masks == NULL) {
        abort();
    }
    for (size_t k = d; k < kinds * d; k++) { /* mask 0 stays empty */
        masks[k] = lcg_uniform(&random) < 0.4 ? 1 : 0;
    }
    size_t kind = 0;
    for (size_t row = 0; row < n; row++) {
        kind = row % run == 0 ? lcg_below(&random, kinds) : kind;
        for (size_t i = 0; i < d; i++) {
            uint8_t bit = masks[kind * d + i];
            r.targets[row * d + i] = bit;
            r.values[row * d + i] = bit != 0 ? 3 * lcg_normal(&random) : off;
        }
    }
    for (size_t k = 0; k < n * D; k++) {
        r.x[k] = 1 + 2 * lcg_normal(&random);
    }
    free(masks);
    return r;
}

/* n_t, Q_t and C_t of one listed set; rounding is measured by the sum of |terms|. */
static void check_set(const rows_of *r, const moments *m, size_t t)
{
    const uint8_t *mask = m->target + t * r->d;
    size_t *own = calloc(r->n, sizeof *own);
    size_t count = 0;
    assert_non_null(own);
    for (size_t row = 0; row < r->n; row++) {
        if (memcmp(r->targets + row * r->d, mask, r->d) == 0) {
            own[count++] = row;
        }
    }
    assert_true((double)count == m->count[t]);
    for (size_t i = 0; i < r->d; i++) {
        for (size_t j = 0; j < r->d + r->D; j++) {
            double sum = 0;
            double size = 1;
            for (size_t k = 0; k < count; k++) {
                const double *v = r->values + own[k] * r->d;
                double left = mask[i] != 0 ? v[i] : 0;
                double right = j >= r->d ? r->x[own[k] * r->D + j - r->d] : mask[j] != 0 ? v[j] : 0;
                sum += left * right;
                size += fabs(left * right);
            }
            double got = j < r->d ? m->vv[(t * r->d + i) * r->d + j]
                                  : m->vx[(t * r->d + i) * r->D + j - r->d];
            assert_near(got, sum, 1e-13 * size);
        }
    }
    free(own);
}

static void check_all(const rows_of *r)
{
    lscm_dataset *data = wrap(r, true);
    moments m;
    assert_ok(lscm_dataset_check(data, &(lscm_overview){0}, NULL, &why));
    assert_ok(moments_of(&m, data, NULL, &why));
    assert_int_equal(m.rows, r->n);
    assert_int_equal(m.d, r->d);
    assert_int_equal(m.D, r->D);
    double rows = 0;
    double xx = 0;
    for (size_t k = 0; k < r->n * r->D; k++) {
        xx += r->x[k] * r->x[k];
    }
    assert_near(m.xx, xx, 1e-12 * xx);
    for (size_t t = 0; t < m.sets; t++) {
        check_set(r, &m, t);
        rows += m.count[t];
    }
    assert_true(rows == (double)r->n);
    /* in the order in which they appear: row by row, each is listed or the next new one */
    size_t seen = 0;
    for (size_t row = 0; row < r->n; row++) {
        size_t t = 0;
        while (t < seen && memcmp(m.target + t * r->d, r->targets + row * r->d, r->d) != 0) {
            t++;
        }
        if (t == seen) {
            assert_true(seen < m.sets);
            assert_memory_equal(m.target + t * r->d, r->targets + row * r->d, r->d);
            seen++;
        }
    }
    assert_int_equal(seen, m.sets);
    moments_close(&m);
    lscm_dataset_free(data);
}

static void moments_are_sums_over_rows(void **state)
{
    (void)state;
    const size_t shapes[][5] = {
        /* rows, d, D, masks, rows in a run */
        {2, 1, 1, 2, 1},      {7, 3, 3, 3, 1},        {2048, 4, 5, 6, 1},
        {2049, 3, 4, 5, 100}, {5000, 5, 9, 12, 3000}, {4500, 6, 7, 20, 7},
    };
    for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
        rows_of r = make(shapes[k][0], shapes[k][1], shapes[k][2], shapes[k][3], shapes[k][4], 1e3);
        check_all(&r);
        drop(&r);
    }
}

/* More masks than any table begins with. */
static void hundreds_of_masks(void **state)
{
    (void)state;
    rows_of r = make(3000, 11, 11, 700, 1, -5);
    check_all(&r);
    drop(&r);
}

static void nothing_off_target_is_looked_at(void **state)
{
    (void)state;
    rows_of r = make(300, 4, 6, 5, 1, NAN);
    check_all(&r);
    drop(&r);
}

/* The sums do not depend on how the rows are cut: those of the simulator, by mask, add up. */
static void simulated_rows(void **state)
{
    (void)state;
    lscm_dataset *data =
        simulated_as("paper-linear", 5, "features=10 observational=30 sets=6 per_set=401 seed=5");
    moments m;
    size_t n = lscm_dataset_rows(data);
    rows_of r = {
        n,   5, 10, calloc(n * 10, sizeof(double)), calloc(n * 5, sizeof(double)), calloc(n * 5, 1),
        NULL};
    double *targets = calloc(n * 5, sizeof *targets);
    if (r.x == NULL || r.values == NULL || r.targets == NULL || targets == NULL) {
        abort();
    }
    assert_ok(lscm_dataset_read(data, LSCM_X, 0, n, r.x, &why));
    assert_ok(lscm_dataset_read(data, LSCM_VALUES, 0, n, r.values, &why));
    assert_ok(lscm_dataset_read(data, LSCM_TARGETS, 0, n, targets, &why));
    for (size_t k = 0; k < n * 5; k++) {
        r.targets[k] = targets[k] != 0 ? 1 : 0;
    }
    assert_ok(moments_of(&m, data, NULL, &why));
    assert_true(m.sets >= 2 && m.sets <= 7);
    assert_true(m.count[0] >= 30); /* rows without intervention come first */
    for (size_t t = 0; t < m.sets; t++) {
        check_set(&r, &m, t);
    }
    moments_close(&m);
    free(targets);
    drop(&r);
    lscm_dataset_free(data);
}

static bool stop(void *self, const char *what, uint64_t done, uint64_t total)
{
    (void)what;
    (void)total;
    *(uint64_t *)self += done > 0 ? 1 : 0;
    return false;
}

static void failures_are_said(void **state)
{
    (void)state;
    rows_of r = make(50, 3, 4, 3, 1, 0);
    lscm_dataset *data = wrap(&r, false);
    moments m;
    assert_fails(moments_of(&m, data, NULL, &why), LSCM_MISSING, "values");
    lscm_dataset_free(data);
    uint64_t calls = 0;
    const lscm_progress progress = {stop, &calls};
    data = wrap(&r, true);
    meter over = meter_over(data, &progress, "reading");
    assert_int_equal(moments_of(&m, data, &over, &why), LSCM_STOPPED);
    assert_int_equal(calls, 1);
    lscm_dataset_free(data);
    drop(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_are_sums_over_rows),
        cmocka_unit_test(hundreds_of_masks),
        cmocka_unit_test(nothing_off_target_is_looked_at),
        cmocka_unit_test(simulated_rows),
        cmocka_unit_test(failures_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
