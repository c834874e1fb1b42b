#include "infer/expected_z.h"
#include "infer/fit_state.h"
#include "infer/run_files.h"
#include "scm/recipe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void put_text(json_t *object, const char *name, const char *text)
{
    if (text != NULL) {
        (void)json_object_set_new(object, name, json_string(text));
    }
}

static char *config_text(const fit *f)
{
    json_t *config = json_object();
    lscm_settings_table table = lscm_fit_table();
    (void)json_object_set_new(config, "data", json_string(f->data->path));
    (void)json_object_set_new(config, "lscm", json_string(lscm_version()));
    put_text(config, "ignore", f->run->opened.ignore);
    put_text(config, "truth", f->run->opened.truth);
    put_text(config, "names", f->run->opened.names);
    for (size_t i = 0; i < table.count; i++) {
        (void)json_object_set_new(config, table.rows[i].name,
                                  recipe_value(&table.rows[i], &f->settings));
    }
    if (f->order != NULL) {
        json_t *order = json_array();
        for (size_t k = 0; k < f->data->nodes; k++) {
            (void)json_array_append_new(order, json_integer((json_int_t)f->order[k]));
        }
        (void)json_object_set_new(config, "order_given", order);
    }
    char *text = json_dumps(config, JSON_INDENT(2));
    json_decref(config);
    return text;
}

static char *summary_text(const fit *f, const decoder *decode)
{
    static const char *const decoders[] = {"linear", "mlp", "image", "identity"};
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    double now = fit_seconds();
    json_t *summary = json_pack(
        "{s:s, s:s, s:f, s:I, s:I, s:f, s:I, s:{s:f, s:f, s:f}, s:O}", "method", "biols", "decoder",
        decoders[decode->kind], "bound", -f->loop.best_loss, "steps", (json_int_t)f->loop.step,
        "restarts", (json_int_t)f->settings.restarts, "x_noise", decode->x_noise, "peak_bytes",
        (json_int_t)usage.ru_maxrss * 1024, "seconds", "read", f->read, "train", f->trained,
        "total", now - f->begun, "warnings", f->warnings);
    char *text = json_dumps(summary, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(summary);
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

lscm_status fit_finish(fit *f, lscm_posterior **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_posterior *p = NULL;
    const array_shape *x = &f->data->shape[LSCM_X];
    size_t d = f->data->nodes;
    size_t draws = (size_t)f->settings.draws;
    TRY(posterior_new(&p, draws, d, f->data->rows, biols_decoder_weights(f->b), why));
    biols_decoder(f->b, &p->decode, p->decode.weights);
    p->features = lscm_dataset_features(f->data);
    p->x_ndim = x->ndim;
    memcpy(p->x_dims, x->dims + 1, ((size_t)x->ndim - 1) * sizeof *x->dims);
    p->threshold = 0.3;
    biols_sample sample = {p->w, p->sigma, p->log_p, p->log_q, p->order};
    TRY(biols_draw(f->b, draws, 0, &sample, why));
    for (size_t s = 0; s < draws; s++) {
        for (size_t i = 0; i < d * d; i++) {
            p->edge_prob[i] += fabs(p->w[s * d * d + i]) > p->threshold ? 1 / (double)draws : 0;
        }
    }
    TRY(expected_z(p, f->data, why));
    TRY(copy_names(p, f->data, why));
    p->config = config_text(f);
    p->summary = summary_text(f, &p->decode);
    if (p->config == NULL || p->summary == NULL) {
        status = fail_memory(why, 4096);
        goto done;
    }
    if (f->run->folder != NULL) {
        TRY(posterior_save(p, f->run->folder, why));
        checkpoint_remove(f->run->folder);
    }
    *out = p;
    p = NULL;
done:
    lscm_posterior_free(p);
    return status;
}
