/* What rows count where z was read off x: less where it is read off badly, less where it errs alike
 * in all rows. */
#include "base/streams.h"
#include "base/tuned.h"
#include "infer/evidence/evidence.h"
#include "infer/graph/graph_parts.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* The mean of w (d, d) and intercept (d) over the first draws; one (d, d) is scratch. */
static void mean_mechanisms(const graph_posterior *g, size_t d, size_t draws, rng r, double *w,
                            double *intercept, double *one)
{
    double share = 1 / (double)draws;
    memset(w, 0, d * d * sizeof *w);
    memset(intercept, 0, d * sizeof *intercept);
    for (size_t k = 0; k < draws; k++) {
        memset(one, 0, d * d * sizeof *one);
        for (size_t i = 0; i < d; i++) {
            mechanism m =
                mechanisms_draw(&g->mechanisms, i, g->parents[k * d + i], r, k * d + i, one + i);
            intercept[i] += share * m.intercept;
        }
        cblas_daxpy((int)(d * d), share, one, 1, w, 1);
    }
}

/* Draws whose mean model tells F. */
static size_t few_draws(const anchored_input *in)
{
    return in->draws < tuned_dispersion_draws() ? in->draws : tuned_dispersion_draws();
}

/* sd (d) of what leaks from each node into the residual of node i, through itself and its parents
 * w (d, d): of leak_pi - sum_q w_qi leak_pq. */
static void leaks_into(size_t i, size_t d, const double *w, const double *leak, double *sd)
{
    for (size_t p = 0; p < d; p++) {
        double sum = leak[p * d + i] * leak[p * d + i];
        for (size_t q = 0; q < d; q++) {
            double through = w[q * d + i] * leak[p * d + q];
            sum += q != i ? through * through : 0;
        }
        sd[p] = p != i ? sqrt(sum) : 0;
    }
}

/* The variance that leaks (d) from all candidates of a family give its residual, per direction. */
static double leak_variance(const family *f, const double *sd)
{
    size_t m = f->count + 1;
    double sum = 0;
    for (size_t c = 0; c < f->count; c++) {
        double leak = sd[f->candidate[c]];
        sum += leak * leak * f->scatter[c * m + c] / fmax(f->rows, 1);
    }
    return f->count > 0 ? sum / (double)f->count : 0;
}

/* Rows that are read off worse count less, if errors are said to go with the size of a row; or as
 * the law of each node's noise has it. */
lscm_status graph_weigh_rows(graph_posterior *g, const anchored_input *in, const double *z,
                             double *share, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (in->size != NULL) {
        TRY(row_weights(g->row_weight, share, &g->families, z, in->size, why));
        g->families.weight = g->row_weight;
        TRY(g->mechanisms.law->update(&g->families, z, why));
    }
    if (in->weight != NULL) {
        g->families.node_weight = in->weight;
        TRY(g->mechanisms.law->update(&g->families, z, why));
    }
done:
    return status;
}

/* The same for variables that were read off x, F the mean of what each node asks for, found with
 * the graph that independent rows would ask for. What leaks into z_i in every set alike makes
 * n leak / s^2 of n rows count as one, but no fewer than 8 d rows are left: a graph needs them
 * where leaks are large, and edges that are real stand out of those. Where z is not known beyond
 * its reach, slopes are uneven for that reason alone, and do not count.
 *
 * One F for all nodes: if a node's rows counted less than those of its causes, turning its edges
 * around would cost less than it wins, however wrong. */
lscm_status graph_weigh_slopes(graph_posterior *g, const anchored_input *in, const double *z,
                               graph_scratch *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = in->view->d;
    rng r = stream_of((uint64_t)in->settings->seed, STREAM_GRAPH_MODELS);
    mean_mechanisms(g, d, few_draws(in), r, t->w, t->intercept, t->edge_prob);
    mechanism_model mean = {.d = d, .w = t->w, .intercept = t->intercept};
    TRY(uneven_slopes(t->slopes, t->variance, in, g->row_weight, z, &mean, why));
    g->dispersion = 0;
    for (size_t i = 0; i < d; i++) {
        const family *f = &g->families.list[i];
        double leak = 0;
        if (in->leak != NULL) {
            leaks_into(i, d, t->w, in->leak, t->leak);
            cblas_dcopy((int)d, t->leak, 1, g->leak_sd + i, (int)d);
            leak = leak_variance(f, t->leak);
        }
        double common = t->variance[i] > 0 ? 1 + f->rows * leak / t->variance[i] : 1;
        double uneven = in->reach != NULL ? 1 : t->slopes[i];
        double most = f->rows / (double)(tuned_slope_rows() * d);
        g->dispersion += fmax(uneven, fmin(common, most)) / (double)d;
    }
    g->mechanisms.law->weigh(&g->families, 1 / g->dispersion);
    TRY(graph_search(g, in, t, why));
done:
    return status;
}
