/* The curves of every node against what defines them: moments over the rows, natural splines, and
 * roughness by quadrature; also of columns with few values, ties, outliers. */
#include "bends_testing.h"

enum { PLAIN, SKEWED, ONE, TWO, THREE, TIES, OUTLIERS, SPARSE, COLUMNS };

static double made_value(int how, size_t row, lcg *g)
{
    double e = lcg_normal(g);
    return how == PLAIN      ? 3 + e
           : how == SKEWED   ? exp(1.5 * e)
           : how == ONE      ? 4.25
           : how == TWO      ? (double)(row % 2)
           : how == THREE    ? (row % 5 == 0 ? -7 : (double)(row % 2))
           : how == TIES     ? round(2 * e)
           : how == OUTLIERS ? (row % 101 == 5 ? 1e6 * e : e)
                             : (row % 2 != 0 ? 0 : e); /* half of them the same */
}

static void made_columns(bent_problem *p, size_t rows)
{
    lcg g = {41};
    bent_rows(p, rows, COLUMNS, 3);
    memset(p->mask, 0, sizeof p->mask);
    design_again(&p->design, rows, COLUMNS, p->mask, NULL);
    for (size_t r = 0; r < rows; r++) {
        for (int i = 0; i < COLUMNS; i++) {
            p->z[r * COLUMNS + (size_t)i] = made_value(i, r, &g);
        }
    }
}

