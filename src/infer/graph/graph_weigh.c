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
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (in->size != NULL) {
        TRY(row_weights(g->row_weight, &g->share, &g->families, z, in->size, why));
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

/* The mean of the first draws where mechanisms may bend, as one model; it has room of its own. */
typedef struct bent_room {
    double *w, *sigma, *intercept, *effect; /* (draws, ..) */
    bent_mechanisms mean;
    size_t most;
    arena memory;
} bent_room;

static void lay_out_bent(bent_room *room, size_t d, size_t draws)
{
    arena *a = &room->memory;
    double **nodes[] = {&room->sigma, &room->intercept, &room->effect};
    for (size_t k = 0; k < sizeof nodes / sizeof nodes[0]; k++) {
        *nodes[k] = arena_take(a, draws * d, sizeof(double));
    }
    room->w = arena_take(a, draws * d * d, sizeof(double));
    room->most = bends_most_terms(d);
    room->mean.basis = arena_take(a, d, sizeof *room->mean.basis);
    room->mean.first = arena_take(a, d + 1, sizeof *room->mean.first);
    room->mean.parent = arena_take(a, room->most, 2 * sizeof *room->mean.parent);
    room->mean.coef = arena_take(a, room->most, CURVE_WIDTH * sizeof(double));
}

static lscm_status mean_bent(bent_room *room, const graph_posterior *g, size_t d, size_t draws,
                             rng r, graph_scratch *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bend_draws drawn = {.count = draws, .d = d};
    lay_out_bent(room, d, draws);
    TRY(arena_open(&room->memory, why));
    lay_out_bent(room, d, draws);
    drawn.w = room->w;
    drawn.sigma = room->sigma;
    drawn.intercept = room->intercept;
    drawn.effect = room->effect;
    for (size_t k = 0; k < draws * d; k++) {
        mechanisms all = g->mechanisms;
        all.prior = g->prior[k / d];
        mechanism m =
            mechanisms_draw(&all, k % d, g->parents[k], r, k, room->w + k / d * d * d + k % d);
        room->intercept[k] = m.intercept;
    }
    TRY(graph_draw_bends(g, r, stream_part(r, 1), &drawn, why));
    bent_mean(&(drawn_mechanisms){draws, d, room->w, room->intercept, &drawn.bent}, room->most,
              &room->mean, t->w, t->intercept);
done:
    arena_close(&drawn.memory);
    return status;
}

/* F, the mean of what each node asks for. What leaks into z_i in every set alike makes n leak / s^2
 * of n rows count as one, but no fewer than 8 d rows are left: a graph needs them where leaks are
 * large, and edges that are real stand out of those. Where z is not known beyond its reach, slopes
 * of straight mechanisms are uneven for that reason alone, and do not count; those that bend go by
 * z there, too. Slopes of what bends differ from set to set by themselves: it is what the curves
 * leave whose slopes are to be even. */
lscm_status graph_find_dispersion(graph_posterior *g, const anchored_input *in, const double *z,
                                  graph_scratch *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = in->view->d;
    rng r = stream_of((uint64_t)in->settings->seed, STREAM_GRAPH_MODELS);
    bent_room room = {.w = NULL};
    mechanism_model mean = {.d = d, .w = t->w, .intercept = t->intercept};
    if (g->bent) {
        TRY(mean_bent(&room, g, d, few_draws(in), r, t, why));
        mean.bent = &room.mean;
    } else {
        mean_mechanisms(g, d, few_draws(in), r, t->w, t->intercept, t->edge_prob);
    }
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
        double uneven = in->reach != NULL && !g->bent ? 1 : t->slopes[i];
        double most = f->rows / (double)(tuned_slope_rows() * d);
        g->dispersion += fmax(uneven, fmin(common, most)) / (double)d;
    }
done:
    arena_close(&room.memory);
    return status;
}

/* The same for variables that were read off x, with F as the graph that independent rows would ask
 * for has it.
 *
 * One F for all nodes: if a node's rows counted less than those of its causes, turning its edges
 * around would cost less than it wins, however wrong. */
lscm_status graph_weigh_slopes(graph_posterior *g, const anchored_input *in, const double *z,
                               graph_scratch *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(graph_find_dispersion(g, in, z, t, why));
    g->mechanisms.law->weigh(&g->families, 1 / g->dispersion);
    TRY(graph_search(g, in, t, why));
done:
    return status;
}
