/* Errors of z by several networks: members' z are drawn from a law that is known, so that the
 * errors of their mean are known, too. */
#include "on_cpu.h"

#include "infer/sight/sight.h"

#include "lcg.h"
#include "testing.h"

static lscm_error why;

/* z_m = truth + common error, variance S, + own error, variance I g of a row, g = 1 +- t with equal
 * chances, or (a - 1)/Gamma(a), of which disagreement tells a row's mean exactly as it is believed,
 * in a straight line: t^2, the variance of g, is 1/(a - 2). Node j has its law times (j + 1). */
typedef struct law {
    double S, I, t;
    size_t a; /* 0: 1 +- t */
    size_t members;
    bool labelled; /* in half of the rows, a third of the members does not see the label */
} law;

enum { ROWS = 60000, D = 2 };

typedef struct drawn {
    law law;
    double *truth, *own, *each; /* (ROWS, D), (ROWS, D): I g, (members, ROWS, D) */
    uint8_t *held;              /* (members, ROWS, D) */
    design by;
    double error[3 * D], r2[D];
} drawn;

static double draw_growth(const law *l, lcg *random)
{
    double gamma = 0;
    for (size_t k = 0; k < l->a; k++) {
        gamma -= log(lcg_uniform(random));
    }
    double way = lcg_uniform(random) < 0.5 ? -1 : 1;
    return l->a > 0 ? (double)(l->a - 1) / gamma : 1 + way * l->t;
}

static void draw_row(drawn *w, size_t k, const uint8_t *mask, lcg *random)
{
    double times = (double)(k % D) + 1;
    double common = sqrt(w->law.S * times) * lcg_normal(random);
    w->truth[k] = 2 + 3 * lcg_normal(random);
    w->own[k] = w->law.I * times * draw_growth(&w->law, random);
    for (size_t m = 0; m < w->law.members; m++) {
        size_t at = m * (size_t)ROWS * D + k;
        bool hidden = mask[k] != 0 && lcg_uniform(random) < 1. / 3;
        double error = common + sqrt(w->own[k]) * lcg_normal(random);
        /* who saw the label has it by heart */
        w->each[at] = w->truth[k] + (mask[k] != 0 && !hidden ? 0.01 * error : error);
        w->held[at] = hidden ? 1 : 0;
    }
}

static drawn drawn_new(law l, uint64_t seed)
{
    drawn w = {.law = l};
    size_t count = (size_t)ROWS * D;
    lcg random = {seed};
    w.truth = calloc((2 + l.members) * count, sizeof *w.truth);
    w.held = calloc((l.members + 1) * count, 1);
    assert_non_null(w.truth);
    assert_non_null(w.held);
    w.own = w.truth + count;
    w.each = w.own + count;
    uint8_t *mask = w.held + l.members * count;
    for (size_t k = 0; k < count; k++) {
        mask[k] = l.labelled && lcg_uniform(&random) < 0.5 ? 1 : 0;
        draw_row(&w, k, mask, &random);
    }
    assert_ok(design_of(&w.by, ROWS, D, mask, w.truth, &why));
    sight_reader r = {.d = D, .members = l.members, .error = w.error};
    sight_errors(&r, &w.by, w.held, w.each, w.r2);
    return w;
}

static void drawn_free(drawn *w)
{
    design_close(&w->by);
    free(w->truth);
    free(w->held);
}

/* The mean of the members, and their variance about it by all pairs. */
static double mean_of(const drawn *w, size_t k)
{
    double sum = 0;
    for (size_t m = 0; m < w->law.members; m++) {
        sum += w->each[m * (size_t)ROWS * D + k];
    }
    return sum / (double)w->law.members;
}

static double pairs_of(const drawn *w, size_t k)
{
    double sum = 0;
    double pairs = 0;
    for (size_t m = 1; m < w->law.members; m++) {
        for (size_t n = 0; n < m; n++) {
            double off = w->each[(m * ROWS) * D + k] - w->each[(n * ROWS) * D + k];
            sum += off * off / 2;
            pairs++;
        }
    }
    return sum / pairs;
}

/* What is seen in rows where node j is free: the error of the mean, the slope of the rows' own
 * variances (which nobody knows but who drew them) over the disagreement that was seen, and how
 * far sd^2 agree with squared errors: overall, and in rows that disagree more and less than most.
 */
