/* See dispersion.h. With G the matrix whose column g_k is the sum of e x over set k,
 * tr(V^-1 G G') = |L^-1 G|^2, V = L L'. */
#include "base/tuned.h"
#include "infer/evidence/dispersion.h"

#include "data/design/design.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct slopes {
    size_t d, rows, sets;
    const size_t *first; /* (sets + 1) */
    const mask_row *row;
    const double *weight, *z, *w, *intercept;
    const uint8_t *mask, *keep;
} slopes;

/* F of node i; g (sets, d), v (d, d), x (d) are scratch: x is 1 in the place of node i. */
static double slope_of(const slopes *s, size_t i, double *variance, double *g, double *v, double *x)
{
    size_t d = s->d;
    size_t sets = 0;
    double squares = 0;
    double rows = 0;
    double sum = 0;
    double used = 0;
    memset(g, 0, s->sets * d * sizeof *g);
    memset(v, 0, d * d * sizeof *v);
    for (size_t k = 0; k < s->sets; k++) {
        bool any = false;
        for (size_t at = s->first[k]; at < s->first[k + 1]; at++) {
            size_t row = s->row[at].row;
            const double *z = s->z + row * d;
            if (s->mask[row * d + i] != 0 || (s->keep != NULL && s->keep[row] == 0)) {
                continue;
            }
            for (size_t j = 0; j < d; j++) {
                x[j] = s->w[j * d + i] != 0 ? z[j] : 0;
            }
            x[i] = 1;
            double e = z[i] - s->intercept[i] - cblas_ddot((int)d, z, 1, s->w + i, (int)d);
            double weight = s->weight != NULL ? s->weight[row] : 1;
            cblas_daxpy((int)d, weight * e, x, 1, g + sets * d, 1);
            cblas_dsyr(CblasRowMajor, CblasLower, (int)d, weight, x, 1, v, (int)d);
            squares += weight * e * e;
            rows += 1;
            any = true;
        }
        sets += any ? 1 : 0;
    }
    *variance = rows > 0 ? squares / rows : 0;
    if (sets < tuned_slope_sets() || rows < 2 * (double)d || !(squares > 0)) {
        return 1;
    }
    for (size_t j = 0; j < d; j++) { /* what is no parent, or does not vary, says nothing */
        used += v[j * d + j] > 0 ? 1 : 0;
        v[j * d + j] = v[j * d + j] > 0 ? v[j * d + j] * (1 + 1e-9) : 1;
    }
    if (LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', (int)d, v, (int)d) != 0) {
        return 1;
    }
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)sets, (int)d,
                1, v, (int)d, g, (int)d);
    for (size_t k = 0; k < sets * d; k++) {
        sum += g[k] * g[k];
    }
    double f = sum / (squares / rows) / used;
    return f > 1 && isfinite(f) ? f : 1;
}

lscm_status dispersion_slopes(double *out, double *variance, const anchored_input *in,
                              const double *weight, const double *z, const double *w,
                              const double *intercept, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const linear_view *s = in->view;
    size_t d = s->d;
    mask_row *row = calloc(s->rows, sizeof *row);
    size_t *first = calloc(s->rows + 1, sizeof *first);
    double *work = NULL;
    size_t sets = 0;
    if (row == NULL || first == NULL) {
        status = fail_memory(why, s->rows * (sizeof *row + sizeof *first));
        goto done;
    }
    for (size_t n = 0; n < s->rows; n++) {
        row[n] = (mask_row){mask_hash(s->mask + n * d, d, 0), n};
    }
    mask_rows_sort(row, s->rows);
    for (size_t n = 0; n < s->rows; n++) {
        if (n == 0 || row[n].hash != row[n - 1].hash) {
            first[sets++] = n;
        }
    }
    first[sets] = s->rows;
    work = calloc(sets * d + d * d + d, sizeof *work);
    if (work == NULL) {
        status = fail_memory(why, (sets * d + d * d + d) * sizeof *work);
        goto done;
    }
    slopes all = {d, s->rows, sets, first, row, weight, z, w, intercept, s->mask, in->keep};
    for (size_t i = 0; i < d; i++) {
        out[i] = slope_of(&all, i, variance + i, work, work + sets * d, work + sets * d + d * d);
    }
done:
    free(work);
    free(row);
    free(first);
    return status;
}
