/* What is held out: the right share, whole sets where there are enough of them and single rows
 * elsewhere, nothing that do() did not set, the same every time, in any order of the rows. */
#include "data/design/design.h"

#include "design_testing.h"
#include "lcg.h"
#include "testing.h"

static lscm_error why;

enum { D = 8, SETS = 160, PER_SET = 6, ROWS = SETS * PER_SET, LEAST = 2 * (D + 2) };

static size_t kinds[D];

typedef struct trial {
    size_t sets;
    uint8_t target[SETS][D];
    size_t set_of[ROWS];
    uint8_t mask[ROWS * D], held[ROWS * D];
} trial;

/* Sets by number: their targets are its digits in binary, so no two are alike and the first has
 * none; but node 0 is set in `few` of them only. Rows in random order. */
static void make(trial *x, uint64_t seed, size_t sets, size_t few)
{
    lcg g = {seed};
    size_t order[ROWS];
    size_t count = 0;
    *x = (trial){.sets = sets};
    for (size_t k = 0; k < sets; k++) {
        for (size_t j = 0; j < D; j++) {
            x->target[k][j] = (uint8_t)(k >> j & 1);
        }
        x->target[k][0] = count < few && x->target[k][0] != 0;
        count += x->target[k][0];
    }
    lcg_order(&g, ROWS, order);
    for (size_t n = 0; n < ROWS; n++) {
        x->set_of[n] = order[n] % sets;
        memcpy(x->mask + n * D, x->target[x->set_of[n]], D);
    }
}

static lscm_status held_of(trial *x, uint64_t seed)
{
    static design s;
    design_again(&s, ROWS, D, x->mask, NULL);
    design_count(&s, NULL, NULL, kinds);
    return hold_out_values(&s, seed, x->held, &why);
}

/* Each node is set in 16 sets or more. */
static void test_whole_sets(void **state)
{
    (void)state;
    enum { SEEDS = 40 };
    static trial x;
    double set = 0;
    double out = 0;
    double both = 0;
    make(&x, 1, SETS, SETS);
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        uint8_t of_set[SETS][D];
        memset(of_set, 2, sizeof of_set);
        assert_ok(held_of(&x, seed));
        for (size_t at = 0; at < ROWS * D; at++) {
            uint8_t *first = &of_set[x.set_of[at / D]][at % D];
            *first = *first == 2 ? x.held[at] : *first;
            assert_int_equal(x.held[at], *first);
            assert_true(x.held[at] <= x.mask[at]);
            set += x.mask[at];
            out += x.held[at];
            both += x.held[at] != 0 && x.held[at / D * D + (at + 1) % D] != 0;
        }
    }
    assert_near(out / set, 1.0 / 12, 0.01);
    assert_true(both > 0);          /* nodes of a set are held out apart from one another... */
    assert_true(both < 0.15 * out); /* ...so seldom together */
}

/* Fewer than twelve sets: rows, about as many of each set. */
static void test_rows(void **state)
{
    (void)state;
    static trial x;
    double set = 0;
    double out = 0;
    double of_set[16] = {0};
    for (uint64_t seed = 0; seed < 20; seed++) {
        make(&x, seed, 16, 16);
        assert_ok(held_of(&x, seed));
        for (size_t at = 0; at < ROWS * D; at++) {
            assert_true(x.held[at] == 0 || (x.held[at] == 1 && x.mask[at] == 1));
            set += x.mask[at];
            out += x.held[at];
            of_set[x.set_of[at / D]] += x.held[at];
        }
    }
    assert_near(out / set, 1.0 / 12, 0.01);
    for (size_t k = 1; k < 16; k++) { /* 60 rows in each of 20 designs, of 1 to 4 targets */
        assert_true(of_set[k] > 50);
    }
}

