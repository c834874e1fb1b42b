#include "infer/anchored/read_off.h"

#include "base/quantile.h"
#include "base/tuned.h"
#include "infer/graph/graph.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void lay_out(read_off *r)
{
    arena *a = &r->memory;
    size_t d = r->latents.d;
    double **entries[] = {&r->z, &r->sd, &r->told, &r->told_sd};
    double **nodes[] = {&r->r2,    &r->middle,       &r->reach,           &r->intercept,
                        &r->sigma, &r->latents.mean, &r->latents.spectrum};
    for (size_t k = 0; k < sizeof entries / sizeof entries[0]; k++) {
        *entries[k] = arena_take(a, r->latents.rows * d, sizeof(double));
    }
    for (size_t k = 0; k < sizeof nodes / sizeof nodes[0]; k++) {
        *nodes[k] = arena_take(a, d, sizeof(double));
    }
    r->blur = arena_take(a, d * d * d, sizeof(double));
    r->w = arena_take(a, d * d, sizeof(double));
    r->leak = arena_take(a, d * d, sizeof(double));
    r->alike = arena_take(a, (d + 1) * d, sizeof(double));
    r->bent.basis = arena_take(a, d, sizeof *r->bent.basis);
    r->bent.first = arena_take(a, d + 1, sizeof *r->bent.first);
    r->bent.parent = arena_take(a, bends_most_terms(d), 2 * sizeof *r->bent.parent);
    r->bent.coef = arena_take(a, bends_most_terms(d), CURVE_WIDTH * sizeof(double));
}

lscm_status read_off_open(read_off *out, const design *by, char *const *names, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    read_off r = {.names = names};
    linear_view *v = &r.latents;
    v->kind = VIEW_READ_OFF;
    v->rows = by->rows;
    v->d = v->D = v->rank = by->d;
    v->design = *by;
    lay_out(&r);
    TRY(arena_open(&r.memory, why));
    lay_out(&r);
    v->y = r.z;
done:
    *out = r;
    return status;
}

void read_off_close(read_off *r)
{
    arena_close(&r->memory);
}

void read_off_spread(read_off *r)
{
    size_t d = r->latents.d;
    for (size_t j = 0; j < d; j++) {
        double sum = 0;
        double squares = 0;
        for (size_t row = 0; row < r->latents.rows; row++) {
            sum += r->z[row * d + j];
        }
        for (size_t row = 0; row < r->latents.rows; row++) {
            double away = r->z[row * d + j] - sum / (double)r->latents.rows;
            squares += away * away;
        }
        r->latents.spectrum[j] = squares / (double)r->latents.rows;
    }
}

anchored_input read_off_input(const read_off *r, const anchored_input *in, size_t draws)
{
    anchored_input with = *in;
    with.view = &r->latents;
    with.size = r->size;
    with.draws = draws;
    with.steps = 0; /* those asked for are the network's */
    return with;
}

anchored_input read_off_with_errors(const read_off *r, const anchored_input *in)
{
    anchored_input with = read_off_input(r, in, in->draws);
    with.blur = r->blurred ? r->blur : NULL;
    with.gain = r->gain;
    with.leak = r->leak;
    return with;
}

mechanism_model read_off_model(const read_off *r)
{
    return (mechanism_model){.d = r->latents.d,
                             .w = r->w,
                             .intercept = r->intercept,
                             .sigma = r->sigma,
                             .bent = r->bent.terms > 0 ? &r->bent : NULL};
}

static void take_mean(read_off *r, const anchored *a)
{
    size_t d = a->d;
    double share = 1 / (double)a->draws;
    r->bent.terms = 0;
    if (a->bends && a->bent.terms > 0) {
        const drawn_mechanisms draws = {a->draws, d, a->w, a->intercept, &a->bent};
        bent_mean(&draws, bends_most_terms(d), &r->bent, r->w, r->intercept);
        return;
    }
    memset(r->bent.first, 0, (d + 1) * sizeof *r->bent.first);
    memset(r->w, 0, d * d * sizeof(double));
    memset(r->intercept, 0, d * sizeof(double));
    for (size_t k = 0; k < a->draws; k++) {
        cblas_daxpy((int)(d * d), share, a->w + k * d * d, 1, r->w, 1);
        cblas_daxpy((int)d, share, a->intercept + k * d, 1, r->intercept, 1);
    }
}

/* The mean over draws; s from what it leaves of z, errors of z included: the model must not be
 * believed more than it explains. */
