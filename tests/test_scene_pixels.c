/* Scenes in grey, wider than high, and as bytes show what the square one in colour shows. */
#include "scene_testing.h"

#include "read_all.h"

enum { SCENES = 7, MOST = 12 };

static const char *const NAMES[SCENES] = {"balls",  "discs",   "pendulum", "sprites",
                                          "movers", "spheres", "lamps"};

/* z far from 0, another for each k. */
static void some_z(size_t k, double z[MOST])
{
    for (size_t i = 0; i < MOST; i++) {
        z[i] = 6 * sin(1.7 * (double)(i + 1) * (double)(k + 1));
    }
}

static double *picture_of(const projection *p, const double *z)
{
    double *x = malloc(p->features * sizeof *x);
    assert_non_null(x);
    projection_apply(p, 1, z, NULL, x);
    return x;
}

/* The same things in colour, each pixel 0.299 red + 0.587 green + 0.114 blue. */
static void grey_is_luminance(void **state)
{
    (void)state;
    for (size_t k = 0; k < SCENES; k++) {
        for (int64_t seed = 0; seed < 4; seed++) {
            double z[MOST];
            projection grey = scene_as(NAMES[k], 7, seed, "size=40 grey=true");
            projection colour = scene_as(NAMES[k], 7, seed, "size=40");
            assert_int_equal(grey.channels, 1);
            assert_int_equal(grey.features, 1600);
            for (size_t i = 0; i < grey.scene.count; i++) {
                assert_near(grey.scene.thing[i].x, colour.scene.thing[i].x, 0);
                assert_near(grey.scene.thing[i].radius, colour.scene.thing[i].radius, 0);
                colour.scene.thing[i] = grey.scene.thing[i];
            }
            grey.scene.rim = colour.scene.rim = false;
            some_z((size_t)seed, z);
            double *a = picture_of(&grey, z);
            double *b = picture_of(&colour, z);
            for (size_t i = 0; i < 1600; i++) {
                double light = 0.299 * b[3 * i] + 0.587 * b[3 * i + 1] + 0.114 * b[3 * i + 2];
                assert_near(a[i], light, 1e-12);
            }
            free(a);
            free(b);
            projection_close(&grey);
            projection_close(&colour);
        }
    }
}

/* A hue goes from bright to dark and never back. */
static void hues_are_seen_in_grey(void **state)
{
    (void)state;
    for (int64_t seed = 0; seed < 6; seed++) {
        projection p = scene_as("sprites", 3, seed, "size=64 grey=true");
        double last = 1;
        for (int k = -12; k <= 12; k++) {
            double *x = picture(&p, 2, k, 2, 0);
            double light = x[32 * 64 + 32];
            assert_true(light < last - 0.001);
            last = light;
            free(x);
        }
        projection_close(&p);
    }
}

/* Hue and brightness of a mover are both one number where it is grey; its rim tells them apart:
 * what one of them changes is not what the other does. */
static void movers_tell_hue_from_light_in_grey(void **state)
{
    (void)state;
    for (int64_t seed = 0; seed < 12; seed++) {
        projection p = scene_as("movers", 6, seed, "size=64 grey=true");
        for (int k = -2; k <= 2; k++) {
            double a = 0;
            double b = 0;
            double ab = 0;
            double *x[3] = {picture(&p, 4, k, 5, k), picture(&p, 4, k + 0.01, 5, k),
                            picture(&p, 4, k, 5, k + 0.01)};
            for (size_t i = 0; i < p.features; i++) {
                double hue = x[1][i] - x[0][i];
                double light = x[2][i] - x[0][i];
                a += hue * hue;
                b += light * light;
                ab += hue * light;
            }
            assert_true(fabs(ab) < 0.9 * sqrt(a * b));
            for (size_t i = 0; i < 3; i++) {
                free(x[i]);
            }
        }
        projection_close(&p);
    }
}

/* Of discs and pendulums, which use no more than that, the middle of a wide or tall picture is the
 * square one. */
