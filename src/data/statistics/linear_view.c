/* y = w E: see linear_view.h. x is kept as double when it is small; otherwise it is first
 * reduced to a few more directions than there are nodes (linear_view_stream.c), and the same steps
 * follow on those:
 *
 *     x (N, D)  ->  [ x E_m (N, m) ]  ->  principal directions  ->  y (N, r), in the same memory.
 *
 * A direction is there when its variance exceeds the rounding of the computation (1e-13 of the
 * largest) and of the numbers as they were stored.
 */
#include "data/statistics/linear_view.h"
#include "base/pages.h"

#include "base/threads.h"
#include "base/tuned.h"
#include "data/statistics/linear_view_parts.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t KEEP_BYTES = (size_t)256 << 20;
static const double SMALL_VARIANCE = 1e-13; /* of the largest */
static const double SMALL_ENERGY = 1e-12;   /* outside E, of the whole: what cancellation leaves */

lscm_status signal_directions(principal *out, const lscm_dataset *data, double *x, size_t n,
                              size_t D, size_t wanted, principal_units units, lscm_error *why)
{
    lscm_status status = principal_of(out, x, n, D, wanted, units, why);
    if (status == LSCM_VALUE &&
        blocks_check(data, LSCM_X, 0, data->rows, NULL, why) == LSCM_OK) { /* nor is any missing */
        status = fail(why, LSCM_VALUE,
                      "%s: the covariance of 'x' cannot be computed, its numbers are too large; "
                      "scale them down",
                      data->path);
    }
    return status;
}

static void lay_out(linear_view *s, arena *a)
{
    s->mean = arena_take(a, s->D, sizeof(double));
    s->scale = s->kind == VIEW_LINEAR ? arena_take(a, s->D, sizeof(double)) : NULL;
    s->basis = s->kind == VIEW_LINEAR ? arena_take(a, s->D * s->d, sizeof(double)) : NULL;
    s->spectrum = arena_take(a, s->d, sizeof(double));
}

static lscm_status open_memory(linear_view *s, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lay_out(s, &s->memory);
    TRY(arena_open(&s->memory, why));
    lay_out(s, &s->memory);
done:
    return status;
}

/* Half of the last place, relative: what storing rounds. */
static double rounding(dtype type)
{
    switch (type) {
    case DTYPE_FLOAT64:
        return 0x1p-53;
    case DTYPE_FLOAT32:
        return 0x1p-24;
    case DTYPE_FLOAT16:
        return 0x1p-11;
    default:
        return 0;
    }
}

/* Columns that are not constant. */
static size_t columns_of(const linear_view *s)
{
    size_t count = 0;
    for (size_t j = 0; j < s->D; j++) {
        count += s->scale[j] > 0;
    }
    return count;
}

/* Mean square of x along a direction (D), offsets and all, were columns not correlated: what
 * storing rounds a part of. */
static double size_along(const linear_view *s, const double *direction)
{
    double own = s->variance / (double)s->D;
    double sum = 0;
    for (size_t j = 0; j < s->D; j++) {
        double square = s->mean[j] * s->mean[j] + own * s->scale[j] * s->scale[j];
        sum += direction[j] * direction[j] * square;
    }
    return sum;
}

/* Numbers that the energy outside E stands for, so that s_x^2 is their mean. E was fitted to
 * `sampled` rows, which takes r of them away. In other rows it lacks of the signal what the noise
 * of the sample made it lack: of each direction as much as the noise in D - m dimensions / sampled.
 */
static double freedom(const linear_view *s, size_t sampled, size_t m)
{
    double n = (double)sampled;
    double r = (double)s->rank;
    double D = (double)columns_of(s);
    double outside = D - r;
    double missed = r * fmax(D - (double)m, 0) / n;
    return fmax(n - 1 - r, 0) * outside + ((double)s->rows - n) * (outside + missed);
}

/* rank, spectrum, x_noise from the variances (count) along directions (count or d of them, D),
 * largest first */
