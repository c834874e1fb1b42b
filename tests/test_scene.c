/* Scenes: each node moves, turns, scales or colours what it should, smoothly and without repeating
 * itself; nothing but z, the seed and the settings decides what is drawn. */
#include "scene_testing.h"

#include "read_all.h"

enum { SCENES = 7, MOST = 12 };

static const char *const NAMES[SCENES] = {"balls",  "discs",   "pendulum", "sprites",
                                          "movers", "spheres", "lamps"};
static lscm_error why;

static double apart(const projection *p, const double *a, const double *b, double *largest)
{
    double sum = 0;
    *largest = 0;
    for (size_t i = 0; i < p->features; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
        *largest = fmax(*largest, fabs(a[i] - b[i]));
    }
    return sqrt(sum);
}

static void a_ball_goes_where_its_nodes_say(void **state)
{
    (void)state;
    for (int64_t seed = 1; seed <= 6; seed++) {
        projection p = scene_of("balls", 2, seed, 64);
        seen middle = look_at(&p, 0, 0);
        for (int k = -12; k < 12; k++) {
            double z = k;
            seen right[2] = {look_at(&p, 0, z), look_at(&p, 0, z + 1)};
            seen down[2] = {look_at(&p, 1, z), look_at(&p, 1, z + 1)};
            assert_true(right[1].column > right[0].column + 0.1);
            assert_true(down[1].row > down[0].row + 0.1);
            assert_near(right[0].row, middle.row, 0.7);
            assert_near(down[0].column, middle.column, 0.7);
        }
        /* the values of do() use much of the picture, and nothing leaves it */
        assert_true(look_at(&p, 0, 5).column - look_at(&p, 0, -5).column > 20);
        assert_near(look_at(&p, 0, 1e6).mass / middle.mass, 1, 0.35);
        projection_close(&p);
    }
}

static void sprites_turn_scale_and_change_colour(void **state)
{
    (void)state;
    for (int64_t seed = 1; seed <= 6; seed++) {
        projection p = scene_of("sprites", 3, seed, 64);
        seen middle = look_at(&p, 0, 0);
        double last = 0;
        for (int k = -12; k <= 12; k++) {
            double z = k;
            seen turned = look_at(&p, 0, z);
            seen scaled = look_at(&p, 1, z);
            assert_near(turned.mass / middle.mass, 1, 0.03);
            assert_true(scaled.mass > last * 1.01);
            last = scaled.mass;
        }
        /* red, green and blue follow the hue; where there is no thing, nothing changes */
        double *a = picture(&p, 2, -5, 2, 0);
        double *b = picture(&p, 2, 5, 2, 0);
        size_t centre = (32 * 64 + 32) * 3;
        assert_true(fabs(a[centre] - b[centre]) + fabs(a[centre + 1] - b[centre + 1]) > 0.2);
        assert_true(a[0] == b[0] && a[0] == p.scene.background[0]);
        free(a);
        free(b);
        projection_close(&p);
    }
}

/* The lamp goes one way, the shadow the other, and the weight stays; the weight takes its shadow
 * along. */
static void the_shadow_follows_lamp_and_weight(void **state)
{
    (void)state;
    for (int64_t seed = 1; seed <= 6; seed++) {
        projection p = scene_of("pendulum", 2, seed, 64);
        size_t ground = (size_t)ceil((SCENE_GROUND + p.scene.shift_y) * 64) + 1;
        double by_lamp = 64;
        double by_weight = 0;
        for (int k = -4; k <= 4; k++) {
            double z = k;
            double *lamp = picture(&p, 1, z, 1, 0);
            double *weight = picture(&p, 0, z, 0, 0);
            seen moved = look(&p, lamp, ground);
            seen swung = look(&p, weight, ground);
            assert_true(moved.mass > 1 && swung.mass > 1);
            assert_true(moved.column < by_lamp - 0.3);
            assert_true(swung.column > by_weight + 0.3);
            by_lamp = moved.column;
            by_weight = swung.column;
            free(lamp);
            free(weight);
        }
        double *a = picture(&p, 1, -5, 1, 0);
        double *b = picture(&p, 1, 5, 1, 0);
        const scene_thing *t = &p.scene.thing[0];
        size_t row = (size_t)((t->y + t->reach + p.scene.shift_y) * 64);
        size_t column = (size_t)((t->x + p.scene.shift_x) * 64);
        size_t weight = (row * 64 + column) * 3;
        assert_memory_equal(a + weight, b + weight, 3 * sizeof *a);
        free(a);
        free(b);
        projection_close(&p);
    }
}

