/* lscm reproduce unseen-interventions: for each do() on a set of targets that the data do not have,
 * the mean of x over `samples` rows
 *
 *     truth      of the true model                     (lscm_simulate_do)
 *     posterior  of a fit to the data                  (lscm_posterior_sample)
 *     empty      z_i as do() sets it, else as the encoder finds it in rows without intervention,
 *                each node by itself; x by the decoder (lscm_posterior_transform, _decode)
 *     floor      of the true model, with other noise
 *
 * and the mean squared difference of the last three from the first. The noise of x itself is left
 * out everywhere: nobody can predict it, and in pictures there is none.
 */
#include "experiments/unseen.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES = 10000 }; /* sets of targets drawn before giving up */

typedef enum use { USE_TRUTH, USE_FLOOR, USE_POSTERIOR, USES } use;

/* What is needed on the way. */
typedef struct work {
    lscm_dataset *data, *plain, *longer;
    lscm_posterior *run;
    size_t plain_rows;
    double *plain_z, *plain_sd; /* (plain_rows, d) */
    double *z, *x;              /* (samples, d), (samples, features) */
    double *mean;               /* (features) */
    double *seen, *row;         /* (sets, d), (d) */
    lscm_progress progress;
} work;

/* Noise that differs for every seed, do() and use. */
static int64_t noise_seed(const unseen *u, size_t k, use what)
{
    uint64_t mixed = ((uint64_t)u->settings->seed * u->count + k) * USES + (uint64_t)what;
    return (int64_t)(mixed & INT64_MAX);
}

static lscm_status step(const work *w, size_t done, size_t total, lscm_error *why)
{
    bool on = w->progress.report(w->progress.self, "predicting", done, total);
    return on ? LSCM_OK : cli_explain(why, LSCM_STOPPED, "stopped on request; nothing was written");
}

static double *take(size_t rows, size_t columns, lscm_error *why)
{
    double *out = calloc(rows > 0 ? rows : 1, columns * sizeof *out);
    if (out == NULL) {
        (void)cli_explain(why, LSCM_MEMORY, "out of memory");
    }
    return out;
}