static void judge(linear_view *s, dtype type, const double *variance, const double *directions,
                  size_t count, size_t sampled)
{
    double N = (double)s->rows;
    double edge = 1 + sqrt((double)s->D / N); /* of the spectrum of pure noise */
    double rounded = 4 * pow(rounding(type) * edge, 2);
    double inside = 0;
    for (s->rank = 0; s->rank < s->d && s->rank < count; s->rank++) {
        double here = variance[s->rank];
        double least = fmax(rounded * size_along(s, directions + s->rank * s->D),
                            SMALL_VARIANCE * variance[0]);
        if (!(here > least)) {
            break;
        }
        s->spectrum[s->rank] = here;
        inside += here;
    }
    double outside = s->variance - inside;
    double many = freedom(s, sampled, count);
    bool seen = many > 0 && outside > SMALL_ENERGY * s->variance;
    s->x_noise = seen ? sqrt(N * outside / many) : 0;
    s->next = s->rank < count ? variance[s->rank] : 0;
}

/* Directions that labels ask for, in the place of those of most variance. What varies more than
 * noise outside is then no noise. */
static lscm_status guide(linear_view *s, principal *p, const double *x, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double columns = (double)columns_of(s);
    double left = s->variance;
    double edge = pow(1 + sqrt(columns / (double)s->rows), 2);
    size_t k = 0;
    if (s->rank < s->d || !(s->x_noise > 0)) { /* nothing is outside */
        return LSCM_OK;
    }
    for (; k < p->count; k++) {
        double outside = left / (columns - (double)k);
        if (k >= s->d && p->variance[k] <= tuned_bends_edge() * edge * outside) {
            break;
        }
        left -= p->variance[k];
    }
    TRY(signal_guide(p, x, &s->design, &s->guided, why));
    if (s->guided) {
        double outside = k < columns_of(s) ? left / (columns - (double)k) : 0;
        s->x_noise = outside > 0 ? sqrt(outside) : 0;
        memcpy(s->spectrum, p->variance, s->rank * sizeof *s->spectrum);
    }
done:
    return status;
}

/* basis (D, r) from the first r of directions (k, D) */
static void put_basis(linear_view *s, const double *directions)
{
    for (size_t j = 0; j < s->D; j++) {
        for (size_t k = 0; k < s->rank; k++) {
            s->basis[j * s->rank + k] = directions[k * s->D + j];
        }
    }
}

static void shrink(linear_view *s)
{
    size_t bytes = s->rows * s->rank * sizeof(double);
    double *y = realloc(s->y_block, bytes > 0 ? bytes : sizeof *y);
    if (y != NULL) {
        s->y_block = y;
    }
    s->y = s->y_block;
}

static lscm_status from_memory(linear_view *s, const lscm_dataset *data, bool own, meter *m,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    principal p = {0};
    size_t bytes = s->rows * s->D * sizeof(double);
    double *x = malloc(bytes);
    s->y_block = x;
    if (x == NULL) {
        status = fail_memory(why, bytes);
        goto done;
    }
    pages_large(x, bytes);
    TRY(signal_rows(data, x, m, why));
    TRY(signal_fill(s, data, x, why));
    if (own) { /* s->scale is free until then */
        TRY(signal_noise_most(x, NULL, s->rows, s->D, &s->design, s->scale, why));
    }
    const principal_units units = {own, s->scale};
    TRY(signal_directions(&p, data, x, s->rows, s->D, s->d, units, why));
    memcpy(s->mean, p.mean, s->D * sizeof *s->mean);
    memcpy(s->scale, p.scale, s->D * sizeof *s->scale);
    s->variance = p.total;
    judge(s, data->shape[LSCM_X].type, p.variance, p.directions, p.count, s->rows);
    if (own && s->mask == NULL) { /* what was filled in is as noisy as its row, which no E undoes */
        TRY(guide(s, &p, x, why));
    }
    put_basis(s, p.directions);
    TRY(signal_seen(s, &p, x, why));
    TRY(principal_project(&p, x, s->rank, why));
    shrink(s);
done:
    principal_close(&p);
    return status;
}

/* directions (kept, D): the first `kept` of p, which are of what `wide` found. */
static void combine(const principal *p, const principal *wide, size_t kept, double *directions)
{
    int D = (int)wide->D;
    int many = (int)wide->count;
    if (kept > 0) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)kept, D, many, 1, p->directions,
                    many, wide->directions, D, 0, directions, D);
    }
}