void read_off_take_model(read_off *r, const anchored *a)
{
    const design *by = &r->latents.design;
    size_t d = by->d;
    take_mean(r, a);
    const mechanism_model model = read_off_model(r);
    for (size_t i = 0; i < d; i++) {
        double squares = 0;
        double rows = 0;
        for (size_t row = 0; row < by->rows; row++) {
            bool is_free = !design_is_set(by, row, i);
            double rest = mechanism_residual(&model, i, r->z + row * d);
            squares += is_free ? rest * rest : 0;
            rows += is_free ? 1 : 0;
        }
        double unit = sqrt(r->latents.spectrum[i]);
        r->sigma[i] =
            fmax(rows > 0 ? sqrt(squares / rows) : unit, tuned_model_sigma_floor() * unit + 1e-30);
    }
}

/* Near the outermost values an encoder falls short already: there are labels on one side only. */
lscm_status read_off_find_reach(read_off *r, lscm_error *why)
{
    const double outer = tuned_reach_outer();
    const design *by = &r->latents.design;
    size_t d = by->d;
    double *sorted = malloc((by->rows + 1) * sizeof *sorted);
    if (sorted == NULL) {
        return fail_memory(why, (by->rows + 1) * sizeof *sorted);
    }
    r->outside = 0;
    for (size_t j = 0; j < d; j++) {
        size_t count = 0;
        for (size_t row = 0; row < by->rows; row++) {
            if (design_is_set(by, row, j)) {
                sorted[count++] = design_value(by, row, j);
            }
        }
        qsort(sorted, count, sizeof *sorted, quantile_compare);
        double low = quantile_of_sorted(sorted, count, outer);
        double high = quantile_of_sorted(sorted, count, 1 - outer);
        r->middle[j] = (low + high) / 2;
        r->reach[j] = (high - low) / 2;
        for (size_t row = 0; row < by->rows; row++) {
            bool near = fabs(r->z[row * d + j] - r->middle[j]) <= r->reach[j];
            r->outside += !design_is_set(by, row, j) && !near ? 1 : 0;
        }
    }
    free(sorted);
    return LSCM_OK;
}

/* z and values about the middles. */
static void shift(read_off *r)
{
    size_t d = r->latents.d;
    for (size_t k = 0; k < r->latents.rows * d; k++) {
        r->z[k] -= r->middle[k % d];
    }
    design_shift(&r->latents.design, r->middle, -1);
}

/* The posterior of these, which are put back to the bit: labels are what a judge's own fit sees,
 * too. */
static lscm_status infer_shifted(read_off *r, anchored *out, const anchored_input *in,
                                 lscm_error *why)
{
    size_t n = r->latents.rows * r->latents.d;
    double *values = r->latents.design.value;
    double *aside = malloc(2 * n * sizeof *aside);
    if (aside == NULL) {
        return fail_memory(why, 2 * n * sizeof *aside);
    }
    memcpy(aside, r->z, n * sizeof *aside);
    memcpy(aside + n, values, n * sizeof *aside);
    shift(r);
    lscm_status status = anchored_infer(out, in, why);
    memcpy(r->z, aside, n * sizeof *aside);
    memcpy(values, aside + n, n * sizeof *aside);
    free(aside);
    return status;
}

/* Draws in variables about the middles m as draws in the variables themselves: w is the same, and
 * c_i is what it is less m_i - sum_p w_pi m_p; where a node bends, its curves stand m further on,
 * and c_i is what it is less m_i. */
static void move_draws(anchored *a, const double *middle)
{
    size_t d = a->d;
    const bent_mechanisms *bent = a->bent.terms > 0 ? &a->bent : NULL;
    for (size_t k = 0; k < a->draws; k++) {
        double *c = a->intercept + k * d;
        mechanism_model about = {.d = d, .w = a->w + k * d * d, .intercept = c};
        for (size_t i = 0; i < d; i++) {
            bool curved = bent != NULL && bent_bends(bent, k, i);
            c[i] = curved ? c[i] + middle[i] : mechanism_moved(&about, i, middle);
        }
    }
    for (size_t j = 0; j < d && bent != NULL; j++) {
        for (size_t m = 0; m < bent->basis[j].knots; m++) {
            bent->basis[j].knot[m] += middle[j];
        }
    }
}

/* What is drawn is for the graph: z of a row stays what x says of it, but where x may say nothing.
 */
lscm_status read_off_infer_within(read_off *r, anchored *out, const anchored_input *in,
                                  lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = r->latents.d;
    anchored_input with = *in;
    with.reach = r->reach;
    with.unknown = r->unknown;
    TRY(infer_shifted(r, out, &with, why));
    move_draws(out, r->middle);
    for (size_t k = 0; k < r->latents.rows * d; k++) {
        bool drawn = with.saturated && !design_is_set(&r->latents.design, k / d, k % d);
        r->told[k] = drawn ? out->z[k] + r->middle[k % d] : r->z[k];
        r->told_sd[k] = drawn && out->z_sd != NULL ? hypot(out->z_sd[k], r->sd[k]) : r->sd[k];
    }
done:
    return status;
}
