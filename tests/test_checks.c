/* Checks of a fit: chances against closed forms, essential graphs against all DAGs of a class, and
 * what lscm_check finds in data that are as the model has them, or broken in one way. */
#include "infer/check/check.h"
#include "lcg.h"
#include "scm/graph/graph.h"

#include "testing.h"

static lscm_error why;

/* P(F(2, b) > f) = (1 + 2 f/b)^(-b/2), and P(F(a, b) > f) = 1 - P(F(b, a) > 1/f). */
static void test_chances(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        for (int l = 0; l < 8; l++) {
            double b = pow(3, k);
            double f = 1e-3 * pow(7, l);
            assert_near(chance_of_f(f, 2, b) / pow(1 + 2 * f / b, -b / 2), 1, 1e-9);
            assert_near(chance_of_f(f, 5, b), 1 - chance_of_f(1 / f, b, 5), 1e-9);
        }
    }
    assert_near(chance_of_f(4, 1, 1e9), chance_of_normal(2), 1e-6);
    assert_near(chance_of_f(3, 0, 10), 1, 0);
    assert_near(chance_of_f((double)NAN, 2, 10), 1, 0);
}

static void test_tails(void **state)
{
    (void)state;
    enum { N = 400, TIMES = 400 };
    lcg g = {5};
    double x[N];
    size_t alarms = 0;
    for (size_t k = 0; k < TIMES; k++) {
        for (size_t i = 0; i < N; i++) {
            x[i] = 3 + 2 * lcg_normal(&g);
        }
        alarms += chance_of_tails(x, N) < 0.05 ? 1 : 0;
    }
    assert_in_range(alarms, 8, 36); /* 20, sd 4.4 */
    for (size_t i = 0; i < N; i++) {
        x[i] = pow(lcg_normal(&g), 3);
    }
    assert_true(chance_of_tails(x, N) < 1e-10);
    assert_near(chance_of_tails(x, 5), 1, 0);
}

/* Alarms come as often as they say, of a few small sets or one large one; two batches of a set that
 * differ by an sd are found, and not when their rows are mixed. */
static void test_drift(void **state)
{
    (void)state;
    enum { SETS = 5, N = 60, ROWS = SETS * N, TIMES = 2000 };
    size_t first[SETS + 1];
    uint8_t out[SETS] = {0, 0, 1, 0, 0};
    double e[ROWS];
    lcg g = {8};
    for (size_t sizes = 0; sizes < 2; sizes++) {
        size_t alarms[2] = {0};
        first[0] = 0;
        for (size_t s = 0; s < SETS; s++) {
            first[s + 1] = sizes == 0 ? first[s] + 9 + s : ROWS - SETS + 1 + s;
        }
        for (size_t k = 0; k < TIMES; k++) {
            for (size_t i = 0; i < ROWS; i++) {
                e[i] = 3 + 2 * lcg_normal(&g);
            }
            double chance = chance_of_drift(e, first, out, 1, SETS);
            assert_true(chance >= 0 && chance <= 1);
            alarms[0] += chance < 0.5 ? 1 : 0;
            alarms[1] += chance < 0.02 ? 1 : 0;
        }
        assert_in_range(alarms[0], 900, 1100); /* 1000, sd 22 */
        assert_in_range(alarms[1], 18, 68);    /* 40, sd 6.3 */
    }
    for (size_t s = 0; s <= SETS; s++) {
        first[s] = s * N;
    }
    for (size_t i = 0; i < ROWS; i++) {
        e[i] = lcg_normal(&g) + (i % N < N / 2 ? 1 : 0);
    }
    assert_true(chance_of_drift(e, first, out, 1, SETS) < 1e-4);
    for (size_t i = 0; i < ROWS; i++) {
        e[i] = lcg_normal(&g) + (i % 2 == 0 ? 1 : 0);
    }
    assert_true(chance_of_drift(e, first, out, 1, SETS) > 0.01);
    for (size_t i = 0; i < ROWS; i++) {
        e[i] = 7;
    }
    assert_near(chance_of_drift(e, first, out, 1, SETS), 1, 0);
    e[3] = (double)NAN;
    assert_near(chance_of_drift(e, first, out, 1, 1), 1, 0);
}

enum { D = 4, PAIRS = D * (D - 1) / 2, ALL = 729 }; /* 3^PAIRS: none, forth or back */

