#include "base/clock.h"
#include "data/dataset/dataset.h"
#include "infer/run/fit_state.h"
#include "infer/run/run_files.h"
#include "infer/run/seen.h"
#include "scm/recipe/recipe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

const char *fit_method(const fit *f)
{
    static const char *const names[] = {[LSCM_METHOD_AUTO] = "auto",
                                        [LSCM_METHOD_ANCHORED] = "anchored",
                                        [LSCM_METHOD_BIOLS] = "biols",
                                        [LSCM_METHOD_VAE] = "vae",
                                        [LSCM_METHOD_GRAPHVAE] = "graphvae"};
    return names[f->settings.method];
}

lscm_status fit_refuse_knowledge(const fit *f, lscm_error *why)
{
    return knowledge_any(&f->known)
               ? fail(why, LSCM_USAGE,
                      "the method %s cannot use background knowledge (--forbid, --require, "
                      "--tiers); leave it out, or take --method anchored",
                      fit_method(f))
               : LSCM_OK;
}

static void put_text(json_t *object, const char *name, const char *text)
{
    if (text != NULL) {
        (void)json_object_set_new(object, name, json_string(text));
    }
}

static char *config_text(const fit *f)
{
    json_t *config = json_object();
    const lscm_setting *row = NULL;
    (void)json_object_set_new(config, "data", json_string(f->data->path));
    (void)json_object_set_new(config, "lscm", json_string(lscm_version()));
    put_text(config, "ignore", f->run->opened.ignore);
    put_text(config, "truth", f->run->opened.truth);
    put_text(config, "names", f->run->opened.names);
    put_text(config, "target_column", f->run->opened.target_column);
    put_text(config, "value_column", f->run->opened.value_column);
    put_text(config, "control", f->run->opened.control);
    put_text(config, "layer", f->run->opened.layer);
    for (size_t i = 0; (row = lscm_settings_row(lscm_fit_table(), i)) != NULL; i++) {
        (void)json_object_set_new(config, row->name, recipe_value(row, &f->settings));
    }
    if (f->order != NULL) {
        json_t *order = json_array();
        for (size_t k = 0; k < f->data->nodes; k++) {
            (void)json_array_append_new(order, json_integer((json_int_t)f->order[k]));
        }
        (void)json_object_set_new(config, "order_given", order);
    }
    knowledge_store(f->run, f->data->nodes, f->data->node_names, config);
    char *text = json_dumps(config, JSON_INDENT(2));
    json_decref(config);
    return text;
}

static lscm_status copy_names(lscm_posterior *p, const lscm_dataset *data, lscm_error *why)
{
    if (data->node_names == NULL) {
        return LSCM_OK;
    }
    p->node_names = calloc(p->d, sizeof *p->node_names);
    for (size_t i = 0; i < p->d && p->node_names != NULL; i++) {
        p->node_names[i] = strdup(data->node_names[i]);
        if (p->node_names[i] == NULL) {
            return fail_memory(why, p->d);
        }
    }
    return p->node_names != NULL ? LSCM_OK : fail_memory(why, p->d * sizeof *p->node_names);
}

lscm_status fit_posterior(const fit *f, lscm_posterior **out, size_t weights, size_t bias,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_posterior *p = NULL;
    const array_shape *x = &f->data->shape[LSCM_X];
    if (f->data->units != NULL && bias == 0) {
        bias = lscm_dataset_features(f->data); /* their origin */
    }
    TRY(posterior_new(&p, (size_t)f->settings.draws, f->data->nodes, f->data->rows, weights, bias,
                      why));
    p->features = lscm_dataset_features(f->data);
    p->x_ndim = x->ndim;
    memcpy(p->x_dims, x->dims + 1, ((size_t)x->ndim - 1) * sizeof *x->dims);
    TRY(copy_names(p, f->data, why));
    *out = p;
    p = NULL;
done:
    lscm_posterior_free(p);
    return status;
}

/* Of this program alone: what getrusage says was inherited through exec. */
static json_int_t peak_bytes(void)
{
    char line[128];
    long kilobytes = 0;
    struct rusage usage;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && kilobytes == 0 && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            kilobytes = strtol(line + 6, NULL, 10);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    (void)getrusage(RUSAGE_SELF, &usage);
    return (json_int_t)(kilobytes > 0 ? kilobytes : usage.ru_maxrss) * 1024;
}

/* Where several were started: how many, and that only one of them could work. */
static void put_processes(const fit *f, json_t *summary)
{
    char text[256];
    int size = split_size(f->data->team);
    if (size > 1) {
        (void)json_object_set_new(summary, "processes", json_integer(size));
    }
    if (size > 1 && f->data->team->passes == 0) {
        (void)snprintf(text, sizeof text,
                       "one of the %d processes did this fit: only passes over x that is large and "
                       "linear in z, or the moments of biols, are split",
                       size);
        (void)json_array_append_new(f->warnings, json_string(text));
    }
}

/* Warnings have the fit's own findings already. */
static void put_checks(const fit *f, json_t *summary)
{
    for (size_t k = 0; k < json_array_size(f->checks); k++) {
        const json_t *one = json_array_get(f->checks, k);
        const char *check = json_string_value(json_object_get(one, "check"));
        bool warns = json_is_true(json_object_get(one, "warns"));
        if (warns && check != NULL && strcmp(check, "fit") != 0) {
            (void)json_array_append(f->warnings, json_object_get(one, "says"));
        }
    }
    (void)json_object_set(summary, "checks", f->checks);
    if (f->pairs != NULL) {
        (void)json_object_set(summary, "pairs", f->pairs);
    }
}

