/* Rows x = z a + offset + noise for tests of the linear_view part of x, and what linear_view.h
 * promises of it by plain loops. Include it first: cmocka has a macro `fail`. */
#ifndef LSCM_TESTS_LINEAR_VIEW_TESTING_H
#define LSCM_TESTS_LINEAR_VIEW_TESTING_H

#include "data/statistics/statistics.h"
#include "made.h"

#include "lcg.h"
#include "rows_of.h"
#include "stopper.h"
#include "testing.h"

static lscm_error why;

static const size_t WHOLE = (size_t)1 << 30; /* keep x */
static const size_t SAMPLED = 1;             /* do not */

static inline double *numbers(size_t count)
{
    double *out = calloc(count + 1, sizeof *out);
    if (out == NULL) {
        abort();
    }
    return out;
}

/* z has `rank` free coordinates, coordinate i with sd 1 + i; the others are copies of the first. */
static inline rows_of make(size_t n, size_t d, size_t D, size_t rank, double noise, double offset)
{
    lcg g = {n + 7 * d + 31 * D};
    rows_of r = {n, d, D, numbers(n * D), numbers(n * d), calloc(n * d, 1), numbers(d * D)};
    double *z = numbers(d);
    if (r.targets == NULL) {
        abort();
    }
    for (size_t k = 0; k < d * D; k++) {
        r.a[k] = lcg_normal(&g);
    }
    for (size_t row = 0; row < n; row++) {
        for (size_t i = 0; i < d; i++) {
            z[i] = i < rank ? ((double)i + 1) * lcg_normal(&g) : z[0];
            r.targets[row * d + i] = lcg_uniform(&g) < 0.3 ? 1 : 0;
            r.values[row * d + i] = r.targets[row * d + i] != 0 ? lcg_normal(&g) : NAN;
        }
        for (size_t j = 0; j < D; j++) {
            double x = offset + (noise > 0 ? noise * lcg_normal(&g) : 0);
            for (size_t i = 0; i < d; i++) {
                x += z[i] * r.a[i * D + j];
            }
            r.x[row * D + j] = x;
        }
    }
    free(z);
    return r;
}

/* The property for rows of each shape (n, d, D), read whole and read in one pass. */
static inline void each_shape(const size_t (*shapes)[3], size_t count, double noise, double offset,
                              void (*property)(const rows_of *r, size_t bytes))
{
    for (size_t k = 0; k < 2 * count; k++) {
        const size_t *shape = shapes[k / 2];
        rows_of r = make(shape[0], shape[1], shape[2], shape[1], noise, offset);
        property(&r, k % 2 == 0 ? WHOLE : SAMPLED);
        drop(&r);
    }
}

/* The same as float32; x, values become what the file holds. */
static inline lscm_dataset *wrap_floats(rows_of *r)
{
    lscm_dataset *data = made_new();
    float *x = made_field(data, LSCM_X, DTYPE_FLOAT32, r->n, r->D, 0, 0);
    float *values = made_field(data, LSCM_VALUES, DTYPE_FLOAT32, r->n, r->d, 0, 0);
    int64_t *targets = made_field(data, LSCM_TARGETS, DTYPE_INT64, r->n, r->d, 0, 0);
    for (size_t k = 0; k < r->n * r->D; k++) {
        x[k] = (float)r->x[k];
        r->x[k] = (double)x[k];
    }
    for (size_t k = 0; k < r->n * r->d; k++) {
        values[k] = (float)r->values[k];
        r->values[k] = (double)values[k];
        targets[k] = r->targets[k];
    }
    return data;
}

/* ---- What was promised, by plain loops ---- */

static inline double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static inline void check_labels(const rows_of *r, const design *s)
{
    assert_int_equal(s->rows, r->n);
    assert_int_equal(s->d, r->d);
    for (size_t row = 0; row < r->n; row++) {
        assert_memory_equal(design_targets(s, row), r->targets + row * r->d, r->d);
    }
    for (size_t k = 0; k < r->n * r->d; k++) {
        assert_true(s->value[k] == (r->targets[k] != 0 ? r->values[k] : 0));
    }
}

