/* How many principal directions, and the mean's. The number wanted grows until the rule of
 * features.h stops inside it: finding 256 directions of pictures that have ten would be a waste.
 *
 * Flat: of pure noise with variance s^2 in D dimensions, n rows show no direction beyond
 * s^2 (1 + sqrt(D / n))^2; s^2 is the mean of what is left after the directions before. The first
 * 2 d directions are kept even so: where x has few columns more than causes, a flat spectrum may be
 * theirs.
 */
#include "base/tuned.h"
#include "data/statistics/features_parts.h"
#include "data/statistics/linear_view_parts.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MEAN_OUTSIDE = 1e-12; /* of |c|^2 + variance: less of the mean is not missed */
static const double NEGLIGIBLE = 1e-13;   /* of the largest variance: rounding */

/* The smallest number of directions that will do; SIZE_MAX when p does not reach it. */
static size_t enough(const principal *p, size_t d, size_t wanted)
{
    double D = (double)p->D;
    double edge = tuned_features_spare() * pow(1 + sqrt(D / (double)p->n), 2);
    double inside = 0;
    for (size_t k = 0; k < p->count; k++) {
        double left = p->total - inside;
        bool flat = k >= 2 * d && p->variance[k] <= edge * left / (D - (double)k);
        if (left <= tuned_features_left_out() * p->total || flat ||
            p->variance[k] <= NEGLIGIBLE * p->variance[0]) {
            return k;
        }
        if (k == wanted) {
            return wanted < FEATURES_MOST && wanted < p->D && wanted < p->n ? SIZE_MAX : wanted;
        }
        inside += p->variance[k];
    }
    return p->count;
}

/* The part of c outside the first r rows of E' becomes row r, if it has a length. */
static size_t add_mean(const principal *p, size_t r, double *directions)
{
    int D = (int)p->D;
    double *row = directions + r * p->D;
    memcpy(row, p->mean, p->D * sizeof *row);
    for (int twice = 0; twice < 2; twice++) { /* the second time for rounding */
        for (size_t k = 0; k < r; k++) {
            const double *e = directions + k * p->D;
            cblas_daxpy(D, -cblas_ddot(D, e, 1, row, 1), e, 1, row, 1);
        }
    }
    double size = cblas_dnrm2(D, row, 1);
    double whole = cblas_ddot(D, p->mean, 1, p->mean, 1) + p->total;
    if (r < p->D && size * size > MEAN_OUTSIDE * whole) {
        cblas_dscal(D, 1 / size, row, 1);
        return r + 1;
    }
    if (r == 0) { /* x is 0 */
        memset(row, 0, p->D * sizeof *row);
        row[0] = 1;
        return 1;
    }
    return r;
}

lscm_status features_basis_of(features_basis *out, const lscm_dataset *data, double *x, size_t n,
                              size_t D, size_t d, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    features_basis b = {.n = n, .D = D};
    principal p = {0};
    double *moved = calloc(D, sizeof *moved); /* (D): taken off x so far */
    size_t wanted = 2 * d + PRINCIPAL_SPARE;
    size_t kept = SIZE_MAX;
    if (moved == NULL) {
        status = fail_memory(why, D * sizeof *moved);
        goto done;
    }
    while (kept == SIZE_MAX) {
        wanted = wanted < FEATURES_MOST ? wanted : FEATURES_MOST;
        principal_close(&p);
        p = (principal){0};
        TRY(signal_directions(&p, data, x, n, D, wanted, (principal_units){0}, why));
        for (size_t j = 0; j < D; j++) {
            double off = p.mean[j] - p.left[j];
            p.mean[j] += moved[j];
            moved[j] += off;
        }
        kept = enough(&p, d, wanted);
        wanted *= 4;
    }
    b.directions = calloc((kept + 1) * D, sizeof *b.directions);
    b.mean = malloc(D * sizeof *b.mean);
    b.left = malloc(D * sizeof *b.left);
    if (b.directions == NULL || b.mean == NULL || b.left == NULL) {
        status = fail_memory(why, (kept + 3) * D * sizeof *b.mean);
        goto done;
    }
    memcpy(b.directions, p.directions, kept * D * sizeof *b.directions);
    memcpy(b.mean, p.mean, D * sizeof *b.mean);
    memcpy(b.left, p.left, D * sizeof *b.left);
    b.variance = p.total;
    b.R = add_mean(&p, kept, b.directions);
    *out = b;
    b = (features_basis){0};
done:
    features_basis_close(&b);
    principal_close(&p);
    free(moved);
    return status;
}

void features_basis_close(features_basis *b)
{
    free(b->directions);
    free(b->mean);
    free(b->left);
    *b = (features_basis){0};
}