static lscm_status from_stream(linear_view *s, const lscm_dataset *data, bool own,
                               size_t sample_bytes, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    reduced wide = {0};
    principal p = {0};
    double *directions = NULL;
    TRY(signal_reduce(&wide, data, s->d, own ? &s->design : NULL, sample_bytes, m, why));
    size_t many = wide.sample.count;
    s->y_block = wide.y;
    wide.y = NULL;
    for (size_t j = 0; j < s->D; j++) {
        s->mean[j] = wide.sample.mean[j] + wide.left[j];
    }
    memcpy(s->scale, wide.sample.scale, s->D * sizeof *s->scale);
    s->variance = wide.total;
    TRY(signal_directions(&p, data, s->y_block, s->rows, many, s->d, (principal_units){0}, why));
    size_t kept = p.count < s->d ? p.count : s->d;
    directions = malloc((kept * s->D + 1) * sizeof *directions);
    if (directions == NULL) {
        status = fail_memory(why, kept * s->D * sizeof *directions);
        goto done;
    }
    combine(&p, &wide.sample, kept, directions);
    judge(s, data->shape[LSCM_X].type, p.variance, directions, p.count, wide.sample.n);
    if (own) {
        TRY(guide(s, &p, s->y_block, why));
        combine(&p, &wide.sample, kept, directions);
    }
    put_basis(s, directions);
    TRY(principal_project(&p, s->y_block, s->rank, why));
    shrink(s);
done:
    free(directions);
    principal_close(&p);
    signal_reduce_close(&wide);
    return status;
}

lscm_status linear_view_of_within(linear_view *out, const lscm_dataset *data, double noise,
                                  size_t bytes, meter *m, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    linear_view s = {.kind = VIEW_LINEAR,
                     .rows = data->rows,
                     .d = data->nodes,
                     .D = lscm_dataset_features(data)};
    threads_blas_single();
    TRY(signal_needs_values(data, why));
    bool own = !(noise > 0) && data->shape[LSCM_X].ndim <= 2;
    bool keep = s.D <= s.d + PRINCIPAL_SPARE || s.rows <= bytes / sizeof(double) / s.D;
    TRY(open_memory(&s, why));
    TRY(signal_design(data, true, &s.design, m, why));
    if (keep) {
        TRY(from_memory(&s, data, own, m, why));
    } else {
        TRY(from_stream(&s, data, own, bytes / 4, m, why));
    }
    s.x_noise = noise > 0 ? noise : s.x_noise;
    *out = s;
    s = (linear_view){0};
done:
    threads_blas_restore();
    linear_view_close(&s);
    return status;
}

/* Whether x is streamed, and lacks entries: they are found out by what they spoil. */
static bool spoilt(const lscm_dataset *data, lscm_status status, double variance)
{
    lscm_overview seen = {0};
    bool streamed = data->rows > KEEP_BYTES / sizeof(double) / lscm_dataset_features(data);
    bool odd = status == LSCM_VALUE || (status == LSCM_OK && !isfinite(variance));
    return odd && streamed && lscm_dataset_check(data, &seen, NULL, NULL) == LSCM_OK &&
           seen.missing > 0;
}

lscm_status linear_view_of(linear_view *out, const lscm_dataset *data, double noise, meter *m,
                           lscm_error *why)
{
    meter begun = m != NULL ? *m : (meter){0};
    linear_view s = {0};
    lscm_status status = linear_view_of_within(&s, data, noise, KEEP_BYTES, m, why);
    if (spoilt(data, status, s.variance)) { /* what is missing is filled in memory alone */
        linear_view_close(&s);
        s = (linear_view){0};
        if (m != NULL) {
            *m = begun;
        }
        status = linear_view_of_within(&s, data, noise, SIZE_MAX, m, why);
    }
    *out = s;
    return status;
}

/* Variance of each column, about its first number so that offsets do not cancel. */
static void column_variances(linear_view *s)
{
    double N = (double)s->rows;
    for (size_t j = 0; j < s->D; j++) {
        double sum = 0;
        double squares = 0;
        for (size_t row = 0; row < s->rows; row++) {
            double t = s->y[row * s->D + j] - s->y[j];
            sum += t;
            squares += t * t;
        }
        s->spectrum[j] = fmax((squares - sum * sum / N) / N, 0);
        s->variance += s->spectrum[j];
    }
}

