/* Families against two passes over the rows of each node; the correction against its definition. */
#include "infer/mechanism/mechanism.h"

#include "base/rng.h"
#include "design_testing.h"
#include "testing.h"

typedef struct problem {
    size_t rows, d, most;
    double *z;
    uint8_t *mask, *keep;
    design design;
    double *weight; /* NULL: 1 */
    size_t *count, *candidate;
} problem;

/* Columns that share a factor, at an offset; `masks` different masks, or all different (0). */
static problem make(size_t rows, size_t d, size_t most, size_t masks, double offset, uint64_t seed)
{
    problem p = {.rows = rows, .d = d, .most = most};
    rng r = {seed, 1};
    p.z = malloc(rows * d * sizeof *p.z);
    p.mask = malloc(rows * d);
    p.keep = malloc(rows);
    p.count = malloc(d * sizeof *p.count);
    p.candidate = malloc(d * most * sizeof *p.candidate);
    for (size_t k = 0; k < rows; k++) {
        double shared = rng_normal((rng){seed, 2}, k);
        uint64_t set = masks > 0 ? rng_below((rng){seed, 3}, k, masks) : k;
        p.keep[k] = rng_uniform((rng){seed, 4}, k) < 0.9 ? 1 : 0;
        for (size_t i = 0; i < d; i++) {
            p.z[k * d + i] = offset + shared + (double)(i + 1) * rng_normal(r, k * d + i);
            /* node 1 is never free in what is kept */
            p.mask[k * d + i] = i == 1 || rng_uniform((rng){seed, 5}, set * d + i) < 0.2 ? 1 : 0;
        }
    }
    design_again(&p.design, rows, d, p.mask, NULL);
    for (size_t i = 0; i < d; i++) {
        p.count[i] = i % 3 == 2 ? most : most - 1;
        size_t start = i < most ? 0 : i - most;
        size_t at = 0;
        for (size_t j = start; at < p.count[i]; j++) {
            if (j != i) {
                p.candidate[i * most + at++] = j;
            }
        }
    }
    return p;
}

static void discard(problem *p)
{
    design_close(&p->design);
    free(p->z);
    free(p->mask);
    free(p->keep);
    free(p->weight);
    free(p->count);
    free(p->candidate);
}

/* What row k counts in the sums of node i. */
static double weight_of(const problem *p, size_t k, size_t i)
{
    bool in = p->keep[k] != 0 && p->mask[k * p->d + i] == 0;
    return !in ? 0 : p->weight != NULL ? p->weight[k] : 1;
}

static void compare(const problem *p, const family *f, double tolerance)
{
    size_t i = f->node;
    size_t m = p->count[i] + 1;
    double n = 0;
    double heft = 0;
    assert_int_equal(f->count + 1, m);
    for (size_t k = 0; k < p->rows; k++) {
        n += p->keep[k] != 0 && p->mask[k * p->d + i] == 0 ? 1 : 0;
        heft += weight_of(p, k, i);
    }
    assert_near(f->rows, n, 0);
    for (size_t a = 0; a < m && n > 0; a++) {
        for (size_t b = 0; b < m; b++) {
            size_t ja = a + 1 < m ? p->candidate[i * p->most + a] : i;
            size_t jb = b + 1 < m ? p->candidate[i * p->most + b] : i;
            double mean_a = 0;
            double mean_b = 0;
            double s = 0;
            for (size_t k = 0; k < p->rows; k++) {
                mean_a += weight_of(p, k, i) * p->z[k * p->d + ja] / heft;
                mean_b += weight_of(p, k, i) * p->z[k * p->d + jb] / heft;
            }
            for (size_t k = 0; k < p->rows; k++) {
                s += weight_of(p, k, i) * (p->z[k * p->d + ja] - mean_a) *
                     (p->z[k * p->d + jb] - mean_b);
            }
            assert_near(f->mean[a], mean_a, tolerance * (1 + fabs(mean_a)));
            assert_near(f->scatter[a * m + b], s, tolerance * n * (double)((ja + 1) * (jb + 1)));
        }
    }
    for (size_t k = 0; k < m * m && n == 0; k++) {
        assert_near(f->scatter[k], 0, 0);
    }
}

