#include "infer/anchored/nonlinear.h"

#include "base/tuned.h"
#include "infer/check/check.h"
#include "infer/evidence/evidence.h"
#include "infer/graph/graph.h"
#include "infer/run/run.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

static void lay_out(nonlinear *n)
{
    arena *a = &n->memory;
    n->guess = arena_take(a, n->x.rows * n->x.d, sizeof(double));
    n->held = arena_take(a, n->x.rows * n->x.d, 1);
    n->size = arena_take(a, n->x.rows, sizeof(double));
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
    kernel_settings settings = {
        .seed = (uint64_t)s->seed, .family = KERNEL_FAMILIES, .on = n->device};
    shown.design = (design){0};
    lay_out(n);
    TRY(arena_open(&n->memory, why));
    lay_out(n);
    TRY(read_off_open(&n->off, &x->design, n->names, why));
    TRY(hold_out_values(&x->design, (uint64_t)s->seed, n->held, why));
    TRY(design_hide(&shown.design, &x->design, n->held, why));
    TRY(kernel_encode(&n->kernel, n->off.z, n->off.sd, &shown, &settings, progress, why));
    TRY(refuse_unlabelled(n, why));
    TRY(kernel_beyond_of(&n->beyond, &n->kernel, &shown, &settings, progress, why));
    memcpy(n->guess, n->off.z, entries * sizeof(double));
    take_sizes(n);
done:
    design_close(&shown.design);
    return status;
}

/* Such a network errs in proportion to |f|. */
static void take_kind(nonlinear *n)
{
    n->off.size = n->homogeneous ? n->size : NULL;
}

anchored_input nonlinear_read_off(const nonlinear *n, const anchored_input *in)
{
    return read_off_with_errors(&n->off, in);
}

lscm_status nonlinear_model(nonlinear *n, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    anchored a = {0};
    take_kind(n);
    anchored_input with = read_off_input(&n->off, &n->asked, tuned_model_draws());
    with.progress = NULL;
    with.curves = true;
    with.mechanism = n->x.d > tuned_model_bends_nodes() ? LSCM_MECHANISM_LINEAR : with.mechanism;
    generator_z(n->g, n->off.z);
    read_off_spread(&n->off);
    TRY(anchored_infer(&a, &with, why));
    read_off_take_model(&n->off, &a);
    mechanism_model model = read_off_model(&n->off);
    generator_use(n->g, &model);
done:
    anchored_close(&a);
    return status;
}

/* ---- The result ---- */

/* What is kept of rows: less beyond the labels, and with errors that all rows share. */
static void tell(nonlinear *n)
{
    read_off *off = &n->off;
    kernel_shrink to = kernel_beyond_shrink(&n->beyond, n->homogeneous);
    kernel_shrink_rows(&to, n->x.rows, n->x.f, &n->x.design, off->told, off->told_sd);
    alike_errors_add(off->alike, &n->x.design, off->told, off->told_sd);
}

/* A network errs in a node itself as in what it takes of others for it: leaks say how wrong scales
 * are, too, where values held out, which are like those shown, cannot. But not of pictures, where
 * readings that fall short beyond the labels look like leaks. */
static lscm_status find_alike(nonlinear *n, bool saturated, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    read_off *off = &n->off;
    double size = 0;
    TRY(leaks_both_ways(off->leak, &size, &n->x.design, off->z, why));
    off->gain = saturated ? off->gain : fmax(off->gain, size);
    alike_errors(n->x.d, off->leak, off->gain, off->middle, off->alike);
done:
    return status;
}

/* The kernel's z as it is: values in their places, its variance as noise of the rows. */
static void take_kernel(nonlinear *n)
{
    design_put(&n->x.design, n->off.z, n->off.sd);
    memcpy(n->off.r2, n->kernel.node_r2, n->x.d * sizeof(double));
}

static lscm_status take_network(nonlinear *n, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    generator_errors errors = {.r2 = n->off.r2};
    TRY(generator_finish(n->g, &errors, why));
    TRY(generator_read(n->g, NULL, n->off.z, n->off.sd, n->off.blur, why));
    n->off.gain = errors.gain;
    n->off.blurred = true;
done:
    return status;
}

lscm_status nonlinear_finish(nonlinear *n, anchored *out, const anchored_input *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    read_off *off = &n->off;
    size_t entries = n->x.rows * n->x.d;
    take_kind(n);
    if (n->network) {
        TRY(take_network(n, why));
    } else {
        TRY(generator_adopt(n->g, why));
        take_kernel(n);
    }
    read_off_spread(off);
    TRY(read_off_find_reach(off, why));
    TRY(find_alike(n, in->saturated, why));
    anchored_input with = read_off_with_errors(off, in);
    if (off->outside > 0 && !n->homogeneous) {
        TRY(read_off_infer_within(off, out, &with, why));
        if (!with.saturated) { /* else what was drawn is kept */
            tell(n);
        }
        goto done;
    }
    TRY(anchored_infer(out, &with, why));
    if (n->network) {
        mechanism_model model = read_off_model(off);
        read_off_take_model(off, out);
        TRY(generator_read(n->g, &model, off->told, off->told_sd, NULL, why));
    } else {
        memcpy(off->told, off->z, entries * sizeof(double));
        memcpy(off->told_sd, off->sd, entries * sizeof(double));
    }
    tell(n);
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
    read_off_close(&n->off);
    arena_close(&n->memory);
}
