/* Sets against plain loops over all pairs of rows: who shares one, the order of sets and rows, what
 * was set, counts, and what is left when some values are hidden. */
#include "data/design/design.h"

#include "lcg.h"
#include "testing.h"

static lscm_error why;

enum { ROWS = 240, MOST = 40 };

typedef struct trial {
    size_t d;
    uint8_t mask[ROWS * MOST], held[ROWS * MOST];
    double values[ROWS * MOST];
} trial;

/* `kinds` different masks at most, the empty one among them; runs of alike rows, and single ones.
 * Values stand off target, too. */
static void make(trial *x, size_t d, size_t kinds, uint64_t seed)
{
    lcg g = {seed};
    static uint8_t mask[ROWS * MOST];
    memset(mask, 0, sizeof mask);
    for (size_t k = d; k < kinds * d; k++) {
        mask[k] = lcg_uniform(&g) < 0.3;
    }
    x->d = d;
    size_t kind = 0;
    for (size_t r = 0; r < ROWS; r++) {
        kind = lcg_uniform(&g) < 0.4 ? (size_t)lcg_below(&g, kinds) : kind;
        memcpy(x->mask + r * d, mask + kind * d, d);
        for (size_t j = 0; j < d; j++) {
            x->values[r * d + j] = x->mask[r * d + j] != 0 ? lcg_normal(&g) : NAN;
            x->held[r * d + j] = lcg_uniform(&g) < 0.2;
        }
    }
}

/* < 0, 0, > 0: masks as numbers whose lowest bit is node 0. */
static int compare(const uint8_t *a, const uint8_t *b, size_t d)
{
    for (size_t j = d; j-- > 0;) {
        if (a[j] != b[j]) {
            return a[j] < b[j] ? -1 : 1;
        }
    }
    return 0;
}

/* mask (ROWS, d) is what s should say. */
static void check(const design *s, const uint8_t *mask)
{
    size_t d = s->d;
    for (size_t r = 0; r < ROWS; r++) {
        assert_memory_equal(design_targets(s, r), mask + r * d, d);
        for (size_t q = 0; q < r; q++) {
            int order = compare(mask + q * d, mask + r * d, d);
            assert_int_equal(order, (s->set[q] > s->set[r]) - (s->set[q] < s->set[r]));
        }
    }
    assert_int_equal(s->first[0], 0);
    assert_int_equal(s->first[s->sets], ROWS);
    for (size_t k = 0; k < s->sets; k++) {
        assert_true(s->first[k] < s->first[k + 1]);
        for (size_t at = s->first[k]; at < s->first[k + 1]; at++) {
            assert_int_equal(s->set[s->row[at]], k);
            assert_true(at == s->first[k] || s->row[at - 1] < s->row[at]);
        }
    }
}

static void check_counts(const design *s, const uint8_t *mask, const uint8_t *keep)
{
    size_t rows[MOST];
    size_t sets[MOST];
    design_count(s, keep, rows, sets);
    for (size_t j = 0; j < s->d; j++) {
        bool met[ROWS] = {false};
        size_t in_rows = 0;
        size_t in_sets = 0;
        for (size_t r = 0; r < ROWS; r++) {
            bool counts = mask[r * s->d + j] != 0 && (keep == NULL || keep[r] != 0);
            in_rows += counts ? 1 : 0;
            in_sets += counts && !met[s->set[r]] ? 1 : 0;
            met[s->set[r]] = met[s->set[r]] || counts;
        }
        assert_int_equal(rows[j], in_rows);
        assert_int_equal(sets[j], in_sets);
    }
}

static void test_groups(void **state)
{
    (void)state;
    static trial x;
    static const size_t nodes[] = {1, 3, 24, MOST};
    static const size_t kinds[] = {1, 6, ROWS};
    for (size_t c = 0; c < 12; c++) {
        design s;
        uint8_t keep[ROWS];
        make(&x, nodes[c % 4], kinds[c / 4], c + 1);
        assert_ok(design_of(&s, ROWS, x.d, x.mask, x.values, &why));
        check(&s, x.mask);
        for (size_t k = 0; k < ROWS * x.d; k++) {
            double v = x.mask[k] != 0 ? x.values[k] : 0;
            assert_true(design_value(&s, k / x.d, k % x.d) == v);
            assert_true(design_values(&s, k / x.d)[k % x.d] == v);
            assert_int_equal(design_is_set(&s, k / x.d, k % x.d), x.mask[k]);
        }
        for (size_t r = 0; r < ROWS; r++) {
            keep[r] = r < 100 && r % 3 != 0;
        }
        check_counts(&s, x.mask, NULL);
        check_counts(&s, x.mask, keep);
        design_close(&s);
    }
}

/* Held-out values are not there; the others are the same. */
static void test_hidden(void **state)
{
    (void)state;
    static trial x;
    design s;
    design left;
    make(&x, 5, 12, 3);
    assert_ok(design_of(&s, ROWS, x.d, x.mask, x.values, &why));
    assert_ok(design_hide(&left, &s, x.held, &why));
    for (size_t k = 0; k < ROWS * x.d; k++) {
        x.mask[k] = x.held[k] != 0 ? 0 : x.mask[k];
    }
    check(&left, x.mask);
    assert_ptr_equal(left.value, s.value);
    design_close(&left);
    design_close(&s);
}

