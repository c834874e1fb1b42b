/* Networks x = f(f(z A + a) B + b) C: against the formulas of projection.h written once more,
 * numbers of an earlier version, the law of the biases, and what makes x say z: a Jacobian of rank
 * d. */
#include "scm/simulate/simulate.h"
#include "testing.h"

static lscm_error why;

enum { ACTIVATIONS = LSCM_ACTIVATION_POLYNOMIAL + 1 };

static lscm_simulation network(const char *name, int64_t nodes, int64_t seed, int64_t f,
                               bool biases)
{
    lscm_simulation s;
    assert_ok(lscm_simulation_preset(&s, name, nodes, &why));
    s.seed = seed;
    s.activation = (lscm_activation)f;
    s.biases = biases;
    return s;
}

/* f in other words: u is half the rms of the values. */
static double f_of(int64_t kind, int layer, double u, double h)
{
    switch (kind) {
    case LSCM_ACTIVATION_RELU:
        return (h + fabs(h)) / 2;
    case LSCM_ACTIVATION_LEAKY:
        return 0.6 * h + 0.4 * fabs(h);
    case LSCM_ACTIVATION_TANH:
        return h + u - 2 * u / (exp(2 * h / u) + 1);
    case LSCM_ACTIVATION_SILU:
        return h * (0.5 + 0.5 * tanh(h / (2 * u)));
    default:
        return layer == 0 ? h + pow(h, 3) / pow(8 * u, 2) : h;
    }
}

/* out (width of the layer) = in W + bias */
static void layer_of(const projection *p, int layer, const double *in, double *out)
{
    size_t from = layer == 0 ? p->d : p->features;
    for (size_t j = 0; j < p->features; j++) {
        out[j] = layer < 2 && p->bias[layer] != NULL ? p->bias[layer][j] : 0;
        for (size_t i = 0; i < from; i++) {
            out[j] += in[i] * p->matrix[layer][i * p->features + j];
        }
    }
}

static void networks_are_their_formulas(void **state)
{
    (void)state;
    for (int64_t f = 0; f < ACTIVATIONS; f++) {
        for (int biases = 0; biases < 2; biases++) {
            projection p;
            lscm_simulation s = network("revised-nonlinear", 4, 5, f, biases != 0);
            double z[3][4];
            double x[3][9];
            double scratch[27];
            double a[9];
            double b[9];
            s.features = 9;
            s.values = (lscm_value_law)(f % 2); /* uniform, gaussian */
            s.value_scale = 3;
            double u = s.values == 0 ? sqrt(9.0 / 3) / 2 : 1.5;
            for (size_t i = 0; i < 12; i++) {
                z[i / 4][i % 4] = sin((double)i * 1.7) * (i < 4 ? 1 : i < 8 ? 6 : 300);
            }
            assert_ok(projection_random(&p, &s, &why));
            assert_true((p.bias[0] != NULL) == (biases != 0));
            projection_apply(&p, 3, &z[0][0], scratch, &x[0][0]);
            for (size_t r = 0; r < 3; r++) {
                double largest = 1;
                layer_of(&p, 0, z[r], a);
                for (int layer = 0; layer < 2; layer++) {
                    for (size_t j = 0; j < 9; j++) {
                        b[j] = f_of(f, layer, u, a[j]);
                        largest = fmax(largest, fabs(b[j]));
                    }
                    layer_of(&p, layer + 1, b, a);
                }
                for (size_t j = 0; j < 9; j++) {
                    assert_near(x[r][j], a[j], 1e-13 * largest);
                    assert_true(fabs(x[r][j]) < 1e9); /* float32 holds it with room to spare */
                }
            }
            projection_close(&p);
        }
    }
}

/* Numbers of version 0.1.0, before there were other activations. */
static void the_paper_s_network_is_what_it_was(void **state)
{
    (void)state;
    lscm_dataset *data = NULL;
    const struct {
        size_t row, column;
        double x;
    } small[] = {{0, 0, -0.03354543989049124},   {0, 5, -0.064811974295359412},
                 {1, 1, -0.0037181427161488375}, {700, 0, -0.90047879887946125},
                 {700, 3, -3.0907780156458955},  {700, 4, 0.62106137428153418}},
      large[] = {{0, 0, 0.025082475890946566},
                 {0, 99, -0.072998295322522902},
                 {1, 17, 0.00097367436662034357},
                 {600, 3, 0.16984099227943381},
                 {2499, 99, -0.19137327516437494}};
    double x[100];
    lscm_simulation s = network("paper-nonlinear", 3, 7, LSCM_ACTIVATION_RELU, false);
    s.features = 6;
    assert_ok(lscm_simulate(&data, &s, NULL, &why));
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++) {
        assert_ok(lscm_dataset_read(data, LSCM_X, small[i].row, 1, x, &why));
        assert_near(x[small[i].column], small[i].x, 1e-14);
    }
    lscm_dataset_free(data);
    s = network("paper-nonlinear", 5, 1, LSCM_ACTIVATION_RELU, false);
    assert_ok(lscm_simulate(&data, &s, NULL, &why));
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        assert_ok(lscm_dataset_read(data, LSCM_X, large[i].row, 1, x, &why));
        assert_near(x[large[i].column], large[i].x, 1e-14);
    }
    lscm_dataset_free(data);
}

