/* Mechanisms that bend in posterior.nc, the group `mechanisms`. Read, nothing in it is believed:
 * knots ascend, numbers are finite, the terms of a node begin where those before it end, and their
 * parents come before the node in the order of the draw, so that simulating needs to look at none
 * of it again. */
#include "result/store/run_folder.h"

#include "scm/metrics/metrics.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char GROUP[] = "mechanisms";

/* The curves of all nodes as arrays, one after the other in one allocation. */
typedef struct curve_arrays {
    double *knots;          /* (d): how many, of which the file has int64_t */
    double *knot;           /* (d, CURVE_KNOTS) */
    double *value, *second; /* (d, CURVE_KNOTS, CURVE_WIDTH) */
} curve_arrays;

enum { CURVE_NUMBERS = CURVE_KNOTS * CURVE_WIDTH };

static lscm_status curves_new(curve_arrays *out, size_t d, lscm_error *why)
{
    size_t each = 1 + CURVE_KNOTS + 2 * (size_t)CURVE_NUMBERS;
    double *all = calloc(d, each * sizeof *all);
    if (all == NULL) {
        return fail_memory(why, d * each * sizeof *all);
    }
    out->knots = all;
    out->knot = out->knots + d;
    out->value = out->knot + d * CURVE_KNOTS;
    out->second = out->value + d * CURVE_NUMBERS;
    return LSCM_OK;
}

static netcdf_array numbers(const char *name, dtype type, const void *raw, const char *long_name)
{
    return (netcdf_array){
        .group = GROUP, .name = name, .type = type, .raw = raw, .long_name = long_name};
}

static netcdf_array shaped(netcdf_array array, int ndim, netcdf_axis first, netcdf_axis second,
                           netcdf_axis third)
{
    array.ndim = ndim;
    array.axes[0] = first;
    array.axes[1] = second;
    array.axes[2] = third;
    return array;
}

lscm_status posterior_bent_arrays(const bent_mechanisms *bent, double **curves,
                                  netcdf_array out[BENT_ARRAYS], lscm_error *why)
{
    lscm_status status = LSCM_OK;
    curve_arrays c = {0};
    const netcdf_axis node = {"node", bent->d};
    const netcdf_axis knot = {"knot", CURVE_KNOTS};
    const netcdf_axis curve = {"curve", CURVE_WIDTH};
    const netcdf_axis offset = {"offset", bent->draws * bent->d + 1};
    const netcdf_axis term = {"term", bent->terms};
    const netcdf_axis side = {"side", 2};
    const netcdf_axis none = {0};
    TRY(curves_new(&c, bent->d, why));
    *curves = c.knots;
    int64_t *knots = (void *)c.knots;
    for (size_t i = 0; i < bent->d; i++) {
        const curve_basis *b = &bent->basis[i];
        knots[i] = (int64_t)b->knots;
        memcpy(c.knot + i * CURVE_KNOTS, b->knot, sizeof b->knot);
        memcpy(c.value + i * CURVE_NUMBERS, b->value, sizeof b->value);
        memcpy(c.second + i * CURVE_NUMBERS, b->second, sizeof b->second);
    }
    out[0] = shaped(numbers("knots", DTYPE_INT64, knots, "how many knots a node has"), 1, node,
                    none, none);
    out[1] = shaped(numbers("knot", DTYPE_FLOAT64, c.knot, "where the knots are, ascending"), 2,
                    node, knot, none);
    out[2] = shaped(numbers("value", DTYPE_FLOAT64, c.value, "curves of a node at its knots"), 3,
                    node, knot, curve);
    out[3] = shaped(numbers("second", DTYPE_FLOAT64, c.second, "their second derivatives there"), 3,
                    node, knot, curve);
    out[4] = shaped(numbers("first", DTYPE_UINT64, bent->first,
                            "where the terms of a node in a draw begin, at draw * nodes + node"),
                    1, offset, none, none);
    out[5] = shaped(numbers("parent", DTYPE_INT32, bent->parent,
                            "whose curves a term has; -1: of the other alone"),
                    2, term, side, none);
    out[6] = shaped(numbers("coef", DTYPE_FLOAT64, bent->coef,
                            "what curves, or products of two parents' curves, are taken times"),
                    2, term, curve, none);
done:
    return status;
}

/* Knots: none, or 2 to CURVE_KNOTS that ascend, the distance of two a number, too. */
static lscm_status take_curves(const netcdf_file *file, const curve_arrays *c, bent_mechanisms *b,
                               lscm_error *why)
{
    for (size_t i = 0; i < b->d; i++) {
        curve_basis *basis = &b->basis[i];
        double count = c->knots[i];
        if (!(count >= 0 && count <= CURVE_KNOTS && count == floor(count) && count != 1)) {
            return fail(why, LSCM_VALUE,
                        "%s: 'knots' of node %zu is %g; there are none, or 2 to %d", file->path, i,
                        count, CURVE_KNOTS);
        }
        basis->knots = (size_t)count;
        memcpy(basis->knot, c->knot + i * CURVE_KNOTS, sizeof basis->knot);
        memcpy(basis->value, c->value + i * CURVE_NUMBERS, sizeof basis->value);
        memcpy(basis->second, c->second + i * CURVE_NUMBERS, sizeof basis->second);
        for (size_t k = 1; k < basis->knots; k++) {
            double gap = basis->knot[k] - basis->knot[k - 1];
            if (!(gap > 0 && gap <= DBL_MAX)) {
                return fail(why, LSCM_VALUE, "%s: 'knot' of node %zu does not ascend", file->path,
                            i);
            }
        }
    }
    return LSCM_OK;
}

