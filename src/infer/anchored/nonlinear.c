#include "infer/anchored/nonlinear.h"

#include "base/quantile.h"
#include "base/tuned.h"
#include "infer/check/check.h"
#include "infer/evidence/evidence.h"
#include "infer/graph/graph.h"
#include "infer/run/run.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void lay_out(nonlinear *n)
{
    arena *a = &n->memory;
    size_t d = n->x.d;
    double **entries[] = {&n->guess, &n->z, &n->sd, &n->told, &n->told_sd};
    double **nodes[] = {&n->errors.r2, &n->middle,       &n->reach,           &n->intercept,
                        &n->sigma,     &n->latents.mean, &n->latents.spectrum};
    for (size_t k = 0; k < sizeof entries / sizeof entries[0]; k++) {
        *entries[k] = arena_take(a, n->x.rows * d, sizeof(double));
    }
    for (size_t k = 0; k < sizeof nodes / sizeof nodes[0]; k++) {
        *nodes[k] = arena_take(a, d, sizeof(double));
    }
    n->held = arena_take(a, n->x.rows * d, 1);
    n->size = arena_take(a, n->x.rows, sizeof(double));
    n->blur = arena_take(a, d * d * d, sizeof(double));
    n->w = arena_take(a, d * d, sizeof(double));
    n->leak = arena_take(a, d * d, sizeof(double));
}

/* Every node needs labels: nothing else tells it from the others when x bends. */
static lscm_status refuse_unlabelled(const nonlinear *n, lscm_error *why)
{
    for (size_t j = 0; j < n->x.d; j++) {
        char room[32];
        if (!n->kernel.usable[j]) {
            return fail(
                why, LSCM_VALUE,
                "x is not linear in the causal variables, and node %s was set by do() in "
                "too few rows, or always to the same value, to be told apart (%zu values to "
                "learn from); take more, or --decoder linear for a rough answer",
                name_of(n->names, j, room, sizeof room), n->kernel.labels[j]);
        }
    }
    return LSCM_OK;
}

static void take_sizes(nonlinear *n)
{
    const features *x = &n->x;
    double sum = 0;
    for (size_t r = 0; r < x->rows; r++) {
        const float *f = x->f + r * x->R;
        n->size[r] = (double)cblas_sdot((int)x->R, f, 1, f, 1);
        sum += n->size[r] / (double)x->rows;
    }
    for (size_t r = 0; r < x->rows; r++) {
        n->size[r] = sum > 0 ? n->size[r] / sum : 1;
    }
}

lscm_status nonlinear_encode(nonlinear *n, const lscm_fit_settings *s,
                             const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const features *x = &n->x;
    size_t entries = x->rows * x->d;
    features shown = *x; /* without the values held out */
    kernel_settings settings = {.seed = (uint64_t)s->seed, .family = KERNEL_FAMILIES};
    shown.design = (design){0};
    lay_out(n);
    TRY(arena_open(&n->memory, why));
    lay_out(n);
    TRY(hold_out_values(&x->design, (uint64_t)s->seed, n->held, why));
    TRY(design_hide(&shown.design, &x->design, n->held, why));
    TRY(kernel_encode(&n->kernel, n->z, n->sd, &shown, &settings, progress, why));
    TRY(refuse_unlabelled(n, why));
    TRY(kernel_beyond_of(&n->beyond, &n->kernel, &shown, &settings, progress, why));
    memcpy(n->guess, n->z, entries * sizeof(double));
    take_sizes(n);
    n->latents.kind = VIEW_READ_OFF;
    n->latents.rows = x->rows;
    n->latents.d = n->latents.D = n->latents.rank = x->d;
    n->latents.y = n->z;
    n->latents.design = x->design; /* whose memory stays that of the features */
done:
    design_close(&shown.design);
    return status;
}

/* ---- z as variables that were read off ---- */

