/* Pictures as networks see them, against formulas over all rows at once. Sides are multiples of
 * nothing. */
#include "made.h"

#include "infer/sight/sight.h"

#include "lcg.h"
#include "testing.h"

static lscm_error why;

enum { ROWS = 101, HIGH = 17, WIDE = 20 };

typedef struct shown {
    lscm_dataset *data;
    size_t channels, count;
    double *x; /* (ROWS, count) */
} shown;

/* Every pixel has a mean and a spread of its own; every seventh stays as it is. */
static shown shown_new(dtype type, size_t channels)
{
    shown s = {.data = made_new(), .channels = channels > 0 ? channels : 1};
    lcg random = {channels + 3};
    s.count = HIGH * WIDE * s.channels;
    s.x = calloc(ROWS * s.count, sizeof *s.x);
    void *raw = made_field(s.data, LSCM_X, type, ROWS, HIGH, WIDE, channels);
    assert_non_null(s.x);
    for (size_t k = 0; k < s.count; k++) {
        double mean = 60 + 100 * lcg_uniform(&random);
        double spread = k / s.channels % 7 == 0 ? 0 : 50 * lcg_uniform(&random);
        for (size_t row = 0; row < ROWS; row++) {
            double x = mean + spread * (2 * lcg_uniform(&random) - 1);
            size_t at = row * s.count + k;
            if (type == DTYPE_UINT8) {
                ((uint8_t *)raw)[at] = (uint8_t)x;
                s.x[at] = (double)((uint8_t *)raw)[at];
            } else if (type == DTYPE_FLOAT32) {
                ((float *)raw)[at] = (float)x;
                s.x[at] = (double)((float *)raw)[at];
            } else {
                ((double *)raw)[at] = s.x[at] = x;
            }
        }
    }
    return s;
}

static void shown_free(shown *s)
{
    free(s->x);
    lscm_dataset_free(s->data);
}

/* Mean and variance of number k of all pictures. */
static double mean_of(const shown *s, size_t k)
{
    double sum = 0;
    for (size_t row = 0; row < ROWS; row++) {
        sum += s->x[row * s->count + k];
    }
    return sum / ROWS;
}

static double variance_of(const shown *s, size_t k)
{
    double mean = mean_of(s, k);
    double sum = 0;
    for (size_t row = 0; row < ROWS; row++) {
        double off = s->x[row * s->count + k] - mean;
        sum += off * off;
    }
    return sum / ROWS;
}

/* The first pixel never changes: its chance is the share that all get, a tenth of the mean. */
static void check_reach(const shown *s, const pictures *p)
{
    double sd[HIGH * WIDE] = {0};
    double all = 0;
    double drawn = 0;
    for (size_t k = 0; k < s->count; k++) {
        sd[k / s->channels] += sqrt(variance_of(s, k));
        all += sqrt(variance_of(s, k));
    }
    double share = p->reach[0]; /* floor/(all + pixels floor) */
    double floor = share * all / (1 - share * HIGH * WIDE);
    assert_true(share > 0);
    assert_near(sd[0], 0, 1e-11);
    assert_near(floor / (all / (HIGH * WIDE)), 0.1, 1e-9);
    for (size_t n = 0; n < (size_t)HIGH * WIDE; n++) {
        drawn += (sd[n] + floor) / (all + HIGH * WIDE * floor);
        assert_near(p->reach[n], drawn, 1e-12);
        assert_true(n == 0 || p->reach[n] > p->reach[n - 1]);
    }
    assert_near(p->reach[HIGH * WIDE - 1], 1, 1e-12);
}

