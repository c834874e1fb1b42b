/* Readings beyond the labels, put right: h against quadrature of another kind, its fit against a
 * score written down again and searched on a grid, and chains of nodes whose z are known, read
 * through curves that are known. */
#include "infer/sight/sight.h"

#include "lcg.h"
#include "testing.h"

#include <stdbool.h>

static lscm_error why;

enum { LIMIT, HALF, FAR, A, B, CAA, CAB, CBB };
enum { SIDE = STRETCH_NUMBERS, NODE = STRETCH_SIDES * STRETCH_NUMBERS };
static const double PRIOR = 3; /* sd of a */

/* ---- h by hand ---- */

/* int_0^e w(t) exp(a_1 t/far + a_2 (t/far)^2) dt by midpoints; w: 1, t/far, (t/far)^2. */
static double integral(const double *side, double e, int power, size_t parts)
{
    double sum = 0;
    for (size_t k = 0; k < parts; k++) {
        double u = e * ((double)k + 0.5) / (double)parts / side[FAR];
        double w = power == 0 ? 1 : power == 1 ? u : u * u;
        sum += w * exp(side[A] * u + side[B] * u * u);
    }
    return sum * e / (double)parts;
}

/* h(r): a straight line beyond far. */
static double put_right(const double *side, double r, size_t parts)
{
    double e = (r - side[LIMIT]) / side[HALF];
    double within = fmin(e, side[FAR]);
    double last = exp(side[A] + side[B]); /* the slope at far */
    if (e <= 0) {
        return r;
    }
    return side[LIMIT] + side[HALF] * (integral(side, within, 0, parts) + (e - within) * last);
}

/* One node whose other side is never reached. */
static void node_of(const double *side, bool first, double *stretch)
{
    static const double nothing[SIDE] = {0};
    memcpy(stretch + (first ? 0 : SIDE), side, sizeof nothing);
    memcpy(stretch + (first ? SIDE : 0), nothing, sizeof nothing);
    stretch[(first ? SIDE : 0) + LIMIT] = side[LIMIT] - side[HALF];
}

static double applied(const double *side, double r, double *variance)
{
    double stretch[NODE];
    double z = r;
    double none = 0;
    node_of(side, side[HALF] > 0, stretch);
    stretch_apply(stretch, &z, variance != NULL ? variance : &none);
    return z;
}

static const double sides[][SIDE] = {
    {5, 5, 0.8, 0, 0, 0.3, -0.1, 0.2},       {5, 4, 1.3, 2, -1, 1, 0.5, 0.9},
    {-5, -5, 0.7, -3, 2, 0.01, 0, 4},        {-1, -0.25, 4, 3, 3, 0.1, 0.09, 0.1},
    {1000, 3, 0.05, -4, 1, 2, -1.3, 1},      {0, -7, 1, 0.5, 0.5, 0, 0, 0},
    {0.1, 1e-3, 20, 1, -2.5, 0.2, 0.1, 0.3},
};
enum { SIDES = sizeof sides / sizeof sides[0] };

static void a_stretch_is_its_integral(void **state)
{
    (void)state;
    for (size_t k = 0; k < SIDES; k++) {
        const double *s = sides[k];
        for (size_t n = 0; n <= 30; n++) {
            double e = s[FAR] * (double)n / 10; /* to far and three times as far */
            double r = s[LIMIT] + s[HALF] * e;
            double z = put_right(s, r, 20000);
            assert_near(applied(s, r, NULL), z, 1e-4 * fabs(z - s[LIMIT]) + 1e-12 * fabs(r));
        }
    }
}

/* Value and slope are continuous at the limit and at far, nothing moves within, all is increasing,
 * and beyond far is a straight line. */