/* basis (D, rank) is orthonormal. */
static inline void check_basis(const double *basis, size_t D, size_t rank, double within)
{
    for (size_t a = 0; a < rank; a++) {
        for (size_t b = 0; b < rank; b++) {
            double sum = 0;
            for (size_t j = 0; j < D; j++) {
                sum += basis[j * rank + a] * basis[j * rank + b];
            }
            assert_near(sum, a == b ? 1 : 0, within);
        }
    }
}

/* The share of a (D) that lies outside basis (D, rank). */
static inline double share_outside(const double *a, const double *basis, size_t D, size_t rank)
{
    double inside = 0;
    for (size_t k = 0; k < rank; k++) {
        double sum = 0;
        for (size_t j = 0; j < D; j++) {
            sum += a[j] * basis[j * rank + k];
        }
        inside += sum * sum;
    }
    return 1 - inside / dot(a, a, D);
}

/* Reads the data as linear_view_of_within does, and closes what it got. */
typedef lscm_status (*reading)(const lscm_dataset *data, size_t bytes, meter *over);

/* Stopped at each of its reports in turn, at least `least` of them, and let through in the end,
 * with all bytes reported. */
static inline void check_stops(const rows_of *r, reading read, size_t least)
{
    lscm_dataset *data = wrap(r, true);
    for (size_t k = 0; k < 2; k++) {
        lscm_status status = LSCM_STOPPED;
        size_t allowed = 0;
        for (; status == LSCM_STOPPED && allowed < 1000; allowed++) {
            stopper s = {.allowed = allowed};
            const lscm_progress progress = {allow, &s};
            meter over = meter_over(data, &progress, "reading");
            status = read(data, k == 0 ? WHOLE : SAMPLED, &over);
            assert_true(status != LSCM_OK || s.done == over.total);
        }
        assert_int_equal(status, LSCM_OK);
        assert_true(allowed > least);
    }
    lscm_dataset_free(data);
}

/* 1 / u_j, or 0 where the column is constant. */
static inline double per_unit(const linear_view *s, size_t j)
{
    return s->scale[j] > 0 ? 1 / s->scale[j] : 0;
}

/* E (D, rank), from the basis that x is multiplied by. */
static inline double *directions_of(const linear_view *s)
{
    double *e = numbers(s->D * s->rank);
    for (size_t k = 0; k < s->D * s->rank; k++) {
        e[k] = s->basis[k] * s->scale[k / s->rank];
    }
    return e;
}

/* Centred rows (n, D) in units of the columns, their mean compared on the way. */
static inline double *centred(const rows_of *r, const linear_view *s)
{
    double *x = numbers(r->n * r->D);
    for (size_t j = 0; j < r->D; j++) {
        long double sum = 0;
        double size = 1e-300;
        for (size_t row = 0; row < r->n; row++) {
            sum += r->x[row * r->D + j];
            size += fabs(r->x[row * r->D + j]);
        }
        long double mean = sum / (long double)r->n;
        assert_near(s->mean[j], (double)mean, 4e-14 * size / (double)r->n);
        for (size_t row = 0; row < r->n; row++) {
            x[row * r->D + j] = (double)(r->x[row * r->D + j] - mean) * per_unit(s, j);
        }
    }
    return x;
}

/* x (n, D), centred, loses what lies in E; y is compared with it on the way. */
static inline void project_out(const rows_of *r, const linear_view *s, const double *e, double *x)
{
    double scale = sqrt(s->variance);
    for (size_t j = 0; j < s->D; j++) {
        scale += fabs(s->mean[j]) * per_unit(s, j);
    }
    for (size_t row = 0; row < r->n; row++) {
        double *at = x + row * r->D;
        for (size_t k = 0; k < s->rank; k++) {
            double y = 0;
            for (size_t j = 0; j < r->D; j++) {
                y += at[j] * e[j * s->rank + k];
            }
            assert_near(s->y[row * s->rank + k], y, 1e-12 * scale);
        }
        for (size_t k = 0; k < s->rank; k++) {
            double y = s->y[row * s->rank + k];
            for (size_t j = 0; j < r->D; j++) {
                at[j] -= y * e[j * s->rank + k];
            }
        }
    }
}