static void take_spectrum(nonlinear *n)
{
    size_t d = n->x.d;
    for (size_t j = 0; j < d; j++) {
        double sum = 0;
        double squares = 0;
        for (size_t r = 0; r < n->x.rows; r++) {
            sum += n->z[r * d + j];
        }
        for (size_t r = 0; r < n->x.rows; r++) {
            double away = n->z[r * d + j] - sum / (double)n->x.rows;
            squares += away * away;
        }
        n->latents.spectrum[j] = squares / (double)n->x.rows;
    }
}

static anchored_input input_of(const nonlinear *n, const anchored_input *in, size_t draws)
{
    anchored_input with = *in;
    with.view = &n->latents;
    with.size = n->homogeneous ? n->size : NULL; /* such a network errs in proportion to |f| */
    with.draws = draws;
    with.steps = 0; /* those asked for are the network's */
    return with;
}

/* What is known of the errors of z, once it was read off. */
static void with_errors(const nonlinear *n, anchored_input *in)
{
    in->blur = n->network ? n->blur : NULL;
    in->gain = n->network ? n->errors.gain : 0;
    in->leak = n->leak;
}

anchored_input nonlinear_read_off(const nonlinear *n, const anchored_input *in)
{
    anchored_input with = input_of(n, in, in->draws);
    with_errors(n, &with);
    return with;
}

static mechanism_model model_of(const nonlinear *n)
{
    return (mechanism_model){n->x.d, n->w, n->intercept, n->sigma};
}

/* The mean over draws; s from what it leaves of z, errors of z included: the model must not be
 * believed more than it explains. */
static void take_model(nonlinear *n, const anchored *a)
{
    const mechanism_model model = model_of(n);
    size_t d = n->x.d;
    double share = 1 / (double)a->draws;
    memset(n->w, 0, d * d * sizeof(double));
    memset(n->intercept, 0, d * sizeof(double));
    for (size_t k = 0; k < a->draws; k++) {
        cblas_daxpy((int)(d * d), share, a->w + k * d * d, 1, n->w, 1);
        cblas_daxpy((int)d, share, a->intercept + k * d, 1, n->intercept, 1);
    }
    for (size_t i = 0; i < d; i++) {
        double squares = 0;
        double rows = 0;
        for (size_t r = 0; r < n->x.rows; r++) {
            const double *z = n->z + r * d;
            bool is_free = !design_is_set(&n->x.design, r, i);
            double rest = mechanism_residual(&model, i, z);
            squares += is_free ? rest * rest : 0;
            rows += is_free ? 1 : 0;
        }
        double unit = sqrt(n->latents.spectrum[i]);
        n->sigma[i] =
            fmax(rows > 0 ? sqrt(squares / rows) : unit, tuned_model_sigma_floor() * unit + 1e-30);
    }
}

lscm_status nonlinear_model(nonlinear *n, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    anchored a = {0};
    anchored_input with = input_of(n, &n->asked, tuned_model_draws());
    with.progress = NULL;
    generator_z(n->g, n->z);
    take_spectrum(n);
    TRY(anchored_infer(&a, &with, why));
    take_model(n, &a);
    mechanism_model model = model_of(n);
    generator_use(n->g, &model);
done:
    anchored_close(&a);
    return status;
}

/* ---- The result ---- */

/* Where values label each node, and how many entries of z lie beyond. Near the outermost values an
 * encoder falls short already: there are labels on one side only. sorted: (rows), scratch. */
static void find_reach(nonlinear *n, double *sorted)
{
    const double outer = tuned_reach_outer();
    size_t d = n->x.d;
    n->outside = 0;
    for (size_t j = 0; j < d; j++) {
        size_t count = 0;
        for (size_t r = 0; r < n->x.rows; r++) {
            if (design_is_set(&n->x.design, r, j)) {
                sorted[count++] = design_value(&n->x.design, r, j);
            }
        }
        qsort(sorted, count, sizeof *sorted, quantile_compare);
        double low = quantile_of_sorted(sorted, count, outer);
        double high = quantile_of_sorted(sorted, count, 1 - outer);
        n->middle[j] = (low + high) / 2;
        n->reach[j] = (high - low) / 2;
        for (size_t r = 0; r < n->x.rows; r++) {
            bool near = fabs(n->z[r * d + j] - n->middle[j]) <= n->reach[j];
            n->outside += !design_is_set(&n->x.design, r, j) && !near ? 1 : 0;
        }
    }
}

