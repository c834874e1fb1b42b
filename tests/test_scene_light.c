/* Spheres are shaded by a light that a node turns around all of them; lamps glow as bright as their
 * nodes say, over a dark background. */
#include "scene_testing.h"

enum { SIZE = 96 };

/* s of scene.h: z in the units of the preset's values, U(-5, 5), whose rms is 5/sqrt(3). */
static double share(double z)
{
    double v = z / (4 * 0.5 * 5 / sqrt(3));
    return v / sqrt(1 + v * v);
}

/* Sums over the inner part of a sphere: its brightness, and where that is from the middle. */
typedef struct shading {
    double least, most; /* pixels, summed over their colours */
    double right, down;
} shading;

static shading shading_of(const projection *p, const scene_thing *t, double size, const double *x)
{
    shading s = {.least = 3};
    double column = (t->x + p->scene.shift_x) * SIZE - 0.5;
    double row = (t->y + p->scene.shift_y) * SIZE - 0.5;
    double radius = size * t->radius * SIZE - 1.5;
    for (size_t pixel = 0; pixel < (size_t)SIZE * SIZE; pixel++) {
        double across = (double)(pixel % SIZE) - column;
        double along = (double)pixel / SIZE - (double)(pixel % SIZE) / SIZE - row;
        double light = x[3 * pixel] + x[3 * pixel + 1] + x[3 * pixel + 2];
        if (across * across + along * along < radius * radius) {
            s.least = fmin(s.least, light);
            s.most = fmax(s.most, light);
            s.right += light * across;
            s.down += light * along;
        }
    }
    return s;
}

/* The side that is bright is the one that the light is on; it turns with node 2, by 0.8 of the
 * circle from end to end. Where the light falls straight on the sphere it has its colour, whose
 * parts add up to 3/2 for every hue; where it does not reach, 1/5 of that. */
static void a_node_turns_the_light(void **state)
{
    (void)state;
    const double turn = 2 * acos(-1);
    for (int64_t seed = 1; seed <= 8; seed++) {
        projection p = scene_of("spheres", 5, seed, SIZE);
        const scene_thing *t = &p.scene.thing[0];
        for (int k = -6; k <= 6; k++) {
            double z[5] = {0, 0, 2.0 * k, 0, 12};
            double *x = malloc(p.features * sizeof *x);
            assert_non_null(x);
            projection_apply(&p, 1, z, NULL, x);
            shading s = shading_of(&p, t, exp(0.5 * share(12)), x);
            double angle = p.scene.light + 0.4 * turn * share(z[2]);
            double apart = fabs(remainder(atan2(s.down, s.right) - angle, turn));
            assert_true(apart < 0.06);
            assert_near(s.most, 1.5, 0.02);
            assert_near(s.least, 0.3, 0.02);
            free(x);
        }
        projection_close(&p);
    }
}

/* Every sphere has the same light: turned, all of them change; the other nodes are of one each. */
static void the_light_is_of_all(void **state)
{
    (void)state;
    projection p = scene_of("spheres", 9, 3, SIZE);
    double z[2][9] = {{-6, -6, -4, 0, 0, 6, 6, 0, 0}, {-6, -6, 4, 0, 0, 6, 6, 0, 0}};
    double *x = malloc(2 * p.features * sizeof *x);
    assert_non_null(x);
    assert_int_equal(p.scene.count, 2);
    projection_apply(&p, 2, z[0], NULL, x);
    for (size_t k = 0; k < 2; k++) {
        scene_thing t = p.scene.thing[k];
        t.x += t.reach * share(k == 0 ? -6 : 6);
        t.y += t.reach * share(k == 0 ? -6 : 6);
        shading before = shading_of(&p, &t, 1, x);
        shading after = shading_of(&p, &t, 1, x + p.features);
        double was = atan2(before.down, before.right);
        double turned = 0.4 * 2 * acos(-1) * (share(4) - share(-4));
        double is = atan2(after.down, after.right);
        assert_near(remainder(is - was - turned, 2 * acos(-1)), 0, 0.25);
    }
    free(x);
    projection_close(&p);
}