/* Every node by its own count of sets. */
static void test_mixed(void **state)
{
    (void)state;
    static trial x;
    bool apart = false;
    make(&x, 7, SETS, 3);
    assert_ok(held_of(&x, 3));
    assert_int_equal(kinds[0], 3);
    assert_int_equal(kinds[7], 16); /* numbers from 128 on; without node 0 two each are alike */
    for (size_t n = 0; n < ROWS; n++) {
        for (size_t m = 0; m < n; m++) {
            if (memcmp(x.mask + n * D, x.mask + m * D, D) == 0) {
                apart = apart || x.held[n * D] != x.held[m * D];
                for (size_t j = 1; j < D; j++) {
                    assert_int_equal(x.held[n * D + j], x.held[m * D + j]);
                }
            }
        }
    }
    assert_true(apart);
}

static void test_same_again(void **state)
{
    (void)state;
    static trial x;
    static trial y;
    make(&x, 1, SETS, SETS);
    make(&y, 1, SETS, SETS);
    memset(y.held, 1, sizeof y.held); /* what was there does not matter */
    assert_ok(held_of(&x, 5));
    assert_ok(held_of(&y, 5));
    assert_memory_equal(x.held, y.held, sizeof x.held);
    assert_ok(held_of(&y, 6));
    assert_memory_not_equal(x.held, y.held, sizeof x.held);
    memset(x.mask, 0, sizeof x.mask); /* no interventions at all */
    assert_ok(held_of(&x, 5));
    assert_memory_equal(x.held, x.mask, sizeof x.held);
    assert_int_equal(kinds[0], 0);
}

/* ---- Rows ---- */

static void check_spared(const design *s, const uint8_t *keep, const held_rows *out)
{
    size_t all[D];
    size_t kept[D];
    size_t rows = 0;
    design_count(s, NULL, all, NULL);
    design_count(s, keep, kept, NULL);
    for (size_t r = 0; r < s->rows; r++) {
        rows += keep[r] == 0 ? 1 : 0;
        assert_true(keep[r] != 0 || !design_untouched(s, s->set[r]));
    }
    assert_int_equal(rows, out->rows);
    for (size_t j = 0; j < s->d; j++) {
        assert_true(kept[j] == all[j] || (2 * kept[j] >= all[j] && kept[j] >= LEAST));
    }
}

/* Sets as long as their targets can spare them; the same ones however the rows stand. */
static void test_sets_of_rows(void **state)
{
    (void)state;
    static trial x;
    uint8_t keep[ROWS];
    uint8_t again[ROWS];
    for (uint64_t seed = 0; seed < 10; seed++) {
        design s = {0};
        design other = {0};
        held_rows out;
        uint8_t turned[ROWS * D];
        make(&x, seed, SETS, SETS);
        design_again(&s, ROWS, D, x.mask, NULL);
        assert_ok(hold_out_rows(&s, seed, 0.3, LEAST, keep, &out, &why));
        check_spared(&s, keep, &out);
        size_t sets = 0;
        for (size_t k = 0; k < s.sets; k++) {
            sets += keep[s.row[s.first[k]]] == 0 ? 1 : 0;
            for (size_t at = s.first[k]; at < s.first[k + 1]; at++) {
                assert_int_equal(keep[s.row[at]], keep[s.row[s.first[k]]]);
            }
        }
        assert_int_equal(sets, out.sets);
        assert_true((double)out.rows <= 0.3 * ROWS && (double)out.rows > 0.2 * ROWS);
        for (size_t r = 0; r < ROWS; r++) {
            memcpy(turned + r * D, x.mask + (ROWS - 1 - r) * D, D);
        }
        design_again(&other, ROWS, D, turned, NULL);
        assert_ok(hold_out_rows(&other, seed, 0.3, LEAST, again, &out, &why));
        for (size_t r = 0; r < ROWS; r++) {
            assert_int_equal(keep[r], again[ROWS - 1 - r]);
        }
        design_close(&s);
        design_close(&other);
    }
}