/* Everything whose size the data tell. */
static lscm_status take_all(unseen *u, work *w, lscm_error *why)
{
    const struct {
        double **place;
        size_t rows, columns;
    } arrays[] = {
        {&u->values, u->count, u->d},
        {&u->truth, u->count, u->features},
        {&u->predicted, u->count, u->features},
        {&u->error[0], u->count, 1},
        {&u->error[1], u->count, 1},
        {&u->error[2], u->count, 1},
        {&w->plain_z, w->plain_rows, u->d},
        {&w->plain_sd, w->plain_rows, u->d},
        {&w->z, u->samples, u->d},
        {&w->x, u->samples, u->features},
        {&w->mean, 1, u->features},
        {&w->seen, (size_t)u->settings->sets, u->d},
        {&w->row, 1, u->d},
    };
    u->targets = calloc(u->count, u->d);
    if (u->targets == NULL) {
        return cli_explain(why, LSCM_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        *arrays[i].place = take(arrays[i].rows, arrays[i].columns, why);
        if (*arrays[i].place == NULL) {
            return LSCM_MEMORY;
        }
    }
    return LSCM_OK;
}

/* The data, their rows without intervention, and the data as they would go on: rows of a simulation
 * are the same however many sets follow. */
static lscm_status simulate(unseen *u, work *w, lscm_error *why)
{
    lscm_simulation *other = lscm_simulation_copy(u->settings);
    lscm_status status = other != NULL ? lscm_simulate(&w->data, u->settings, u->preset, why)
                                       : cli_explain(why, LSCM_MEMORY, "out of memory");
    if (status == LSCM_OK && other != NULL) {
        other->sets = 0;
        status = lscm_simulate(&w->plain, other, u->preset, why);
    }
    if (status == LSCM_OK && other != NULL) {
        other->sets = u->settings->sets + TRIES;
        status = lscm_simulate(&w->longer, other, u->preset, why);
    }
    lscm_simulation_free(other);
    if (status != LSCM_OK) {
        return status;
    }
    lscm_shape x = lscm_dataset_shape(w->data, LSCM_X);
    u->d = lscm_dataset_nodes(w->data);
    u->features = lscm_dataset_features(w->data);
    u->height = x.ndim == 3 ? x.dims[1] : 0;
    u->width = x.ndim == 3 ? x.dims[2] : 0;
    w->plain_rows = lscm_dataset_rows(w->plain);
    return take_all(u, w, why);
}

static bool was_seen(const unseen *u, const work *w)
{
    bool found = false;
    for (size_t set = 0; set < (size_t)u->settings->sets && !found; set++) {
        found = memcmp(w->seen + set * u->d, w->row, u->d * sizeof *w->row) == 0;
    }
    return found;
}

/* The next sets of the same law, without those that the data have; their first rows' values. */
static lscm_status draw_unseen(unseen *u, work *w, lscm_error *why)
{
    const lscm_simulation *s = u->settings;
    size_t sets = (size_t)s->sets;
    size_t found = 0;
    lscm_status status = LSCM_OK;
    for (size_t set = 0; set < sets + TRIES && found < u->count && status == LSCM_OK; set++) {
        size_t row = (size_t)s->observational + set * (size_t)s->per_set;
        double *mask = set < sets ? w->seen + set * u->d : w->row;
        status = lscm_dataset_read(w->longer, LSCM_TARGETS, row, 1, mask, why);
        if (status != LSCM_OK || set < sets || was_seen(u, w)) {
            continue;
        }
        for (size_t i = 0; i < u->d; i++) {
            u->targets[found * u->d + i] = mask[i] != 0 ? 1 : 0;
        }
        status = lscm_dataset_read(w->longer, LSCM_VALUES, row, 1, u->values + found * u->d, why);
        found++;
    }
    if (status == LSCM_OK && found < u->count) {
        return cli_explain(why, LSCM_USAGE,
                           "the data have every set of targets that can be drawn for %zu node%s; "
                           "ask for more --nodes",
                           u->d, u->d == 1 ? "" : "s");
    }
    return status;
}

static lscm_status fit(unseen *u, work *w, lscm_error *why)
{
    double begun = seconds_now();
    lscm_status status = lscm_fit(&w->run, w->data, NULL, NULL, &w->progress, why);
    u->seconds = seconds_now() - begun;
    if (status == LSCM_OK) {
        status = lscm_posterior_transform(w->run, w->plain, w->plain_z, w->plain_sd, NULL,
                                          &w->progress, why);
    }
    return status;
}

/* Takes over the rows. */
static lscm_status mean_of(lscm_dataset *rows, lscm_status status, double *mean, lscm_error *why)
{
    if (status == LSCM_OK) {
        status = lscm_dataset_bands(rows, LSCM_X, &(lscm_bands){.mean = mean}, why);
    }
    lscm_dataset_free(rows);
    return status;
}

static lscm_status true_mean(const unseen *u, size_t k, use what, double *mean, lscm_error *why)
{
    lscm_simulation *model = lscm_simulation_copy(u->settings);
    lscm_dataset *rows = NULL;
    if (model == NULL) {
        return cli_explain(why, LSCM_MEMORY, "out of memory");
    }
    model->x_noise = 0;
    lscm_status status = lscm_simulate_do(&rows, model, u->targets + k * u->d, u->values + k * u->d,
                                          u->samples, noise_seed(u, k, what), why);
    lscm_simulation_free(model);
    return mean_of(rows, status, mean, why);
}

static lscm_status posterior_mean(const unseen *u, const work *w, size_t k, double *mean,
                                  lscm_error *why)
{
    lscm_dataset *rows = NULL;
    lscm_status status =
        lscm_posterior_sample(&rows, w->run, u->targets + k * u->d, u->values + k * u->d,
                              u->samples, noise_seed(u, k, USE_POSTERIOR), why);
    return mean_of(rows, status, mean, why);
}

/* Nodes take their z from rows apart, which are independent. */
static lscm_status empty_mean(const unseen *u, work *w, size_t k, double *mean, lscm_error *why)
{
    size_t d = u->d;
    size_t apart = w->plain_rows > d ? w->plain_rows / d : 1;
    for (size_t row = 0; row < u->samples; row++) {
        for (size_t i = 0; i < d; i++) {
            size_t from = (row + i * apart) % w->plain_rows;
            bool set = u->targets[k * d + i] != 0;
            w->z[row * d + i] = set ? u->values[k * d + i] : w->plain_z[from * d + i];
        }
    }
    lscm_status status = lscm_posterior_decode(w->run, u->samples, w->z, w->x, why);
    memset(mean, 0, u->features * sizeof *mean);
    for (size_t at = 0; at < u->samples * u->features && status == LSCM_OK; at++) {
        mean[at % u->features] += w->x[at] / (double)u->samples;
    }
    return status;
}

static double difference(const unseen *u, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < u->features; i++) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sum / (double)u->features;
}

