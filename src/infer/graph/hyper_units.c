/* Units of observed variables in data without do(). With T = diag(t u_j^2) every family's score
 * comes from one Wishart prior of the precision L of all variables, whatever the graph (BGe), so
 * that graphs which say the same of such data score the same for any u. u_j the sd of z_j asks for
 * another t where a node is nearly determined by others and where it is not; the T that is most
 * likely given L is in proportion to 1/L_jj instead, what all others leave of z_j:
 *
 *     u_j^2 = var(z_j | the others) = rss_j/(n - d),    rss_j = 1/(S^-1)_jj,
 *
 * S the centred scatter. Weights of any size, in sds of the noise, then have much the same t. */
#include "infer/graph/graph_parts.h"

#include "base/tuned.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

/* Less of the variance than this is rounding. */
static const double ROUNDING = 1e-10;

/* Adds the products of the rows that count, about their mean, to the upper half of scatter (d, d);
 * returns how many rows there are. mean (2 d) is scratch. */
static double add_rows(const latent_rows *from, double *mean, double *scatter)
{
    size_t d = from->design->d;
    double *about = mean + d;
    double n = 0;
    for (size_t r = 0; r < from->design->rows; r++) {
        if (row_counts(from->keep, r)) {
            n += 1;
            cblas_daxpy((int)d, 1, from->z + r * d, 1, mean, 1);
        }
    }
    cblas_dscal((int)d, 1 / fmax(n, 1), mean, 1);
    for (size_t r = 0; r < from->design->rows; r++) {
        for (size_t j = 0; j < d; j++) {
            about[j] = from->z[r * d + j] - mean[j];
        }
        if (row_counts(from->keep, r)) {
            cblas_dsyr(CblasRowMajor, CblasUpper, (int)d, 1, about, 1, scatter, (int)d);
        }
    }
    return n;
}

/* The scatter becomes a matrix of correlations; size (d): sqrt of its diagonal. */
static void correlate(double *scatter, size_t d, double *size)
{
    for (size_t j = 0; j < d; j++) {
        size[j] = sqrt(scatter[j * d + j]);
    }
    for (size_t j = 0; j < d; j++) {
        for (size_t k = j + 1; k < d; k++) {
            double both = size[j] * size[k];
            scatter[j * d + k] = both > 0 ? scatter[j * d + k] / both : 0;
        }
        scatter[j * d + j] = 1 + ROUNDING;
    }
}

lscm_status hyper_units(const latent_rows *from, double *unit, bool *known, lscm_error *why)
{
    size_t d = from->design->d;
    double *scatter = calloc(d * d + 3 * d, sizeof *scatter);
    if (scatter == NULL) {
        return fail_memory(why, (d * d + 3 * d) * sizeof *scatter);
    }
    double *size = scatter + d * d;
    double n = add_rows(from, size + d, scatter);
    correlate(scatter, d, size);
    *known = n >= (double)(tuned_screen_rows() * d) &&
             LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'U', (int)d, scatter, (int)d) == 0 &&
             LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'U', (int)d, scatter, (int)d) == 0;
    for (size_t j = 0; j < d && *known; j++) {
        unit[j] = size[j] / sqrt(scatter[j * d + j] * (n - (double)d));
        *known = unit[j] > 0;
    }
    free(scatter);
    return LSCM_OK;
}