static void two_passes(void **state)
{
    (void)state;
    lscm_error why = {0};
    const struct {
        size_t rows, d, most, masks;
        double offset, tolerance;
    } cases[] = {{700, 6, 5, 5, 0, 1e-13},   {700, 6, 5, 0, 1e6, 1e-9}, {300, 24, 23, 40, 3, 1e-13},
                 {600, 40, 6, 30, 0, 1e-13}, {50, 3, 2, 0, 0, 1e-13},   {2, 2, 1, 0, 0, 1e-13}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        problem p =
            make(cases[c].rows, cases[c].d, cases[c].most, cases[c].masks, cases[c].offset, 11 + c);
        problem q = make(cases[c].rows, cases[c].d, cases[c].most, cases[c].masks, 2, 31 + c);
        families f;
        assert_ok(families_of(&f, &(latent_rows){&p.design, p.z, p.keep},
                              &(candidate_lists){p.most, p.count, p.candidate, NULL}, &why));
        for (size_t i = 0; i < p.d; i++) {
            compare(&p, &f.list[i], cases[c].tolerance);
        }
        assert_ok(families_update(&f, q.z, &why));
        memcpy(p.z, q.z, p.rows * p.d * sizeof *p.z);
        for (size_t i = 0; i < p.d; i++) {
            compare(&p, &f.list[i], 1e-13);
        }
        p.weight = malloc(p.rows * sizeof *p.weight);
        for (size_t k = 0; k < p.rows; k++) {
            p.weight[k] = 2 * rng_uniform((rng){51 + c, 1}, k);
        }
        f.weight = p.weight;
        assert_ok(families_update(&f, p.z, &why));
        for (size_t i = 0; i < p.d; i++) {
            compare(&p, &f.list[i], 1e-13);
        }
        families_close(&f);
        discard(&p);
        discard(&q);
    }
}

static void any_thread_count(void **state)
{
    (void)state;
    lscm_error why = {0};
    const size_t nodes[] = {8, 60};
    for (size_t c = 0; c < 2; c++) {
        problem p = make(3000, nodes[c], 7, 9, 1, 5);
        families f;
        families g;
        lscm_set_threads(1);
        assert_ok(families_of(&f, &(latent_rows){&p.design, p.z, NULL},
                              &(candidate_lists){p.most, p.count, p.candidate, NULL}, &why));
        lscm_set_threads(3);
        assert_ok(families_of(&g, &(latent_rows){&p.design, p.z, NULL},
                              &(candidate_lists){p.most, p.count, p.candidate, NULL}, &why));
        for (size_t i = 0; i < p.d; i++) {
            size_t m = p.count[i] + 1;
            assert_memory_equal(f.list[i].scatter, g.list[i].scatter, m * m * sizeof(double));
            assert_memory_equal(f.list[i].mean, g.list[i].mean, m * sizeof(double));
        }
        families_close(&f);
        families_close(&g);
        discard(&p);
    }
}

enum { CORRECTED = 5 };

/* g is f with (n - 1) psi (d, d) taken from every scatter. */
static void check_subtracted(const families *f, const families *g, const double *psi)
{
    enum { D = CORRECTED };
    for (size_t i = 0; i < D; i++) {
        const family *a = &f->list[i];
        const family *b = &g->list[i];
        assert_near(g->kept[i], 1, 0);
        for (size_t k = 0; k < (a->count + 1) * (a->count + 1) && a->rows > 0; k++) {
            size_t row = k / (a->count + 1);
            size_t col = k % (a->count + 1);
            row = row < a->count ? a->candidate[row] : i;
            col = col < a->count ? a->candidate[col] : i;
            assert_near(b->scatter[k], a->scatter[k] - (a->rows - 1) * psi[row * D + col], 1e-9);
        }
    }
}

