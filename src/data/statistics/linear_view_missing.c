/* Rows of a view that lack entries of x: see linear_view.h. */
#include "base/streams.h"
#include "data/statistics/linear_view.h"
#include "data/statistics/linear_view_parts.h"
#include "data/statistics/missing.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

static const double SAME = 1e-6; /* of its sd: what rounding leaves of a value */

void linear_view_row(const linear_view *s, size_t row, const view_row_law *law)
{
    int r = (int)s->rank;
    double *f = law->factor;
    memset(f, 0, s->rank * s->rank * sizeof *f);
    for (int k = 0; k < r; k++) {
        f[k * r + k] = 1;
    }
    for (size_t j = 0; j < s->D; j++) { /* G = I less what is missing */
        if (s->mask[row * s->D + j] != 0 && s->kind == VIEW_LINEAR) {
            double square = s->scale[j] * s->scale[j]; /* E_j is u_j times its row of the basis */
            cblas_dsyr(CblasRowMajor, CblasLower, r, -square, s->basis + j * s->rank, 1, f, r);
        } else if (s->mask[row * s->D + j] != 0) {
            f[j * s->rank + j] = 0;
        }
    }
    cblas_daxpy(r * r, law->noise, law->precision, 1, f, 1);
    memcpy(law->mean, s->seen + row * s->rank, s->rank * sizeof(double));
    cblas_daxpy(r, law->noise, law->pull, 1, law->mean, 1);
    (void)LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', r, f, r); /* P is positive */
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, r, f, r, law->mean, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, r, f, r, law->mean, 1);
}

void linear_view_complete(const linear_view *s, size_t row, const double *drawn, double noise,
                          rng random)
{
    double *y = s->y + row * s->rank;
    memcpy(y, s->seen + row * s->rank, s->rank * sizeof *y);
    for (size_t j = 0; j < s->D; j++) {
        if (s->mask[row * s->D + j] == 0) {
            continue;
        }
        if (s->kind != VIEW_LINEAR) {
            y[j] = drawn[j];
            continue;
        }
        const double *basis = s->basis + j * s->rank;
        double u = s->scale[j];
        double w = u * cblas_ddot((int)s->rank, basis, 1, drawn, 1);
        w += noise > 0 ? noise * rng_normal(random, row * s->D + j) : 0;
        cblas_daxpy((int)s->rank, u * w, basis, 1, y, 1);
    }
}

static lscm_status open_seen(linear_view *s, lscm_error *why)
{
    s->seen = calloc(s->rows * s->rank + 1, sizeof *s->seen);
    return s->seen != NULL ? LSCM_OK : fail_memory(why, s->rows * s->rank * sizeof *s->seen);
}

/* ---- x linear in z ---- */

lscm_status signal_fill(linear_view *s, const lscm_dataset *data, double *x, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(missing_find(&s->mask, data->path, data->feature_names, &data->shape[LSCM_X], x, s->rows,
                     s->D, why));
    if (s->mask != NULL) {
        s->missing = missing_count(s->mask, s->rows * s->D);
        TRY(missing_fill(x, s->mask, s->rows, s->D, s->d, stream_of(0, STREAM_MISSING), why));
    }
done:
    return status;
}

lscm_status signal_seen(linear_view *s, const principal *p, const double *x, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (s->mask == NULL) {
        return LSCM_OK;
    }
    TRY(open_seen(s, why));
#pragma omp parallel for schedule(static)
    for (size_t row = 0; row < s->rows; row++) {
        for (size_t j = 0; j < s->D; j++) {
            size_t at = row * s->D + j;
            if (s->mask[at] == 0) {
                cblas_daxpy((int)s->rank, x[at] - p->left[j], s->basis + j * s->rank, 1,
                            s->seen + row * s->rank, 1);
            }
        }
    }
done:
    return status;
}

/* ---- Observed variables ---- */

/* Mean square of what x misses the recorded values (rows, d) by where do() set node j and x was
 * seen; 0 where nothing was. NaN where a value that is needed was not recorded. */