static void a_stretch_is_smooth(void **state)
{
    (void)state;
    for (size_t k = 0; k < SIDES; k++) {
        const double *s = sides[k];
        double step = 1e-5 * s[FAR];
        double H = s[HALF];
        double far = s[LIMIT] + H * s[FAR];
        double last = exp(s[A] + s[B]);
        for (size_t n = 0; n <= 10; n++) {
            double r = s[LIMIT] - H * (double)n / 10;
            double variance = 0.3;
            assert_near(applied(s, r, &variance), r, 0);
            assert_near(variance, 0.3, 0);
        }
        double near = (applied(s, s[LIMIT] + H * step, NULL) - s[LIMIT]) / (H * step);
        double before = (applied(s, far, NULL) - applied(s, far - H * step, NULL)) / (H * step);
        double after = (applied(s, far + H * step, NULL) - applied(s, far, NULL)) / (H * step);
        double distant = (applied(s, far + H * 9, NULL) - applied(s, far + H * 7, NULL)) / (2 * H);
        assert_near(near, 1, 1e-3);
        assert_near(before / last, 1, 3e-3);
        assert_near(after / last, 1, 1e-3);
        assert_near(distant / last, 1, 1e-6);
        double at = s[LIMIT];
        for (size_t n = 1; n <= 300; n++) {
            double z = applied(s, s[LIMIT] + H * s[FAR] * (double)n / 100, NULL);
            assert_true((z - at) / H > 0);
            at = z;
        }
    }
}

static void variances_are_of_readings_and_of_the_curve(void **state)
{
    (void)state;
    for (size_t k = 0; k < SIDES; k++) {
        for (size_t n = 1; n <= 25; n++) {
            const double *s = sides[k];
            double e = s[FAR] * (double)n / 10;
            double r = s[LIMIT] + s[HALF] * e;
            double by[2];
            double by_reading =
                exp(s[A] * fmin(e / s[FAR], 1) + s[B] * pow(fmin(e / s[FAR], 1), 2));
            for (size_t i = 0; i < 2; i++) {
                double up[SIDE];
                double down[SIDE];
                memcpy(up, s, sizeof up);
                memcpy(down, s, sizeof down);
                up[A + i] += 1e-4;
                down[A + i] -= 1e-4;
                by[i] = (put_right(up, r, 4000) - put_right(down, r, 4000)) / 2e-4;
            }
            double own =
                by[0] * by[0] * s[CAA] + 2 * by[0] * by[1] * s[CAB] + by[1] * by[1] * s[CBB];
            double variance = 0.07;
            (void)applied(s, r, &variance);
            double wanted = 0.07 * by_reading * by_reading + own;
            assert_near(variance / wanted, 1, 1e-3);
        }
    }
}

static void limits_are_those_of_labels(void **state)
{
    enum { ROWS = 200, D = 3 };
    (void)state;
    lcg random = {5};
    uint8_t mask[ROWS * D] = {0};
    double values[ROWS * D] = {0};
    double most[2][D] = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
    double stretch[D * NODE];
    design by;
    for (size_t k = 0; k < (size_t)ROWS * D; k++) {
        values[k] = 10 * (double)(k % D) + 100 * lcg_uniform(&random); /* 0 is no label of all */
        mask[k] = lcg_uniform(&random) < 0.3 ? 1 : 0;
        if (mask[k] != 0) {
            most[0][k % D] = fmax(most[0][k % D], values[k]);
            most[1][k % D] = fmin(most[1][k % D], values[k]);
        }
    }
    for (size_t k = 0; k < (size_t)D * NODE; k++) {
        stretch[k] = 7; /* whatever was there */
    }
    assert_ok(design_of(&by, ROWS, D, mask, values, &why));
    stretch_begin(&by, stretch);
    for (size_t j = 0; j < D; j++) {
        for (size_t k = 0; k < 2; k++) {
            const double *side = stretch + j * NODE + k * SIDE;
            assert_near(side[LIMIT], most[k][j], 0);
            assert_near(side[HALF], (most[k][j] - most[1 - k][j]) / 2, 1e-12);
            assert_true(stretch_is_sound(side));
        }
        for (int r = -300; r <= 300; r += 17) {
            double z = r;
            double variance = 0.5;
            stretch_apply(stretch + j * NODE, &z, &variance);
            assert_near(z, r, 0);
            assert_near(variance, 0.5, 0);
        }
    }
    design_close(&by);
}

/* ---- Chains that are known ---- */

