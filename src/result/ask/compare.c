/* How far two posteriors over the same nodes are apart. With A and B independent draws of the
 * graph, one of each, p and q their edge probabilities,
 *
 *   E |A xor B|  = sum over j != i of p_ji (1 - q_ji) + (1 - p_ji) q_ji
 *   E SHD(A, B)  = sum over pairs {j, i} of 1 - sum over r in {none, ->, <-} of P(r) Q(r)
 *
 * in closed form: a graph has one of a pair's three relations, whose probabilities are p_ji, p_ij
 * and what they leave. A posterior against itself: how far two of its own draws are apart.
 */
#include "scm/posterior/posterior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static lscm_status check_nodes(const lscm_posterior *a, const lscm_posterior *b, lscm_error *why)
{
    if (a->d != b->d) {
        return fail(why, LSCM_SHAPE,
                    "one run has %zu nodes and the other %zu; compare runs of the same nodes", a->d,
                    b->d);
    }
    for (size_t i = 0; a->node_names != NULL && b->node_names != NULL && i < a->d; i++) {
        if (strcmp(a->node_names[i], b->node_names[i]) != 0) {
            return fail(why, LSCM_SHAPE,
                        "node %zu (0-based) is '%s' in one run and '%s' in the other; compare runs "
                        "of the same nodes in the same order",
                        i, a->node_names[i], b->node_names[i]);
        }
    }
    return LSCM_OK;
}

/* p forward, q backward: none has what they leave, and rounding leaves no less than nothing. */
static double none_of(double p, double q)
{
    return fmax(0, 1 - p - q);
}

static void compare_graphs(const double *p, const double *q, size_t d, lscm_distance *out)
{
    for (size_t j = 0; j < d; j++) {
        for (size_t i = j + 1; i < d; i++) {
            size_t ji = j * d + i;
            size_t ij = i * d + j;
            double same =
                p[ji] * q[ji] + p[ij] * q[ij] + none_of(p[ji], p[ij]) * none_of(q[ji], q[ij]);
            out->e_shd += fmax(0, 1 - same);
            out->e_shd_entries += p[ji] * (1 - q[ji]) + (1 - p[ji]) * q[ji];
            out->e_shd_entries += p[ij] * (1 - q[ij]) + (1 - p[ij]) * q[ij];
            out->largest = fmax(out->largest, fabs(p[ji] - q[ji]));
            out->largest = fmax(out->largest, fabs(p[ij] - q[ij]));
        }
    }
}

/* Mean weights over the draws, (d, d). */
static void average(const lscm_posterior *p, double *mean)
{
    size_t square = p->d * p->d;
    memset(mean, 0, square * sizeof *mean);
    for (size_t s = 0; s < p->draws; s++) {
        for (size_t k = 0; k < square; k++) {
            mean[k] += p->w[s * square + k] / (double)p->draws;
        }
    }
}

/* Pearson's, over the entries off the diagonal; NaN where one side does not vary. */
static double correlate(const double *x, const double *y, size_t d)
{
    double count = (double)d * (double)(d - 1);
    double mean_x = 0;
    double mean_y = 0;
    double xx = 0;
    double yy = 0;
    double xy = 0;
    for (size_t k = 0; k < d * d; k++) {
        if (k % (d + 1) != 0) {
            mean_x += x[k] / count;
            mean_y += y[k] / count;
        }
    }
    for (size_t k = 0; k < d * d; k++) {
        if (k % (d + 1) != 0) {
            xx += (x[k] - mean_x) * (x[k] - mean_x);
            yy += (y[k] - mean_y) * (y[k] - mean_y);
            xy += (x[k] - mean_x) * (y[k] - mean_y);
        }
    }
    return xx > 0 && yy > 0 ? fmax(-1, fmin(1, xy / sqrt(xx) / sqrt(yy))) : NAN;
}

lscm_status lscm_posterior_distance(lscm_distance *out, const lscm_posterior *a,
                                    const lscm_posterior *b, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t square = a->d * a->d;
    double *means = NULL; /* (2, d, d) */
    *out = (lscm_distance){.correlation = NAN};
    TRY(check_nodes(a, b, why));
    means = malloc((2 * square + 1) * sizeof *means);
    if (means == NULL) {
        status = fail_memory(why, 2 * square * sizeof *means);
        goto done;
    }
    compare_graphs(a->edge_prob, b->edge_prob, a->d, out);
    average(a, means);
    average(b, means + square);
    out->correlation = correlate(means, means + square, a->d);
done:
    free(means);
    return status;
}