static void the_middle_is_the_square(void **state)
{
    (void)state;
    const char *const names[] = {"discs", "pendulum"};
    for (size_t k = 0; k < 4; k++) {
        bool wide = k % 2 == 0;
        double z[MOST];
        projection square = scene_as(names[k / 2], 5, (int64_t)k, "size=48");
        projection more =
            scene_as(names[k / 2], 5, (int64_t)k, wide ? "size=48 width=80" : "size=70 width=48");
        size_t left = wide ? 16 : 0;
        size_t top = wide ? 0 : 11;
        assert_int_equal(more.width, wide ? 80 : 48);
        assert_int_equal(more.height, wide ? 48 : 70);
        some_z(k, z);
        double *a = picture_of(&square, z);
        double *b = picture_of(&more, z);
        for (size_t i = 0; i < square.features; i++) {
            size_t row = i / 3 / 48 + top;
            size_t column = i / 3 % 48 + left;
            assert_near(a[i], b[(row * more.width + column) * 3 + i % 3], 1e-9);
        }
        free(a);
        free(b);
        projection_close(&square);
        projection_close(&more);
    }
}

/* A ball in a wide picture goes 96 - 48 pixels further in all than in a square one, in a tall one
 * further down; far out it is still inside. As wide as high is what it is without a width. */
static void a_ball_uses_the_width(void **state)
{
    (void)state;
    for (int64_t seed = 1; seed <= 5; seed++) {
        projection p[3] = {scene_as("balls", 2, seed, "size=48"),
                           scene_as("balls", 2, seed, "size=48 width=96"),
                           scene_as("balls", 2, seed, "size=96 width=48 grey=true")};
        double right[3];
        double down[3];
        for (size_t k = 0; k < 3; k++) {
            right[k] = look_at(&p[k], 0, 1e6).column - look_at(&p[k], 0, -1e6).column;
            down[k] = look_at(&p[k], 1, 1e6).row - look_at(&p[k], 1, -1e6).row;
            double *x = picture(&p[k], 0, 1e6, 1, 1e6);
            size_t last = p[k].features - 1;
            assert_near(x[last], p[k].scene.background[last], 1e-12);
            free(x);
        }
        assert_near(right[1] - right[0], 48, 1);
        assert_near(down[1], down[0], 1);
        assert_near(down[2] - down[0], 48, 1);
        assert_near(right[2], right[0], 1);
        projection same = scene_as("balls", 2, seed, "size=48 width=48");
        double *a = picture(&p[0], 0, 3, 1, 2);
        double *b = picture(&same, 0, 3, 1, 2);
        assert_memory_equal(a, b, same.features * sizeof *a);
        free(a);
        free(b);
        projection_close(&same);
        for (size_t k = 0; k < 3; k++) {
            projection_close(&p[k]);
        }
    }
}

/* Any scene of any form, far out too: numbers from 0 to 1, and each node is seen. */
static void every_form_is_drawn(void **state)
{
    (void)state;
    const char *const forms[] = {"size=16 width=256", "size=50 width=17 grey=true",
                                 "size=33 width=64 grey=true", "size=64 width=16"};
    for (size_t k = 0; k < SCENES * 4; k++) {
        projection p = scene_as(NAMES[k / 4], 6, (int64_t)k, forms[k % 4]);
        double zero[MOST] = {0};
        double *middle = picture_of(&p, zero);
        for (size_t node = 0; node < 6; node++) {
            const double values[] = {-1e300, -5, 3, 1e9};
            for (size_t v = 0; v < 4; v++) {
                double *x = picture(&p, node, values[v], node, 0);
                double apart = 0;
                for (size_t i = 0; i < p.features; i++) {
                    assert_true(x[i] >= 0 && x[i] <= 1);
                    apart += fabs(x[i] - middle[i]);
                }
                assert_true(apart > 0.01);
                free(x);
            }
        }
        free(middle);
        projection_close(&p);
    }
}

/* Bytes are the float pictures times 255, rounded: 2^-24 of a number may decide between two. Noise
 * beyond black and white is cut, of pictures that float leaves as they are, too. */