static lscm_status predict(unseen *u, work *w, size_t k, lscm_error *why)
{
    double *truth = u->truth + k * u->features;
    double *predicted = u->predicted + k * u->features;
    lscm_status status = true_mean(u, k, USE_TRUTH, truth, why);
    if (status == LSCM_OK) {
        status = posterior_mean(u, w, k, predicted, why);
        u->error[BY_POSTERIOR][k] = difference(u, predicted, truth);
    }
    if (status == LSCM_OK) {
        status = empty_mean(u, w, k, w->mean, why);
        u->error[BY_EMPTY_GRAPH][k] = difference(u, w->mean, truth);
    }
    if (status == LSCM_OK) {
        status = true_mean(u, k, USE_FLOOR, w->mean, why);
        u->error[BY_TRUE_MODEL][k] = difference(u, w->mean, truth);
    }
    return status;
}

static lscm_status compute(unseen *u, work *w, lscm_error *why)
{
    lscm_status status = simulate(u, w, why);
    if (status == LSCM_OK) {
        status = draw_unseen(u, w, why);
    }
    if (status == LSCM_OK) {
        status = fit(u, w, why);
    }
    for (size_t k = 0; k < u->count && status == LSCM_OK; k++) {
        status = predict(u, w, k, why);
        if (status == LSCM_OK) {
            status = step(w, k + 1, u->count, why);
        }
    }
    return status;
}

static void free_work(work *w)
{
    lscm_posterior_free(w->run);
    lscm_dataset_free(w->data);
    lscm_dataset_free(w->plain);
    lscm_dataset_free(w->longer);
    free(w->plain_z);
    free(w->plain_sd);
    free(w->z);
    free(w->x);
    free(w->mean);
    free(w->seen);
    free(w->row);
}

static void free_unseen(unseen *u)
{
    lscm_simulation_free(u->settings);
    free(u->targets);
    free(u->values);
    free(u->truth);
    free(u->predicted);
    for (int by = 0; by < PREDICTIONS; by++) {
        free(u->error[by]);
    }
}

lscm_status unseen_interventions(const reproduce_options *o, const results *r, lscm_error *why)
{
    unseen u = {.settings = lscm_simulation_new(),
                .preset = o->preset,
                .count = o->count,
                .samples = o->samples};
    work w = {0};
    progress_bar bar;
    lscm_dataset *figure = NULL;
    double *pixels = NULL;
    w.progress = progress_begin(&bar, o->common.quiet);
    lscm_status status = u.settings != NULL ? reproduce_settings(o, u.settings, why)
                                            : cli_explain(why, LSCM_MEMORY, "out of memory");
    if (status == LSCM_OK) {
        status = compute(&u, &w, why);
    }
    progress_end(&bar);
    if (status == LSCM_OK && u.height > 0) {
        status = unseen_figure(&u, &figure, &pixels, why);
    }
    if (status == LSCM_OK) {
        status = results_put(r, unseen_write_csv, &u, figure, why);
    }
    if (status == LSCM_OK && (o->common.json || !o->common.quiet)) {
        unseen_print(&u, r, o->common.json);
    }
    lscm_dataset_free(figure);
    free(pixels);
    free_work(&w);
    free_unseen(&u);
    return status;
}