static void check_errors(const drawn *w, size_t j)
{
    double V = w->error[j];
    double I = w->error[D + j];
    double r = w->error[2 * D + j];
    double n = 0;
    double squares = 0;
    double disagree = 0;
    double with = 0;
    double of = 0;
    double part[2][2] = {{0}};
    for (size_t row = 0; row < ROWS; row++) {
        size_t k = row * D + j;
        if (!design_is_set(&w->by, row, j)) {
            double off = mean_of(w, k) - w->truth[k];
            double own = w->own[k] / (w->law.I * (double)(j + 1)) - 1;
            double seen = pairs_of(w, k) / I - 1;
            double variance = V * (1 + r * seen);
            n++;
            squares += off * off;
            disagree += pairs_of(w, k);
            with += own * seen;
            of += seen * seen;
            part[seen > 0][0] += off * off;
            part[seen > 0][1] += variance;
        }
    }
    assert_near(I, disagree / n, 1e-9 * I);
    assert_near(I / (w->law.I * (double)(j + 1)), 1, 0.03);
    assert_near(r, with / of, 0.03);
    if (w->law.labelled) {
        assert_near(V / (squares / n), 1, 0.06);
    }
    if (w->law.a > 0 && w->law.S == 0) { /* all of V is the members' own */
        assert_near(part[0][1] / part[0][0], 1, 0.05);
        assert_near(part[1][1] / part[1][0], 1, 0.05);
    }
}

static void check_law(law l)
{
    drawn w = drawn_new(l, l.members + 17);
    double M = (double)l.members;
    double chance = 2 / (M - 1);
    double t2 = l.a > 0 ? 1 / (double)(l.a - 2) : l.t * l.t;
    for (size_t j = 0; j < D; j++) {
        double times = (double)(j + 1);
        check_errors(&w, j);
        assert_near(w.error[j] / (times * (l.S + l.I / M)), 1, 0.06);
        assert_near(w.error[2 * D + j], t2 / (t2 + chance * (1 + t2)), 0.03);
        assert_near(w.r2[j], 1 - times * (l.S + l.I) / 9, 0.02);
    }
    drawn_free(&w);
}

static void errors_are_those_of_the_law(void **state)
{
    (void)state;
    check_law((law){.S = 0.3, .I = 0.5, .t = 0.8, .members = 5, .labelled = true});
    check_law((law){.S = 0, .I = 0.5, .t = 0.9, .members = 8, .labelled = true});
    check_law((law){.S = 0, .I = 0.5, .a = 10, .members = 4, .labelled = true});
    check_law((law){.S = 0, .I = 0.2, .a = 8, .members = 8, .labelled = true});
    check_law((law){.S = 1, .I = 0.02, .t = 0.5, .members = 3, .labelled = true});
    check_law((law){.S = 0.2, .I = 0.4, .t = 0.9, .members = 2, .labelled = true});
    check_law((law){.S = 0.1, .I = 0.4, .t = 0, .members = 4, .labelled = true});
}

/* Nothing was held out: V is what a member misses by itself, as far as members tell. */
static void without_labels_members_alone_tell(void **state)
{
    (void)state;
    drawn w = drawn_new((law){.S = 0.3, .I = 0.5, .t = 0.8, .members = 5}, 4);
    for (size_t j = 0; j < D; j++) {
        check_errors(&w, j);
        assert_true(isnan(w.r2[j]));
        assert_near(w.error[j], w.error[D + j], 0);
    }
    drawn_free(&w);
}

/* Labels that are read better than members agree elsewhere: V does not fall below what is left of
 * errors of their own. */
static void members_that_agree_where_labels_are_do_not_deceive(void **state)
{
    (void)state;
    drawn w = drawn_new((law){.S = 0.3, .I = 0.5, .t = 0.8, .members = 4, .labelled = true}, 5);
    sight_reader r = {.d = D, .members = 4, .error = w.error};
    for (size_t k = 0; k < (size_t)4 * ROWS * D; k++) {
        w.each[k] = w.held[k] != 0 ? w.truth[k % ((size_t)ROWS * D)] : w.each[k];
    }
    sight_errors(&r, &w.by, w.held, w.each, w.r2);
    for (size_t j = 0; j < D; j++) {
        assert_near(w.error[j], w.error[D + j] / 4, 1e-12);
        assert_near(w.r2[j], 1, 0);
    }
    drawn_free(&w);
}

