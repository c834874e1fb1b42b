/* Mechanisms that bend and noise that is not normal, from outside: f_i is shown by do() on all
 * other nodes without noise, and e_i is what linear data of the same seed leave, z - z W. From
 * inside: the sums of the equations, written once more; the kernel of a process over many draws;
 * laws of noise against their distribution functions in closed form. */
#include "base/order.h"
#include "lcg.h"
#include "scm/simulate/simulate.h"

#include "read_all.h"
#include "simulated.h"

static const char *const BENT[] = {"additive", "network", "process"};
enum { KINDS = 3, NODES = 4 };

static lscm_error why;

static lscm_simulation bent(const char *kind, int64_t nodes, int64_t seed)
{
    lscm_simulation s = preset("paper-linear", nodes, seed);
    assert_ok(lscm_settings_set(lscm_simulation_table(), &s, "mechanism", kind, &why));
    s.projection = LSCM_PROJECTION_IDENTITY;
    s.degree = 1.2;
    s.noise_scale = 0.5;
    s.observational = 40;
    s.sets = 2;
    s.per_set = 20;
    return s;
}

/* f_i where the other nodes are z (d). */
static double shown(const lscm_simulation *s, size_t i, const double *z)
{
    uint8_t targets[NODES];
    double out[NODES];
    lscm_simulation silent = *s;
    lscm_dataset *rows = NULL;
    silent.noise_scale = 0;
    for (size_t j = 0; j < NODES; j++) {
        targets[j] = j != i ? 1 : 0;
    }
    assert_ok(lscm_simulate_do(&rows, &silent, targets, z, 1, 0, &why));
    assert_ok(lscm_dataset_read(rows, LSCM_Z, 0, 1, out, &why));
    lscm_dataset_free(rows);
    return out[i];
}

typedef struct truth {
    double *z, *w, *targets;
} truth;

static truth truth_of(const lscm_simulation *s)
{
    lscm_dataset *data = NULL;
    assert_ok(lscm_simulate(&data, s, NULL, &why));
    truth t = {read_all(data, LSCM_Z, NULL), read_all(data, LSCM_W, NULL),
               read_all(data, LSCM_TARGETS, NULL)};
    lscm_dataset_free(data);
    return t;
}

static void free_truth(truth t)
{
    free(t.z);
    free(t.w);
    free(t.targets);
}

/* z_i - f_i(z) of bent data is z_i - (z W)_i of linear data of the same seed: e_i. */
static void rows_are_f_of_their_causes_and_noise(void **state)
{
    enum { STEP = 7 };
    (void)state;
    for (size_t kind = 0; kind < KINDS; kind++) {
        lscm_simulation s = bent(BENT[kind], NODES, 3 + (int64_t)kind);
        lscm_simulation linear = s;
        linear.mechanism = LSCM_MECHANISM_LAW_LINEAR;
        truth t = truth_of(&s);
        truth l = truth_of(&linear);
        for (size_t r = 0; r < 80; r += STEP) {
            for (size_t i = 0; i < NODES; i++) {
                double e = l.z[r * NODES + i];
                for (size_t j = 0; j < NODES; j++) {
                    e -= l.z[r * NODES + j] * l.w[j * NODES + i];
                }
                assert_true((t.w[r % NODES * NODES + i] != 0) == (l.w[r % NODES * NODES + i] != 0));
                if (t.targets[r * NODES + i] == 0) {
                    assert_near(t.z[r * NODES + i] - shown(&s, i, t.z + r * NODES), e, 1e-9);
                }
            }
        }
        free_truth(t);
        free_truth(l);
    }
}

/* w is the mean over the rows of the slope, here by central differences; what is no cause does
 * nothing at all. */
static void w_is_the_mean_slope(void **state)
{
    const double h = 1e-4;
    (void)state;
    for (size_t kind = 0; kind < KINDS; kind++) {
        lscm_simulation s = bent(BENT[kind], NODES, 11 + (int64_t)kind);
        s.observational = 9;
        s.per_set = 3;
        truth t = truth_of(&s);
        size_t rows = 15;
        for (size_t k = 0; k < NODES * NODES; k++) {
            size_t i = k % NODES;
            double slope = 0;
            for (size_t r = 0; r < rows && k / NODES != i; r++) {
                double z[NODES];
                memcpy(z, t.z + r * NODES, sizeof z);
                z[k / NODES] += h;
                double above = shown(&s, i, z);
                z[k / NODES] -= 2 * h;
                slope += (above - shown(&s, i, z)) / (2 * h) / (double)rows;
            }
            assert_near(t.w[k], slope, t.w[k] != 0 ? 1e-6 : 0);
        }
        free_truth(t);
    }
}