enum { D = 3, ALONE = 400, SET = 200, ROWS = ALONE + D * SET };
static const double END = 5; /* of the labels, on either side */
static const double weights[D * D] = {0, -0.9, 0, 0, 0, 1.1, 0, 0, 0};
static const double intercept[D] = {1, 0.3, -0.5};
static const double sigma[D] = {4, 2.5, 2};
static const mechanism_model model = {.d = D, .w = weights, .intercept = intercept, .sigma = sigma};
static const size_t order[D] = {0, 1, 2};

/* The reading of z that is e > 0 halves of the range beyond. */
typedef double (*curve)(double e);

static double as_it_is(double e)
{
    return e;
}

/* Where h is exp, .. */
static double logarithm(double e)
{
    return log1p(1.2 * e) / 1.2;
}

/* .. and where its slope is exp(1.5 e - 0.5 e^2), by bisection. */
static double of_the_family(double e)
{
    static const double side[SIDE] = {0, 1, 1, 1.5, -0.5};
    double low = 0;
    double high = 10;
    for (size_t k = 0; k < 50; k++) {
        double middle = (low + high) / 2;
        bool below = integral(side, middle, 0, 100) < e;
        low = below ? middle : low;
        high = below ? high : middle;
    }
    return low;
}

static double tangent(double e)
{
    return 1.5 * tanh(e / 1.5);
}

static double stretched(double e)
{
    return e + 0.3 * e * e;
}

typedef struct chain {
    double z[ROWS * D], read[ROWS * D], right[ROWS * D];
    uint8_t mask[ROWS * D];
    double stretch[D * NODE];
    design by;
} chain;

/* z by the mechanisms; readings with errors of sd `blur`. */
static void draw_chain(chain *c, uint64_t seed, curve read, double blur)
{
    lcg random = {seed};
    memset(c, 0, sizeof *c);
    for (size_t row = 0; row < ROWS; row++) {
        size_t set = row < ALONE ? D : (row - ALONE) / SET;
        size_t at = (row - ALONE) % SET;
        for (size_t j = 0; j < D; j++) {
            size_t k = row * D + j;
            double z = mechanism_simulate(&model, j, order, j, c->z + row * D,
                                          sigma[j] * lcg_normal(&random));
            double label =
                at < 2 ? END * (2 * (double)at - 1) : END * (2 * lcg_uniform(&random) - 1);
            c->mask[k] = set == j ? 1 : 0;
            c->z[k] = set == j ? label : z;
            double seen = c->z[k] + (set == j ? 0 : blur * lcg_normal(&random));
            double e = fabs(seen) / END - 1;
            c->read[k] = e > 0 ? copysign(END * (1 + read(e)), seen) : seen;
        }
    }
    assert_ok(design_of(&c->by, ROWS, D, c->mask, c->z, &why));
}

static void fit_chain(chain *c, const size_t *causes_first)
{
    memcpy(c->right, c->read, sizeof c->right);
    stretch_begin(&c->by, c->stretch);
    stretch_fit(c->stretch, &c->by, NULL, &model, causes_first, c->right);
}

static bool is_beyond(const chain *c, size_t k)
{
    return c->mask[k] == 0 && fabs(c->read[k]) > END;
}

/* Of a side of node j, over what lies beyond. */
typedef struct outcome {
    double n, before, after; /* squares of errors, of readings and put right: means */
    double slope;            /* of what was put right on z */
    double ratio;            /* squared errors over the variance that is said: mean */
} outcome;

static outcome outcome_of(const chain *c, size_t j, size_t side, double blur)
{
    outcome o = {0};
    double sums[4] = {0}; /* z, right, z z, z right */
    for (size_t k = j; k < (size_t)ROWS * D; k += D) {
        if (is_beyond(c, k) && (c->read[k] > 0) == (side == 0)) {
            double z = c->read[k];
            double variance = blur * blur;
            stretch_apply(c->stretch + j * NODE, &z, &variance);
            assert_near(z, c->right[k], 0);
            o.n++;
            o.before += pow(c->read[k] - c->z[k], 2);
            o.after += pow(z - c->z[k], 2);
            o.ratio += pow(z - c->z[k], 2) / variance;
            sums[0] += c->z[k];
            sums[1] += z;
            sums[2] += c->z[k] * c->z[k];
            sums[3] += c->z[k] * z;
        }
    }
    assert_true(o.n > 20);
    o.before /= o.n;
    o.after /= o.n;
    o.ratio /= o.n;
    o.slope = (sums[3] - sums[0] * sums[1] / o.n) / (sums[2] - sums[0] * sums[0] / o.n);
    return o;
}

