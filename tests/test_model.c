/* Random models: graphs along their order with the expected number of edges; weights and noise of
 * the prior against its moments in closed form. */
#include "base/order.h"
#include "scm/simulate/simulate.h"
#include "simulated.h"

static lscm_error why;

static size_t edges_of(const scm_model *m)
{
    return m->parent_start[m->d];
}

static void random_graphs(void **state)
{
    (void)state;
    double total = 0;
    size_t scratch[50];
    for (int64_t seed = 0; seed < 200; seed++) {
        scm_model m;
        lscm_simulation s = preset("paper-linear", 50, seed);
        s.degree = 2;
        assert_ok(scm_model_random(&m, &s, &why));
        total += (double)edges_of(&m);
        assert_true(order_fits_graph(m.w, 50, m.order, scratch));
        for (size_t i = 0; i < 2500; i++) {
            double size = fabs(m.w[i]);
            assert_true(size == 0 || (size >= 0.5 && size <= 2));
        }
        scm_model_close(&m);
        s.graph = 1;
        assert_ok(scm_model_random(&m, &s, &why));
        assert_int_equal(edges_of(&m), 1 + 48 * 2);
        assert_true(order_fits_graph(m.w, 50, m.order, scratch));
        scm_model_close(&m);
        s.graph = 2;
        assert_ok(scm_model_random(&m, &s, &why));
        assert_int_equal(edges_of(&m), 50 * 49 / 2);
        scm_model_close(&m);
    }
    /* 100 expected edges, binomial(1225, 4/49) */
    assert_near(total / 200, 100, 5 * sqrt(1225 * (4.0 / 49) * (45.0 / 49) / 200));
}

/* 1/sigma^2 is chi2(3 + |pa|)/t: mean (3 + |pa|)/t, variance 2 (3 + |pa|)/t^2; and w sqrt(t)/sigma
 * of the child is standard normal, whatever sigma is. */
static void prior_is_as_written(void **state)
{
    (void)state;
    enum { MOST = 6, MODELS = 6000 };
    double count[MOST] = {0};
    double precision[MOST] = {0};
    double moment[5] = {0};
    double central = 0;
    double edges = 0;
    for (int64_t seed = 0; seed < MODELS; seed++) {
        scm_model m;
        lscm_simulation s = preset("prior", MOST, seed);
        assert_ok(scm_model_random(&m, &s, &why));
        edges += (double)edges_of(&m);
        for (size_t i = 0; i < MOST; i++) {
            size_t parents = m.parent_start[i + 1] - m.parent_start[i];
            count[parents]++;
            precision[parents] += 1 / (m.sigma[i] * m.sigma[i]);
            for (size_t p = m.parent_start[i]; p < m.parent_start[i + 1]; p++) {
                double u = m.w[m.parents[p] * MOST + i] * sqrt(0.001) / m.sigma[i];
                central += fabs(u) < 0.67448975 ? 1 : 0; /* half of a standard normal */
                for (int k = 1; k <= 4; k++) {
                    moment[k] += pow(u, k);
                }
            }
        }
        scm_model_close(&m);
    }
    for (size_t p = 0; p < MOST - 1; p++) {
        double nu = 3 + (double)p;
        assert_true(count[p] > 100);
        assert_near(precision[p] / count[p], nu / 0.001, 5 * sqrt(2 * nu / count[p]) / 0.001);
    }
    /* 15 pairs with probability 2/5 */
    assert_near(edges / MODELS, 6, 5 * sqrt(15 * 0.24 / MODELS));
    assert_near(moment[1] / edges, 0, 5 * sqrt(1 / edges));
    assert_near(moment[2] / edges, 1, 5 * sqrt(2 / edges));
    assert_near(moment[3] / edges, 0, 5 * sqrt(15 / edges));
    assert_near(moment[4] / edges, 3, 5 * sqrt(96 / edges));
    assert_near(central / edges, 0.5, 5 * sqrt(0.25 / edges));
}

/* The values give the unit: the prior is the same law in other units. */
static void prior_scales_with_the_values(void **state)
{
    (void)state;
    const double unit[] = {10 / sqrt(12), 5, 1}; /* uniform, gaussian, zero */
    scm_model base;
    lscm_simulation s = preset("prior", 5, 7);
    assert_ok(scm_model_random(&base, &s, &why));
    s.value_scale = 10;
    for (int64_t kind = 0; kind < 3; kind++) {
        scm_model m;
        s.values = (lscm_value_law)kind;
        s.ridge = 0.004;
        assert_ok(scm_model_random(&m, &s, &why));
        for (size_t i = 0; i < 5; i++) {
            assert_near(m.sigma[i], 2 * unit[kind] * base.sigma[i], 1e-12 * m.sigma[i]);
            for (size_t j = 0; j < 5; j++) {
                double w = base.w[j * 5 + i];
                assert_near(m.w[j * 5 + i], w, 1e-12 * fabs(w));
            }
        }
        scm_model_close(&m);
    }
    scm_model_close(&base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(prior_is_as_written),
        cmocka_unit_test(prior_scales_with_the_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