/* What is left has a positive variance in every direction tried. */
static void check_positive(const family *f)
{
    size_t m = f->count + 1;
    for (size_t t = 0; t < 500; t++) {
        double form = 0;
        for (size_t k = 0; k < m * m; k++) {
            form += rng_normal((rng){t, 1}, k / m) * rng_normal((rng){t, 1}, k % m) * f->scatter[k];
        }
        assert_true(form >= 0);
    }
}

/* Subtracted whole where there is room; where there is none, as far as variances stay positive. */
static void correction(void **state)
{
    (void)state;
    enum { D = CORRECTED };
    lscm_error why = {0};
    problem p = make(400, D, D - 1, 6, 0, 77);
    for (size_t k = 0; k < p.rows; k++) {
        p.z[k * D + 3] = 0; /* a node without an anchor */
    }
    families f;
    families g;
    double psi[D * D] = {0};
    for (size_t j = 0; j < D; j++) {
        psi[j * D + j] = j == 3 ? 0 : 0.3;
    }
    psi[0 * D + 2] = psi[2 * D + 0] = 0.1;
    assert_ok(families_of(&f, &(latent_rows){&p.design, p.z, NULL},
                          &(candidate_lists){p.most, p.count, p.candidate, NULL}, &why));
    assert_ok(families_of(&g, &(latent_rows){&p.design, p.z, NULL},
                          &(candidate_lists){p.most, p.count, p.candidate, NULL}, &why));
    families_correct(&g, psi, 0, 1);
    check_subtracted(&f, &g, psi);
    double once[D * D];
    memcpy(once, g.list[0].scatter, (g.list[0].count + 1) * (g.list[0].count + 1) * sizeof(double));
    for (size_t k = 0; k < (size_t)D * D; k++) {
        psi[k] *= 30;
    }
    assert_ok(families_update(&g, p.z, &why));
    families_correct(&g, psi, 0, 1. / 30);
    for (size_t k = 0; k < (g.list[0].count + 1) * (g.list[0].count + 1); k++) {
        assert_near(g.list[0].scatter[k], once[k], 1e-9);
    }
    assert_ok(families_update(&g, p.z, &why));
    families_correct(&g, psi, 0, 1);
    for (size_t i = 0; i < D; i++) {
        assert_true(g.list[i].rows == 0 || (g.kept[i] > 0.01 && g.kept[i] < 1));
        check_positive(&g.list[i]);
    }
    families_close(&f);
    families_close(&g);
    discard(&p);
}

static void refusals(void **state)
{
    (void)state;
    lscm_error why = {0};
    problem p = make(20, 4, 2, 0, 0, 1);
    uint8_t required[16] = {0};
    families f;
    required[p.candidate[0] * 4 + 0] = 1;
    assert_ok(families_of(&f, &(latent_rows){&p.design, p.z, NULL},
                          &(candidate_lists){2, p.count, p.candidate, required}, &why));
    assert_int_equal(f.list[0].required, 1);
    assert_int_equal(f.list[2].required, 0);
    families_close(&f);
    required[3 * 4 + 0] = 1;
    assert_fails(families_of(&f, &(latent_rows){&p.design, p.z, NULL},
                             &(candidate_lists){2, p.count, p.candidate, required}, &why),
                 LSCM_VALUE, "node 0: a required parent");
    p.z[5] = (double)NAN;
    assert_fails(families_of(&f, &(latent_rows){&p.design, p.z, NULL},
                             &(candidate_lists){2, p.count, p.candidate, NULL}, &why),
                 LSCM_VALUE, "not finite");
    discard(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_passes),
        cmocka_unit_test(any_thread_count),
        cmocka_unit_test(correction),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
