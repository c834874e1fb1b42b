/* Values held out: the right share, whole sets where a node is set in enough of them and single
 * rows elsewhere, nothing that do() did not set, the same every time. */
#include "data/design/design.h"

#include "lcg.h"
#include "testing.h"

static lscm_error why;

enum { D = 8, SETS = 160, PER_SET = 6, ROWS = SETS * PER_SET };

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
        assert_ok(hold_out(x.mask, ROWS, D, seed, x.held, kinds, &why));
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
        assert_ok(hold_out(x.mask, ROWS, D, seed, x.held, kinds, &why));
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
    assert_ok(hold_out(x.mask, ROWS, D, 3, x.held, kinds, &why));
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
    assert_ok(hold_out(x.mask, ROWS, D, 5, x.held, kinds, &why));
    assert_ok(hold_out(y.mask, ROWS, D, 5, y.held, kinds, &why));
    assert_memory_equal(x.held, y.held, sizeof x.held);
    assert_ok(hold_out(y.mask, ROWS, D, 6, y.held, kinds, &why));
    assert_memory_not_equal(x.held, y.held, sizeof x.held);
    memset(x.mask, 0, sizeof x.mask); /* no interventions at all */
    assert_ok(hold_out(x.mask, ROWS, D, 5, x.held, kinds, &why));
    assert_memory_equal(x.held, x.mask, sizeof x.held);
    assert_int_equal(kinds[0], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_sets),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_mixed),
        cmocka_unit_test(test_same_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