static void bytes_are_rounded(void **state)
{
    (void)state;
    const char *const names[] = {"balls", "lamps", "blobs", "paper-image"};
    for (size_t k = 0; k < 4; k++) {
        size_t count;
        lscm_dataset *data[2];
        double *x[2];
        const char *changes[2] = {"x_noise=0.1 observational=30 sets=2 per_set=10 seed=5",
                                  "x_noise=0.1 observational=30 sets=2 per_set=10 seed=5 "
                                  "pixels=uint8"};
        for (size_t byte = 0; byte < 2; byte++) {
            data[byte] = simulated_as(names[k], 4, changes[byte]);
            x[byte] = read_all(data[byte], LSCM_X, &count);
        }
        assert_string_equal(lscm_dataset_shape(data[0], LSCM_X).dtype, "float32");
        assert_string_equal(lscm_dataset_shape(data[1], LSCM_X).dtype, "uint8");
        assert_int_equal(lscm_dataset_shape(data[1], LSCM_X).ndim, k < 2 ? 4 : 3);
        assert_non_null(strstr(lscm_dataset_recipe(data[1]), "uint8"));
        for (size_t i = 0; i < count; i++) {
            double whole = x[1][i];
            assert_true(whole == floor(whole) && whole >= 0 && whole <= 255);
            assert_near(whole, 255 * fmin(fmax(x[0][i], 0), 1), 0.5 + 255 * 0x1p-24);
        }
        for (size_t byte = 0; byte < 2; byte++) {
            lscm_dataset_free(data[byte]);
            free(x[byte]);
        }
    }
}

/* One do() alone has the same kind of rows as the data. */
static void a_do_has_the_same_pixels(void **state)
{
    (void)state;
    lscm_simulation s = simulation_of("spheres", 5, "size=20 width=30 grey=true pixels=uint8");
    lscm_dataset *data = NULL;
    lscm_error why;
    const uint8_t targets[5] = {1, 0, 0, 0, 1};
    const double values[5] = {2, 0, 0, 0, -1};
    assert_ok(lscm_simulate_do(&data, &s, targets, values, 3, 1, &why));
    lscm_shape shape = lscm_dataset_shape(data, LSCM_X);
    assert_string_equal(shape.dtype, "uint8");
    assert_int_equal(shape.ndim, 3);
    assert_int_equal(shape.dims[1], 20);
    assert_int_equal(shape.dims[2], 30);
    lscm_dataset_free(data);
}

static void refused(void **state)
{
    (void)state;
    const struct {
        const char *preset, *changes, *part;
    } cases[] = {
        {"balls", "width=8", "'width' is 8, but a scene has 16 to 256 pixels"},
        {"balls", "width=257", "width"},
        {"blobs", "width=32", "'width' is for scenes alone"},
        {"blobs", "grey=true", "'grey' is for scenes alone"},
        {"paper-linear", "pixels=uint8", "'pixels' is for pictures alone"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        lscm_dataset *data = NULL;
        lscm_simulation s = preset(cases[k].preset, 4, 1);
        lscm_error why;
        char name[16];
        char value[16];
        assert_int_equal(sscanf(cases[k].changes, "%15[^=]=%15s", name, value), 2);
        lscm_status status = lscm_settings_set(lscm_simulation_table(), &s, name, value, &why);
        status = status == LSCM_OK ? lscm_simulate(&data, &s, NULL, &why) : status;
        assert_int_equal(status, LSCM_USAGE);
        assert_non_null(strstr(why.text, cases[k].part));
        assert_null(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grey_is_luminance),
        cmocka_unit_test(hues_are_seen_in_grey),
        cmocka_unit_test(movers_tell_hue_from_light_in_grey),
        cmocka_unit_test(the_middle_is_the_square),
        cmocka_unit_test(a_ball_uses_the_width),
        cmocka_unit_test(every_form_is_drawn),
        cmocka_unit_test(bytes_are_rounded),
        cmocka_unit_test(a_do_has_the_same_pixels),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