lscm_status linear_view_identity(linear_view *out, const lscm_dataset *data, meter *m,
                                 lscm_error *why)
{
    lscm_status status = LSCM_OK;
    linear_view s = {.kind = VIEW_OBSERVED,
                     .rows = data->rows,
                     .d = data->nodes,
                     .D = lscm_dataset_features(data)};
    if (s.D != s.d) {
        return fail(why, LSCM_SHAPE,
                    "%s: 'x' has %zu columns but there are %zu nodes; variables that are observed "
                    "themselves have one column each, anything else needs 'values'",
                    data->path, s.D, s.d);
    }
    TRY(open_memory(&s, why));
    s.rank = s.d;
    s.y_block = malloc(s.rows * s.D * sizeof(double));
    if (s.y_block == NULL) {
        status = fail_memory(why, s.rows * s.D * sizeof(double));
        goto done;
    }
    s.y = s.y_block;
    TRY(signal_rows(data, s.y, m, why));
    TRY(signal_design(data, false, &s.design, m, why));
    TRY(signal_observed(&s, data, why));
    for (size_t row = 0; row < s.rows; row++) {
        const uint8_t *target = design_targets(&s.design, row);
        for (size_t i = 0; i < s.d; i++) {
            s.design.value[row * s.d + i] = target[i] != 0 ? s.y[row * s.d + i] : 0;
        }
    }
    column_variances(&s);
    *out = s;
    s = (linear_view){0};
done:
    linear_view_close(&s);
    return status;
}

double linear_view_noise(const linear_view *s)
{
    if (s->kind != VIEW_LINEAR) {
        return s->x_noise;
    }
    return s->x_noise * cblas_dnrm2((int)s->D, s->scale, 1) / sqrt((double)s->D);
}

static lscm_status keep_missing(linear_view *s, const linear_view *from, const uint8_t *keep,
                                lscm_error *why)
{
    size_t rows = 0;
    if (from->mask == NULL) {
        return LSCM_OK;
    }
    s->mask = malloc(s->rows * s->D + 1);
    s->seen = malloc(s->rows * s->rank * sizeof *s->seen + 1);
    if (s->mask == NULL || s->seen == NULL) {
        return fail_memory(why, s->rows * (s->D + s->rank * sizeof *s->seen));
    }
    for (size_t row = 0; row < from->rows; row++) {
        if (row_counts(keep, row)) {
            memcpy(s->mask + rows * s->D, from->mask + row * s->D, s->D);
            memcpy(s->seen + rows++ * s->rank, from->seen + row * s->rank,
                   s->rank * sizeof *s->seen);
        }
    }
    return LSCM_OK;
}

lscm_status linear_view_keep(linear_view *out, const linear_view *from, const uint8_t *keep,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    linear_view s = *from;
    size_t rows = 0;
    s.design = (design){0};
    s.memory = (arena){0};
    s.y_block = NULL;
    s.mask = NULL;
    s.seen = NULL;
    s.told = NULL;
    TRY(design_keep(&s.design, &from->design, keep, why));
    s.rows = s.design.rows;
    s.y_block = malloc(s.rows * s.rank * sizeof *s.y + 1);
    if (s.y_block == NULL) {
        status = fail_memory(why, s.rows * s.rank * sizeof *s.y);
        goto done;
    }
    s.y = s.y_block;
    for (size_t row = 0; row < from->rows; row++) {
        if (row_counts(keep, row)) {
            memcpy(s.y + rows++ * s.rank, from->y + row * s.rank, s.rank * sizeof *s.y);
        }
    }
    TRY(keep_missing(&s, from, keep, why));
    *out = s;
    s = (linear_view){0};
done:
    linear_view_close(&s);
    return status;
}

double linear_view_explained(const linear_view *s)
{
    double explained = 0;
    for (size_t k = 0; k < s->rank; k++) {
        explained += s->spectrum[k];
    }
    return s->variance > 0 ? explained / s->variance : 0;
}

bool linear_view_bends(const linear_view *s)
{
    double left = s->x_noise * s->x_noise;
    double edge = 1 + sqrt((double)(s->D - s->rank) / (double)(s->rows > 0 ? s->rows : 1));
    /* the largest variance of pure noise is about edge^2 times its mean (Marchenko and Pastur) */
    return s->kind == VIEW_LINEAR && s->next > tuned_bends_edge() * edge * edge * left &&
           s->next > tuned_bends_share() * s->variance;
}

void linear_view_close(linear_view *s)
{
    free(s->y_block);
    free(s->mask);
    free(s->seen);
    free(s->told);
    s->y_block = NULL;
    s->mask = NULL;
    s->seen = NULL;
    s->told = NULL;
    design_close(&s->design);
    arena_close(&s->memory);
}
