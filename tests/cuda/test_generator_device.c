/* A generator's steps on a device: as on the CPU, the same bits again and after a checkpoint, and a
 * network that diverged is said to, if some steps later. */
#include "generator_testing.h"
#include "on_device.h"
#include "testing.h"

static lscm_error why;
static world w;

static const generator_settings quick = {
    .hidden = 12, .batch = 32, .first = 10, .each = 4, .rounds = 2, .rate = 0.025, .seed = 1};

static generator *opened(const device *on)
{
    generator *g = NULL;
    generator_rows rows = world_rows(&w);
    generator_settings s = quick;
    s.device = on;
    s.homogeneous = w.inverse.homogeneous;
    assert_ok(generator_open(&g, &rows, &s, &why));
    return g;
}

/* To step `until`, or to the end. */
static void train(generator *g, size_t until)
{
    generator_round round = {NAN, NAN};
    while (generator_done(g) < generator_total(g) || generator_due(g)) {
        if (generator_due(g)) {
            assert_ok(generator_refine(g, &round, &why));
        } else if (generator_done(g) == until) {
            break;
        } else {
            assert_ok(generator_step(g, &why));
        }
    }
}

/* All that moves, as bytes. */
static char *all_of(generator *g, size_t *bytes)
{
    piece pieces[GENERATOR_PIECES];
    size_t count = generator_pieces(g, pieces);
    char *out = test_malloc(pieces_bytes(pieces, count));
    assert_ok(generator_collect(g, &why));
    pieces_get(pieces, count, out);
    *bytes = pieces_bytes(pieces, count);
    return out;
}

static void steps_match_the_cpu(void **state)
{
    (void)state;
    for (int homogeneous = 0; homogeneous < 2; homogeneous++) {
        world_make(&w, 41, homogeneous != 0, 0.02, 0.5);
        const network_shape shape = generator_layers(w.d, quick.hidden, w.R, homogeneous != 0);
        size_t count = network_count(&shape);
        generator *there = opened(on_device());
        generator *here = opened(on_cpu());
        train(there, 8);
        train(here, 8);
        piece a[GENERATOR_PIECES];
        piece b[GENERATOR_PIECES];
        assert_ok(generator_collect(there, &why));
        (void)generator_pieces(there, a);
        (void)generator_pieces(here, b);
        const float *p = a[1].at;
        const float *q = b[1].at;
        for (size_t i = 0; i < count; i++) {
            assert_near(p[i], q[i], 1e-4);
        }
        train(there, SIZE_MAX);
        train(here, SIZE_MAX);
        static double z[2][WORLD_ROWS * WORLD_D];
        generator_z(there, z[0]);
        generator_z(here, z[1]);
        for (size_t i = 0; i < w.rows * w.d; i++) {
            assert_near(z[0][i], z[1][i], 1e-3 * here->scale);
        }
        generator_close(there);
        generator_close(here);
    }
}

static void a_state_goes_on(void **state)
{
    (void)state;
    const size_t stops[] = {3, 12};
    size_t bytes = 0;
    world_make(&w, 42, false, 0.02, 0.5);
    generator *whole = opened(on_device());
    train(whole, SIZE_MAX);
    char *end = all_of(whole, &bytes);
    for (size_t k = 0; k < sizeof stops / sizeof stops[0]; k++) {
        generator *first = opened(on_device());
        generator *second = opened(on_device());
        train(first, stops[k]);
        char *middle = all_of(first, &bytes);
        piece pieces[GENERATOR_PIECES];
        train(second, 1); /* and what it had is forgotten */
        pieces_set(pieces, generator_pieces(second, pieces), middle);
        generator_renew(second);
        train(second, SIZE_MAX);
        train(first, SIZE_MAX); /* collecting changes nothing */
        char *again = all_of(second, &bytes);
        char *on = all_of(first, &bytes);
        assert_memory_equal(end, again, bytes);
        assert_memory_equal(end, on, bytes);
        test_free(middle);
        test_free(again);
        test_free(on);
        generator_close(first);
        generator_close(second);
    }
    test_free(end);
    generator_close(whole);
}

static void divergence_is_said(void **state)
{
    (void)state;
    world_make(&w, 43, false, 0.02, 0.5);
    generator *g = opened(on_device());
    assert_ok(generator_step(g, &why));
    assert_ok(generator_step(g, &why));
    for (size_t i = 0; i < w.rows * w.R; i++) {
        g->y[i] = INFINITY;
    }
    g->far.queue->does->put(g->far.queue, w.rows * w.R * sizeof(float), g->y, g->far.y);
    assert_ok(generator_step(g, &why));
    assert_ok(generator_step(g, &why));
    assert_fails(generator_collect(g, &why), LSCM_VALUE, "diverged at step 2;");
    generator_close(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_match_the_cpu),
        cmocka_unit_test(a_state_goes_on),
        cmocka_unit_test(divergence_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
