/* Readings beyond the labels: the formula by hand, the rule by encoders that were never shown the
 * outer labels, and z and its intervals where labels cover the middle alone. */
#include "kernel_testing.h"

enum { D = 2, R = 10, ROWS = 900 };

/* Labels U(-1, 1), free variables with sd 3. */
static rows_of narrow(shape kind)
{
    rows_of r = make(kind, ROWS, D, R, 20, 0);
    lcg g = {11};
    memset(r.f.mean, 0, R * sizeof(double));
    for (size_t row = 0; row < ROWS; row++) {
        for (size_t j = 0; j < D; j++) {
            size_t at = row * D + j;
            r.values[at] = r.mask[at] != 0 ? 2 * lcg_uniform(&g) - 1 : 0;
            r.z[at] = r.mask[at] != 0 ? r.values[at] : 3 * lcg_normal(&g);
        }
        observe(kind, (lcg){5 + (size_t)kind}, D, R, 0.02, &g, r.z + row * D, r.f.f + row * R);
        for (size_t k = 0; k < R; k++) {
            r.f.mean[k] += (double)r.f.f[row * R + k] / ROWS;
        }
    }
    design_again(&r.f.design, ROWS, D, r.mask, r.values);
    return r;
}

static void rows_are_shrunk_by_the_formula(void **state)
{
    (void)state;
    /* l = 2 f + 1; labels from -1 to 3: H = 2 */
    double line[2] = {2, 1};
    double rule[4] = {0.25, 0.5, -1, 3};
    const kernel_shrink s = {1, 1, line, rule};
    const float f[5] = {0, 3, 3, -3, 1.25F};
    double z[5] = {-0.5, 1, 1, -1, 4};
    double sd[5] = {0.1, 0.1, 0, 0.1, 0.3};
    const uint8_t mask[5] = {0, 0, 1, 0, 0};
    const double values[5] = {0, 0, 1, 0, 0};
    design told = {0};
    design_again(&told, 5, 1, mask, values);
    kernel_shrink_rows(&s, 5, f, &told, z, sd);
    assert_true(z[0] == -0.5 && sd[0] == 0.1); /* meant: 0.625, within the labels */
    /* l = 7, meant 5.5, away 2.5: wholly */
    assert_near(z[1], 7 + 0.25 * (1 - 7), 1e-12);
    assert_near(sd[1] * sd[1], 0.01 + 0.25 * 2.5 * 2.5, 1e-12);
    assert_true(z[2] == 1 && sd[2] == 0); /* do() set it */
    /* l = -5, meant -4, away 3 */
    assert_near(z[3], -4, 1e-12);
    /* l = 3.5, meant 3.625, away 0.625: less than a third of the way */
    assert_near(z[4], 4 - 0.75 * 0.3125 * 0.5, 1e-12);
    assert_near(sd[4] * sd[4], 0.09 + pow(0.5 * 0.625, 2), 1e-12);
    design_close(&told);
}