/* Two discs in one place: the one in front is seen whole, of the other an edge. */
static void discs_hide_each_other(void **state)
{
    (void)state;
    projection p = scene_of("discs", 2, 1, 128);
    double z[2] = {0};
    double *x = malloc(2 * p.features * sizeof *x);
    assert_non_null(x);
    assert_true(p.scene.thing[1].radius < p.scene.thing[0].radius);
    projection_apply(&p, 1, z, NULL, x);
    z[0] = 0.5;
    projection_apply(&p, 1, z, NULL, x + p.features);
    const scene_thing *front = &p.scene.thing[1];
    size_t row = (size_t)((front->y + p.scene.shift_y) * 128);
    size_t column = (size_t)((front->x + p.scene.shift_x) * 128);
    size_t at = (row * 128 + column) * 3;
    double largest;
    assert_memory_equal(x + at, x + p.features + at, 3 * sizeof *x);
    assert_true(apart(&p, x, x + p.features, &largest) > 0.5);
    free(x);
    projection_close(&p);
}

/* Any number of nodes: each changes the picture at every value, a little for a little, and no two
 * values look alike. */
static void every_node_is_seen(void **state)
{
    (void)state;
    for (size_t k = 0; k < SCENES; k++) {
        for (int64_t d = 1; d <= MOST; d++) {
            projection p = scene_of(NAMES[k], d, 7 + d, 48);
            for (size_t node = 0; node < (size_t)d; node++) {
                double *x[9];
                double largest;
                for (size_t v = 0; v < 9; v++) {
                    x[v] = picture(&p, node, 3 * (double)v - 12, node, 0);
                }
                for (size_t v = 0; v < 9; v++) {
                    double *near = picture(&p, node, 3 * (double)v - 12 + 0.01, node, 0);
                    assert_true(apart(&p, x[v], near, &largest) > 0);
                    assert_true(largest < 0.05);
                    free(near);
                    for (size_t u = 0; u < v; u++) {
                        assert_true(apart(&p, x[v], x[u], &largest) > 0.05);
                    }
                }
                for (size_t v = 0; v < 9; v++) {
                    free(x[v]);
                }
            }
            projection_close(&p);
        }
    }
}

static void far_values_are_drawn(void **state)
{
    (void)state;
    const double far[] = {1e3, -1e3, 1e9, -1e300, 1.7e308};
    for (size_t k = 0; k < SCENES; k++) {
        projection p = scene_of(NAMES[k], MOST, 3, 16);
        for (size_t v = 0; v < 5; v++) {
            for (size_t node = 0; node < MOST; node++) {
                double *x = picture(&p, node, far[v], (node + 1) % MOST, far[(v + 2) % 5]);
                for (size_t i = 0; i < p.features; i++) {
                    assert_true(x[i] >= 0 && x[i] <= 1);
                }
                free(x);
            }
        }
        projection_close(&p);
    }
}

/* However far out z is: the outermost columns and rows show the background. Of a pendulum's picture
 * the columns between lamp and ground do. */
static void things_stay_in_the_picture(void **state)
{
    (void)state;
    for (size_t k = 0; k < LSCM_SCENE_LAMPS; k++) { /* lamps stay, and their light reaches far */
        for (int64_t run = 0; run < 60; run++) {
            projection p = scene_of(NAMES[k], 1 + run % MOST, run, 128);
            double *x = malloc(p.features * sizeof *x);
            double z[MOST];
            assert_non_null(x);
            for (size_t i = 0; i < MOST; i++) {
                z[i] = (run * 7 + (int64_t)i * 5) % 11 < 5 ? -1e6 : 1e6;
            }
            projection_apply(&p, 1, z, NULL, x);
            size_t first = p.scene.kind == LSCM_SCENE_PENDULUM ? 30 : 0;
            size_t last = p.scene.kind == LSCM_SCENE_PENDULUM ? 98 : 127;
            for (size_t i = first; i <= last; i++) {
                size_t left = i * 128 * 3;
                size_t right = (i * 128 + 127) * 3;
                assert_near(x[left], p.scene.background[left], 0.2);
                assert_near(x[right], p.scene.background[right], 0.2);
                if (first == 0) {
                    size_t bottom = (127 * 128 + i) * 3;
                    assert_near(x[i * 3], p.scene.background[i * 3], 0.2);
                    assert_near(x[bottom], p.scene.background[bottom], 0.2);
                }
            }
            free(x);
            projection_close(&p);
        }
    }
}