/* N(0, u^2), u half the rms of the values; the weights are those of the network without. */
static void biases_are_half_the_values(void **state)
{
    (void)state;
    projection with;
    projection without;
    lscm_simulation s = network("paper-nonlinear", 5, 4, LSCM_ACTIVATION_TANH, true);
    double u = 10 / sqrt(3) / 2;
    double sum = 0;
    double squares = 0;
    s.features = 400;
    assert_ok(projection_random(&with, &s, &why));
    s.biases = false;
    assert_ok(projection_random(&without, &s, &why));
    for (size_t layer = 0; layer < 2; layer++) {
        for (size_t i = 0; i < 400; i++) {
            sum += with.bias[layer][i] / 800;
            squares += with.bias[layer][i] * with.bias[layer][i] / 800;
        }
    }
    assert_true(with.bias[0][0] != with.bias[1][0]);
    assert_near(sum, 0, 5 * u / sqrt(800));
    assert_near(squares, u * u, 5 * u * u * sqrt(2.0 / 800));
    assert_memory_equal(with.matrix[0], without.matrix[0], 5 * 400 * sizeof(double));
    for (size_t layer = 1; layer < 3; layer++) {
        assert_memory_equal(with.matrix[layer], without.matrix[layer],
                            (size_t)400 * 400 * sizeof(double));
    }
    projection_close(&with);
    projection_close(&without);
}

/* The least share of a row of J (d, D) that is not in the span of the rows before it. */
static double independence(size_t d, size_t D, double *J)
{
    double least = 1;
    for (size_t i = 0; i < d; i++) {
        double *row = J + i * D;
        double before = 0;
        double after = 0;
        for (size_t k = 0; k < D; k++) {
            before += row[k] * row[k];
        }
        for (size_t j = 0; j < 2 * i; j++) { /* twice, against rounding */
            const double *other = J + j % i * D;
            double dot = 0;
            for (size_t k = 0; k < D; k++) {
                dot += row[k] * other[k];
            }
            for (size_t k = 0; k < D; k++) {
                row[k] -= dot * other[k];
            }
        }
        for (size_t k = 0; k < D; k++) {
            after += row[k] * row[k];
        }
        for (size_t k = 0; k < D; k++) {
            row[k] /= sqrt(after);
        }
        least = fmin(least, sqrt(after / before)); /* a NaN is no minimum: before > 0 is asserted */
        assert_true(before > 0 && after > 0);
    }
    return least;
}

/* dx/dz by central differences has rank d wherever z is. */
static void x_says_z(void **state)
{
    (void)state;
    enum { POINTS = 20 };
    for (int64_t f = 0; f <= ACTIVATIONS; f++) { /* the last: blobs */
        size_t d = 10;
        projection p;
        lscm_simulation s = network(f < ACTIVATIONS ? "paper-nonlinear" : "blobs", 10, 3 + f,
                                    f < ACTIVATIONS ? f : 0, f % 2 == 1 && f < ACTIVATIONS);
        assert_ok(projection_random(&p, &s, &why));
        size_t D = p.features;
        double *x = malloc(2 * D * sizeof *x);
        double *J = malloc(d * D * sizeof *J);
        double *scratch = malloc((projection_scratch(&p, 2) + 1) * sizeof *scratch);
        assert_true(x != NULL && J != NULL && scratch != NULL);
        for (size_t point = 0; point < POINTS; point++) {
            double z[2][10];
            for (size_t i = 0; i < d; i++) {
                double step = 1e-5;
                for (size_t k = 0; k < 2 * d; k++) {
                    double where = s.value_scale * sin(1 + (double)(point * d + k % d) * 2.3);
                    z[k / d][k % d] = where + (k % d != i ? 0 : k < d ? -step : step);
                }
                projection_apply(&p, 2, &z[0][0], scratch, x);
                for (size_t j = 0; j < D; j++) {
                    J[i * D + j] = (x[D + j] - x[j]) / (2 * step);
                }
            }
            assert_true(independence(d, D, J) > 0.1);
        }
        free(x);
        free(J);
        free(scratch);
        projection_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks_are_their_formulas),
        cmocka_unit_test(the_paper_s_network_is_what_it_was),
        cmocka_unit_test(biases_are_half_the_values),
        cmocka_unit_test(x_says_z),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
