/* Batches within sets: found where rows of a set change their level, at the row where they do, and
 * hardly ever where they do not. */
#include "made_linear_view.h"

#include "testing.h"

static lscm_error why;

enum { D = 5, SETS = 4, PARTS = 3 };

/* z of SETS sets, each of PARTS batches of `rows` rows, with intercepts of sd shift in each; set k
 * sets node k by values that spread, or hold still in a batch. Observed, or y = z M. */
typedef struct plan {
    size_t rows;
    double shift;
    bool observed, held, shuffled;
} plan;

static void make(made_signal *m, const plan *p, lcg *g)
{
    size_t n = SETS * PARTS * p->rows;
    double own[D] = {0};
    double value = 0;
    made_design c = {.d = D, .observational = n, .plain = true, .value = 2, .edge = 0.5};
    *m = made_signal_of(&c, g);
    for (size_t row = 0; row < n; row++) {
        size_t set = row / (PARTS * p->rows);
        double z[D];
        if (row % p->rows == 0) {
            for (size_t i = 0; i < D; i++) {
                own[i] = p->shift * m->sigma[i] * lcg_normal(g);
            }
            value = 2 * lcg_normal(g);
        }
        for (size_t k = 0; k < D; k++) {
            size_t i = m->order[k];
            z[i] = own[i] + m->sigma[i] * lcg_normal(g);
            for (size_t j = 0; j < D; j++) {
                z[i] += m->w[j * D + i] != 0 ? m->w[j * D + i] * z[j] : 0;
            }
            if (i == set) {
                z[i] = p->held ? value : 2 * lcg_normal(g);
            }
        }
        m->mask[row * D + set] = 1;
        m->values[row * D + set] = z[set];
        memcpy(m->z + row * D, z, sizeof z);
    }
    for (size_t k = n; p->shuffled && k-- > 1;) { /* among the rows of a set */
        size_t set = k / (PARTS * p->rows);
        size_t other = set * PARTS * p->rows + lcg_below(g, k - set * PARTS * p->rows + 1);
        for (size_t i = 0; i < D; i++) {
            double z = m->z[k * D + i];
            m->z[k * D + i] = m->z[other * D + i];
            m->z[other * D + i] = z;
        }
        double value_k = m->values[k * D + set];
        m->values[k * D + set] = m->values[other * D + set];
        m->values[other * D + set] = value_k;
    }
    for (size_t row = 0; row < n; row++) {
        for (size_t j = 0; j < D; j++) {
            double y = 0;
            for (size_t i = 0; i < D; i++) {
                y += m->z[row * D + i] * m->mix[i * D + j];
            }
            m->s.y[row * D + j] = p->observed ? m->z[row * D + j] : y;
        }
    }
    m->s.kind = p->observed ? VIEW_OBSERVED : VIEW_LINEAR;
    made_again(m);
    assert_ok(batches_find(&m->s, &why));
}

/* Nearly every batch is found, its first row to within two; nothing else is. */
static void test_found(void **state)
{
    (void)state;
    lcg g = {31};
    size_t found = 0;
    size_t wrong = 0;
    enum { ROUNDS = 24 };
    for (int round = 0; round < ROUNDS; round++) {
        plan p = {.rows = 40,
                  .shift = round % 4 < 2 ? 1.5 : 3,
                  .observed = round % 2 == 0,
                  .held = round >= 16};
        made_signal m;
        make(&m, &p, &g);
        const design *by = &m.s.design;
        for (size_t row = 0; row < m.s.rows; row++) {
            assert_memory_equal(design_batch_targets(by, design_batch(by, row)),
                                design_targets(by, row), D);
            if (row % (PARTS * p.rows) > 0 && design_batch(by, row) != design_batch(by, row - 1)) {
                size_t off = (row + 2) % p.rows;
                assert_int_equal(design_batch(by, row), design_batch(by, row - 1) + 1);
                found += off <= 4 ? 1 : 0;
                wrong += off <= 4 ? 0 : 1;
            }
        }
        made_signal_free(&m);
    }
    size_t all = (size_t)ROUNDS * SETS * (PARTS - 1);
    print_message("%zu of %zu batches found, %zu that are none\n", found, all, wrong);
    assert_true(found >= all * 97 / 100 && wrong <= all / 50);
}

/* 3 of 100 data sets at most are divided for nothing; nor are rows in no order. */
static void test_none(void **state)
{
    (void)state;
    lcg g = {32};
    size_t divided = 0;
    for (int round = 0; round < 200; round++) {
        plan p = {.rows = round % 3 == 0 ? 10 : 40,
                  .shift = round % 5 == 0 ? 1 : 0,
                  .observed = round % 2 == 0,
                  .shuffled = round % 5 == 0};
        made_signal m;
        make(&m, &p, &g);
        divided += m.s.design.batch != NULL ? 1 : 0;
        made_signal_free(&m);
    }
    print_message("%zu of 200 divided\n", divided);
    assert_true(divided <= 6);
}

/* What is left of rows keeps the batches that it has. */
static void test_kept(void **state)
{
    (void)state;
    lcg g = {33};
    plan p = {.rows = 30, .shift = 3, .observed = true};
    made_signal m;
    design kept;
    uint8_t keep[SETS * PARTS * 30];
    make(&m, &p, &g);
    for (size_t row = 0; row < m.s.rows; row++) {
        keep[row] = row / p.rows != 1 && row % 3 != 0;
    }
    assert_ok(design_keep(&kept, &m.s.design, keep, &why));
    for (size_t row = 0, at = 0; row < m.s.rows; row++) {
        if (keep[row] != 0) {
            assert_int_equal(design_batch(&kept, at), design_batch(&m.s.design, row));
            assert_memory_equal(design_batch_targets(&kept, design_batch(&kept, at)),
                                design_targets(&kept, at), D);
            at++;
        }
    }
    design_close(&kept);
    made_signal_free(&m);
}

/* Constant columns, one row, one column: nothing happens. */
static void test_degenerate(void **state)
{
    (void)state;
    lcg g = {34};
    for (int round = 0; round < 3; round++) {
        made_design c = {.d = round == 0 ? 1 : 3,
                         .observational = round == 1 ? 1 : 50,
                         .plain = true,
                         .value = 2,
                         .edge = 0.5};
        made_signal m = made_signal_of(&c, &g);
        for (size_t k = 0; k < m.s.rows * c.d && round == 2; k++) {
            m.s.y[k] = 7;
        }
        assert_ok(batches_find(&m.s, &why));
        assert_int_equal(design_batches(&m.s.design), m.s.design.sets);
        made_signal_free(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_degenerate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