/* Graph number k; false where it has a cycle. */
static bool graph_number(size_t k, uint8_t *dag)
{
    size_t order[D];
    size_t waiting[D];
    memset(dag, 0, D * D);
    for (size_t a = 0; a < D; a++) {
        for (size_t b = a + 1; b < D; b++, k /= 3) {
            dag[k % 3 == 1 ? a * D + b : b * D + a] = k % 3 != 0 ? 1 : 0;
        }
    }
    return graph_order(dag, D, order, waiting);
}

static bool adjacent(const uint8_t *g, size_t a, size_t b)
{
    return g[a * D + b] != 0 || g[b * D + a] != 0;
}

/* The same skeleton, colliders and direction of pairs that are told apart. */
static bool same_class(const uint8_t *one, const uint8_t *other, const uint8_t *told)
{
    for (size_t a = 0; a < D; a++) {
        for (size_t b = 0; b < D; b++) {
            if (adjacent(one, a, b) != adjacent(other, a, b) ||
                (told[a * D + b] != 0 && one[a * D + b] != other[a * D + b])) {
                return false;
            }
            for (size_t c = 0; c < D; c++) {
                bool first = one[a * D + c] != 0 && one[b * D + c] != 0;
                bool second = other[a * D + c] != 0 && other[b * D + c] != 0;
                if (a != b && !adjacent(one, a, b) && first != second) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* A pair without direction: some DAG of the class has it the other way. */
static void test_essential(void **state)
{
    (void)state;
    lcg g = {9};
    arena memory = {0};
    cpdag_work work;
    cpdag_lay_out(&work, &memory, D);
    assert_ok(arena_open(&memory, &why));
    cpdag_lay_out(&work, &memory, D);
    for (size_t k = 0; k < ALL; k++) {
        uint8_t dag[D * D];
        uint8_t other[D * D];
        uint8_t told[D * D] = {0};
        uint8_t essential[D * D];
        uint8_t expected[D * D] = {0};
        if (!graph_number(k, dag)) {
            continue;
        }
        for (size_t a = 0; a < D; a++) {
            for (size_t b = 0; b < a; b++) {
                told[a * D + b] = told[b * D + a] = lcg_uniform(&g) < 0.2 ? 1 : 0;
            }
        }
        for (size_t l = 0; l < ALL; l++) {
            bool is_dag = graph_number(l, other);
            for (size_t at = 0; at < D * D && is_dag && same_class(dag, other, told); at++) {
                expected[at] |= other[at];
            }
        }
        assert_true(essential_of_dag(dag, D, told, essential, &work));
        assert_memory_equal(essential, expected, D * D);
    }
    arena_close(&memory);
}

/* ---- data: a -> b -> c, each set in a third of the rows that are not observational */

enum { ROWS = 900, NODES = 3 };
typedef enum broken {
    NOTHING,
    CURVED,
    HIDDEN_CAUSE,
    SOFT,
    HEAVY,
    UNEVEN,
    TOGETHER, /* gamma is moved by the product of alpha and beta */
    SQUARE,   /* of a cause alone: no line shows it */
    SPREAD    /* noise as large as the cause */
} broken;

/* E[z_i] given those before it. */
static double mean_of(broken what, size_t i, const double *z)
{
    double cause = i > 0 ? z[i - 1] : 0;
    return what == CURVED              ? cause + 0.3 * cause * cause
           : what == SQUARE            ? 0.5 * cause * cause
           : what == TOGETHER && i > 1 ? cause + 0.7 * z[0] * z[1]
                                       : cause;
}

static const lscm_diagnostics *find(broken what, lscm_mechanism mechanism, uint64_t seed,
                                    lscm_posterior **out)
{
    static const char *const names[] = {"alpha", "beta", "gamma"};
    static double x[ROWS * NODES];
    static uint8_t targets[ROWS * NODES];
    lcg g = {seed};
    lscm_dataset *data = NULL;
    for (size_t r = 0; r < ROWS; r++) {
        double *z = x + r * NODES;
        double hidden = what == HIDDEN_CAUSE ? lcg_normal(&g) : 0;
        for (size_t i = 0; i < NODES; i++) {
            double e = lcg_normal(&g);
            bool set = r % 4 == i + 1;
            double size = what == UNEVEN && r % 4 == 1 ? 2
                          : what == SPREAD && i > 0    ? 0.3 + 0.5 * fabs(z[i - 1])
                                                       : 1;
            double free = mean_of(what, i, z) + (i > 0 ? hidden : 0) +
                          (what == HEAVY ? e * e * e / 3 : e) * size;
            targets[r * NODES + i] = set ? 1 : 0;
            z[i] = set ? 2 * lcg_normal(&g) + (what == SOFT ? free : 0) : free;
        }
    }
    assert_ok(lscm_dataset_wrap(&data,
                                &(lscm_arrays){.rows = ROWS,
                                               .nodes = NODES,
                                               .features = NODES,
                                               .x = x,
                                               .targets = targets,
                                               .node_names = names},
                                &why));
    lscm_fit_settings settings;
    lscm_settings_defaults(lscm_fit_table(), &settings);
    settings.holdout = 0;
    settings.draws = 200;
    settings.mechanism = mechanism;
    assert_ok(lscm_fit(out, data, &settings, NULL, NULL, &why));
    lscm_dataset_free(data);
    return lscm_posterior_diagnostics(*out);
}

static const lscm_finding *named(const lscm_diagnostics *d, const char *check)
{
    for (size_t k = 0; k < d->findings; k++) {
        if (strcmp(d->finding[k]->check, check) == 0) {
            return d->finding[k];
        }
    }
    return NULL;
}

static void test_clean(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        lscm_posterior *p = NULL;
        const lscm_diagnostics *d = find(NOTHING, LSCM_MECHANISM_AUTO, seed, &p);
        assert_int_equal(d->found, 0);
        assert_string_equal(named(d, "bent")->verdict, "good");
        assert_non_null(strstr(lscm_posterior_summary(p), "where do() set alpha, beta follows"));
        lscm_posterior_free(p);
    }
}

static void test_broken(void **state)
{
    static const char *const checks[] = {NULL,    "bent",  "slopes", "cut",   "tails",
                                         "noise", "joint", "bent",   "spread"};
    (void)state;
    for (broken what = CURVED; what <= SPREAD; what++) {
        lscm_posterior *p = NULL;
        lscm_mechanism mechanism =
            what == TOGETHER ? LSCM_MECHANISM_ADDITIVE : LSCM_MECHANISM_LINEAR;
        const lscm_diagnostics *d = find(what, mechanism, 11, &p);
        const lscm_finding *f = named(d, checks[what]);
        assert_true(d->found > 0);
        assert_true(d->warnings >= d->found);
        assert_string_equal(f->verdict, "found");
        assert_true(f->figure < f->limit && f->nodes > 0);
        assert_non_null(strstr(f->says, f->node[0])); /* by name */
        assert_true(f->remedy[0] != '\0');
        lscm_posterior_free(p);
    }
}

/* What the fit has bend is no finding, and says by what it is found where it has not. */
static void test_modelled(void **state)
{
    static const broken bends[] = {CURVED, SQUARE, TOGETHER};
    (void)state;
    for (size_t k = 0; k < sizeof bends / sizeof *bends; k++) {
        for (uint64_t seed = 1; seed <= 3; seed++) {
            lscm_posterior *p = NULL;
            const lscm_diagnostics *d = find(bends[k], LSCM_MECHANISM_AUTO, seed, &p);
            assert_int_equal(d->found, 0);
            assert_string_equal(named(d, "bent")->verdict, "good");
            assert_string_equal(named(d, "joint")->verdict, "good");
            lscm_posterior_free(p);
        }
    }
    lscm_posterior *p = NULL;
    const lscm_diagnostics *d = find(SQUARE, LSCM_MECHANISM_LINEAR, 3, &p);
    assert_non_null(strstr(named(d, "bent")->says, "beta (by alpha: "));
    assert_non_null(strstr(named(d, "bent")->says, "% of what is left of it)"));
    assert_non_null(strstr(named(d, "bent")->remedy, "--mechanism auto"));
    assert_null(strstr(lscm_posterior_summary(p), "where do() set alpha, beta follows"));
    lscm_posterior_free(p);
    d = find(TOGETHER, LSCM_MECHANISM_ADDITIVE, 3, &p);
    assert_non_null(strstr(named(d, "joint")->says, "gamma (by alpha and beta: "));
    lscm_posterior_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chances),  cmocka_unit_test(test_tails),
        cmocka_unit_test(test_drift),    cmocka_unit_test(test_essential),
        cmocka_unit_test(test_clean),    cmocka_unit_test(test_broken),
        cmocka_unit_test(test_modelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
