/* Units do not matter: columns of x multiplied by numbers from 1e-6 to 1e6, and shifted, give the
 * same graph, z and intervals, and a decoder that says the same in the new units, for every method.
 * And the noise of columns that have each their own is what was put there. */
#include "data/statistics/statistics.h"
#include "lcg.h"
#include "rows_of.h"
#include "simulated.h"
#include "testing.h"

static lscm_error why;

typedef struct world {
    const char *preset;
    int64_t nodes;
    const char *changes; /* of the simulation */
    const char *fit;     /* settings */
    double offset;       /* sd that every column is moved by to begin with */
    double within;       /* of what is compared, relative to its largest */
    bool encodes;        /* new rows, too */
} world;

static double *room(size_t count)
{
    double *out = calloc(count + 1, sizeof *out);
    if (out == NULL) {
        abort();
    }
    return out;
}

static rows_of rows_from(const lscm_dataset *data)
{
    rows_of r = {.n = lscm_dataset_rows(data),
                 .d = lscm_dataset_nodes(data),
                 .D = lscm_dataset_features(data)};
    r.x = room(r.n * r.D);
    r.values = room(r.n * r.d);
    r.targets = calloc(r.n * r.d, 1);
    double *targets = room(r.n * r.d);
    if (r.targets == NULL) {
        abort();
    }
    assert_ok(lscm_dataset_read(data, LSCM_X, 0, r.n, r.x, &why));
    assert_ok(lscm_dataset_read(data, LSCM_VALUES, 0, r.n, r.values, &why));
    assert_ok(lscm_dataset_read(data, LSCM_TARGETS, 0, r.n, targets, &why));
    for (size_t k = 0; k < r.n * r.d; k++) {
        r.targets[k] = targets[k] != 0 ? 1 : 0;
    }
    free(targets);
    return r;
}

/* x_j becomes by_j x_j + plus_j. */
static void change(rows_of *r, const double *by, const double *plus)
{
    for (size_t k = 0; k < r->n * r->D; k++) {
        r->x[k] = by[k % r->D] * r->x[k] + plus[k % r->D];
    }
}

static double sd_of(const rows_of *r, size_t j)
{
    double mean = 0;
    double squares = 0;
    for (size_t row = 0; row < r->n; row++) {
        mean += r->x[row * r->D + j] / (double)r->n;
    }
    for (size_t row = 0; row < r->n; row++) {
        squares += pow(r->x[row * r->D + j] - mean, 2) / (double)r->n;
    }
    return sqrt(squares);
}

static lscm_posterior *fitted(const rows_of *r, const char *words)
{
    lscm_fit_settings settings;
    lscm_posterior *p = NULL;
    lscm_dataset *data = wrap(r, true);
    lscm_settings_defaults(lscm_fit_table(), &settings);
    for (const char *at = words; *at != '\0'; at += strspn(at, " ")) {
        char name[32];
        char value[32];
        int taken = 0;
        assert_int_equal(sscanf(at, "%31[^=]=%31s%n", name, value, &taken), 2);
        assert_ok(lscm_settings_set(lscm_fit_table(), &settings, name, value, &why));
        at += taken;
    }
    assert_ok(lscm_fit(&p, data, &settings, NULL, NULL, &why));
    lscm_dataset_free(data);
    return p;
}

/* To a share of the largest, or of `most` where that is more. */
static void compare(const double *a, const double *b, size_t count, double most, double within)
{
    for (size_t k = 0; k < count; k++) {
        most = fmax(most, fabs(a[k]));
    }
    for (size_t k = 0; k < count; k++) {
        assert_near(a[k], b[k], within * most);
    }
}

/* What each decoder makes of z, in the units of the first. */
static void compare_decoders(const lscm_posterior *a, const lscm_posterior *b, const rows_of *r,
                             const double *by, const double *plus, double within)
{
    enum { ROWS = 8 };
    double *x = room(2 * ROWS * r->D);
    double *other = x + ROWS * r->D;
    assert_ok(lscm_posterior_decode(a, ROWS, lscm_posterior_z(a), x, &why));
    assert_ok(lscm_posterior_decode(b, ROWS, lscm_posterior_z(a), other, &why));
    for (size_t k = 0; k < ROWS * r->D; k++) {
        size_t j = k % r->D;
        double size = fabs(x[k]) + sd_of(r, j) + fabs(plus[j] / by[j]);
        assert_near((other[k] - plus[j]) / by[j], x[k], within * size);
    }
    free(x);
}

