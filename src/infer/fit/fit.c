/* lscm_fit: what every method needs of the settings and the data, and the choice between them. */
#include "base/clock.h"
#include "base/threads.h"
#include "data/dataset/dataset.h"
#include "infer/anchored/anchored.h"
#include "infer/baselines/baselines.h"
#include "infer/biols/biols.h"
#include "infer/run/run.h"

#include <stdlib.h>

/* The order given, or NULL; the caller frees it. */
static lscm_status take_order(const fit *f, size_t **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = f->data->nodes;
    size_t *order = NULL;
    double *stored = NULL;
    if (f->run->order == NULL && f->settings.order != LSCM_ORDER_GIVEN) {
        return LSCM_OK;
    }
    order = malloc(d * sizeof *order);
    stored = calloc(2 * d, sizeof *stored);
    if (order == NULL || stored == NULL) {
        status = fail_memory(why, 3 * d * sizeof *stored);
        goto done;
    }
    if (f->run->order == NULL && !f->data->shape[LSCM_ORDER].present) {
        status = fail(why, LSCM_MISSING, "%s holds no order; list it (--order 2,0,1) or learn it",
                      f->data->path);
        goto done;
    }
    if (f->run->order == NULL) {
        TRY(lscm_dataset_read(f->data, LSCM_ORDER, 0, d, stored, why));
    }
    for (size_t k = 0; k < d; k++) {
        order[k] = f->run->order != NULL ? f->run->order[k] : (size_t)stored[k];
        if (order[k] >= d || stored[d + order[k]] != 0) {
            status = fail(why, LSCM_USAGE, "an order must name each of the %zu nodes once", d);
            goto done;
        }
        stored[d + order[k]] = 1;
    }
    *out = order;
    order = NULL;
done:
    free(order);
    free(stored);
    return status;
}

static lscm_status run_method(fit *f, lscm_posterior **out, lscm_error *why)
{
    switch (f->settings.method) {
    case LSCM_METHOD_BIOLS:
        return biols_fit(f, out, why);
    case LSCM_METHOD_VAE:
        return vae_fit(f, out, why);
    case LSCM_METHOD_GRAPHVAE:
        return graphvae_fit(f, out, why);
    default:
        return anchored_fit(f, out, why);
    }
}

static lscm_status fit_here(lscm_posterior **out, const lscm_dataset *data,
                            const lscm_fit_settings *settings, const lscm_run_options *run,
                            const lscm_progress *progress, lscm_error *why)
{
    static const lscm_run_options alone = {0};
    lscm_status status = LSCM_OK;
    fit f = {.data = data,
             .run = run != NULL ? run : &alone,
             .progress = progress,
             .begun = clock_seconds(),
             .warnings = json_array(),
             .checks = json_array()};
    size_t *order = NULL;
    lscm_settings_defaults(lscm_fit_table(), &f.settings);
    if (settings != NULL) {
        f.settings = *settings;
    }
    if (f.run->resume && f.run->folder == NULL) {
        status = fail(why, LSCM_USAGE, "to resume, name the run folder");
        goto done;
    }
    TRY(lscm_settings_check(lscm_fit_table(), &f.settings, why));
    TRY(dataset_check_shapes(data, false, why)); /* it may have been opened for less */
    TRY(device_open(&f.device, LSCM_DEVICE_CPU, NULL, why));
    TRY(device_find(f.settings.device, why)); /* what is not there is said before the work */
    TRY(take_order(&f, &order, why));
    f.order = order;
    TRY(knowledge_open(&f.known, f.run, data->nodes, data->node_names, order, why));
    if (f.settings.method == LSCM_METHOD_AUTO) {
        f.settings.method = LSCM_METHOD_ANCHORED; /* which chooses the decoder, and says why */
    }
    TRY(belonging_check(&f, why));
    TRY(run_method(&f, out, why));
done:
    knowledge_close(&f.known);
    device_close(&f.device);
    json_decref(f.warnings);
    json_decref(f.checks);
    json_decref(f.pairs);
    free(order);
    return status;
}

/* With several processes the first fits, and the others help it with its passes over the rows. */
static lscm_status fit_in_team(lscm_posterior **out, const lscm_dataset *data,
                               const lscm_fit_settings *settings, const lscm_run_options *run,
                               const lscm_progress *progress, lscm_error *why)
{
    team processes = {.comm = run != NULL ? run->comm : NULL};
    lscm_dataset shared = *data;
    lscm_status status = LSCM_OK;
    if (split_size(&processes) == 1) {
        return fit_here(out, data, settings, run, progress, why);
    }
    *out = NULL;
    shared.team = &processes;
    TRY(split_begin(&shared, why));
    if (split_rank(&processes) > 0) {
        return split_serve(&shared, progress, why);
    }
    status = fit_here(out, &shared, settings, run, progress, why);
    status = split_end(&processes, status, why);
done:
    return status;
}

/* Methods that take all columns of x alike get them in units of their own. The anchored method
 * finds its own; a noise or a range of x that was told is in those of x. */
static bool takes_units(const lscm_fit_settings *s)
{
    return s != NULL && s->method != LSCM_METHOD_AUTO && s->method != LSCM_METHOD_ANCHORED &&
           !(s->x_noise > 0) && s->decoder != LSCM_DECODER_IMAGE;
}

lscm_status lscm_fit(lscm_posterior **out, const lscm_dataset *data,
                     const lscm_fit_settings *settings, const lscm_run_options *run,
                     const lscm_progress *progress, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    in_units units = {0};
    threads_blas_single();
    if (takes_units(settings)) {
        TRY(dataset_check_shapes(data, false, why)); /* it may have been opened for less */
        TRY(in_units_open(&units, data, ORIGIN_FREE, why));
        data = &units.data;
    }
    status = fit_in_team(out, data, settings, run, progress, why);
done:
    in_units_close(&units);
    threads_blas_restore();
    return status;
}

lscm_status lscm_check(lscm_posterior **out, const lscm_dataset *data,
                       const lscm_progress *progress, lscm_error *why)
{
    enum { DRAWS = 200 }; /* ten for every one whose graph is tested */
    lscm_fit_settings settings;
    lscm_settings_defaults(lscm_fit_table(), &settings);
    settings.holdout = 0;
    settings.draws = DRAWS;
    settings.encoder = LSCM_ENCODER_KERNEL;
    settings.device = LSCM_DEVICE_CPU;
    return lscm_fit(out, data, &settings, NULL, progress, why);
}