/* Mixed differences of two causes vanish where effects add up, and only there. */
static void additive_effects_add_up(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < KINDS; kind++) {
        double most = 0;
        lscm_simulation s = bent(BENT[kind], NODES, 5);
        s.graph = LSCM_GRAPH_FULL;
        for (size_t i = 0; i < NODES; i++) {
            double z[4][NODES] = {
                {1, -2, 3, 0.5}, {1, -2, 3, 0.5}, {1, -2, 3, 0.5}, {1, -2, 3, 0.5}};
            for (size_t k = 0; k < 4; k++) {
                z[k][(i + 1) % NODES] += k % 2 == 0 ? 0 : 3;
                z[k][(i + 2) % NODES] += k / 2 == 0 ? 0 : 2;
            }
            double mixed =
                shown(&s, i, z[0]) - shown(&s, i, z[1]) - shown(&s, i, z[2]) + shown(&s, i, z[3]);
            most = fmax(most, fabs(mixed));
        }
        if (kind == 0) {
            assert_near(most, 0, 1e-11);
        } else {
            assert_true(most > 0.1);
        }
    }
}

static double phi(int shape, double a)
{
    switch (shape) {
    case 0:
        return tanh(a);
    case 1:
        return sin(a);
    case 2:
        return sqrt(1 + a * a) - 1;
    default:
        return exp(-a * a / 2);
    }
}

/* The equation, written once more; over parents as its standard has them it has mean 0 and an sd
 * of one to two units, and additive ones have every curve. */
static void units_are_summed_and_standardised(void **state)
{
    enum { ROWS = 4000, D = 6 };
    static double z[D * ROWS];
    bool seen[4] = {false};
    (void)state;
    for (int64_t seed = 0; seed < 12; seed++) {
        lcg random = {(uint64_t)seed + 1};
        scm_model m;
        lscm_simulation s = bent(BENT[seed % KINDS], D, seed);
        s.degree = 2;
        assert_ok(scm_model_random(&m, &s, &why));
        const double unit = 10 / sqrt(12);
        for (size_t i = 0; i < D; i++) {
            for (size_t k = 0; k < D * ROWS; k++) {
                z[k] = k / ROWS == i ? 0 : sqrt(12) * unit * (2 * lcg_uniform(&random) - 1);
            }
            size_t parents = m.parent_start[i + 1] - m.parent_start[i];
            double mean = 0;
            double square = 0;
            scm_bends_add(&m.f, i, ROWS, z);
            for (size_t r = 0; r < ROWS; r++) {
                double f = m.f.base[i];
                for (size_t k = m.f.units[i]; k < m.f.units[i + 1]; k++) {
                    size_t own = k - m.f.units[i];
                    size_t width = seed % KINDS == 0 ? 1 : parents;
                    double a = m.f.bias[k];
                    for (size_t t = 0; t < width; t++) {
                        size_t j = m.parents[m.parent_start[i] + (seed % KINDS == 0 ? own : t)];
                        a += m.f.in[m.f.weights[i] + own * width + t] * z[j * ROWS + r];
                    }
                    f += m.f.out[k] * phi(m.f.shape[k], a);
                    seen[m.f.shape[k]] = true;
                }
                assert_near(z[i * ROWS + r], f, 1e-10);
                mean += f / ROWS;
                square += f * f / ROWS;
            }
            assert_true(parents == 0 ? square == 0 : fabs(mean) < 0.35 * unit);
            assert_true(parents == 0 || (sqrt(square - mean * mean) > 0.85 * unit &&
                                         sqrt(square - mean * mean) < 2.3 * unit));
        }
        scm_model_close(&m);
    }
    for (size_t k = 0; k < 4; k++) {
        assert_true(seen[k]);
    }
}

/* Over draws, 2 g(h) g(h') / sum out^2 is exp(-|h - h'|^2 / (2 l^2)) in the mean, l = 2.6 units for
 * one or two causes. */