static char *summary_text(const fit *f, const decoder *decode, json_t *summary)
{
    static const char *const decoders[] = {"linear", "mlp", "image", "identity", "positions"};
    json_t *seconds = json_object_get(summary, "seconds");
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)json_object_set_new(summary, "method", json_string(fit_method(f)));
    (void)json_object_set_new(summary, "decoder", json_string(decoders[decode->kind]));
    (void)json_object_set_new(summary, "peak_bytes", json_integer(peak_bytes()));
    (void)json_object_set_new(seconds, "total", json_real(clock_seconds() - f->begun));
    put_processes(f, summary);
    put_checks(f, summary);
    (void)json_object_set(summary, "warnings", f->warnings);
    return json_dumps(summary, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
}

/* x = o + s g(z) where g is of x in units. */
static void leave_units(const struct column_units *u, decoder *g)
{
    size_t hidden = g->sizes[g->layers - 1];
    double *last = g->weights + decoder_weights(g) - hidden * u->D;
    double *bias = g->bias;
    double squares = 0;
    bool moved = g->biases != BIASES_NONE;
    for (size_t j = 0; j < u->D; j++) {
        for (size_t h = 0; h < hidden; h++) {
            last[h * u->D + j] *= u->scale[j];
        }
        squares += u->scale[j] * u->scale[j];
        moved = moved || u->origin[j] != 0;
    }
    if (moved && g->biases == BIASES_NONE) {
        g->biases = BIASES_LAST;
        memset(bias, 0, u->D * sizeof *bias);
    }
    bias += moved ? decoder_bias_count(g) - u->D : 0;
    for (size_t j = 0; j < u->D && moved; j++) {
        bias[j] = u->origin[j] + u->scale[j] * bias[j];
    }
    g->x_noise *= sqrt(squares / (double)u->D);
}

lscm_status fit_save(const fit *f, lscm_posterior *p, json_t *more, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    if (f->data->units != NULL) {
        leave_units(f->data->units, &p->decode);
        if (json_object_get(more, "x_noise") != NULL) {
            (void)json_object_set_new(more, "x_noise", json_real(p->decode.x_noise));
        }
    }
    TRY(seen_put(more, f->data, p, why));
    fit_say_device(f, more);
    p->config = config_text(f);
    p->summary = more != NULL ? summary_text(f, &p->decode, more) : NULL;
    if (p->config == NULL || p->summary == NULL) {
        status = fail_memory(why, 4096);
        goto done;
    }
    TRY(posterior_diagnose(p, why));
    if (f->run->folder != NULL) {
        TRY(posterior_save(p, f->run->folder, why));
    }
done:
    json_decref(more);
    return status;
}

/* Whole fields, block by block. */
static lscm_status add_rows(const lscm_dataset *data, lscm_field field, uint64_t *print,
                            lscm_error *why)
{
    enum { BLOCK = 1 << 20 };
    lscm_status status = LSCM_OK;
    size_t bytes = shape_row_bytes(&data->shape[field]);
    size_t most = dataset_block_rows(data, field, BLOCK);
    char *block = NULL;
    if (!data->shape[field].present) {
        goto done;
    }
    block = malloc(most * bytes);
    if (block == NULL) {
        status = fail_memory(why, most * bytes);
        goto done;
    }
    for (size_t first = 0; first < data->rows; first += most) {
        size_t count = data->rows - first < most ? data->rows - first : most;
        TRY(dataset_read_raw(data, field, first, count, block, why));
        *print = fingerprint_add(*print, block, count * bytes);
    }
done:
    free(block);
    return status;
}

static uint64_t add_knowledge(const knowledge *k, uint64_t print)
{
    if (knowledge_any(k)) {
        print = fingerprint_add(print, k->forbidden, k->d * k->d);
        print = fingerprint_add(print, k->required, k->d * k->d);
    }
    return print;
}

lscm_status fit_fingerprint(const fit *f, uint64_t *out, lscm_error *why)
{
    static const lscm_field fields[] = {LSCM_X, LSCM_TARGETS, LSCM_VALUES};
    lscm_status status = LSCM_OK;
    size_t shape[3] = {f->data->rows, f->data->nodes, lscm_dataset_features(f->data)};
    lscm_fit_settings same = f->settings;
    same.checkpoint = 0;                                                          /* may differ */
    same.device = f->device.library != NULL ? LSCM_DEVICE_CUDA : LSCM_DEVICE_CPU; /* any of them */
    uint64_t print = fingerprint_add(14695981039346656037U, shape, sizeof shape);
    print = fingerprint_add(print, lscm_version(), strlen(lscm_version()) + 1);
    for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++) {
        TRY(add_rows(f->data, fields[k], &print, why));
    }
    print = add_knowledge(&f->known, print);
    const lscm_setting *setting = NULL;
    for (size_t i = 0; (setting = lscm_settings_row(lscm_fit_table(), i)) != NULL; i++) {
        char text[64];
        lscm_settings_get(setting, &same, text, sizeof text);
        print = fingerprint_add(print, text, strlen(text) + 1);
    }
    if (f->order != NULL) {
        print = fingerprint_add(print, f->order, f->data->nodes * sizeof *f->order);
    }
    *out = print;
done:
    return status;
}