/* z and values about the middles, or back. */
static void shift(nonlinear *n, double sign)
{
    size_t d = n->x.d;
    for (size_t k = 0; k < n->x.rows * d; k++) {
        n->z[k] += sign * n->middle[k % d];
    }
    design_shift(&n->x.design, n->middle, sign);
}

/* Beyond the values that label it, a network that is not homogeneous is not to be believed: there
 * only the side is known, and z is drawn with the graph (latent_chain.h). What is drawn is for the
 * graph: z of a row stays what x says of it, but where x may say nothing. In variables about the
 * middles m, w is the same and c_i is what it is less m_i - sum_p w_pi m_p. */
static lscm_status infer_within_reach(nonlinear *n, anchored *out, anchored_input *with,
                                      lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = n->x.d;
    with->reach = n->reach;
    shift(n, -1);
    status = anchored_infer(out, with, why);
    shift(n, 1);
    TRY(status);
    for (size_t k = 0; k < out->draws; k++) {
        double *c = out->intercept + k * d;
        mechanism_model about = {d, out->w + k * d * d, c, NULL};
        for (size_t i = 0; i < d; i++) {
            c[i] = mechanism_moved(&about, i, n->middle);
        }
    }
    for (size_t k = 0; k < n->x.rows * d; k++) {
        bool drawn = with->saturated && !design_is_set(&n->x.design, k / d, k % d);
        n->told[k] = drawn ? out->z[k] + n->middle[k % d] : n->z[k];
        n->told_sd[k] = drawn && out->z_sd != NULL ? hypot(out->z_sd[k], n->sd[k]) : n->sd[k];
    }
done:
    return status;
}

/* What is kept of rows beyond the labels. */
static void shrink(nonlinear *n)
{
    kernel_shrink to = kernel_beyond_shrink(&n->beyond, n->homogeneous);
    kernel_shrink_rows(&to, n->x.rows, n->x.f, &n->x.design, n->told, n->told_sd);
}

/* The kernel's z as it is: values in their places, its variance as noise of the rows. */
static void take_kernel(nonlinear *n)
{
    design_put(&n->x.design, n->z, n->sd);
    memcpy(n->errors.r2, n->kernel.node_r2, n->x.d * sizeof(double));
}

lscm_status nonlinear_finish(nonlinear *n, anchored *out, const anchored_input *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    anchored_input with = input_of(n, in, in->draws);
    if (n->network) {
        TRY(generator_finish(n->g, &n->errors, why));
        TRY(generator_read(n->g, NULL, n->z, n->sd, n->blur, why));
    } else {
        TRY(generator_adopt(n->g, why));
        take_kernel(n);
    }
    take_spectrum(n);
    find_reach(n, n->told);
    TRY(leaks_both_ways(n->leak, &n->x.design, n->z, why));
    with_errors(n, &with);
    if (n->outside > 0 && !n->homogeneous) {
        TRY(infer_within_reach(n, out, &with, why));
        if (!with.saturated) { /* else what was drawn is kept */
            shrink(n);
        }
        goto done;
    }
    TRY(anchored_infer(out, &with, why));
    if (n->network) {
        mechanism_model model = model_of(n);
        take_model(n, out);
        TRY(generator_read(n->g, &model, n->told, n->told_sd, NULL, why));
    } else {
        memcpy(n->told, n->z, n->x.rows * n->x.d * sizeof(double));
        memcpy(n->told_sd, n->sd, n->x.rows * n->x.d * sizeof(double));
    }
    shrink(n);
done:
    return status;
}

void nonlinear_close(nonlinear *n)
{
    generator_close(n->net[0]);
    generator_close(n->net[1]);
    kernel_beyond_close(&n->beyond);
    kernel_encoder_close(&n->kernel);
    features_close(&n->x);
    arena_close(&n->memory);
}