static int ascending(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Different values of a node in the rows that count, in order. */
static size_t distinct(const bent_problem *p, size_t node, double *out)
{
    size_t n = 0;
    size_t kept = 0;
    for (size_t r = 0; r < p->rows; r++) {
        if (p->keep[r] != 0) {
            out[n++] = p->z[r * p->d + node];
        }
    }
    qsort(out, n, sizeof *out, ascending);
    for (size_t k = 0; k < n; k++) {
        if (k == 0 || out[k] > out[kept - 1]) {
            out[kept++] = out[k];
        }
    }
    return kept;
}

/* Mean 0, variance 1, not correlated; the first is z. */
static void check_moments(const bent_problem *p, size_t node, size_t width)
{
    double within = node == OUTLIERS ? 1e-3 : 1e-7; /* 1e6 sds leave fewer digits */
    const curve_basis *basis = &p->b.basis[node];
    double sum[CURVE_WIDTH] = {0};
    double square[CURVE_WIDTH][CURVE_WIDTH] = {{0}};
    double n = 0;
    double mean = 0;
    double sd = bent_sd(p, node);
    for (size_t r = 0; r < p->rows; r++) {
        n += p->keep[r];
        mean += p->keep[r] != 0 ? p->z[r * p->d + node] : 0;
    }
    mean /= n;
    for (size_t r = 0; r < p->rows; r++) {
        double phi[CURVE_WIDTH];
        curve_values(basis, p->z[r * p->d + node], phi);
        assert_near(phi[0], width > 0 ? (p->z[r * p->d + node] - mean) / sd : 0, 1e-8);
        for (size_t k = 0; k < CURVE_WIDTH; k++) {
            assert_true(k < width || phi[k] == 0);
            sum[k] += p->keep[r] * phi[k] / n;
            for (size_t l = 0; l < CURVE_WIDTH; l++) {
                square[k][l] += p->keep[r] * phi[k] * phi[l] / n;
            }
        }
    }
    for (size_t k = 0; k < width; k++) {
        assert_near(sum[k], 0, within);
        for (size_t l = 0; l < width; l++) {
            assert_near(square[k][l], k == l ? 1 : 0, within);
        }
    }
}

/* The mean of the rank of a value, where none come twice, and of its place in the range. */
static double height(const double *value, size_t values, size_t at)
{
    double range = value[values - 1] - value[0];
    return ((double)at / (double)(values - 1) + (value[at] - value[0]) / range) / 2;
}

/* Between two knots there is no more than a step of that, but for the one value that exceeds it. */
static void check_knots(const curve_basis *basis, const double *value, size_t values)
{
    size_t at = 0;
    for (size_t m = 1; m < basis->knots; m++) {
        double low = height(value, values, at);
        while (value[at] < basis->knot[m]) {
            at++;
        }
        assert_true(at > 0);
        double before = height(value, values, at - 1) - low;
        assert_true(before < 1.0 / (CURVE_KNOTS - 1) + 1e-12);
    }
}

/* Pieces meet with their slopes, second derivatives are those of the pieces, and none is left
 * beyond the outermost knots. */
static void check_natural(const curve_basis *basis, size_t width)
{
    for (size_t m = 0; m < basis->knots; m++) {
        double gap = INFINITY;
        gap = m > 0 ? fmin(gap, basis->knot[m] - basis->knot[m - 1]) : gap;
        gap = m + 1 < basis->knots ? fmin(gap, basis->knot[m + 1] - basis->knot[m]) : gap;
        double slope[5][CURVE_WIDTH];
        for (int side = 0; side < 5; side++) {
            curve_slopes(basis, basis->knot[m] + (side - 2) * 0.2 * gap, slope[side]);
        }
        for (size_t k = 0; k < width; k++) {
            /* a quadratic on either side: to the knot from two places and the knot itself */
            double bend = basis->second[m][k];
            double left = (3 * slope[2][k] - 4 * slope[1][k] + slope[0][k]) / (0.4 * gap);
            double right = (-3 * slope[2][k] + 4 * slope[3][k] - slope[4][k]) / (0.4 * gap);
            double size = 1e-6 * (1 + fabs(slope[2][k])) / gap;
            bool end = m == 0 || m + 1 == basis->knots;
            assert_near(left, bend, size + 1e-6 * fabs(bend));
            assert_near(right, bend, size + 1e-6 * fabs(bend));
            assert_true(!end || fabs(bend) <= size);
        }
    }
}

/* Integrals of products of phi'' are 0, those of squares ascend. */
static void check_rough(const bent_problem *p, size_t node, size_t width)
{
    const curve_basis *basis = &p->b.basis[node];
    const double *rough = p->b.rough + node * CURVE_WIDTH;
    for (size_t k = 0; k < width; k++) {
        double square = bent_rough(basis, k, k);
        /* differences tell less where one gap is a million times another */
        assert_near(rough[k], bent_rougher(basis, k), (node <= SKEWED ? 1e-5 : 1e-3) * rough[k]);
        assert_true(k < 2 || rough[k] >= rough[k - 1]);
        for (size_t l = k + 1; l < width && k > 0; l++) {
            double other = bent_rough(basis, l, l);
            assert_near(bent_rough(basis, k, l), 0, 1e-5 * sqrt(square * other));
        }
    }
    for (size_t k = width; k < CURVE_WIDTH; k++) {
        assert_near(rough[k], 1, 0);
    }
}

static void check_slopes(const bent_problem *p, size_t node, size_t width)
{
    const double *slope = p->b.slope + node * CURVE_WIDTH;
    double mean[CURVE_WIDTH] = {0};
    double n = 0;
    for (size_t r = 0; r < p->rows; r++) {
        double at[CURVE_WIDTH];
        n += p->keep[r];
        curve_slopes(&p->b.basis[node], p->z[r * p->d + node], at);
        for (size_t k = 0; k < CURVE_WIDTH; k++) {
            mean[k] += p->keep[r] * at[k];
        }
    }
    for (size_t k = 0; k < CURVE_WIDTH; k++) {
        double exact = k < width ? mean[k] / n : 0;
        assert_near(slope[k], exact, 1e-9 + 1e-9 * fabs(exact));
    }
}

static void curves_are_what_defines_them(void **state)
{
    static bent_problem p;
    static double value[BENT_ROWS];
    const size_t rows[] = {2, 5, 12, 40, BENT_ROWS};
    (void)state;
    for (size_t c = 0; c < sizeof rows / sizeof *rows; c++) {
        made_columns(&p, rows[c]);
        bent_fit(&p, BEND_CURVED, false);
        for (size_t i = 0; i < COLUMNS; i++) {
            const curve_basis *basis = &p.b.basis[i];
            size_t values = distinct(&p, i, value);
            size_t most = values < CURVE_KNOTS ? values : CURVE_KNOTS;
            size_t width = basis->knots > 0 ? basis->knots - 1 : 0;
            assert_true(basis->knots <= most && basis->knots != 1);
            assert_true(values < 2 ? basis->knots == 0 : basis->knots >= 2);
            /* all values are knots where there are few; else the outermost are */
            assert_true(values > 3 || values < 2 || basis->knots == values);
            for (size_t m = 0; m < basis->knots; m++) {
                assert_true(bsearch(&basis->knot[m], value, values, sizeof *value, ascending));
                assert_true(m == 0 || basis->knot[m] > basis->knot[m - 1]);
            }
            assert_true(width == 0 ||
                        (basis->knot[0] == value[0] && basis->knot[width] == value[values - 1]));
            if (i <= SKEWED) {
                check_knots(basis, value, values);
            }
            check_moments(&p, i, width);
            check_natural(basis, width);
            check_rough(&p, i, width);
            check_slopes(&p, i, width);
        }
        bent_discard(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_are_what_defines_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
