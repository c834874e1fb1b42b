/* Around the encoder z = a + y B: units, z with its sd, and the way back to x. */
#include "infer/encoder/linear_encoder.h"

#include "base/quantile.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void lay_out_identity(anchor *a, arena *m)
{
    double **vectors[] = {&a->intercept, &a->residual, &a->standard_error, &a->r2, &a->noise};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = arena_take(m, a->d, sizeof(double));
    }
    a->kind = arena_take(m, a->d, sizeof *a->kind);
    a->samples = arena_take(m, a->d, sizeof *a->samples);
    a->slope = arena_take(m, a->d * a->d, sizeof(double));
}

/* Observed variables: z = y, known. */
lscm_status encoder_identity(anchor *out, const linear_view *s, const uint8_t *keep,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    anchor a = {.d = s->d, .rank = s->d};
    lay_out_identity(&a, &a.memory);
    TRY(arena_open(&a.memory, why));
    lay_out_identity(&a, &a.memory);
    design_count(&s->design, keep, a.samples, NULL);
    for (size_t j = 0; j < s->d; j++) {
        a.slope[j * s->d + j] = 1;
        a.r2[j] = 1;
        a.kind[j] = ANCHOR_VALUES;
    }
    *out = a;
done:
    return status;
}

/* unit of nodes first, first + 1, .., SPREAD_BLOCK of them; 0 where there is none. */
static void own_units(const linear_view *s, const anchor *a, latent_rows table, const double *z,
                      size_t first, double *unit)
{
    bool observed = s->kind != VIEW_LINEAR;
    size_t past = s->d - first < SPREAD_BLOCK ? s->d : first + SPREAD_BLOCK;
    column_spread values[SPREAD_BLOCK];
    column_spread all[SPREAD_BLOCK];
    bool enough = !observed;
    spread_columns(&table, first, SPREAD_SET, values);
    for (size_t j = first; j < past; j++) {
        enough = enough && (a->kind[j] == ANCHOR_NONE || values[j - first].squares > 0);
    }
    if (!enough) {
        table.z = z;
        spread_columns(&table, first, observed ? SPREAD_FREE : SPREAD_FREE | SPREAD_SET, all);
    }
    for (size_t j = first; j < past; j++) {
        bool set = enough || (!observed && values[j - first].squares > 0);
        const column_spread *from = set ? &values[j - first] : &all[j - first];
        bool own = a->kind[j] != ANCHOR_NONE && from->squares > 0;
        unit[j] = own ? sqrt(from->squares / from->n) / (observed ? 1 : 2) : 0;
    }
}

/* u_j: half the sd of the values that do() set, a property of the design; where they do not vary,
 * half the sd of z. Variables observed or read off: the sd of z where free. Where there is neither,
 * the median of the other nodes'. */
void encoder_units(const linear_view *s, const anchor *a, const uint8_t *keep, const double *z,
                   double *unit, double *sorted)
{
    size_t d = s->d;
    size_t known = 0;
    const latent_rows values = {&s->design, s->design.value, keep, false};
#pragma omp parallel for schedule(static) if (spread_shared(&values))
    for (size_t first = 0; first < d; first += SPREAD_BLOCK) {
        own_units(s, a, values, z, first, unit);
    }
    for (size_t j = 0; j < d; j++) {
        if (unit[j] > 0) {
            sorted[known++] = unit[j];
        }
    }
    qsort(sorted, known, sizeof *sorted, quantile_compare);
    for (size_t j = 0; j < d; j++) {
        unit[j] = unit[j] > 0 ? unit[j] : known > 0 ? sorted[known / 2] : 1;
    }
}

/* [1 y] C [1 y]' of one row */
static double spread_at(const double *cov, const double *y, size_t r)
{
    double sum = cov[0];
    for (size_t a = 0; a < r; a++) {
        const double *row = cov + (a + 1) * (r + 1);
        double with = row[0]; /* C is symmetric: once for every pair */
        for (size_t b = 0; b < a; b++) {
            with += row[b + 1] * y[b];
        }
        sum += y[a] * (2 * with + row[a + 1] * y[a]);
    }
    return fmax(sum, 0);
}

