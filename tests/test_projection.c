/* Projections against plain loops over what they were drawn from. */
#include "scm/projection.h"
#include "testing.h"

static lscm_error why;

static lscm_simulation preset(const char *name, int64_t nodes, int64_t seed)
{
    lscm_simulation s;
    assert_ok(lscm_simulation_preset(&s, name, nodes, &why));
    s.seed = seed;
    return s;
}

/* x against g(z) recomputed with plain loops. */
static void projections(void **state)
{
    (void)state;
    for (int64_t kind = 0; kind <= PROJECTION_IDENTITY; kind++) {
        projection p;
        lscm_simulation s = preset("paper-linear", 7, 5);
        double z[21];
        s.projection = kind;
        s.features = 12;
        for (size_t i = 0; i < 21; i++) {
            z[i] = sin((double)i * 1.7) * 4;
        }
        assert_ok(projection_random(&p, &s, &why));
        size_t D = p.features;
        double *x = malloc(3 * D * sizeof *x);
        double *scratch = malloc((projection_scratch(&p, 3) + 1) * sizeof *scratch);
        double *h = calloc(D, sizeof *h);
        double *g = calloc(D, sizeof *g);
        assert_true(x != NULL && scratch != NULL && h != NULL && g != NULL);
        projection_apply(&p, 3, z, scratch, x);
        for (size_t r = 0; r < 3; r++) {
            for (size_t j = 0; j < D; j++) {
                h[j] = 0;
                for (size_t i = 0; i < 7 && p.matrix[0] != NULL; i++) {
                    h[j] += z[r * 7 + i] * p.matrix[0][i * D + j];
                }
            }
            for (int layer = 1; layer < 3 && kind == PROJECTION_MLP; layer++) {
                for (size_t j = 0; j < D; j++) {
                    g[j] = 0;
                    for (size_t i = 0; i < D; i++) {
                        g[j] += fmax(h[i], 0) * p.matrix[layer][i * D + j];
                    }
                }
                memcpy(h, g, D * sizeof *h);
            }
            for (size_t j = 0; j < D && kind == PROJECTION_IMAGE; j++) {
                /* the paper's cells for the first seven nodes, as row and column of a 5 x 5 grid */
                const size_t cells[7][2] = {{0, 0}, {0, 4}, {4, 0}, {4, 4}, {2, 2}, {1, 1}, {1, 3}};
                h[j] = 0;
                for (size_t i = 0; i < 7; i++) {
                    if (j / 50 / 10 == cells[i][0] && j % 50 / 10 == cells[i][1]) {
                        h[j] = z[r * 7 + i] / 16 + 0.5;
                    }
                }
            }
            for (size_t j = 0; j < D; j++) {
                double expected = kind == PROJECTION_IDENTITY ? z[r * 7 + j] : h[j];
                assert_near(x[r * D + j], expected, 1e-12);
            }
        }
        free(x);
        free(scratch);
        free(h);
        free(g);
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
            assert_true(p.square[i] + 9 * p.side + 9 < p.features);
            for (size_t j = 0; j < i; j++) {
                assert_true(p.square[i] != p.square[j]);
            }
        }
        projection_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projections),
        cmocka_unit_test(son_is_a_rotation),
        cmocka_unit_test(network_weights_are_cut_normals),
        cmocka_unit_test(many_squares_do_not_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