static int by_size(const void *left, const void *right)
{
    const double *a = left;
    const double *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* Half of the labels of node j are hidden from an encoder, those further from the middle than
 * edge; z of all rows. */
static encoded inner_alone(const rows_of *r, size_t j, double middle, double edge,
                           kernel_settings s)
{
    rows_of part = *r;
    uint8_t *mask = calloc(ROWS * D, 1);
    assert_non_null(mask);
    for (size_t row = 0; row < ROWS; row++) {
        size_t at = row * D + j;
        memcpy(mask + row * D, r->mask + row * D, D);
        mask[at] = r->mask[at] != 0 && fabs(r->values[at] - middle) <= edge;
    }
    part.f.design = (design){0};
    design_again(&part.f.design, ROWS, D, mask, r->values);
    encoded out = encode(&part, s);
    design_close(&part.f.design);
    free(mask);
    return out;
}

/* bent of node 0 is what regression of the outer labels says, of readings by such encoders. */
static void outer_labels_say_how_far(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < 2; kind++) {
        rows_of r = narrow(kind == 0 ? CURVED : RELU);
        const kernel_settings s = {.family = kind == 0 ? KERNEL_BIASED : KERNEL_HOMOGENEOUS,
                                   .ridge = 1e-4};
        encoded whole = encode(&r, s);
        kernel_beyond b;
        double v[ROWS];
        double sums[2] = {0};
        size_t n = 0;
        assert_ok(kernel_beyond_of(&b, &whole.e, &r.f, &s, NULL, &why));
        for (size_t row = 0; row < ROWS; row++) {
            if (r.mask[row * D] != 0) {
                v[n++] = r.values[row * D];
            }
        }
        qsort(v, n, sizeof *v, by_size);
        double middle = (v[(n - 1) / 2] + v[n / 2]) / 2;
        for (size_t k = 0; k < n; k++) {
            v[k] = fabs(v[k] - middle);
        }
        qsort(v, n, sizeof *v, by_size);
        double edge = (v[(n - 1) / 2] + v[n / 2]) / 2;
        encoded bent = inner_alone(&r, 0, middle, edge, s);
        encoded line = inner_alone(&r, 0, middle, edge,
                                   (kernel_settings){.family = KERNEL_LINEAR, .ridge = s.ridge});
        for (size_t row = 0; row < ROWS; row++) {
            size_t at = row * D;
            if (r.mask[at] != 0 && fabs(r.values[at] - middle) > edge) {
                double bend = bent.z[at] - line.z[at];
                sums[0] += bend * (r.values[at] - line.z[at]);
                sums[1] += bend * bend;
            }
        }
        double share = fmin(fmax(sums[0] / sums[1], 0), 1);
        assert_near(kernel_beyond_shrink(&b, kind == 1).rule[0], share, 0.05);
        assert_true(kernel_beyond_shrink(&b, kind == 1).rule[D] > 0);
        kernel_beyond_close(&b);
        discard(&bent);
        discard(&line);
        discard(&whole);
        drop(&r);
    }
}

typedef struct beyond_labels {
    double missed, covered; /* rms error; share of 90% intervals */
} beyond_labels;

static beyond_labels score(const rows_of *r, const double *z, const double *sd)
{
    beyond_labels out = {0};
    double n = 0;
    for (size_t at = 0; at < ROWS * D; at++) {
        if (r->mask[at] == 0 && fabs(r->z[at]) > 1) {
            double off = z[at] - r->z[at];
            out.missed += off * off;
            out.covered += fabs(off) <= 1.645 * sd[at] ? 1 : 0;
            n += 1;
        }
    }
    return (beyond_labels){sqrt(out.missed / n), out.covered / n};
}

/* Beyond the labels no worse than a regression, and intervals that hold. */
static void readings_hold_beyond_the_labels(void **state)
{
    (void)state;
    for (shape kind = STRAIGHT; kind <= CURVED; kind++) {
        rows_of r = narrow(kind);
        const kernel_settings s = {.family = kind == RELU ? KERNEL_HOMOGENEOUS : KERNEL_BIASED};
        encoded e = encode(&r, s);
        encoded line = encode(&r, (kernel_settings){.family = KERNEL_LINEAR});
        kernel_beyond b;
        assert_ok(kernel_beyond_of(&b, &e.e, &r.f, &s, NULL, &why));
        kernel_shrink to = kernel_beyond_shrink(&b, kind == RELU);
        beyond_labels before = score(&r, e.z, e.sd);
        kernel_shrink_rows(&to, ROWS, r.f.f, &r.f.design, e.z, e.sd);
        beyond_labels now = score(&r, e.z, e.sd);
        double least = fmin(before.missed, score(&r, line.z, line.sd).missed);
        assert_true(now.missed <= 1.15 * least + 0.03);
        assert_true(now.covered >= 0.7 && now.covered >= before.covered);
        kernel_beyond_close(&b);
        discard(&e);
        discard(&line);
        drop(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_shrunk_by_the_formula),
        cmocka_unit_test(outer_labels_say_how_far),
        cmocka_unit_test(readings_hold_beyond_the_labels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