static void processes_have_their_kernel(void **state)
{
    enum { DRAWS = 400 };
    const double gaps[] = {0, 1, 2.6, 5};
    (void)state;
    for (size_t g = 0; g < 4; g++) {
        double mean = 0;
        double square = 0;
        double unit = 10 / sqrt(12);
        for (int64_t seed = 0; seed < DRAWS; seed++) {
            scm_model m;
            lscm_simulation s = bent("process", 2, seed);
            s.graph = LSCM_GRAPH_FULL;
            assert_ok(scm_model_random(&m, &s, &why));
            size_t i = m.order[1];
            double here = 0;
            double there = 0;
            double norm = 0;
            for (size_t k = m.f.units[i]; k < m.f.units[i + 1]; k++) {
                double in = m.f.in[m.f.weights[i] + k - m.f.units[i]];
                here += m.f.out[k] * sin(m.f.bias[k] + in * unit);
                there += m.f.out[k] * sin(m.f.bias[k] + in * unit * (1 + gaps[g]));
                norm += m.f.out[k] * m.f.out[k];
            }
            mean += 2 * here * there / norm / DRAWS;
            square += pow(2 * here * there / norm, 2) / DRAWS;
            scm_model_close(&m);
        }
        double sd = sqrt((square - mean * mean) / DRAWS);
        assert_near(mean, exp(-gaps[g] * gaps[g] / (2 * 2.6 * 2.6)), 5 * sd);
    }
}

/* Slopes that vanish are marked all the same, and w is the same for any number of threads. */
static void edges_are_never_lost(void **state)
{
    (void)state;
    scm_model m;
    lscm_simulation s = bent("network", 5, 2);
    size_t scratch[5];
    s.graph = LSCM_GRAPH_FULL;
    assert_ok(scm_model_random(&m, &s, &why));
    size_t silent = m.order[4];
    memset(m.f.in + m.f.weights[silent], 0,
           (m.f.weights[silent + 1] - m.f.weights[silent]) * sizeof *m.f.in);
    assert_ok(slopes_average(&m, &s, 80, &why));
    assert_true(order_fits_graph(m.w, 5, m.order, scratch));
    for (size_t k = 0; k < 4; k++) {
        assert_true(fabs(m.w[m.order[k] * 5 + silent]) == 1e-9);
        assert_true(m.w[silent * 5 + m.order[k]] == 0);
    }
    scm_model_close(&m);

    s.sets = 300; /* more rows than are looked at */
    s.per_set = 100;
    lscm_set_threads(1);
    truth one = truth_of(&s);
    lscm_set_threads(3);
    truth three = truth_of(&s);
    lscm_set_threads(2);
    assert_memory_equal(one.w, three.w, 25 * sizeof *one.w);
    free_truth(one);
    free_truth(three);
}

/* ---- Noise */