/* Over many chains. before and after are square roots of means. */
static outcome typical(curve read, double blur, const size_t *causes_first)
{
    enum { CHAINS = 10, PARTS = CHAINS * D * STRETCH_SIDES };
    static chain c;
    outcome all = {0};
    double slope[D * STRETCH_SIDES] = {0};
    for (uint64_t seed = 0; seed < CHAINS; seed++) {
        draw_chain(&c, 100 + seed, read, blur);
        fit_chain(&c, causes_first);
        for (size_t k = 0; k < (size_t)D * STRETCH_SIDES; k++) {
            outcome o = outcome_of(&c, k / STRETCH_SIDES, k % STRETCH_SIDES, blur);
            all.before += o.before / PARTS;
            all.after += o.after / PARTS;
            all.ratio += o.ratio / PARTS;
            all.slope += o.slope / PARTS;
            slope[k] += o.slope / CHAINS;
        }
        design_close(&c.by);
    }
    for (size_t k = 0; k < (size_t)D * STRETCH_SIDES && causes_first == order; k++) {
        assert_near(slope[k], 1, 0.09); /* of every side alone */
    }
    all.before = sqrt(all.before);
    all.after = sqrt(all.after);
    return all;
}

/* Much less error, no slope towards what mechanisms say, and errors as large as they are said. */
static void readings_are_put_right(void **state)
{
    static const struct {
        curve read;
        double left; /* of the error, at most */
    } cases[] = {{logarithm, 0.3}, {of_the_family, 0.3}, {tangent, 0.6}, {stretched, 0.3}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        outcome o = typical(cases[k].read, 0, order);
        assert_true(o.before > 0.05 * END);
        assert_true(o.after < cases[k].left * o.before);
        assert_near(o.slope, 1, 0.03);
        assert_true(o.ratio > 0.5 && o.ratio < 2);
    }
}

/* Errors that readings have of their own grow with the slope, and do not bend the curve. */
static void errors_of_readings_do_little(void **state)
{
    const double blur = 0.06 * END;
    (void)state;
    outcome o = typical(of_the_family, blur, order);
    assert_true(o.after < 0.5 * o.before);
    assert_near(o.slope, 1, 0.05);
    assert_true(o.ratio > 0.5 && o.ratio < 2);
}

static void readings_that_are_right_are_left_nearly_alone(void **state)
{
    (void)state;
    outcome o = typical(as_it_is, 0, order);
    assert_near(o.before, 0, 1e-12);
    assert_true(o.after < 0.06 * END);
    assert_near(o.slope, 1, 0.03);
    assert_true(o.ratio > 0.3 && o.ratio < 2);
}

/* An effect is put right by what its causes are, not by how they were read. */
static void causes_come_first(void **state)
{
    static const size_t backwards[D] = {2, 1, 0};
    (void)state;
    outcome right = typical(of_the_family, 0, order);
    outcome wrong = typical(of_the_family, 0, backwards);
    assert_true(right.after < 0.7 * wrong.after);
}

static void labels_and_readings_among_them_stay(void **state)
{
    (void)state;
    static chain c;
    size_t moved = 0;
    for (uint64_t seed = 0; seed < 3; seed++) {
        draw_chain(&c, seed, tangent, 0.1);
        fit_chain(&c, order);
        for (size_t k = 0; k < (size_t)ROWS * D; k++) {
            double variance = 0.123;
            double z = c.read[k];
            stretch_apply(c.stretch + k % D * NODE, &z, &variance);
            if (is_beyond(&c, k)) {
                moved += c.right[k] < c.read[k] || c.right[k] > c.read[k] ? 1 : 0;
                assert_true(copysign(1, c.read[k]) * c.right[k] > END);
            } else {
                assert_near(c.right[k], c.read[k], 0);
                assert_near(z, c.read[k], 0);
                assert_near(variance, 0.123, 0);
            }
        }
        design_close(&c.by);
    }
    assert_true(moved > 600);
}

