/* The screen keeps the true parents of simulated data under interventions, follows background
 * knowledge, and survives data from which nothing can be learned. */
#include "infer/screen/screen.h"

#include "design_testing.h"
#include "lcg.h"
#include "testing.h"

typedef struct problem {
    size_t rows, d, most;
    double *z, *w;
    uint8_t *mask;
    design design;
    size_t *order, *count, *candidate;
} problem;

/* `edges` expected per node; half of the rows observational, the others in sets of 20 rows with one
 * target each in turn (single) or one to d - 1. */
static problem make(size_t rows, size_t d, double edges, bool single, size_t most, uint64_t seed)
{
    problem p = {.rows = rows, .d = d, .most = most};
    lcg g = {seed};
    p.z = calloc(rows * d, sizeof *p.z);
    p.w = calloc(d * d, sizeof *p.w);
    p.mask = calloc(rows * d, 1);
    p.order = calloc(d, sizeof *p.order);
    p.count = calloc(d, sizeof *p.count);
    p.candidate = calloc(d * most, sizeof *p.candidate);
    lcg_weights(&g, d, 2 * edges / (double)(d - 1), p.order, p.w);
    for (size_t r = 0; r < rows; r++) {
        uint8_t *mask = p.mask + r * d;
        double *z = p.z + r * d;
        if (r >= rows / 2 && r % 20 == 0) {
            double share = lcg_uniform(&g);
            for (size_t i = 0; i < d; i++) {
                bool hit = single ? i == r / 20 % d : lcg_uniform(&g) < share;
                mask[i] = hit ? 1 : 0;
            }
        } else if (r >= rows / 2 && r % 20 > 0) {
            memcpy(mask, mask - d, d);
        }
        for (size_t a = 0; a < d; a++) {
            size_t i = p.order[a];
            z[i] = mask[i] != 0 ? 2 * lcg_normal(&g) : (1 + (double)(i % 3) / 2) * lcg_normal(&g);
            for (size_t b = 0; b < a && mask[i] == 0; b++) {
                z[i] += p.w[p.order[b] * d + i] * z[p.order[b]];
            }
        }
    }
    design_again(&p.design, rows, d, p.mask, NULL);
    return p;
}

static void discard(problem *p)
{
    design_close(&p->design);
    free(p->z);
    free(p->w);
    free(p->mask);
    free(p->order);
    free(p->count);
    free(p->candidate);
}

static bool is_candidate(const problem *p, size_t j, size_t i)
{
    for (size_t k = 0; k < p->count[i]; k++) {
        if (p->candidate[i * p->most + k] == j) {
            return true;
        }
    }
    return false;
}

static size_t missed(const problem *p)
{
    size_t missing = 0;
    for (size_t i = 0; i < p->d; i++) {
        assert_true(p->count[i] <= p->most);
        for (size_t k = 0; k < p->count[i]; k++) {
            size_t j = p->candidate[i * p->most + k];
            assert_true(j < p->d && j != i);
            assert_true(k == 0 || p->candidate[i * p->most + k - 1] < j);
        }
        for (size_t j = 0; j < p->d; j++) {
            missing += p->w[j * p->d + i] != 0 && !is_candidate(p, j, i) ? 1 : 0;
        }
    }
    return missing;
}

/* All near (d <= 64) and selected; one target and many. */
static void keeps_parents(void **state)
{
    (void)state;
    lscm_error why = {0};
    const struct {
        size_t rows, d;
        double edges;
        bool single;
        size_t most;
    } cases[] = {{2000, 30, 2, false, 12},
                 {2400, 30, 2, true, 12},
                 {4000, 70, 1, false, 10},
                 {4000, 70, 1, true, 10}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        problem p =
            make(cases[c].rows, cases[c].d, cases[c].edges, cases[c].single, cases[c].most, 5 + c);
        size_t *order = calloc(p.d, sizeof *order);
        size_t backward = 0;
        assert_ok(screen_candidates(&(latent_rows){&p.design, p.z, NULL, false}, NULL,
                                    &(candidate_lists){p.most, p.count, p.candidate, NULL},
                                    &(screen_terms){.order = order}, NULL, &why));
        assert_int_equal(missed(&p), 0);
        for (size_t a = 0; a < p.d; a++) {
            for (size_t b = 0; b < a; b++) {
                backward += p.w[order[a] * p.d + order[b]] != 0 ? 1 : 0;
            }
        }
        assert_true(backward <= p.d / 10);
        free(order);
        discard(&p);
    }
}

