/* Projections against plain loops over what they were drawn from; networks other than the paper's
 * in test_projection_network.c. */
#include "scm/simulate/simulate.h"
#include "simulated.h"

static lscm_error why;

/* The light of a pixel under d <= 7 blobs in a picture of 50 x 50. */
static double blobs_at(size_t row, size_t column, size_t d, const double *z)
{
    const double middles[7][2] = {{4.5, 4.5},   {4.5, 44.5},  {44.5, 4.5}, {44.5, 44.5},
                                  {24.5, 24.5}, {14.5, 14.5}, {14.5, 34.5}};
    double dark = 1;
    for (size_t i = 0; i < d; i++) {
        double distance =
            hypot((double)row - middles[i][0], (double)column - middles[i][1]) / 7; /* in sd */
        double light = 0.5 + 0.5 * tanh(z[i] / 8); /* the logistic function of z/4 */
        dark *= 1 - light * exp(-distance * distance / 2);
    }
    return 1 - dark;
}

/* x against g(z) recomputed with plain loops. */
/* The paper's cells for the first seven nodes, as row and column of a 5 x 5 grid. */
static double square_at(size_t row, size_t column, const double *z)
{
    const size_t cells[7][2] = {{0, 0}, {0, 4}, {4, 0}, {4, 4}, {2, 2}, {1, 1}, {1, 3}};
    double light = 0;
    for (size_t i = 0; i < 7; i++) {
        if (row / 10 == cells[i][0] && column / 10 == cells[i][1]) {
            light = z[i] / 16 + 0.5;
        }
    }
    return light;
}

/* out (columns) = in (rows) matrix (rows, columns) */
static void multiply(const double *in, size_t rows, size_t columns, const double *matrix,
                     double *out)
{
    for (size_t j = 0; j < columns; j++) {
        out[j] = 0;
        for (size_t i = 0; i < rows; i++) {
            out[j] += in[i] * matrix[i * columns + j];
        }
    }
}

/* x (D) of z (7), by the definition; g (D) is scratch. */
static void project(const projection *p, const double *z, double *x, double *g)
{
    size_t D = p->features;
    if (p->kind == LSCM_PROJECTION_IDENTITY) {
        memcpy(x, z, D * sizeof *x);
    } else if (p->width > 0) {
        for (size_t j = 0; j < D; j++) {
            x[j] = p->kind == LSCM_PROJECTION_IMAGE ? square_at(j / 50, j % 50, z)
                                                    : blobs_at(j / 50, j % 50, 7, z);
        }
    } else {
        multiply(z, 7, D, p->matrix[0], x);
    }
    for (int layer = 1; layer < 3 && p->kind == LSCM_PROJECTION_MLP; layer++) {
        for (size_t j = 0; j < D; j++) {
            g[j] = fmax(x[j], 0);
        }
        multiply(g, D, D, p->matrix[layer], x);
    }
}

static void projections(void **state)
{
    (void)state;
    for (int64_t kind = 0; kind <= LSCM_PROJECTION_BLOBS; kind++) {
        projection p;
        lscm_simulation s = preset("paper-linear", 7, 5);
        double z[21];
        s.projection = (lscm_projection)kind;
        s.features = 12;
        for (size_t i = 0; i < 21; i++) {
            z[i] = sin((double)i * 1.7) * 4;
        }
        assert_ok(projection_random(&p, &s, &why));
        size_t D = p.features;
        double *x = malloc(3 * D * sizeof *x);
        double *scratch = malloc((projection_scratch(&p, 3) + 1) * sizeof *scratch);
        double *expected = malloc(2 * D * sizeof *expected);
        assert_true(x != NULL && scratch != NULL && expected != NULL);
        projection_apply(&p, 3, z, scratch, x);
        for (size_t r = 0; r < 3; r++) {
            project(&p, z + r * 7, expected, expected + D);
            for (size_t j = 0; j < D; j++) {
                assert_near(x[r * D + j], expected[j], 1e-12);
            }
        }
        free(x);
        free(scratch);
        free(expected);
        projection_close(&p);
    }
}

