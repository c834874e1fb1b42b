/* z of a row given x and the model: with e = (a + y B) J - v t - c F the residuals of the row and N
 * the variances that nodes have of their own, in a set with targets t,
 *
 *     z = (e O^-1 N + v t + c F) J^-1,    cov z = J^-T (N - N O^-1 N) J^-1.
 */
#include "infer/likelihood/likelihood_infer.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a set makes of its rows. */
typedef struct reading {
    double *j, *back, *gain, *room; /* (d, d): J, J^-1, O^-1 N J^-1 */
    double *own, *variance;         /* (d): N; of z */
    double *row, *other;            /* (d) */
    int *pivot;                     /* (d) */
    arena memory;
} reading;

static void lay_out(reading *t, size_t d)
{
    double **squares[] = {&t->j, &t->back, &t->gain, &t->room};
    double **vectors[] = {&t->own, &t->variance, &t->row, &t->other};
    for (size_t k = 0; k < 4; k++) {
        *squares[k] = arena_take(&t->memory, d * d, sizeof(double));
        *vectors[k] = arena_take(&t->memory, d, sizeof(double));
    }
    t->pivot = arena_take(&t->memory, d, sizeof(int));
}

static bool read_set(reading *t, const likelihood_posterior *p, const uint8_t *target)
{
    const likelihood_sums *s = &p->sums;
    const double *theta = p->fit.quadratic.theta;
    size_t d = s->d;
    int n = (int)d;
    likelihood_at at = likelihood_layout(d);
    for (size_t q = 0; q < d; q++) {
        double sigma = exp(theta[at.log_sigma + q]);
        t->own[q] = target[q] != 0 ? s->actuator[q] : sigma * sigma * (1 + p->effect[q]);
        for (size_t i = 0; i < d; i++) {
            double weight = target[i] != 0 ? 0 : theta[at.weight + q * d + i];
            t->j[q * d + i] = t->back[q * d + i] = (q == i ? 1 : 0) - weight;
        }
    }
    if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, t->back, n, t->pivot) != 0 ||
        LAPACKE_dgetri_work(LAPACK_COL_MAJOR, n, t->back, n, t->pivot, t->room, n * n) != 0) {
        return false;
    }
    /* room = K, then O = K' s^2 K + N in gain; its solution of N J^-1 */
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, theta, n, t->j, n, 0,
                t->room, n);
    for (size_t c = 0; c < d; c++) {
        cblas_dscal(n, sqrt(s->noise[c]), t->room + c * d, 1);
    }
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, n, n, n, 1, t->room, n, t->room, n, 0,
                t->gain, n);
    memcpy(t->room, t->gain, d * d * sizeof(double));
    for (size_t q = 0; q < d; q++) {
        t->room[q * d + q] += t->own[q];
        for (size_t i = 0; i < d; i++) {
            t->gain[q * d + i] = t->own[q] * t->back[q * d + i];
        }
    }
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, t->room, n) != 0) {
        return false;
    }
    /* rows of gain are columns of its transpose, which is solved from the right */
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, n, n, 1, t->room,
                n, t->gain, n);
    cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, n, n, 1, t->room,
                n, t->gain, n);
    for (size_t i = 0; i < d; i++) {
        t->variance[i] = 0;
        for (size_t q = 0; q < d; q++) {
            double kept = t->back[q * d + i] - t->gain[q * d + i];
            t->variance[i] += t->own[q] * t->back[q * d + i] * kept;
        }
    }
    return true;
}

/* Variance that the encoder's covariance cov (d + 1, d + 1) gives z of a row y (d). */
static double encoder_variance(const double *cov, const double *y, size_t d)
{
    double sum = 0;
    for (size_t i = 0; i <= d; i++) {
        for (size_t c = 0; c <= d; c++) {
            sum += cov[i * (d + 1) + c] * (i > 0 ? y[i - 1] : 1) * (c > 0 ? y[c - 1] : 1);
        }
    }
    return fmax(sum, 0);
}

static void read_row(reading *t, const likelihood_posterior *p, const linear_view *s, size_t row,
                     const double *spread, double *z, double *sd)
{
    const likelihood_sums *u = &p->sums;
    const double *theta = p->fit.quadratic.theta;
    size_t d = u->d;
    int n = (int)d;
    likelihood_at at = likelihood_layout(d);
    const double *y = s->y + row * d;
    memcpy(t->row, theta + at.shift, d * sizeof(double));
    for (size_t c = 0; c < d; c++) {
        cblas_daxpy(n, (y[c] - u->y_mean[c]) / u->y_unit[c], theta + c * d, 1, t->row, 1);
    }
    cblas_dgemv(CblasRowMajor, CblasTrans, n, n, 1, t->j, n, t->row, 1, 0, t->other, 1);
    for (size_t i = 0; i < d; i++) {
        double v = (design_value(&s->design, row, i) - u->v_mean[i]) / u->unit[i];
        t->row[i] = design_is_set(&s->design, row, i) ? v : theta[at.centre + i];
        t->other[i] -= t->row[i];
    }
    cblas_dgemv(CblasRowMajor, CblasTrans, n, n, 1, t->gain, n, t->other, 1, 0, z, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, n, n, 1, t->back, n, t->row, 1, 1, z, 1);
    for (size_t i = 0; i < d; i++) {
        bool is_set = design_is_set(&s->design, row, i);
        double noise = u->unit[i] * u->unit[i] * fmax(t->variance[i], 0);
        double encoder = is_set ? 0 : encoder_variance(spread + i * (d + 1) * (d + 1), y, d);
        z[i] = u->v_mean[i] + u->unit[i] * z[i];
        sd[i] = sqrt(noise + encoder);
    }
}

lscm_status likelihood_rows(const likelihood_posterior *p, const linear_view *s,
                            const double *spread, double *z, double *sd, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const design *from = &s->design;
    size_t d = s->d;
    reading t = {0};
    lay_out(&t, d);
    TRY(arena_open(&t.memory, why));
    lay_out(&t, d);
    for (size_t set = 0; set < from->sets; set++) {
        if (!read_set(&t, p, from->target + set * d)) {
            continue; /* as the anchors have it */
        }
        for (size_t at = from->first[set]; at < from->first[set + 1]; at++) {
            size_t row = from->row[at];
            read_row(&t, p, s, row, spread, z + row * d, sd + row * d);
        }
    }
done:
    arena_close(&t.memory);
    return status;
}