/* Rows of the data, with noise: the same bits on any number of threads and in any block, and within
 * black and white. */
static void rows_are_the_same_on_any_threads(void **state)
{
    (void)state;
    const int64_t sizes[SCENES] = {16, 37, 64, 21, 50, 19, 33};
    for (size_t k = 0; k < SCENES; k++) {
        double *x[2];
        for (int one = 0; one < 2; one++) {
            lscm_dataset *data = NULL;
            lscm_simulation s = simulation_of(NAMES[k], 5, "observational=150 sets=2 per_set=40");
            s.size = sizes[k];
            s.x_noise = 0.1;
            lscm_set_threads(one != 0 ? 1 : 3);
            assert_ok(lscm_simulate(&data, &s, NULL, &why));
            lscm_shape shape = lscm_dataset_shape(data, LSCM_X);
            assert_int_equal(shape.ndim, 4);
            assert_int_equal(shape.dims[1], sizes[k]);
            assert_int_equal(shape.dims[2], sizes[k]);
            assert_int_equal(shape.dims[3], 3);
            assert_string_equal(shape.dtype, "float32");
            x[one] = read_all(data, LSCM_X, NULL);
            size_t D = lscm_dataset_features(data);
            double *part = malloc(3 * D * sizeof *part);
            assert_non_null(part);
            assert_ok(lscm_dataset_read(data, LSCM_X, 126, 3, part, &why));
            assert_memory_equal(part, x[one] + 126 * D, 3 * D * sizeof *part);
            free(part);
            lscm_dataset_free(data);
        }
        size_t count = (size_t)(230 * 3 * sizes[k] * sizes[k]);
        assert_memory_equal(x[0], x[1], count * sizeof *x[0]);
        for (size_t i = 0; i < count; i++) {
            assert_true(x[0][i] >= 0 && x[0][i] <= 1);
        }
        free(x[0]);
        free(x[1]);
    }
    lscm_set_threads(2);
}

/* Same z, same picture, but for the noise; another seed draws another scene. */
static void the_seed_draws_the_scene(void **state)
{
    (void)state;
    size_t flat = 0;
    size_t rims = 0;
    enum { SEEDS = 40 };
    for (int64_t seed = 0; seed < SEEDS; seed++) {
        projection p = scene_of("balls", 4, seed, 32);
        projection again = scene_of("balls", 4, seed, 32);
        projection other = scene_of("balls", 4, seed + 1, 32);
        double *x[3] = {picture(&p, 0, 1, 2, 3), picture(&again, 0, 1, 2, 3),
                        picture(&other, 0, 1, 2, 3)};
        double largest;
        assert_memory_equal(x[0], x[1], p.features * sizeof *x[0]);
        assert_true(apart(&p, x[0], x[2], &largest) > 1);
        bool even = true;
        for (size_t i = 3; i < p.features; i++) {
            even = even && p.scene.background[i] == p.scene.background[i - 3];
        }
        flat += even ? 1 : 0;
        rims += p.scene.rim ? 1 : 0;
        assert_true(p.scene.thing[0].radius > p.scene.thing[1].radius);
        for (size_t k = 0; k < 3; k++) {
            free(x[k]);
        }
        projection_close(&p);
        projection_close(&again);
        projection_close(&other);
    }
    assert_true(flat > 4 && flat < 25 && rims > 8 && rims < 32);
}