static double normal_below(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* P(e < x) for unit variance. */
static double below(lscm_noise_shape law, double x)
{
    switch (law) {
    case LSCM_NOISE_SHAPE_STUDENT: /* of 3 degrees of freedom, at sqrt(3) x */
        return 0.5 + (x / (1 + x * x) + atan(x)) / acos(-1);
    case LSCM_NOISE_SHAPE_LAPLACE:
        return x < 0 ? exp(sqrt(2) * x) / 2 : 1 - exp(-sqrt(2) * x) / 2;
    case LSCM_NOISE_SHAPE_UNIFORM:
        return fmin(fmax(0.5 + x / sqrt(12), 0), 1);
    case LSCM_NOISE_SHAPE_EXPONENTIAL:
        return x > -1 ? 1 - exp(-(x + 1)) : 0;
    case LSCM_NOISE_SHAPE_MIXTURE:
        return 0.9 * normal_below(x * sqrt(3.4)) + 0.1 * normal_below(x * sqrt(3.4) / 5);
    case LSCM_NOISE_SHAPE_GAUSSIAN:
        break;
    }
    return normal_below(x);
}

/* Distribution functions at eleven points, mean and variance, and rows that tell nothing of each
 * other. The fourth moments are the laws' own (Student's has none: its variance is not compared).
 */
static void noise_has_its_law(void **state)
{
    enum { ROWS = 40000 };
    const double fourth[] = {3, NAN, 6, 1.8, 9, 3 * (0.9 + 62.5) / (3.4 * 3.4)};
    (void)state;
    for (int law = 0; law < 6; law++) {
        lscm_dataset *data = NULL;
        lscm_simulation s = bent("additive", 2, law);
        s.noise_law = (lscm_noise_shape)law;
        s.noise = LSCM_NOISE_LAW_UNEQUAL;
        s.degree = 0;
        s.observational = ROWS;
        s.sets = 0;
        assert_ok(lscm_simulate(&data, &s, NULL, &why));
        double *z = read_all(data, LSCM_Z, NULL);
        double *sigma = read_all(data, LSCM_SIGMA, NULL);
        double mean = 0;
        double square = 0;
        double along = 0;
        double count[11] = {0};
        for (size_t r = 0; r < ROWS; r++) {
            double e = z[2 * r] / sigma[0];
            mean += e / ROWS;
            square += e * e / ROWS;
            along += copysign(1, z[2 * r]) * copysign(1, z[2 * r + 1]) / ROWS;
            for (int k = 0; k < 11; k++) {
                count[k] += e < (k - 5) * 0.6 ? 1 : 0;
            }
        }
        for (int k = 0; k < 11; k++) {
            double p = below(s.noise_law, (k - 5) * 0.6);
            assert_near(count[k] / ROWS, p, 5 * sqrt(p * (1 - p) / ROWS) + 1e-12);
        }
        assert_near(mean, 0, 5 * sqrt(1.0 / ROWS));
        assert_true(law == LSCM_NOISE_SHAPE_STUDENT ||
                    fabs(square - 1) <= 5 * sqrt((fourth[law] - 1) / ROWS));
        double even = 2 * below(s.noise_law, 0) - 1;
        assert_near(along, even * even, 5 / sqrt(ROWS));
        free(z);
        free(sigma);
        lscm_dataset_free(data);
    }
}

static void paired_rows_share_any_noise(void **state)
{
    (void)state;
    lscm_simulation s = bent("network", NODES, 8);
    s.noise_law = LSCM_NOISE_SHAPE_STUDENT;
    s.paired = true;
    truth t = truth_of(&s);
    for (size_t r = 0; r < 40; r += 3) {
        for (size_t i = 0; i < NODES; i++) {
            const double *plain = t.z + r * NODES;
            const double *other = t.z + (r + 40) * NODES;
            if (t.targets[(r + 40) * NODES + i] == 0) {
                assert_near(plain[i] - shown(&s, i, plain), other[i] - shown(&s, i, other), 1e-9);
            }
        }
    }
    free_truth(t);
}

static void do_has_all_but_slopes(void **state)
{
    const uint8_t targets[NODES] = {0, 1, 0, 0};
    const double values[NODES] = {0, 2.5, 0, 0};
    double z[3 * NODES];
    lscm_simulation s = bent("process", NODES, 1);
    lscm_dataset *rows = NULL;
    (void)state;
    assert_ok(lscm_simulate_do(&rows, &s, targets, values, 3, 0, &why));
    assert_int_equal(lscm_dataset_shape(rows, LSCM_W).ndim, 0);
    assert_int_equal(lscm_dataset_shape(rows, LSCM_SIGMA).ndim, 1);
    assert_ok(lscm_dataset_read(rows, LSCM_Z, 0, 3, z, &why));
    assert_true(z[1] == 2.5 && z[NODES + 1] == 2.5 && z[2 * NODES + 1] == 2.5);
    lscm_dataset_free(rows);
}

static void what_is_refused(void **state)
{
    lscm_dataset *data = NULL;
    lscm_simulation s = bent("network", NODES, 1);
    (void)state;
    s.weights = LSCM_WEIGHTS_PRIOR;
    assert_fails(lscm_simulate(&data, &s, NULL, &why), LSCM_USAGE,
                 "'weights' is for linear mechanisms");
    s = bent("process", NODES, 1);
    s.weight_high = 3;
    assert_fails(lscm_simulate(&data, &s, NULL, &why), LSCM_USAGE,
                 "'weight_high' is for linear mechanisms");
    assert_fails(lscm_settings_set(lscm_simulation_table(), &s, "noise_law", "studen", &why),
                 LSCM_USAGE, "did you mean 'student'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_f_of_their_causes_and_noise),
        cmocka_unit_test(w_is_the_mean_slope),
        cmocka_unit_test(additive_effects_add_up),
        cmocka_unit_test(units_are_summed_and_standardised),
        cmocka_unit_test(processes_have_their_kernel),
        cmocka_unit_test(edges_are_never_lost),
        cmocka_unit_test(noise_has_its_law),
        cmocka_unit_test(paired_rows_share_any_noise),
        cmocka_unit_test(do_has_all_but_slopes),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
