/* Mechanisms that bend on disk: they come back bit for bit, nothing is written where none does, and
 * a file in which any of them is not what bent.h promises is refused with a sentence. What is asked
 * of a run that came back is answered as before. */
#include "made_bent.h"

#include "testing.h"

#include "home.h"

static lscm_error why;

/* 6 draws of 4 nodes, 5 rows. */
static lscm_posterior *made(void)
{
    const size_t none[] = {0};
    const decoder g = made_decoder(DECODER_LINEAR, 4, none, 6);
    return made_to_bend(made_posterior(6, 5, &g));
}

static lscm_posterior *saved_and_opened(const lscm_posterior *p)
{
    lscm_posterior *back = NULL;
    assert_ok(posterior_save(p, home, &why));
    assert_ok(lscm_posterior_open(&back, home, &why));
    return back;
}

static void assert_same(const void *a, const void *b, size_t bytes)
{
    assert_memory_equal(a, b, bytes);
}

static void what_bends_comes_back(void **state)
{
    (void)state;
    lscm_posterior *p = made();
    lscm_posterior *back = saved_and_opened(p);
    const bent_mechanisms *a = p->bent;
    const bent_mechanisms *b = back->bent;
    assert_non_null(b);
    assert_int_equal(a->draws, b->draws);
    assert_int_equal(a->d, b->d);
    assert_int_equal(a->terms, b->terms);
    assert_true(a->terms > 10);
    assert_same(a->first, b->first, (a->draws * a->d + 1) * sizeof *a->first);
    assert_same(a->parent, b->parent, a->terms * 2 * sizeof *a->parent);
    assert_same(a->coef, b->coef, a->terms * CURVE_WIDTH * sizeof *a->coef);
    for (size_t i = 0; i < a->d; i++) {
        const curve_basis *one = &a->basis[i];
        const curve_basis *other = &b->basis[i];
        assert_int_equal(one->knots, other->knots);
        assert_same(one->knot, other->knot, sizeof one->knot);
        assert_same(one->value, other->value, sizeof one->value);
        assert_same(one->second, other->second, sizeof one->second);
    }
    lscm_posterior_free(back);
    lscm_posterior_free(p);
}

static char *bytes_of(const char *path, size_t *count)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = calloc(1, 1 << 20);
    assert_non_null(bytes);
    *count = fread(bytes, 1, 1 << 20, file);
    (void)fclose(file);
    return bytes;
}

/* Room for terms, but none there: the file of linear mechanisms. */
static void nothing_is_written_where_nothing_bends(void **state)
{
    size_t counts[2];
    char *bytes[2];
    (void)state;
    lscm_posterior *p = made();
    for (int k = 0; k < 2; k++) {
        p->bent = NULL;
        if (k == 1) {
            assert_ok(posterior_add_bent(p, 0, &why));
        }
        lscm_posterior *back = saved_and_opened(p);
        assert_null(back->bent);
        lscm_posterior_free(back);
        bytes[k] = bytes_of(at("posterior.nc"), &counts[k]);
    }
    assert_int_equal(counts[0], counts[1]);
    assert_same(bytes[0], bytes[1], counts[0]);
    free(bytes[0]);
    free(bytes[1]);
    lscm_posterior_free(p);
}

/* do() of a run that came back gives the rows of the one that was saved, and they are what the
 * curves say: without noise, the sum of the terms. */
static void samples_of_a_run_that_came_back_follow_the_curves(void **state)
{
    enum { ROWS = 30 };
    const uint8_t targets[4] = {0, 1, 0, 0};
    const double values[4] = {NAN, 0.75, NAN, NAN};
    double z[2][ROWS * 4];
    (void)state;
    lscm_posterior *p = made();
    memset(p->sigma, 0, p->draws * p->d * sizeof *p->sigma);
    lscm_posterior *back = saved_and_opened(p);
    const lscm_posterior *both[] = {p, back};
    for (int k = 0; k < 2; k++) {
        lscm_dataset *data = NULL;
        assert_ok(lscm_posterior_sample(&data, both[k], targets, values, ROWS, 3, &why));
        assert_ok(lscm_dataset_read(data, LSCM_Z, 0, ROWS, z[k], &why));
        lscm_dataset_free(data);
    }
    assert_same(z[0], z[1], sizeof z[0]);
    for (size_t row = 0; row < ROWS; row++) {
        size_t s = row % p->draws;
        for (size_t i = 0; i < 4; i++) {
            double mean = i == 1 ? 0.75 : p->intercept[s * 4 + i];
            for (size_t j = 0; j < 4 && i != 1 && !made_bends(p, s, i); j++) {
                mean += p->w[(s * 4 + j) * 4 + i] * z[0][row * 4 + j];
            }
            if (i != 1 && made_bends(p, s, i)) {
                mean += made_effect(p->bent, s, i, z[0] + row * 4, -1);
            }
            assert_near(z[0][row * 4 + i], mean, 1e-7);
        }
    }
    lscm_posterior_free(back);
    lscm_posterior_free(p);
}