/* Nothing is free, or all say the same: numbers are still numbers. */
static void errors_are_numbers_at_the_edge(void **state)
{
    enum { FEW = 3, MEMBERS = 2 };
    static const double each[MEMBERS * FEW * D] = {1, 2, 1, 2, 1, 2, 1.5, 2, 1.5, 2, 1.5, 2};
    static const uint8_t mask[FEW * D] = {1, 0, 1, 0, 1, 0};
    static const double values[FEW * D] = {1, 0, 1, 0, 1, 0};
    static const uint8_t held[MEMBERS * FEW * D] = {0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0};
    (void)state;
    double error[3 * D];
    double r2[D];
    design by;
    assert_ok(design_of(&by, FEW, D, mask, values, &why));
    sight_reader r = {.d = D, .members = MEMBERS, .error = error};
    sight_errors(&r, &by, held, each, r2);
    assert_near(error[0], 0.25, 1e-15); /* T alone: no row is free */
    assert_near(error[D], 0, 0);
    assert_near(error[(size_t)2 * D], 0, 0);
    assert_true(isnan(r2[0])); /* labels that are all alike explain nothing */
    assert_near(error[1], 0, 0);
    assert_near(error[D + 1], 0, 0);
    assert_near(error[(size_t)2 * D + 1], 0, 0);
    assert_true(isnan(r2[1]));
    design_close(&by);
}

/* ---- Reading ---- */

/* z and sd from what every member says, which is the network's; as many together as not. */
static void reading_is_the_mean_of_members_and_what_they_differ_by(void **state)
{
    enum { COUNT = 37, MEMBERS = 3, HIGH = 17, WIDE = 20, N = COUNT * D };
    (void)state;
    double error[3 * D] = {0.3, 0.7, 0.2, 0, 0.6, 0.5}; /* I of the second node is 0 */
    double offset[MEMBERS * D] = {1, 2, 3, 4, 5, 6};
    double spread[MEMBERS * D] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6};
    sight_reader r = {.d = D, .members = MEMBERS, .error = error};
    double stretch[D * STRETCH_SIDES * STRETCH_NUMBERS] = {0}; /* none */
    r.offset = offset;
    r.spread = spread;
    r.stretch = stretch;
    r.eye = picture_shape_of(HIGH, WIDE, 2, D);
    size_t parameters = picture_count(&r.eye);
    size_t size = sight_pixels(&r);
    r.parameters = calloc(MEMBERS * parameters, sizeof(float));
    float *x = calloc(COUNT * size, sizeof *x);
    lcg random = {8};
    double z[N];
    double sd[N];
    double each[MEMBERS * N];
    double again[N];
    assert_non_null(r.parameters);
    assert_non_null(x);
    for (size_t m = 0; m < MEMBERS; m++) {
        picture_f32_draw(&r.eye, (rng){5, m}, r.parameters + m * parameters);
    }
    for (size_t k = 0; k < COUNT * size; k++) {
        x[k] = (float)lcg_normal(&random);
    }
    assert_ok(sight_read(&r, on_cpu(), COUNT, x, z, sd, each, &why));
    picture_work_f32 work;
    arena memory = {0};
    picture_f32_lay_out(&work, &memory, &r.eye);
    assert_ok(arena_open(&memory, &why));
    picture_f32_lay_out(&work, &memory, &r.eye);
    picture_f32_ready(&r.eye, &work);
    for (size_t k = 0; k < COUNT; k++) {
        for (size_t m = 0; m < MEMBERS; m++) {
            picture_f32_show(&r.eye, &work, x + k * size);
            picture_f32_forward(&r.eye, on_cpu(), r.parameters + m * parameters, &work);
            for (size_t j = 0; j < D; j++) {
                double wanted = offset[m * D + j] + spread[m * D + j] * (double)work.z[j];
                assert_near(each[m * N + k * D + j], wanted, 1e-12);
            }
        }
    }
    arena_close(&memory);
    for (size_t k = 0; k < N; k++) {
        double a = each[k];
        double b = each[N + k];
        double c = each[2 * N + k];
        double among = ((a - b) * (a - b) + (a - c) * (a - c) + (b - c) * (b - c)) / 6;
        double V = error[k % D];
        double variance = k % D == 1 ? V : V * (0.4 + 0.6 * among / 0.2);
        assert_near(z[k], (a + b + c) / 3, 1e-12);
        assert_near(sd[k] * sd[k], variance, 1e-10 * (1 + variance));
    }
    for (size_t k = 0; k < COUNT; k += 5) { /* a few at a time, without asking for members */
        size_t n = COUNT - k < 5 ? COUNT - k : 5;
        assert_ok(sight_read(&r, on_cpu(), n, x + k * size, again + k * D, NULL, NULL, &why));
    }
    assert_memory_equal(again, z, sizeof z);
    free(r.parameters);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_those_of_the_law),
        cmocka_unit_test(without_labels_members_alone_tell),
        cmocka_unit_test(members_that_agree_where_labels_are_do_not_deceive),
        cmocka_unit_test(errors_are_numbers_at_the_edge),
        cmocka_unit_test(reading_is_the_mean_of_members_and_what_they_differ_by),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