static void compare_encoders(const lscm_posterior *a, const lscm_posterior *b, const rows_of *r,
                             const rows_of *moved, double within)
{
    size_t count = r->n * r->d;
    double *z = room(4 * count);
    lscm_dataset *first = wrap(r, true);
    lscm_dataset *second = wrap(moved, true);
    size_t outside = 0;
    assert_ok(lscm_posterior_transform(a, first, z, z + count, &outside, NULL, &why));
    assert_ok(
        lscm_posterior_transform(b, second, z + 2 * count, z + 3 * count, &outside, NULL, &why));
    compare(z, z + 2 * count, count, 0, within);
    compare(z + count, z + 3 * count, count, 1, within);
    lscm_dataset_free(first);
    lscm_dataset_free(second);
    free(z);
}

static void check_world(const world *w, lcg *g)
{
    lscm_dataset *data = simulated_as(w->preset, w->nodes, w->changes);
    rows_of r = rows_from(data);
    lscm_dataset_free(data);
    double *by = room(2 * r.D);
    double *plus = by + r.D;
    for (size_t j = 0; j < r.D; j++) {
        by[j] = 1;
        plus[j] = w->offset * sd_of(&r, j);
    }
    change(&r, by, plus);
    lscm_posterior *a = fitted(&r, w->fit);
    rows_of moved = r;
    moved.x = room(r.n * r.D);
    memcpy(moved.x, r.x, r.n * r.D * sizeof *r.x);
    for (size_t j = 0; j < r.D; j++) {
        by[j] = pow(10, 12 * lcg_uniform(g) - 6);
        plus[j] = by[j] * sd_of(&r, j) * 10 * lcg_normal(g);
    }
    change(&moved, by, plus);
    lscm_posterior *b = fitted(&moved, w->fit);
    size_t d = r.d;
    size_t draws = lscm_posterior_draws(a);
    compare(lscm_posterior_edge_prob(a), lscm_posterior_edge_prob(b), d * d, 0, w->within);
    compare(lscm_posterior_weights(a), lscm_posterior_weights(b), draws * d * d, 0, w->within);
    compare(lscm_posterior_z(a), lscm_posterior_z(b), r.n * d, 0, w->within);
    compare(lscm_posterior_z_sd(a), lscm_posterior_z_sd(b), r.n * d, 1, w->within);
    compare_decoders(a, b, &r, by, plus, w->within);
    if (w->encodes) {
        compare_encoders(a, b, &r, &moved, w->within);
    }
    lscm_posterior_free(a);
    lscm_posterior_free(b);
    free(moved.x);
    free(by);
    drop(&r);
}

#define ROWS "observational=60 sets=10 per_set=12 "

static void units_do_not_matter(void **state)
{
    static const world worlds[] = {
        {"paper-linear", 4, ROWS "features=12", "draws=20", 0, 1e-7, true},
        {"paper-linear", 3, ROWS "features=3", "draws=20", 0, 1e-5,
         true}, /* bends: curves are rougher */
        {"revised-linear", 4, ROWS "features=20", "draws=20", 0, 1e-7, true},
        {"revised-linear", 4, ROWS "features=9 x_noise=5", "draws=20 decoder=linear", 0, 1e-7,
         false},
        {"revised-linear", 3, ROWS "features=5 x_noise=2", "draws=20 decoder=linear", 30, 1e-7,
         false},
        {"paper-nonlinear", 3, ROWS "features=12", "draws=20 decoder=mlp steps=40", 40, 1e-3, true},
        {"paper-linear", 3, ROWS "features=8", "method=biols draws=16 steps=100 restarts=2", 0,
         1e-6, false},
        {"paper-nonlinear", 3, ROWS "features=8", "method=biols decoder=mlp draws=16 steps=60", 0,
         1e-3, false},
        {"paper-linear", 3, ROWS "features=8", "method=vae draws=8 steps=100", 0, 1e-3, false},
        {"paper-linear", 3, ROWS "features=8", "method=graphvae draws=8 steps=100", 0, 1e-3, false},
    };
    lcg g = {11};
    (void)state;
    lscm_set_threads(1);
    for (size_t k = 0; k < sizeof worlds / sizeof worlds[0]; k++) {
        print_message("%s, %s\n", worlds[k].preset, worlds[k].fit);
        check_world(&worlds[k], &g);
    }
}

/* x = z A + e, e_j of sd from .01 to .3 of the signal's: each is told to a few standard errors of
 * the sd of n numbers, kept and in one pass; and noise that is not alike does not look bent. */