void encoder_blur(const linear_view *s, const anchored *a, double *blur)
{
    size_t d = a->d;
    double noise = s->x_noise * s->x_noise;
    memset(blur, 0, d * d * sizeof *blur);
    if (a->rank > 0) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)d, (int)d, (int)a->rank, noise,
                    a->slope, (int)d, a->slope, (int)d, 0, blur, (int)d);
    }
    for (size_t j = 0; j < d; j++) { /* part of z_j may be lost in the noise */
        double own = a->anchor.noise[j] * a->anchor.noise[j];
        blur[j * d + j] = fmax(blur[j * d + j], own);
    }
}

void encoder_doubt(const anchored *a, const double *y, double *doubt)
{
    size_t n = a->rank + 1;
    for (size_t j = 0; j < a->d; j++) {
        doubt[j] = a->spread != NULL ? spread_at(a->spread + j * n * n, y, a->rank) : 0;
    }
}

void encoder_row(const encoder_errors *errors, const double *y, const double *mean,
                 const uint8_t *target, const double *values, double *z, double *sd)
{
    size_t r = errors->rank;
    double actuator = errors->actuator_noise * errors->actuator_noise;
    for (size_t j = 0; j < errors->d; j++) {
        const double *cov = errors->spread != NULL ? errors->spread + j * (r + 1) * (r + 1) : NULL;
        double noise = errors->noise[j];
        double variance = noise * noise + (cov != NULL ? spread_at(cov, y, r) : 0);
        z[j] = mean[j];
        if (target[j] != 0 && variance + actuator > 0) {
            /* what do() set is a second measurement, with the noise of the actuator */
            double share = variance / (variance + actuator);
            z[j] += share * (values[j] - z[j]);
            variance *= 1 - share;
        }
        sd[j] = sqrt(variance);
    }
}

void encoder_z(const linear_view *s, const anchored *a, double *z, double *z_sd)
{
    size_t d = s->d;
    if (a->z_sd != NULL && !(a->clip > 0)) {
        memcpy(z, a->z, s->rows * d * sizeof *z);
        memcpy(z_sd, a->z_sd, s->rows * d * sizeof *z_sd);
        return;
    }
    anchor_apply(s, a->shift, a->slope, z);
    const encoder_errors errors = {.d = d,
                                   .rank = s->rank,
                                   .noise = a->anchor.noise,
                                   .spread = a->spread,
                                   .actuator_noise = a->anchor.actuator_noise};
#pragma omp parallel for schedule(static)
    for (size_t k = 0; k < s->rows; k++) {
        encoder_row(&errors, s->y + k * s->rank, z + k * d, design_targets(&s->design, k),
                    design_values(&s->design, k), z + k * d, z_sd + k * d);
    }
}

/* x = c + (z - a) B^+ (E u)', and E u = basis u^2: weights (d, D), bias (D). */
lscm_status encoder_invert(const linear_view *s, const anchored *a, double *weights, double *bias,
                           lscm_error *why)
{
    lscm_status status = LSCM_OK;
    int d = (int)s->d;
    int r = (int)s->rank;
    int D = (int)s->D;
    size_t square = s->d > s->rank ? s->d : s->rank;
    double *copy = calloc(s->d * s->rank + square * square + square, sizeof *copy);
    double *inverse = copy + s->d * s->rank; /* (d, r): B^+, from B (r, d) X = I */
    double *singular = inverse + square * square;
    int rank = 0;
    if (copy == NULL) {
        return fail_memory(why, 2 * square * square * sizeof *copy);
    }
    memcpy(bias, s->mean, s->D * sizeof *bias);
    memset(weights, 0, s->d * s->D * sizeof *weights);
    if (r == 0) {
        goto done;
    }
    memcpy(copy, a->slope, s->d * s->rank * sizeof *copy);
    for (int k = 0; k < r; k++) {
        inverse[k * r + k] = 1;
    }
    if (LAPACKE_dgelsd(LAPACK_ROW_MAJOR, r, d, r, copy, d, inverse, r, singular, 1e-12, &rank) !=
        0) {
        status = fail(why, LSCM_VALUE, "the encoder could not be inverted");
        goto done;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, d, D, r, 1, inverse, r, s->basis, r, 0,
                weights, D);
    for (size_t j = 0; j < s->D; j++) {
        cblas_dscal(d, s->scale[j] * s->scale[j], weights + j, D);
    }
    cblas_dgemv(CblasRowMajor, CblasTrans, d, D, -1, weights, D, a->shift, 1, 1, bias, 1);
done:
    free(copy);
    return status;
}