static void test_none(void **state)
{
    (void)state;
    const uint8_t nothing[1] = {0};
    design s;
    assert_ok(design_of(&s, 0, 4, nothing, NULL, &why));
    assert_int_equal(s.sets, 0);
    assert_int_equal(s.first[0], 0);
    design_close(&s);
    assert_fails(design_group(&(design){.rows = (size_t)UINT32_MAX + 1, .d = 1}, nothing, &why),
                 LSCM_VALUE, "too many");
}

/* Columns side by side: the numbers of each alone, to the last bit, and those of two passes. */
static void test_spreads(void **state)
{
    (void)state;
    enum { D = 11 };
    design s = {0};
    static double x[ROWS * D];
    static uint8_t mask[ROWS * D];
    static uint8_t keep[ROWS];
    lcg g = {3};
    for (size_t k = 0; k < ROWS * (size_t)D; k++) {
        x[k] = 1e3 + lcg_normal(&g);
        mask[k] = lcg_uniform(&g) < 0.4;
        keep[k / D] = k / D % 7 != 0;
    }
    assert_ok(design_of(&s, ROWS, D, mask, NULL, &why));
    for (unsigned wanted = 1; wanted <= 3; wanted++) {
        for (size_t j = 0; j < D; j++) {
            column_spread block[SPREAD_BLOCK];
            column_spread alone = {0};
            double sum = 0;
            double squares = 0;
            for (size_t k = 0; k < ROWS; k++) {
                bool set = mask[k * D + j] != 0;
                if (keep[k] != 0 && (wanted & (set ? SPREAD_SET : SPREAD_FREE)) != 0) {
                    spread_add(&alone, x[k * D + j]);
                    sum += x[k * D + j] - 1e3;
                    squares += (x[k * D + j] - 1e3) * (x[k * D + j] - 1e3);
                }
            }
            spread_columns(&(latent_rows){&s, x, keep, false}, j / SPREAD_BLOCK * SPREAD_BLOCK,
                           wanted, block);
            const column_spread *found = &block[j % SPREAD_BLOCK];
            assert_true(found->n > 50);
            assert_memory_equal(found, &alone, sizeof alone);
            assert_near(found->mean - 1e3, sum / found->n, 1e-11);
            assert_near(found->squares, squares - sum * sum / found->n, 1e-8);
        }
    }
    design_close(&s);
}

/* Rows that count, by number and by set; values in their places. */
static void test_rows(void **state)
{
    (void)state;
    static trial x;
    static double z[ROWS * MOST];
    static double sd[ROWS * MOST];
    uint8_t keep[ROWS];
    uint32_t by_set[ROWS];
    uint32_t plain[ROWS];
    size_t at = 0;
    design s;
    make(&x, 6, 9, 4);
    assert_ok(design_of(&s, ROWS, x.d, x.mask, x.values, &why));
    for (size_t r = 0; r < ROWS; r++) {
        keep[r] = r % 5 != 2;
    }
    size_t count = design_list(&s, keep, true, by_set);
    assert_int_equal(design_list(&s, keep, false, plain), count);
    for (size_t r = 0; r < ROWS; r++) {
        if (keep[r] != 0) {
            assert_int_equal(plain[at++], r);
        }
    }
    assert_int_equal(at, count);
    for (at = 1; at < count; at++) {
        uint32_t before = s.set[by_set[at - 1]];
        assert_true(before <= s.set[by_set[at]] && keep[by_set[at]] != 0);
        assert_true(before < s.set[by_set[at]] || by_set[at - 1] < by_set[at]);
    }
    for (size_t k = 0; k < ROWS * x.d; k++) {
        z[k] = sd[k] = 7;
    }
    design_put(&s, z, NULL);
    design_put(&s, z, sd);
    for (size_t k = 0; k < ROWS * x.d; k++) {
        assert_true(z[k] == (x.mask[k] != 0 ? x.values[k] : 7));
        assert_true(sd[k] == (x.mask[k] != 0 ? 0 : 7));
    }
    const double by[6] = {1, 2, 3, 4, 5, 6};
    design_shift(&s, by, -2);
    for (size_t k = 0; k < ROWS * x.d; k++) {
        assert_true(s.value[k] == (x.mask[k] != 0 ? x.values[k] - 2 * by[k % 6] : 0));
    }
    for (size_t k = 0; k < s.sets; k++) {
        bool any = memchr(x.mask + s.row[s.first[k]] * x.d, 1, x.d) != NULL;
        assert_int_equal(design_untouched(&s, k), !any);
        assert_int_equal(design_set_rows(&s, k), s.first[k + 1] - s.first[k]);
    }
    design_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),  cmocka_unit_test(test_hidden), cmocka_unit_test(test_none),
        cmocka_unit_test(test_spreads), cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