static void noise_of_columns_is_told(void **state)
{
    enum { N = 3000, NODES = 4, FEATURES = 25 };
    lcg g = {3};
    double z[NODES];
    double sd[FEATURES];
    double signal[FEATURES] = {0};
    rows_of r = {N,
                 NODES,
                 FEATURES,
                 room((size_t)N * FEATURES),
                 room((size_t)N * NODES),
                 NULL,
                 room((size_t)NODES * FEATURES)};
    (void)state;
    r.targets = calloc((size_t)N * NODES, 1);
    for (size_t k = 0; k < (size_t)NODES * FEATURES; k++) {
        r.a[k] = lcg_normal(&g) * pow(10, 12 * (double)(k % FEATURES) / FEATURES - 6);
        signal[k % FEATURES] += r.a[k] * r.a[k];
    }
    for (size_t j = 0; j < FEATURES; j++) {
        sd[j] = sqrt(signal[j]) * 0.01 * pow(30, lcg_uniform(&g));
    }
    for (size_t row = 0; row < N && r.targets != NULL; row++) {
        for (size_t i = 0; i < NODES; i++) {
            z[i] = lcg_normal(&g);
            r.targets[row * NODES + i] = lcg_uniform(&g) < 0.2 ? 1 : 0;
            r.values[row * NODES + i] = z[i];
        }
        for (size_t j = 0; j < FEATURES; j++) {
            double x = 1e3 * sd[j] + sd[j] * lcg_normal(&g);
            for (size_t i = 0; i < NODES; i++) {
                x += z[i] * r.a[i * FEATURES + j];
            }
            r.x[row * FEATURES + j] = x;
        }
    }
    lscm_dataset *data = wrap(&r, true);
    for (int kept = 0; kept < 2; kept++) {
        linear_view s;
        assert_ok(linear_view_of_within(&s, data, 0, kept ? (size_t)1 << 30 : 8000000, NULL, &why));
        assert_int_equal(s.rank, NODES);
        assert_near(s.x_noise, 1, 0.05);
        for (size_t j = 0; j < FEATURES; j++) {
            assert_near(s.scale[j] / sd[j], 1, 0.15);
        }
        assert_false(linear_view_bends(&s));
        linear_view_close(&s);
    }
    lscm_dataset_free(data);
    drop(&r);
}

/* x = z A + n B + e with n B ten times z A: y has the causes, and next to nothing of n, kept and in
 * one pass. */
static void labels_find_their_directions(void **state)
{
    enum { N = 1200, NODES = 3, NUISANCES = 2, FEATURES = 30 };
    lcg g = {8};
    double b[NUISANCES * FEATURES];
    rows_of r = {N,
                 NODES,
                 FEATURES,
                 room((size_t)N * FEATURES),
                 room((size_t)N * NODES),
                 NULL,
                 room((size_t)NODES * FEATURES)};
    (void)state;
    r.targets = calloc((size_t)N * NODES, 1);
    for (size_t k = 0; k < (size_t)NODES * FEATURES; k++) {
        r.a[k] = lcg_normal(&g);
    }
    for (size_t k = 0; k < (size_t)NUISANCES * FEATURES; k++) {
        b[k] = 10 * lcg_normal(&g);
    }
    for (size_t row = 0; row < N && r.targets != NULL; row++) {
        double *x = r.x + row * FEATURES;
        r.targets[row * NODES + row / 50 % NODES] = 1;
        for (size_t i = 0; i < NODES + NUISANCES; i++) {
            double cause = lcg_normal(&g);
            for (size_t j = 0; j < FEATURES; j++) {
                x[j] += cause * (i < NODES ? r.a[i * FEATURES + j] : b[(i - NODES) * FEATURES + j]);
            }
            if (i < NODES) {
                r.values[row * NODES + i] = cause;
            }
        }
        for (size_t j = 0; j < FEATURES; j++) {
            x[j] += 0.1 * lcg_normal(&g);
        }
    }
    lscm_dataset *data = wrap(&r, true);
    for (int kept = 0; kept < 2; kept++) {
        linear_view s;
        assert_ok(linear_view_of_within(&s, data, 0, kept ? (size_t)1 << 30 : 400000, NULL, &why));
        assert_true(s.guided && s.rank == NODES);
        double least = INFINITY; /* of what y has of a cause, and the most that it has of others */
        double most = 0;
        for (size_t i = 0; i < NODES + NUISANCES; i++) {
            const double *a = i < NODES ? r.a + i * FEATURES : b + (i - NODES) * FEATURES;
            double inside = 0;
            for (size_t k = 0; k < NODES; k++) {
                double along = 0;
                for (size_t j = 0; j < FEATURES; j++) {
                    along += a[j] * s.basis[j * NODES + k];
                }
                inside += along * along;
            }
            least = i < NODES ? fmin(least, inside) : least;
            most = i < NODES ? most : fmax(most, inside);
        }
        assert_true(most < 0.05 * least);
        linear_view_close(&s);
    }
    lscm_dataset_free(data);
    drop(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_of_columns_is_told),
        cmocka_unit_test(labels_find_their_directions),
        cmocka_unit_test(units_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