/* ---- The fit by its definition ---- */

/* log p(a) of a side, causes as they were put right. */
static double score(const chain *c, size_t j, const double *side)
{
    double total = -(side[A] * side[A] + side[B] * side[B]) / (2 * PRIOR * PRIOR);
    for (size_t row = 0; row < ROWS; row++) {
        const double *right = c->right + row * D;
        double r = c->read[row * D + j];
        double u = (r - side[LIMIT]) / side[HALF] / side[FAR];
        if (c->mask[row * D + j] == 0 && u > 0) {
            double mean = intercept[j];
            for (size_t i = 0; i < D; i++) {
                mean += weights[i * D + j] * right[i];
            }
            double left = (put_right(side, r, 48) - mean) / sigma[j];
            total += side[A] * u + side[B] * u * u - left * left / 2;
        }
    }
    return total;
}

/* The score where a_1 and a_2 are moved. */
static double moved_score(const chain *c, size_t j, const double *side, double first, double second)
{
    double at[SIDE];
    memcpy(at, side, sizeof at);
    at[A] += first;
    at[B] += second;
    return score(c, j, at);
}

/* C is the inverse of the curvature there. */
static void check_curvature(const chain *c, size_t j, const double *side)
{
    const double step = 0.02;
    double here = score(c, j, side);
    double bend[3] = {0};
    for (int way = -1; way <= 1; way += 2) {
        double by = way * step;
        bend[0] += (here - moved_score(c, j, side, by, 0)) / (step * step);
        bend[2] += (here - moved_score(c, j, side, 0, by)) / (step * step);
        bend[1] += (moved_score(c, j, side, by, -by) - moved_score(c, j, side, by, by)) /
                   (4 * step * step);
    }
    double one = bend[0] * side[CAA] + bend[1] * side[CAB];
    double other = bend[1] * side[CAB] + bend[2] * side[CBB];
    double none[2] = {bend[0] * side[CAB] + bend[1] * side[CBB],
                      bend[1] * side[CAA] + bend[2] * side[CAB]};
    assert_near(one, 1, 0.05);
    assert_near(other, 1, 0.05);
    assert_near(none[0], 0, 0.05 * sqrt(bend[0] * side[CBB]));
    assert_near(none[1], 0, 0.05 * sqrt(bend[2] * side[CAA]));
}

static void a_fit_is_the_greatest_score(void **state)
{
    (void)state;
    static chain c;
    const curve curves[] = {of_the_family, stretched};
    for (size_t q = 0; q < sizeof curves / sizeof curves[0]; q++) {
        draw_chain(&c, 40 + q, curves[q], 0);
        fit_chain(&c, order);
        for (size_t k = 0; k < (size_t)D * STRETCH_SIDES; k++) {
            size_t j = k / STRETCH_SIDES;
            const double *side = c.stretch + k * SIDE;
            double far = 0;
            for (size_t n = j; n < (size_t)ROWS * D; n += D) {
                double e = (c.read[n] - side[LIMIT]) / side[HALF];
                far = c.mask[n] == 0 ? fmax(far, e) : far;
            }
            assert_near(side[FAR], far, 0);
            double most = score(&c, j, side);
            for (int a = -6; a <= 6; a++) {
                for (int b = -6; b <= 6; b++) {
                    double there = moved_score(&c, j, side, a - side[A], b - side[B]);
                    assert_true(there <= most);
                }
            }
            for (int way = -1; way <= 1; way += 2) {
                double by = 0.1 * way;
                assert_true(moved_score(&c, j, side, by, 0) <= most);
                assert_true(moved_score(&c, j, side, 0, by) <= most);
            }
            check_curvature(&c, j, side);
        }
        design_close(&c.by);
    }
}

/* ---- Little to go by ---- */