static void check_pictures(dtype type, size_t channels)
{
    shown s = shown_new(type, channels);
    pictures p;
    assert_true(pictures_are(s.data));
    assert_ok(pictures_of(&p, s.data, 1, NULL, &why));
    assert_int_equal(p.rows, ROWS);
    assert_int_equal(p.height, HIGH);
    assert_int_equal(p.width, WIDE);
    assert_int_equal(p.channels, s.channels);
    assert_int_equal(p.count, s.count);
    assert_int_equal(p.type, type == DTYPE_UINT8 ? DTYPE_UINT8 : DTYPE_FLOAT32);
    double total = 0;
    for (size_t k = 0; k < s.count; k++) {
        assert_near((double)p.backdrop[k], mean_of(&s, k), 1e-5);
        total += variance_of(&s, k) / (double)s.count;
    }
    assert_near(p.scale, sqrt(total), 1e-11 * p.scale);
    check_reach(&s, &p);
    float *kept = calloc(2 * s.count, sizeof *kept);
    float *scaled = kept + s.count;
    assert_non_null(kept);
    assert_int_equal(p.kept, ROWS);
    for (size_t row = 0; row < ROWS; row++) {
        assert_int_equal(p.row[row], row);
        pictures_kept(&p, row, kept);
        pictures_scale(&p, s.x + row * s.count, scaled);
        for (size_t k = 0; k < s.count; k++) {
            double x = (s.x[row * s.count + k] - mean_of(&s, k)) / sqrt(total);
            assert_near((double)kept[k], x, 1e-5);
            assert_near((double)scaled[k], x, 1e-6);
        }
    }
    free(kept);
    pictures_close(&p);
    shown_free(&s);
}

static void pictures_are_read_as_the_formulas_say(void **state)
{
    (void)state;
    check_pictures(DTYPE_UINT8, 3);
    check_pictures(DTYPE_UINT8, 0);
    check_pictures(DTYPE_FLOAT32, 1);
    check_pictures(DTYPE_FLOAT64, 4);
}

/* Numbers far from 0 keep their variance: sums are taken about the first picture. */
static void a_large_offset_loses_no_variance(void **state)
{
    enum { COUNT = 16 * 16 };
    (void)state;
    lscm_dataset *data = made_new();
    lcg random = {9};
    double total = 0;
    double *x = made_field(data, LSCM_X, DTYPE_FLOAT64, ROWS, 16, 16, 0);
    for (size_t k = 0; k < (size_t)COUNT; k++) {
        double column[ROWS];
        double mean = 0;
        for (size_t row = 0; row < ROWS; row++) {
            column[row] = (double)lcg_below(&random, 64);
            mean += column[row] / ROWS;
            x[row * COUNT + k] = 0x1p40 + column[row]; /* exact */
        }
        for (size_t row = 0; row < ROWS; row++) {
            total += (column[row] - mean) * (column[row] - mean) / ROWS / COUNT;
        }
    }
    pictures p;
    assert_ok(pictures_of(&p, data, 1, NULL, &why));
    assert_near(p.scale, sqrt(total), 1e-9 * p.scale);
    pictures_close(&p);
    lscm_dataset_free(data);
}

/* ---- More than is kept ---- */

static void check_some(dtype type, size_t size, size_t bytes, size_t wanted)
{
    shown s = shown_new(type, 2);
    pictures all;
    pictures some;
    assert_ok(pictures_of(&all, s.data, 1, NULL, &why));
    assert_ok(pictures_within(&some, s.data, bytes, 1, NULL, &why));
    assert_int_equal(some.kept, wanted);
    assert_int_equal(some.rows, ROWS);
    assert_memory_equal(some.backdrop, all.backdrop, s.count * sizeof(float));
    assert_memory_equal(some.reach, all.reach, HIGH * WIDE * sizeof(double));
    assert_memory_equal(&some.scale, &all.scale, sizeof all.scale);
    for (size_t k = 0; k < wanted; k++) {
        const char *there = (const char *)all.x + some.row[k] * s.count * size;
        assert_true(some.row[k] < ROWS);
        assert_true(k == 0 || some.row[k] > some.row[k - 1]);
        assert_memory_equal((const char *)some.x + k * s.count * size, there, s.count * size);
    }
    pictures_close(&all);
    pictures_close(&some);
    shown_free(&s);
}

static void what_is_kept_are_rows_as_they_are(void **state)
{
    enum { COUNT = HIGH * WIDE * 2 };
    (void)state;
    check_some(DTYPE_UINT8, 1, (size_t)37 * COUNT, 37);
    check_some(DTYPE_UINT8, 1, (size_t)37 * COUNT + COUNT - 1, 37);
    check_some(DTYPE_FLOAT32, sizeof(float), (size_t)50 * sizeof(float) * COUNT, 50);
    check_some(DTYPE_FLOAT64, sizeof(float), (size_t)100 * sizeof(float) * COUNT, 100);
    check_some(DTYPE_UINT8, 1, (size_t)ROWS * COUNT, ROWS);
    check_some(DTYPE_UINT8, 1, 3, 1); /* one at least */
}