static void a_sphere_goes_and_grows(void **state)
{
    (void)state;
    for (int64_t seed = 1; seed <= 6; seed++) {
        projection p = scene_of("spheres", 5, seed, SIZE);
        for (int k = -8; k < 8; k++) {
            double z = k;
            assert_true(look_at(&p, 0, z + 1).column > look_at(&p, 0, z).column + 0.1);
            assert_true(look_at(&p, 1, z + 1).row > look_at(&p, 1, z).row + 0.1);
            assert_true(look_at(&p, 4, z + 1).mass > look_at(&p, 4, z).mass * 1.02);
        }
        /* the colour changes, and nothing else: parts of the same sum in the same places */
        double *a = picture(&p, 3, -5, 3, 0);
        double *b = picture(&p, 3, 5, 3, 0);
        const scene_thing *t = &p.scene.thing[0];
        double least = shading_of(&p, t, 1, a).least;
        assert_near(shading_of(&p, t, 1, b).least, least, 1e-9);
        assert_near(shading_of(&p, t, 1, b).most, shading_of(&p, t, 1, a).most, 1e-9);
        double largest = 0;
        for (size_t i = 0; i < p.features; i++) {
            largest = fmax(largest, fabs(a[i] - b[i]));
        }
        assert_true(largest > 0.3);
        free(a);
        free(b);
        projection_close(&p);
    }
}

/* Around a single lamp the picture is b + k l (c - b), k Gaussian in the distance: with the light l
 * of the lamp known from z, pictures are in proportion. */
static void glow_is_in_proportion_to_light(void **state)
{
    (void)state;
    for (int64_t seed = 1; seed <= 6; seed++) {
        projection p = scene_of("lamps", 1, seed, SIZE);
        const scene_thing *t = &p.scene.thing[0];
        double *dim = picture(&p, 0, -4, 0, 0);
        double *bright = picture(&p, 0, 7, 0, 0);
        double ratio = (1 + share(7)) / (1 + share(-4));
        size_t compared = 0;
        for (size_t i = 0; i < p.features; i++) {
            double across = ((double)(i / 3 % SIZE) + 0.5) / SIZE - t->x - p.scene.shift_x;
            double along = ((double)(i / 3 / SIZE) + 0.5) / SIZE - t->y - p.scene.shift_y;
            if (hypot(across, along) > t->radius + 2.0 / SIZE) {
                double low = dim[i] - p.scene.background[i];
                assert_near(bright[i] - p.scene.background[i], ratio * low, 1e-12);
                assert_true(low >= 0);
                compared += low > 0.01 ? 1 : 0;
            }
        }
        assert_true(compared > 1000);
        free(dim);
        free(bright);
        projection_close(&p);
    }
}

/* Each bulb gets brighter with its node, and with no other as much; it is night. */
static void each_lamp_has_its_node(void **state)
{
    (void)state;
    for (int64_t d = 1; d <= 12; d++) {
        projection p = scene_of("lamps", d, d, SIZE);
        double sum = 0;
        assert_int_equal(p.scene.count, d);
        for (size_t i = 0; i < p.features; i++) {
            sum += p.scene.background[i];
        }
        assert_true(sum / (double)p.features < 0.3);
        for (size_t lamp = 0; lamp < (size_t)d; lamp++) {
            const scene_thing *t = &p.scene.thing[lamp];
            size_t row = (size_t)((t->y + p.scene.shift_y) * SIZE);
            size_t column = (size_t)((t->x + p.scene.shift_x) * SIZE);
            size_t at = (row * SIZE + column) * 3;
            for (size_t node = 0; node < (size_t)d; node++) {
                double last = 0;
                double first = 0;
                for (int k = -5; k <= 5; k++) {
                    double *x = picture(&p, node, 2 * k, node, 0);
                    double light = x[at] + x[at + 1] + x[at + 2];
                    assert_true(node != lamp || k == -5 || light > last + 0.005);
                    first = k == -5 ? light : first;
                    last = light;
                    free(x);
                }
                assert_true(node == lamp ? last - first > 0.8 : fabs(last - first) < 0.2);
            }
        }
        projection_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_turns_the_light),  cmocka_unit_test(the_light_is_of_all),
        cmocka_unit_test(a_sphere_goes_and_grows), cmocka_unit_test(glow_is_in_proportion_to_light),
        cmocka_unit_test(each_lamp_has_its_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
