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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