typedef void (*spoil_fn)(lscm_posterior *p);

static void spoil_one_knot(lscm_posterior *p)
{
    p->bent->basis[2].knots = 1;
}

static void spoil_many_knots(lscm_posterior *p)
{
    p->bent->basis[2].knots = CURVE_KNOTS + 1;
}

static void spoil_order_of_knots(lscm_posterior *p)
{
    p->bent->basis[1].knot[2] = p->bent->basis[1].knot[1];
}

static void spoil_gap_of_knots(lscm_posterior *p)
{
    p->bent->basis[1].knot[0] = -1.5e308;
    p->bent->basis[1].knot[1] = 1.5e308;
}

static void spoil_knot(lscm_posterior *p)
{
    p->bent->basis[3].knot[0] = NAN;
}

static void spoil_value(lscm_posterior *p)
{
    p->bent->basis[3].value[1][1] = INFINITY;
}

static void spoil_second(lscm_posterior *p)
{
    p->bent->basis[0].second[1][1] = NAN;
}

static void spoil_coef(lscm_posterior *p)
{
    p->bent->coef[5] = NAN;
}

static void spoil_start(lscm_posterior *p)
{
    p->bent->first[0] = 1;
}

static void spoil_back(lscm_posterior *p)
{
    p->bent->first[12] = p->bent->first[11] > 0 ? 0 : UINT64_MAX;
}

static void spoil_far(lscm_posterior *p)
{
    p->bent->first[3] = UINT64_MAX;
}

static void spoil_end(lscm_posterior *p)
{
    p->bent->first[p->draws * p->d]--;
}

static void spoil_parent(lscm_posterior *p)
{
    p->bent->parent[0] = 4;
}

static void spoil_negative_parent(lscm_posterior *p)
{
    p->bent->parent[0] = BENT_ALONE;
}

static void spoil_other_parent(lscm_posterior *p)
{
    p->bent->parent[1] = -2;
}

static void spoil_same_parents(lscm_posterior *p)
{
    p->bent->parent[1] = p->bent->parent[0];
}

/* The last node of draw 0 that bends gets a parent that comes after all others. */
static void spoil_cause(lscm_posterior *p)
{
    p->bent->parent[0] = (int32_t)p->order[3];
}

static void what_is_not_sound_is_refused(void **state)
{
    static const struct {
        spoil_fn spoil;
        const char *part;
    } cases[] = {
        {spoil_one_knot, "'knots' of node 2 is 1; there are none, or 2 to 16"},
        {spoil_many_knots, "'knots' of node 2 is 17"},
        {spoil_order_of_knots, "'knot' of node 1 does not ascend"},
        {spoil_gap_of_knots, "'knot' of node 1 does not ascend"},
        {spoil_knot, "'knot' is nan in row 3"},
        {spoil_value, "'value' is inf in row 3"},
        {spoil_second, "'second' is nan in row 0"},
        {spoil_coef, "'coef' is nan in row 0"},
        {spoil_start, "'first' does not ascend from 0"},
        {spoil_back, "'first' does not ascend from 0"},
        {spoil_far, "'first' does not ascend from 0"},
        {spoil_end, "'first' does not ascend from 0"},
        {spoil_parent, "'parent' of term 0 is not one or two nodes before"},
        {spoil_negative_parent, "'parent' of term 0 is not"},
        {spoil_other_parent, "'parent' of term 0 is not"},
        {spoil_same_parents, "'parent' of term 0 is not"},
        {spoil_cause, "'parent' of term 0 is not one or two nodes before node"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        lscm_posterior *back = NULL;
        lscm_posterior *p = made();
        cases[k].spoil(p);
        assert_ok(posterior_save(p, home, &why));
        assert_fails(lscm_posterior_open(&back, home, &why), LSCM_VALUE, cases[k].part);
        assert_null(back);
        lscm_posterior_free(p);
    }
}

/* Arrays of other shapes than the rest of the file says. */
static void other_shapes_are_refused(void **state)
{
    static const struct {
        size_t draws, d;
        const char *part;
    } cases[] = {
        {6, 3, "dimension 0 of 'knots' has length 3, but the rest of the file says 4"},
        {5, 4, "dimension 0 of 'first' has length 21, but the rest of the file says 25"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        lscm_posterior *back = NULL;
        lscm_posterior *p = made();
        p->bent->draws = cases[k].draws;
        p->bent->d = cases[k].d;
        assert_ok(posterior_save(p, home, &why));
        assert_fails(lscm_posterior_open(&back, home, &why), LSCM_SHAPE, cases[k].part);
        assert_null(back);
        lscm_posterior_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_AT_HOME(what_bends_comes_back),
        TEST_AT_HOME(nothing_is_written_where_nothing_bends),
        TEST_AT_HOME(samples_of_a_run_that_came_back_follow_the_curves),
        TEST_AT_HOME(what_is_not_sound_is_refused),
        TEST_AT_HOME(other_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