/* Of readings beyond a side no more than `left` stay there. */
static void draw_few(chain *c, uint64_t seed, size_t left)
{
    size_t seen[D * STRETCH_SIDES] = {0};
    draw_chain(c, seed, logarithm, 0);
    for (size_t k = 0; k < (size_t)ROWS * D; k++) {
        if (is_beyond(c, k) && ++seen[k % D * STRETCH_SIDES + (c->read[k] < 0)] > left) {
            c->z[k] = c->read[k] = 0.5 * END;
        }
    }
}

static void few_rows_say_little(void **state)
{
    (void)state;
    static chain c;
    for (size_t left = 0; left < 3; left++) {
        for (uint64_t seed = 0; seed < 10; seed++) {
            draw_few(&c, seed, left);
            fit_chain(&c, order);
            for (size_t k = 0; k < (size_t)D * STRETCH_SIDES; k++) {
                const double *side = c.stretch + k * SIDE;
                assert_true(stretch_is_sound(side));
                assert_true((side[FAR] > 0) == (left > 0));
            }
            for (size_t k = 0; k < (size_t)ROWS * D; k++) {
                double z = c.read[k];
                double variance = 0;
                stretch_apply(c.stretch + k % D * NODE, &z, &variance);
                assert_true(isfinite(z) && isfinite(variance));
                assert_true(fabs(z - c.read[k]) < 4 * sigma[k % D]);
                if (is_beyond(&c, k) && left == 1 && fabs(c.read[k]) > 1.1 * END) {
                    assert_true(sqrt(variance) > 0.4 * sigma[k % D]);
                }
            }
            design_close(&c.by);
        }
    }
}

/* Mechanisms that are nearly exact, readings far off or all the same: numbers remain numbers. */
static void numbers_stay_numbers(void **state)
{
    enum { FEW = 4 };
    static const double readings[][FEW] = {
        {-1, 1, 1.5, 1.5}, {-1, 1, 1e9, 2}, {-1, 1, 1 + 1e-12, 0}, {-1, 1, 30, -30}, {1, 1, 2, 0}};
    static const double exact[] = {1e-12, 1e-6, 1, 1e9};
    static const uint8_t mask[FEW] = {1, 1, 0, 0};
    static const double none[1] = {0};
    static const size_t first[1] = {0};
    (void)state;
    for (size_t k = 0; k < sizeof readings / sizeof readings[0]; k++) {
        for (size_t s = 0; s < sizeof exact / sizeof exact[0]; s++) {
            for (int at = -40; at <= 40; at += 8) {
                double c = at;
                const mechanism_model alone = {
                    .d = 1, .w = none, .intercept = &c, .sigma = &exact[s]};
                double stretch[NODE] = {0};
                double z[FEW];
                design by;
                memcpy(z, readings[k], sizeof z);
                assert_ok(design_of(&by, FEW, 1, mask, readings[k], &why));
                stretch_begin(&by, stretch);
                stretch_fit(stretch, &by, NULL, &alone, first, z);
                assert_true(stretch_is_sound(stretch) && stretch_is_sound(stretch + SIDE));
                for (size_t row = 0; row < FEW; row++) {
                    double r = readings[k][row];
                    double variance = 0;
                    stretch_apply(stretch, &r, &variance);
                    assert_true(isfinite(r) && isfinite(z[row]) && variance >= 0);
                    assert_true(isfinite(variance));
                }
                for (size_t n = 0; n < NODE; n++) {
                    assert_true(isfinite(stretch[n]));
                }
                design_close(&by);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stretch_is_its_integral),
        cmocka_unit_test(a_stretch_is_smooth),
        cmocka_unit_test(variances_are_of_readings_and_of_the_curve),
        cmocka_unit_test(limits_are_those_of_labels),
        cmocka_unit_test(readings_are_put_right),
        cmocka_unit_test(errors_of_readings_do_little),
        cmocka_unit_test(readings_that_are_right_are_left_nearly_alone),
        cmocka_unit_test(causes_come_first),
        cmocka_unit_test(labels_and_readings_among_them_stay),
        cmocka_unit_test(a_fit_is_the_greatest_score),
        cmocka_unit_test(few_rows_say_little),
        cmocka_unit_test(numbers_stay_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