static void any_thread_count(void **state)
{
    (void)state;
    lscm_error why = {0};
    problem p = make(1500, 70, 1, false, 8, 3);
    size_t *count = calloc(p.d, sizeof *count);
    size_t *candidate = calloc(p.d * p.most, sizeof *candidate);
    lscm_set_threads(1);
    assert_ok(screen_candidates(&(latent_rows){&p.design, p.z, NULL, false}, NULL,
                                &(candidate_lists){p.most, count, candidate, NULL}, NULL, NULL,
                                &why));
    lscm_set_threads(3);
    assert_ok(screen_candidates(&(latent_rows){&p.design, p.z, NULL, false}, NULL,
                                &(candidate_lists){p.most, p.count, p.candidate, NULL}, NULL, NULL,
                                &why));
    assert_memory_equal(count, p.count, p.d * sizeof *count);
    for (size_t i = 0; i < p.d; i++) {
        assert_memory_equal(candidate + i * p.most, p.candidate + i * p.most,
                            count[i] * sizeof *candidate);
    }
    free(count);
    free(candidate);
    discard(&p);
}

static void background_knowledge(void **state)
{
    (void)state;
    lscm_error why = {0};
    problem p = make(800, 26, 1, true, 6, 4);
    size_t d = p.d;
    uint8_t *forbidden = calloc(d * d, 1);
    uint8_t *required = calloc(d * d, 1);
    for (size_t i = 0; i < d; i++) {
        forbidden[3 * d + i] = 1; /* node 3 causes nothing */
        required[7 * d + i] = i == 2 || i == 11 ? 1 : 0;
    }
    assert_ok(screen_candidates(&(latent_rows){&p.design, p.z, NULL, false}, forbidden,
                                &(candidate_lists){p.most, p.count, p.candidate, required}, NULL,
                                NULL, &why));
    for (size_t i = 0; i < d; i++) {
        assert_false(is_candidate(&p, 3, i));
    }
    assert_true(is_candidate(&p, 7, 2) && is_candidate(&p, 7, 11));
    forbidden[7 * d + 2] = 1;
    assert_fails(screen_candidates(&(latent_rows){&p.design, p.z, NULL, false}, forbidden,
                                   &(candidate_lists){p.most, p.count, p.candidate, required}, NULL,
                                   NULL, &why),
                 LSCM_VALUE, "7 -> 2 is both required and forbidden");
    memset(required, 0, d * d);
    for (size_t j = 10; j < 17; j++) {
        required[j * d + 0] = 1;
    }
    assert_fails(screen_candidates(&(latent_rows){&p.design, p.z, NULL, false}, NULL,
                                   &(candidate_lists){p.most, p.count, p.candidate, required}, NULL,
                                   NULL, &why),
                 LSCM_VALUE, "node 0 has 7 required parents");
    free(forbidden);
    free(required);
    discard(&p);
}

static void few_nodes(void **state)
{
    (void)state;
    lscm_error why = {0};
    problem p = make(40, 5, 1, true, 4, 6);
    assert_ok(screen_candidates(&(latent_rows){&p.design, p.z, NULL, false}, NULL,
                                &(candidate_lists){4, p.count, p.candidate, NULL}, NULL, NULL,
                                &why));
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(p.count[i], 4);
        for (size_t j = 0; j < 5; j++) {
            assert_int_equal(is_candidate(&p, j, i), j != i);
        }
    }
    discard(&p);
}

/* ---- What nothing decides ---- */

enum { CHAIN, COLLIDERS, STAR };

static double weight(size_t kind, size_t j, size_t i)
{
    const double w = (i % 3 == 0 ? -1 : 1) * (0.7 + 0.05 * (double)(i % 4));
    return kind == CHAIN       ? (j + 1 == i ? w : 0)
           : kind == COLLIDERS ? (i % 3 == 2 && j < i && j + 3 > i ? w : 0)
                               : (j == 0 && i > 0 && i <= 18 ? w : 0);
}

/* Nodes in causal order; every third row from `set_from` on has node `target` set. */
static problem structured(size_t kind, size_t d, size_t target, size_t set_from, uint64_t seed)
{
    const size_t rows = 1500;
    problem p = {.rows = rows, .d = d, .most = 20};
    lcg g = {seed};
    p.z = calloc(rows * d, sizeof *p.z);
    p.w = calloc(d * d, sizeof *p.w);
    p.mask = calloc(rows * d, 1);
    p.order = calloc(d, sizeof *p.order);
    p.count = calloc(d, sizeof *p.count);
    p.candidate = calloc(d * p.most, sizeof *p.candidate);
    for (size_t e = 0; e < d * d; e++) {
        p.w[e] = weight(kind, e / d, e % d);
    }
    for (size_t r = 0; r < rows; r++) {
        double *z = p.z + r * d;
        p.mask[r * d + target] = r >= set_from && r % 3 == 0 ? 1 : 0;
        for (size_t i = 0; i < d; i++) {
            z[i] = lcg_normal(&g);
            for (size_t j = 0; j < i && p.mask[r * d + i] == 0; j++) {
                z[i] += p.w[j * d + i] * z[j];
            }
        }
    }
    design_again(&p.design, rows, d, p.mask, NULL);
    return p;
}

