/* See dispersion.h. With G the matrix whose column g_k is the sum of e x over set k,
 * tr(V^-1 G G') = |L^-1 G|^2, V = L L'. */
#include "infer/evidence/uneven_slopes.h"
#include "base/tuned.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct slopes {
    const design *design;
    const double *weight, *z;
    const mechanism_model *model;
    const uint8_t *keep;
} slopes;

/* F of node i; g (sets, d), v (d, d), x (d) are scratch: x is 1 in the place of node i. */
static double slope_of(const slopes *s, size_t i, double *variance, double *g, double *v, double *x)
{
    const design *of = s->design;
    size_t d = of->d;
    size_t sets = 0;
    double squares = 0;
    double rows = 0;
    double sum = 0;
    double used = 0;
    memset(g, 0, of->sets * d * sizeof *g);
    memset(v, 0, d * d * sizeof *v);
    for (size_t k = 0; k < of->sets; k++) {
        bool any = false;
        for (size_t at = of->first[k]; at < of->first[k + 1]; at++) {
            size_t row = of->row[at];
            const double *z = s->z + row * d;
            if (of->target[k * d + i] != 0 || !row_counts(s->keep, row)) {
                continue;
            }
            for (size_t j = 0; j < d; j++) {
                x[j] = s->model->w[j * d + i] != 0 ? z[j] : 0;
            }
            x[i] = 1;
            double e = mechanism_residual(s->model, i, z);
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

lscm_status uneven_slopes(double *out, double *variance, const anchored_input *in,
                          const double *weight, const double *z, const mechanism_model *model,
                          lscm_error *why)
{
    const design *s = &in->view->design;
    size_t d = s->d;
    size_t size = s->sets * d + d * d + d;
    double *work = calloc(size, sizeof *work);
    if (work == NULL) {
        return fail_memory(why, size * sizeof *work);
    }
    slopes all = {s, weight, z, model, in->keep};
    for (size_t i = 0; i < d; i++) {
        out[i] =
            slope_of(&all, i, variance + i, work, work + s->sets * d, work + s->sets * d + d * d);
    }
    free(work);
    return LSCM_OK;
}