/* exp of an antisymmetric matrix is a rotation: A A^T = I and A is near I + K. */
static void son_is_a_rotation(void **state)
{
    (void)state;
    for (int64_t d = 1; d <= 60; d += 13) {
        projection p;
        lscm_simulation s = preset("son", d, 8);
        size_t n = (size_t)d;
        assert_ok(projection_random(&p, &s, &why));
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < n; k++) {
                double dot = 0;
                for (size_t j = 0; j < n; j++) {
                    dot += p.matrix[0][i * n + j] * p.matrix[0][k * n + j];
                }
                assert_near(dot, i == k ? 1 : 0, 1e-13);
            }
        }
        projection_close(&p);
    }
}

static void network_weights_are_cut_normals(void **state)
{
    (void)state;
    projection p;
    lscm_simulation s = preset("paper-nonlinear", 5, 6);
    assert_ok(projection_random(&p, &s, &why));
    double squares = 0;
    double largest = 0;
    for (size_t i = 0; i < 10000; i++) {
        double scaled = p.matrix[1][i] * 10; /* fan-in 100 */
        squares += scaled * scaled / 10000;
        largest = fmax(largest, fabs(scaled));
    }
    assert_true(largest <= 2 && largest > 1.99);
    /* variance of N(0, 1) cut at 2: 1 - 4 phi(2)/(Phi(2) - Phi(-2)) */
    assert_near(squares, 0.7737, 0.03);
    projection_close(&p);
}

static void many_squares_do_not_overlap(void **state)
{
    (void)state;
    for (int64_t d = 11; d <= 40; d += 29) {
        projection p;
        lscm_simulation s = preset("paper-image", d, 1);
        assert_ok(projection_random(&p, &s, &why));
        for (size_t i = 0; i < p.d; i++) {
            assert_true(p.square[i] + 9 * p.width + 9 < p.features);
            for (size_t j = 0; j < i; j++) {
                assert_true(p.square[i] != p.square[j]);
            }
        }
        projection_close(&p);
    }
}

/* Neighbours overlap: what one lights depends on the other. Far from saturated or saturated, pixels
 * stay within [0, 1] and grow with every z. */
static void blobs_blend(void **state)
{
    (void)state;
    projection p;
    lscm_simulation s = preset("blobs", 10, 2);
    assert_int_equal(s.projection, LSCM_PROJECTION_BLOBS);
    assert_true(s.clip == 0 && s.noise_scale == 1.5 && s.value_scale == 5);
    assert_ok(projection_random(&p, &s, &why));
    assert_int_equal(p.features, 2500);
    double z[4][10] = {{0}};
    double *x = malloc(4 * p.features * sizeof *x);
    assert_non_null(x);
    z[1][0] = z[3][0] = 2;
    z[2][5] = z[3][5] = 2; /* cell (1, 1), beside (0, 0) */
    projection_apply(&p, 4, &z[0][0], NULL, x);
    size_t between = 9 * 50 + 9;
    const double *at = x + between;
    size_t D = p.features;
    double alone = at[D] - at[0];
    assert_true(alone > 0.01);
    assert_true(at[3 * D] - at[2 * D] < alone - 1e-3);
    for (size_t i = 0; i < 10; i++) {
        z[0][i] = -400;
        z[1][i] = 400;
    }
    projection_apply(&p, 2, &z[0][0], NULL, x);
    for (size_t j = 0; j < D; j++) {
        assert_true(x[j] >= 0 && x[j] < 1e-40);
        assert_true(x[D + j] > x[j] && x[D + j] <= 1);
    }
    free(x);
    projection_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projections),
        cmocka_unit_test(son_is_a_rotation),
        cmocka_unit_test(network_weights_are_cut_normals),
        cmocka_unit_test(many_squares_do_not_overlap),
        cmocka_unit_test(blobs_blend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