static void screen_of(problem *p, screen_terms *terms)
{
    lscm_error why = {0};
    assert_ok(screen_candidates(&(latent_rows){&p->design, p->z, NULL, false}, NULL,
                                &(candidate_lists){p->most, p->count, p->candidate, NULL}, terms,
                                NULL, &why));
}

/* Every edge is a candidate in both directions where nothing was set, whatever its place in the
 * order of the columns; a node with more neighbours than is usual has room for them all, and where
 * it has not that is told. */
static void keeps_both_directions(void **state)
{
    (void)state;
    for (size_t kind = CHAIN; kind <= STAR; kind++) {
        for (uint64_t seed = 1; seed <= 3; seed++) {
            problem p = structured(kind, 24, 0, SIZE_MAX, seed);
            screen_terms terms = {.usual = kind == STAR ? 10 : 6};
            screen_of(&p, &terms);
            assert_int_equal(terms.crowded, 0);
            for (size_t e = 0; e < p.d * p.d; e++) {
                bool both =
                    is_candidate(&p, e / p.d, e % p.d) && is_candidate(&p, e % p.d, e / p.d);
                assert_true(p.w[e] == 0 || both);
            }
            discard(&p);
        }
    }
    problem p = structured(STAR, 24, 0, SIZE_MAX, 4);
    screen_terms terms = {.usual = 0};
    p.most = 12;
    screen_of(&p, &terms);
    assert_int_equal(terms.crowded, 18 - 12);
    assert_int_equal(terms.hub, 0);
    discard(&p);
}

/* Where do() set a node, what it causes comes behind all others as its parent, and its parents are
 * the first. */
static void do_decides(void **state)
{
    (void)state;
    for (size_t target = 4; target < 20; target += 5) {
        problem p = structured(CHAIN, 24, target, 0, target);
        screen_terms terms = {.usual = 8};
        screen_of(&p, &terms);
        assert_true(is_candidate(&p, target, target + 1));
        assert_false(is_candidate(&p, target + 1, target));
        assert_true(is_candidate(&p, target - 1, target));
        assert_false(is_candidate(&p, target, target - 1));
        /* further on nothing was set */
        assert_true(is_candidate(&p, 22, 23) && is_candidate(&p, 23, 22));
        assert_true(is_candidate(&p, 0, 1) && is_candidate(&p, 1, 0));
        discard(&p);
    }
}

/* Constant and duplicate columns, a node never free, fewer rows than nodes. */
static void poor_data(void **state)
{
    (void)state;
    lscm_error why = {0};
    const size_t nodes[] = {30, 70};
    for (size_t c = 0; c < 2; c++) {
        for (size_t rows = 0; rows <= 400; rows = rows == 0 ? 3 : rows == 3 ? 20 : rows * 20) {
            problem p = make(rows + 1, nodes[c], 1, false, 5, 9);
            for (size_t r = 0; r < rows; r++) {
                double *z = p.z + r * p.d;
                z[4] = 2.5;
                z[6] = z[5];
                p.mask[r * p.d + 8] = 1;
            }
            design_again(&p.design, rows, p.d, p.mask, NULL);
            assert_ok(screen_candidates(&(latent_rows){&p.design, p.z, NULL, false}, NULL,
                                        &(candidate_lists){p.most, p.count, p.candidate, NULL},
                                        NULL, NULL, &why));
            (void)missed(&p); /* checks the lists */
            discard(&p);
        }
    }
}

static bool never(void *self, const char *what, uint64_t done, uint64_t total)
{
    (void)self;
    (void)what;
    (void)done;
    (void)total;
    return false;
}

static void stopping(void **state)
{
    (void)state;
    lscm_error why = {0};
    const lscm_progress progress = {never, NULL};
    problem p = make(600, 70, 1, false, 5, 2);
    assert_fails(screen_candidates(&(latent_rows){&p.design, p.z, NULL, false}, NULL,
                                   &(candidate_lists){p.most, p.count, p.candidate, NULL}, NULL,
                                   &progress, &why),
                 LSCM_STOPPED, "stopped");
    discard(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_parents),
        cmocka_unit_test(any_thread_count),
        cmocka_unit_test(background_knowledge),
        cmocka_unit_test(few_nodes),
        cmocka_unit_test(keeps_both_directions),
        cmocka_unit_test(do_decides),
        cmocka_unit_test(poor_data),
        cmocka_unit_test(stopping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