static double missed_by(const linear_view *s, const double *values, size_t j)
{
    column_spread missed = {0};
    bool recorded = true;
    for (size_t row = 0; row < s->rows; row++) {
        size_t at = row * s->d + j;
        bool set = design_is_set(&s->design, row, j);
        if (set && s->mask[at] == 0) {
            double away = s->y[at] - values[at];
            spread_add(&missed, away * away);
        }
        recorded = recorded && (!set || isfinite(values[at]));
    }
    return recorded ? missed.mean : (double)NAN;
}

/* Where values of do() were recorded though x lacks the entry: it is that, to within what x misses
 * them by elsewhere. */
static lscm_status take_values(linear_view *s, const lscm_dataset *data, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (!data->shape[LSCM_VALUES].present) {
        return LSCM_OK;
    }
    s->told = malloc((s->rows + 1) * s->d * sizeof *s->told);
    if (s->told == NULL) {
        return fail_memory(why, s->rows * s->d * sizeof *s->told);
    }
    double *variance = s->told + s->rows * s->d;
    TRY(lscm_dataset_read(data, LSCM_VALUES, 0, s->rows, s->told, why));
    for (size_t j = 0; j < s->d; j++) {
        column_spread all = {0};
        variance[j] = missed_by(s, s->told, j);
        for (size_t row = 0; row < s->rows; row++) {
            if (s->mask[row * s->d + j] == 0) {
                spread_add(&all, s->y[row * s->d + j]);
            }
        }
        bool exact = variance[j] * all.n <= SAME * SAME * all.squares;
        for (size_t row = 0; row < s->rows && exact; row++) {
            size_t at = row * s->d + j;
            bool known = s->mask[at] != 0 && design_is_set(&s->design, row, j);
            s->y[at] = known ? s->told[at] : s->y[at];
            s->mask[at] = known ? 0 : s->mask[at];
        }
    }
done:
    return status;
}

void linear_view_column(const linear_view *s, size_t set, size_t node, column_spread *out)
{
    const design *by = &s->design;
    bool target = by->target[set * by->d + node] != 0;
    *out = (column_spread){0};
    for (size_t k = by->first[set]; k < by->first[set + 1]; k++) {
        size_t at = by->row[k] * s->d + node;
        if (s->mask[at] == 0) {
            spread_add(out, s->y[at]);
        }
    }
    for (size_t row = 0; row < s->rows && !(out->n > 0); row++) {
        if (s->mask[row * s->d + node] == 0 && design_is_set(by, row, node) == target) {
            spread_add(out, s->y[row * s->d + node]);
        }
    }
    for (size_t row = 0; row < s->rows && !(out->n > 0); row++) {
        if (s->mask[row * s->d + node] == 0) {
            spread_add(out, s->y[row * s->d + node]);
        }
    }
}

/* By what the others of its set have there: a start, and all there is to say of what do() set. One
 * value for all is then known to be that. */
static void fill_column(linear_view *s, size_t set, size_t node, rng random)
{
    const design *by = &s->design;
    column_spread others = {0};
    linear_view_column(s, set, node, &others);
    double sd = sqrt(others.squares / others.n);
    bool known = by->target[set * by->d + node] != 0 && !(sd > 0);
    for (size_t k = by->first[set]; k < by->first[set + 1]; k++) {
        size_t at = by->row[k] * s->d + node;
        if (s->mask[at] != 0) {
            s->y[at] = others.mean + sd * rng_normal(random, at);
            s->mask[at] = known ? 0 : 1;
        }
    }
}

lscm_status signal_observed(linear_view *s, const lscm_dataset *data, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(missing_find(&s->mask, data->path, data->node_names, &data->shape[LSCM_X], s->y, s->rows,
                     s->D, why));
    if (s->mask == NULL) {
        return LSCM_OK;
    }
    s->missing = missing_count(s->mask, s->rows * s->D);
    TRY(take_values(s, data, why));
#pragma omp parallel for schedule(dynamic)
    for (size_t node = 0; node < s->d; node++) {
        for (size_t set = 0; set < s->design.sets; set++) {
            fill_column(s, set, node, stream_of(0, STREAM_MISSING));
        }
    }
    TRY(open_seen(s, why));
    for (size_t k = 0; k < s->rows * s->d; k++) {
        s->seen[k] = s->mask[k] == 0 ? s->y[k] : 0;
    }
done:
    return status;
}