/* Every row as often as any, and pairs of neighbours as often as pairs far apart. */
static void every_row_is_kept_as_often(void **state)
{
    enum { MANY = 37, SEEDS = 4000, N = 100, COUNT = 16 * 16 };
    (void)state;
    lscm_dataset *data = made_new();
    double times[N] = {0};
    double next = 0;
    double far = 0;
    uint8_t *x = made_field(data, LSCM_X, DTYPE_UINT8, N, 16, 16, 0);
    for (size_t k = 0; k < (size_t)N * COUNT; k++) {
        x[k] = (uint8_t)(k / COUNT);
    }
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        bool is_kept[N] = {false};
        pictures p;
        assert_ok(pictures_within(&p, data, MANY * COUNT, seed, NULL, &why));
        assert_int_equal(p.kept, MANY);
        for (size_t k = 0; k < MANY; k++) {
            times[p.row[k]]++;
            is_kept[p.row[k]] = true;
            assert_int_equal(((const uint8_t *)p.x)[k * COUNT], p.row[k]);
        }
        for (size_t row = 0; row < N; row++) {
            next += is_kept[row] && is_kept[(row + 1) % N] ? 1 : 0;
            far += is_kept[row] && is_kept[(row + N / 2) % N] ? 1 : 0;
        }
        pictures_close(&p);
    }
    double share = (double)MANY / N;
    double sd = sqrt(SEEDS * share * (1 - share));
    for (size_t row = 0; row < N; row++) {
        assert_near(times[row], SEEDS * share, 5 * sd);
    }
    double pairs = share * (MANY - 1) / (N - 1) * SEEDS * N;
    assert_near(next / pairs, 1, 0.01);
    assert_near(far / pairs, 1, 0.01);
    lscm_dataset_free(data);
}

/* ---- What is no use, and what is none ---- */

static void pictures_that_are_all_alike_have_no_scale(void **state)
{
    (void)state;
    lscm_dataset *data = made_new();
    pictures p;
    float *x = made_field(data, LSCM_X, DTYPE_FLOAT32, 9, HIGH, WIDE, 3);
    for (size_t k = 0; k < (size_t)9 * HIGH * WIDE * 3; k++) {
        x[k] = 0.1F * (float)(k % (HIGH * WIDE * 3));
    }
    assert_ok(pictures_of(&p, data, 1, NULL, &why));
    assert_near(p.scale, 0, 0);
    for (size_t k = 0; k < (size_t)HIGH * WIDE * 3; k++) {
        assert_near((double)p.backdrop[k], (double)x[k], 0);
    }
    for (size_t n = 0; n < (size_t)HIGH * WIDE; n++) {
        assert_near(p.reach[n], (double)(n + 1) / (HIGH * WIDE), 1e-12);
    }
    pictures_close(&p);
    lscm_dataset_free(data);
}

static void what_pictures_are(void **state)
{
    static const struct {
        size_t a, b, c;
        bool are;
    } cases[] = {
        {16, 16, 0, true},   {256, 16, 1, true}, {16, 256, 4, true},
        {15, 16, 0, false},  {16, 15, 1, false}, {257, 16, 1, false},
        {16, 257, 0, false}, {16, 16, 5, false}, {256, 0, 0, false},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        lscm_dataset *data = made_new();
        (void)made_field(data, LSCM_X, DTYPE_UINT8, 2, cases[k].a, cases[k].b, cases[k].c);
        assert_true(pictures_are(data) == cases[k].are);
        lscm_dataset_free(data);
    }
}

static void what_is_not_finite_is_refused(void **state)
{
    (void)state;
    lscm_dataset *data = made_new();
    pictures p;
    float *x = made_field(data, LSCM_X, DTYPE_FLOAT32, 5, 16, 16, 0);
    x[3 * 256 + 7] = NAN;
    assert_fails(pictures_of(&p, data, 1, NULL, &why), LSCM_VALUE, "row 3");
    lscm_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_are_read_as_the_formulas_say),
        cmocka_unit_test(a_large_offset_loses_no_variance),
        cmocka_unit_test(what_is_kept_are_rows_as_they_are),
        cmocka_unit_test(every_row_is_kept_as_often),
        cmocka_unit_test(pictures_that_are_all_alike_have_no_scale),
        cmocka_unit_test(what_pictures_are),
        cmocka_unit_test(what_is_not_finite_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