static lscm_status read_curves(const netcdf_file *file, bent_mechanisms *b, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    curve_arrays c = {0};
    size_t d = b->d;
    const size_t per_knot[LSCM_MAX_DIMS] = {d, CURVE_KNOTS};
    const size_t per_curve[LSCM_MAX_DIMS] = {d, CURVE_KNOTS, CURVE_WIDTH};
    TRY(curves_new(&c, d, why));
    TRY(posterior_read_array(file, GROUP, "knots", (const size_t[LSCM_MAX_DIMS]){d}, c.knots, why));
    TRY(posterior_read_array(file, GROUP, "knot", per_knot, c.knot, why));
    TRY(posterior_read_array(file, GROUP, "value", per_curve, c.value, why));
    TRY(posterior_read_array(file, GROUP, "second", per_curve, c.second, why));
    TRY(metrics_check_finite(file->path, "knot", c.knot, 0, d, CURVE_KNOTS, why));
    TRY(metrics_check_finite(file->path, "value", c.value, 0, d, CURVE_NUMBERS, why));
    TRY(metrics_check_finite(file->path, "second", c.second, 0, d, CURVE_NUMBERS, why));
    TRY(take_curves(file, &c, b, why));
done:
    free(c.knots);
    return status;
}

/* From 0 to the number of terms, never back. */
static lscm_status read_first(const netcdf_file *file, bent_mechanisms *b, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t count = b->draws * b->d + 1;
    double *stored = malloc(count * sizeof *stored);
    if (stored == NULL) {
        return fail_memory(why, count * sizeof *stored);
    }
    TRY(posterior_read_array(file, GROUP, "first", (const size_t[LSCM_MAX_DIMS]){count}, stored,
                             why));
    bool good = stored[0] == 0 && stored[count - 1] == (double)b->terms;
    for (size_t k = 0; k < count && good; k++) {
        double before = k > 0 ? stored[k - 1] : 0;
        good =
            stored[k] >= before && stored[k] <= (double)b->terms && stored[k] == floor(stored[k]);
        b->first[k] = good ? (uint64_t)stored[k] : 0;
    }
    if (!good) {
        TRY(fail(why, LSCM_VALUE, "%s: 'first' does not ascend from 0 to the %zu terms", file->path,
                 b->terms));
    }
done:
    free(stored);
    return status;
}

/* The parents of one term of a node: `position` (d) is where each node stands in the draw's order.
 */
static bool take_parents(const double *stored, size_t d, const size_t *position, size_t node,
                         int32_t *out)
{
    for (size_t k = 0; k < 2; k++) {
        double p = stored[k];
        bool alone = k == 1 && p == BENT_ALONE;
        bool good = alone || (p >= 0 && p < (double)d && p == floor(p) &&
                              position[(size_t)p] < position[node]);
        if (!good) {
            return false;
        }
        out[k] = alone ? BENT_ALONE : (int32_t)p;
    }
    return out[0] != out[1];
}

static lscm_status read_parents(const netcdf_file *file, const lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const bent_mechanisms *b = p->bent;
    size_t d = p->d;
    size_t *position = malloc(d * sizeof *position);
    double *stored = malloc(b->terms * 2 * sizeof *stored);
    if (position == NULL || stored == NULL) {
        status = fail_memory(why, b->terms * 2 * sizeof *stored);
        goto done;
    }
    TRY(posterior_read_array(file, GROUP, "parent", (const size_t[LSCM_MAX_DIMS]){b->terms, 2},
                             stored, why));
    for (size_t s = 0; s < p->draws; s++) {
        for (size_t k = 0; k < d; k++) {
            position[p->order[s * d + k]] = k;
        }
        for (size_t i = 0; i < d; i++) {
            for (uint64_t t = b->first[s * d + i]; t < b->first[s * d + i + 1]; t++) {
                if (!take_parents(stored + 2 * t, d, position, i, b->parent + 2 * t)) {
                    TRY(fail(why, LSCM_VALUE,
                             "%s: 'parent' of term %zu is not one or two nodes before node %zu in "
                             "the order of draw %zu",
                             file->path, (size_t)t, i, s));
                }
            }
        }
    }
done:
    free(position);
    free(stored);
    return status;
}

lscm_status posterior_read_bent(const netcdf_file *file, lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    array_shape terms;
    TRY(netcdf_arrays_shape(file, GROUP, "coef", &terms, why));
    if (!terms.present) { /* all are linear */
        goto done;
    }
    TRY(posterior_array_shape(file, GROUP, "coef", 2, &terms, why));
    const size_t shape[LSCM_MAX_DIMS] = {terms.dims[0], CURVE_WIDTH};
    TRY(posterior_add_bent(p, terms.dims[0], why));
    TRY(posterior_read_array(file, GROUP, "coef", shape, p->bent->coef, why));
    TRY(metrics_check_finite(file->path, "coef", p->bent->coef, 0, terms.dims[0], CURVE_WIDTH,
                             why));
    TRY(read_curves(file, p->bent, why));
    TRY(read_first(file, p->bent, why));
    TRY(read_parents(file, p, why));
done:
    return status;
}