static inline void check_spectrum(const rows_of *r, const linear_view *s)
{
    double n = (double)r->n;
    for (size_t a = 0; a < s->rank; a++) {
        assert_true(a == 0 || s->spectrum[a] <= s->spectrum[a - 1]);
        for (size_t b = 0; b < s->rank; b++) {
            double sum = 0;
            for (size_t row = 0; row < r->n; row++) {
                sum += s->y[row * s->rank + a] * s->y[row * s->rank + b];
            }
            assert_near(sum / n, a == b ? s->spectrum[a] : 0, 1e-11 * s->spectrum[0]);
        }
    }
}

/* The largest variance along any direction of the rows x (n, D), from below. */
static inline double largest_variance(const double *x, size_t n, size_t D)
{
    lcg g = {5};
    double *v = numbers(D);
    double *next = numbers(D);
    double size = 0;
    for (size_t j = 0; j < D; j++) {
        v[j] = lcg_normal(&g);
    }
    for (int round = 0; round < 12; round++) {
        size = sqrt(dot(v, v, D));
        memset(next, 0, D * sizeof *next);
        for (size_t row = 0; row < n && size > 0; row++) {
            double along = dot(x + row * D, v, D) / size / (double)n;
            for (size_t j = 0; j < D; j++) {
                next[j] += along * x[row * D + j];
            }
        }
        memcpy(v, next, D * sizeof *v);
    }
    size = sqrt(dot(v, v, D));
    free(v);
    free(next);
    return size;
}

/* Everything; `best`: no direction is better by more than this share; `bytes` as given to
 * linear_view_of_within: s_x has this form only when E comes from all rows. */
static inline void check(const rows_of *r, const linear_view *s, double best, size_t bytes)
{
    assert_int_equal(s->rows, r->n);
    assert_int_equal(s->d, r->d);
    assert_int_equal(s->D, r->D);
    assert_true(s->rank <= r->d);
    check_labels(r, &s->design);
    double *e = directions_of(s);
    check_basis(e, s->D, s->rank, 1e-12);
    double *x = centred(r, s);
    double n = (double)r->n;
    double variance = dot(x, x, r->n * r->D) / n;
    assert_near(s->variance, variance, 1e-11 * variance);
    project_out(r, s, e, x);
    check_spectrum(r, s);
    double outside = dot(x, x, r->n * r->D) / n;
    double freedom = (n - 1 - (double)s->rank) * (double)(r->D - s->rank);
    double noise = freedom > 0 ? sqrt(outside * n / freedom) : 0;
    if (bytes == WHOLE) {
        assert_near(s->x_noise, noise, 1e-9 * noise + 2e-6 * sqrt(variance / (double)r->D));
    }
    if (s->rank > 0) {
        double missed = largest_variance(x, r->n, r->D);
        assert_true(missed <= (1 + best) * s->spectrum[s->rank - 1] + 1e-12 * variance);
    }
    free(x);
    free(e);
}

/* The largest share of a row of the true matrix that lies outside E. */
static inline double outside_share(const rows_of *r, const linear_view *s)
{
    double most = 0;
    double *e = directions_of(s);
    double *a = numbers(r->D);
    for (size_t i = 0; i < r->d; i++) {
        for (size_t j = 0; j < r->D; j++) {
            a[j] = r->a[i * r->D + j] * per_unit(s, j);
        }
        double share = share_outside(a, e, r->D, s->rank);
        most = share > most || isnan(share) ? share : most;
    }
    free(e);
    free(a);
    return most;
}

static inline linear_view find(const rows_of *r, size_t bytes)
{
    lscm_dataset *data = wrap(r, true);
    linear_view s;
    assert_ok(linear_view_of_within(&s, data, 0, bytes, NULL, &why));
    lscm_dataset_free(data);
    return s;
}

#endif