static void shapes_have_their_edges(void **state)
{
    (void)state;
    const double root = sqrt(0.5);
    const struct {
        scene_shape shape;
        double x, y, distance;
    } cases[] = {{SHAPE_DISC, 0.6, 0.8, 0},
                 {SHAPE_DISC, 0, 0, -1},
                 {SHAPE_SQUARE, root, root, 0},
                 {SHAPE_SQUARE, 0, 0, -root},
                 {SHAPE_SQUARE, root + 3, root + 4, 5},
                 {SHAPE_TRIANGLE, 0, -1, 0},
                 {SHAPE_TRIANGLE, 0, 0, -0.5},
                 {SHAPE_TRIANGLE, 0, 2.5, 2},
                 {SHAPE_TRIANGLE, sqrt(0.75), 0.5, 0},
                 {SHAPE_BAR, 1, 0, 0},
                 {SHAPE_BAR, -0.3, 0.5, 0.25},
                 {SHAPE_ELLIPSE, 1, 0, 0},
                 {SHAPE_ELLIPSE, 0, -0.25, 0},
                 {SHAPE_ELLIPSE, 0, 0, -0.25},
                 {SHAPE_HEART, 0, 0.53 / 0.62, 0},
                 {SHAPE_HEART, 0, -0.47 / 0.62, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double distance = scene_distance(cases[i].shape, 0.25, cases[i].x, cases[i].y);
        assert_near(distance, cases[i].distance, 1e-12);
    }
    /* turned by its period, a shape is where it was; the distance never changes faster than the
     * place */
    for (int shape = 0; shape < SHAPES_THAT_TURN; shape++) {
        double turn = scene_period((scene_shape)shape);
        for (size_t k = 0; k < (size_t)63 * 15; k++) {
            size_t step = k / 15;
            double a = 0.1 * (double)step;
            double r = 0.05 + 0.1 * (double)(k % 15);
            double here = scene_distance((scene_shape)shape, 0.36, r * cos(a), r * sin(a));
            double turned =
                scene_distance((scene_shape)shape, 0.36, r * cos(a + turn), r * sin(a + turn));
            double beside =
                scene_distance((scene_shape)shape, 0.36, r * cos(a) + 1e-4, r * sin(a) + 1e-4);
            assert_near(here, turned, 1e-12);
            assert_near(here, beside, 1.42e-4);
        }
    }
}

static void presets_have_nodes_of_their_own(void **state)
{
    (void)state;
    const int64_t nodes[SCENES] = {4, 4, 4, 6, 6, 5, 4};
    for (size_t k = 0; k < SCENES; k++) {
        lscm_simulation s;
        assert_ok(lscm_simulation_preset(&s, NAMES[k], 0, &why));
        assert_int_equal(s.nodes, nodes[k]);
        assert_int_equal(s.projection, LSCM_PROJECTION_SCENE);
        assert_int_equal(s.scene, k);
        assert_ok(lscm_simulation_preset(&s, NAMES[k], 9, &why));
        assert_int_equal(s.nodes, 9);
    }
}

static void bad_settings(void **state)
{
    (void)state;
    lscm_dataset *data = NULL;
    lscm_simulation s = preset("balls", 25, 1);
    assert_fails(lscm_simulate(&data, &s, NULL, &why), LSCM_USAGE, "things for 24 at most");
    s = preset("balls", 4, 1);
    s.size = 8;
    assert_fails(lscm_simulate(&data, &s, NULL, &why), LSCM_USAGE, "size");
    s.size = 257;
    assert_fails(lscm_simulate(&data, &s, NULL, &why), LSCM_USAGE, "size");
    s = preset("blobs", 4, 1);
    s.size = 32;
    assert_fails(lscm_simulate(&data, &s, NULL, &why), LSCM_USAGE, "'size' is for scenes alone");
    s = preset("paper-linear", 4, 1);
    s.scene = LSCM_SCENE_PENDULUM;
    assert_fails(lscm_simulate(&data, &s, NULL, &why), LSCM_USAGE, "'scene' is for scenes alone");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_goes_where_its_nodes_say),
        cmocka_unit_test(sprites_turn_scale_and_change_colour),
        cmocka_unit_test(the_shadow_follows_lamp_and_weight),
        cmocka_unit_test(discs_hide_each_other),
        cmocka_unit_test(every_node_is_seen),
        cmocka_unit_test(far_values_are_drawn),
        cmocka_unit_test(things_stay_in_the_picture),
        cmocka_unit_test(rows_are_the_same_on_any_threads),
        cmocka_unit_test(the_seed_draws_the_scene),
        cmocka_unit_test(shapes_have_their_edges),
        cmocka_unit_test(presets_have_nodes_of_their_own),
        cmocka_unit_test(bad_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
