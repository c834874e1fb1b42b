/* A generator's training again: the same bits on any number of threads and after a checkpoint; and
 * what can go wrong in it, said in a sentence and not spread. */
#include "generator_training.h"

#include "base/threads.h"

static size_t size_of(generator *g)
{
    piece pieces[GENERATOR_PIECES];
    return pieces_bytes(pieces, generator_pieces(g, pieces));
}

/* All that moves, as bytes; with a model's help from the first round on. */
static char *all_of(generator *g)
{
    piece pieces[GENERATOR_PIECES];
    size_t count = generator_pieces(g, pieces);
    char *bytes = calloc(1, pieces_bytes(pieces, count));
    assert_non_null(bytes);
    pieces_get(pieces, count, bytes);
    return bytes;
}

static void put_back(generator *g, const char *bytes)
{
    piece pieces[GENERATOR_PIECES];
    size_t count = generator_pieces(g, pieces);
    pieces_set(pieces, count, bytes);
}

static const double weights[WORLD_D * WORLD_D] = {[2] = 0.5, [WORLD_D] = -1};
static const double zero[WORLD_D] = {0};
static const double sigma[WORLD_D] = {3, 3, 3, 3};
static const mechanism_model helper = {
    .d = WORLD_D, .w = weights, .intercept = zero, .sigma = sigma};

static void test_state(void **state)
{
    (void)state;
    const size_t stops[] = {1, 100, 120, 137, 180, 295};
    world_make(&w, 41, false, 0.02, 0.5);
    generator *whole = open_generator(&quick);
    generator_use(whole, &helper);
    (void)train(whole, SIZE_MAX);
    char *end = all_of(whole);
    for (size_t k = 0; k < sizeof stops / sizeof stops[0]; k++) {
        generator *first = open_generator(&quick);
        generator *second = open_generator(&quick);
        generator_use(first, &helper);
        generator_use(second, &helper);
        (void)train(first, stops[k]);
        char *middle = all_of(first);
        put_back(second, middle);
        assert_int_equal(generator_done(second), stops[k]);
        (void)train(second, SIZE_MAX);
        char *again = all_of(second);
        assert_memory_equal(end, again, size_of(whole));
        free(middle);
        free(again);
        generator_close(first);
        generator_close(second);
    }
    free(end);
    generator_close(whole);
}

static void test_threads(void **state)
{
    (void)state;
    static double first[3][WORLD_ROWS * WORLD_D];
    double blur[WORLD_D * WORLD_D * WORLD_D];
    double r2[WORLD_D];
    generator_errors errors = {r2, NAN};
    char *end = NULL;
    threads_blas_single();
    int had = threads_use(1);
    world_make(&w, 42, true, 0.02, 0.5);
    for (int threads = 1; threads <= 3; threads++) {
        (void)threads_use(threads);
        generator *g = open_generator(&quick);
        generator_use(g, &helper);
        (void)train(g, SIZE_MAX);
        assert_ok(generator_finish(g, &errors, &why));
        assert_ok(generator_read(g, NULL, z, sd, blur, &why));
        char *bytes = all_of(g);
        if (threads == 1) {
            memcpy(first[0], z, sizeof z);
            memcpy(first[1], sd, sizeof sd);
            memcpy(first[2], blur, sizeof blur);
            end = bytes;
        } else {
            assert_memory_equal(end, bytes, size_of(g));
            assert_memory_equal(first[0], z, sizeof z);
            assert_memory_equal(first[1], sd, sizeof sd);
            assert_memory_equal(first[2], blur, sizeof blur);
            free(bytes);
        }
        generator_close(g);
    }
    free(end);
    (void)threads_use(had);
    threads_blas_restore();
}

/* ---- What can go wrong ---- */

/* A row that is not a number: a sentence, sooner or later, and no result. */
static void test_nan(void **state)
{
    (void)state;
    for (int homogeneous = 0; homogeneous < 2; homogeneous++) {
        lscm_status status = LSCM_OK;
        generator *g = NULL;
        generator_round round;
        generator_settings s = quick;
        s.device = on_cpu();
        s.homogeneous = homogeneous != 0;
        world_make(&w, 43, s.homogeneous, 0.02, 0.5);
        w.f[7 * w.R] = NAN;
        generator_rows rows = world_rows(&w);
        why.text[0] = '\0';
        status = generator_open(&g, &rows, &s, &why);
        while (status == LSCM_OK && (generator_done(g) < generator_total(g) || generator_due(g))) {
            status = generator_due(g) ? generator_refine(g, &round, &why) : generator_step(g, &why);
        }
        assert_int_equal(status, LSCM_VALUE);
        assert_true(strlen(why.text) > 10);
        generator_close(g);
    }
}

/* A step too long is a sentence too, not a NaN. */
static void test_diverges(void **state)
{
    (void)state;
    lscm_status status = LSCM_OK;
    generator_round round;
    generator_settings s = quick;
    s.rate = 1e30;
    world_make(&w, 44, false, 0.02, 0.5);
    generator *g = open_generator(&s);
    while (status == LSCM_OK && (generator_done(g) < generator_total(g) || generator_due(g))) {
        status = generator_due(g) ? generator_refine(g, &round, &why) : generator_step(g, &why);
    }
    assert_int_equal(status, LSCM_VALUE);
    assert_non_null(strstr(why.text, "--rate"));
    generator_close(g);
}

/* Held-out values that are all the same have no variance to explain: they must not outweigh those
 * that do. */
static void test_held_out_constant(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) {
        generator_round round;
        generator_settings s = quick;
        s.first = s.each = s.rounds = 1;
        world_make(&w, 45, false, 0.02, 0.5);
        for (size_t at = 0; at < w.rows * w.d; at += w.d) {
            w.values[at] = w.held[at] != 0 ? 0.1 + 0.3 * k : w.values[at];
        }
        design_again(&w.design, w.rows, w.d, w.mask, w.values);
        generator *g = open_generator(&s);
        assert_ok(generator_step(g, &why));
        assert_ok(generator_refine(g, &round, &why));
        assert_true(round.held_out < 100);
        generator_close(g);
    }
}

/* Without held-out values the last round counts, and nothing is said of R2. */
static void test_nothing_held_out(void **state)
{
    (void)state;
    double r2[WORLD_D];
    generator_errors errors = {r2, NAN};
    world_make(&w, 46, false, 0.02, 0.5);
    memset(w.held, 0, sizeof w.held);
    generator *g = open_generator(&quick);
    while (generator_done(g) < generator_total(g) || generator_due(g)) {
        generator_round round;
        if (generator_due(g)) {
            assert_ok(generator_refine(g, &round, &why));
            assert_true(isnan(round.held_out));
        } else {
            assert_ok(generator_step(g, &why));
        }
    }
    assert_ok(generator_finish(g, &errors, &why));
    assert_ok(generator_read(g, NULL, z, sd, NULL, &why));
    for (size_t at = 0; at < w.rows * w.d; at++) {
        assert_true(isfinite(z[at]) && isfinite(sd[at]));
        assert_true(isnan(r2[at % w.d]));
    }
    assert_true(errors.gain == 0);
    generator_close(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_nan),
        cmocka_unit_test(test_diverges),
        cmocka_unit_test(test_held_out_constant),
        cmocka_unit_test(test_nothing_held_out),
    };
    (void)threads_use(1); /* others may want the cores */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