/* Two sets of half of the rows each: neither can be spared, but rows of both. */
static void test_rows_of_sets(void **state)
{
    (void)state;
    uint8_t mask[ROWS * 2];
    uint8_t keep[ROWS];
    double held[2] = {0};
    design s = {0};
    held_rows out;
    for (size_t r = 0; r < ROWS; r++) {
        mask[2 * r] = r % 2 == 0;
        mask[2 * r + 1] = r % 2;
    }
    design_again(&s, ROWS, 2, mask, NULL);
    assert_ok(hold_out_rows(&s, 1, 0.25, LEAST, keep, &out, &why));
    assert_int_equal(out.sets, 0);
    for (size_t r = 0; r < ROWS; r++) {
        held[r % 2] += keep[r] == 0 ? 1 : 0;
    }
    assert_near(held[0], ROWS / 8, 1);
    assert_near(held[1], ROWS / 8, 1);
    memset(mask, 0, sizeof mask);
    design_again(&s, ROWS, 2, mask, NULL);
    assert_ok(hold_out_rows(&s, 1, 0.25, LEAST, keep, &out, &why));
    assert_int_equal(out.rows + out.sets, 0);
    design_close(&s);
}

/* ---- Labels, folds ---- */

/* All values of a set or none, about a fifth of the sets and never none of a node's; one row in
 * five of a node with three sets. */
static void test_labels(void **state)
{
    (void)state;
    static trial x;
    double share = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        design s = {0};
        double out[D] = {0};
        make(&x, seed, SETS, 3);
        design_again(&s, ROWS, D, x.mask, NULL);
        design_count(&s, NULL, NULL, kinds);
        assert_ok(hold_out_labels(&s, seed, x.held, &why));
        for (size_t k = 0; k < s.sets; k++) {
            size_t first = s.row[s.first[k]];
            bool held = memchr(x.held + first * D + 1, 1, D - 1) != NULL;
            for (size_t at = s.first[k]; at < s.first[k + 1]; at++) {
                for (size_t j = 1; j < D; j++) {
                    assert_int_equal(x.held[s.row[at] * D + j],
                                     held && design_is_set(&s, first, j));
                }
            }
            for (size_t j = 1; j < D; j++) {
                out[j] += x.held[first * D + j];
            }
        }
        for (size_t j = 1; j < D; j++) {
            assert_true(out[j] >= 1);
            share += out[j] / (double)kinds[j] / (10 * (D - 1));
        }
        size_t seen = 0;
        size_t held = 0;
        for (size_t r = 0; r < ROWS; r++) {
            assert_true(x.held[r * D] <= x.mask[r * D]);
            seen += x.mask[r * D];
            held += x.held[r * D];
        }
        assert_true(held >= seen / 5 && held <= seen / 5 + 1);
        design_close(&s);
    }
    assert_near(share, 0.2, 0.05);
}

static void test_folds(void **state)
{
    (void)state;
    static trial x;
    design s = {0};
    uint8_t fold[SETS * D];
    uint32_t order[SETS];
    make(&x, 2, SETS, SETS);
    design_again(&s, ROWS, D, x.mask, NULL);
    assert_int_equal(s.sets, SETS);
    for (size_t k = 0; k < SETS; k++) { /* 7 and 160 share no factor */
        order[k] = (uint32_t)(7 * k % SETS);
    }
    hold_out_folds(&s, order, SETS, 5, fold);
    for (size_t j = 0; j < D; j++) {
        size_t met = 0;
        for (size_t k = 0; k < SETS; k++) {
            if (s.target[order[k] * D + j] != 0) {
                assert_int_equal(fold[order[k] * D + j], met % 5);
                met++;
            }
        }
    }
    design_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_sets),   cmocka_unit_test(test_rows),
        cmocka_unit_test(test_mixed),        cmocka_unit_test(test_same_again),
        cmocka_unit_test(test_sets_of_rows), cmocka_unit_test(test_rows_of_sets),
        cmocka_unit_test(test_labels),       cmocka_unit_test(test_folds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
