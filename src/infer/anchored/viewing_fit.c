/* From the data set to the run folder: pictures, networks trained by the one loop, z, posterior,
 * what held-out sets say, advice. Graph and mechanisms are judged by sets that they never saw; z is
 * read off by the networks of all rows, whose own judges are the labels held out of them. */
#include "infer/anchored/viewing_fit.h"

#include "base/clock.h"
#include "base/node_name.h"
#include "base/tuned.h"
#include "infer/anchored/advice.h"
#include "infer/anchored/anchored_bends.h"
#include "infer/anchored/anchored_check.h"
#include "infer/anchored/anchored_judged.h"
#include "infer/anchored/anchored_noise.h"
#include "infer/anchored/knowledge_advice.h"
#include "infer/anchored/viewing.h"
#include "infer/encoder/encoder.h"
#include "infer/judge/judge.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct viewing_run {
    fit *f;
    viewing v;
    anchored a;
    judgement j;
    left_out targets;
    training t;
    double seconds_train, seconds_encode, seconds_graph, seconds_judge;
} viewing_run;

static json_t *anchors_of(const viewing *v)
{
    json_t *all = json_object();
    for (size_t j = 0; j < v->by.d; j++) {
        char room[32];
        size_t labels = 0;
        for (size_t row = 0; row < v->by.rows; row++) {
            labels += design_is_set(&v->by, row, j) ? 1 : 0;
        }
        json_t *one = json_pack("{s:I}", "values", (json_int_t)labels);
        if (isfinite(v->off.r2[j])) {
            (void)json_object_set_new(one, "r2", json_real(v->off.r2[j]));
        }
        (void)json_object_set_new(one, "sd", json_real(sqrt(v->reader.error[j])));
        (void)json_object_set_new(all, name_of(v->names, j, room, sizeof room), one);
    }
    return all;
}

static json_t *summary_of(const viewing_run *r, const char *reason)
{
    const viewing *v = &r->v;
    json_t *held_out = judgement_json(&r->j, v->names);
    json_t *unseen = left_out_json(&r->targets);
    json_t *seconds =
        json_pack("{s:f, s:f, s:f, s:f}", "read", r->f->read, "train", r->seconds_train, "encode",
                  r->seconds_encode, "graph", r->seconds_graph);
    json_t *summary = json_object();
    size_t steps = 0;
    for (size_t m = 0; m < v->members; m++) {
        steps += v->net[m].now.steps;
    }
    (void)json_object_set_new(summary, "reason", json_string(reason));
    (void)json_object_set_new(summary, "encoder", json_string("conv"));
    (void)json_object_set_new(summary, "networks", json_integer((json_int_t)v->members));
    (void)json_object_set_new(summary, "anchors", anchors_of(v));
    (void)json_object_set_new(summary, "steps", json_integer((json_int_t)steps));
    (void)json_object_set_new(summary, "hidden", json_integer((json_int_t)v->off.hidden));
    (void)json_object_set_new(summary, "outside", json_integer((json_int_t)v->off.outside));
    if (v->x.kept < v->x.rows) {
        (void)json_object_set_new(summary, "learned_from", json_integer((json_int_t)v->x.kept));
    }
    if (held_out != NULL) {
        (void)json_object_set_new(summary, "held_out", held_out);
    }
    if (unseen != NULL) {
        (void)json_object_set_new(summary, "left_out_targets", unseen);
    }
    if (held_out != NULL || unseen != NULL) {
        (void)json_object_set_new(seconds, "judge", json_real(r->seconds_judge));
    }
    (void)json_object_set_new(summary, "seconds", seconds);
    return summary;
}

/* ---- The decoder ---- */

/* Of the first member, in the units of z and x: u = (z - o)/k and x = backdrop + scale x~. */
static lscm_status take_decoder(const viewing *v, lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const sight_net *n = &v->net[0];
    const pixel_shape *s = &n->brush;
    size_t d = v->by.d;
    double *weights = p->decode.weights;
    double *bias = p->decode.bias;
    double error = 0;
    TRY(posterior_add_backdrop(p, v->x.height, v->x.width, v->x.channels, why));
    p->decode.kind = DECODER_POSITIONS;
    p->decode.between = DECODER_GELU;
    p->decode.biases = BIASES_ALL;
    p->decode.layers = PIXEL_LAYERS;
    for (size_t l = 0; l < PIXEL_LAYERS; l++) {
        const float *from = n->parameters + n->eyes + s->at[l];
        bool last = l + 1 == PIXEL_LAYERS;
        size_t in = l == 0 ? d + 2 : s->in[l];
        size_t width = last ? s->channels : s->out[l];
        double times = last ? v->x.scale : 1;
        p->decode.sizes[l] = in;
        p->decode.sizes[l + 1] = width;
        for (size_t o = 0; o < width; o++) {
            bias[o] = times * (double)from[s->in[l] * s->out[l] + o];
        }
        for (size_t i = 0; i < in; i++) {
            double unit = l == 0 && i < d ? n->spread[i] : 1;
            double origin = l == 0 && i < d ? n->offset[i] / unit : 0;
            for (size_t o = 0; o < width; o++) {
                double w = times * (double)from[i * s->out[l] + o];
                weights[i * width + o] = w / unit;
                bias[o] -= w * origin;
            }
        }
        weights += in * width;
        bias += width;
    }
    for (size_t k = 0; k < v->x.count; k++) {
        p->decode.backdrop[k] = (double)v->x.backdrop[k];
    }
    TRY(sight_net_error(n, tuned_sight_error_rows(), &error, why));
    p->decode.x_noise = sqrt(error);
done:
    return status;
}

static lscm_status posterior_of(const viewing_run *r, lscm_posterior **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const viewing *v = &r->v;
    size_t d = v->by.d;
    size_t width = PIXEL_HIDDEN;
    size_t channels = v->x.channels;
    lscm_posterior *p = NULL;
    TRY(fit_posterior(r->f, &p, (d + 2 + PIXEL_RESIDUALS * width + channels) * width,
                      (PIXEL_RESIDUALS + 1) * width + channels, why));
    TRY(take_decoder(v, p, why));
    memcpy(p->z, v->off.told, v->by.rows * d * sizeof(double));
    memcpy(p->z_sd, v->off.told_sd, v->by.rows * d * sizeof(double));
    TRY(encoder_pack_sight(p, &v->reader, &v->by, why));
    *out = p;
    p = NULL;
done:
    lscm_posterior_free(p);
    return status;
}

/* ---- What is asked of it ---- */

static anchored_input input_of(const viewing_run *r)
{
    anchored_input in = anchored_input_of(r->f, &r->v.off.latents);
    in.saturated = true; /* things leave the picture, or hide each other */
    return in;
}

static lscm_status judge_all(viewing_run *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    fit *f = r->f;
    double begun = clock_seconds();
    anchored_input in = input_of(r);
    read_again read = {0};
    anchored_input with = read_off_with_errors(&r->v.off, &in);
    with.progress = &f->stages.part;
    with.mechanism = bends_found(&r->a, &in);
    TRY(read_again_open(&read, &with, &r->a, why));
    judged asked = read_again_judged(&read);
    stages_enter(&f->stages, FIT_SETS);
    TRY(judge(&r->j, &asked, f->settings.holdout, why));
    stages_enter(&f->stages, FIT_TARGETS);
    TRY(judge_targets(&r->targets, &asked, r->a.d <= tuned_judge_nodes() ? tuned_judge_parts() : 0,
                      why));
    r->targets.read = true;
    r->seconds_judge = clock_seconds() - begun;
done:
    read_again_close(&read);
    return status;
}

static lscm_status train(viewing_run *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    fit *f = r->f;
    double begun = clock_seconds();
    stages_enter(&f->stages, FIT_TRAIN);
    TRY(viewing_begin(&r->v, &f->settings, why));
    trainee learner = viewing_trainee(&r->v);
    TRY(training_open(&r->t, f, &learner, true, why));
    TRY(training_run(&r->t, why));
    r->seconds_train = clock_seconds() - begun;
done:
    return status;
}

/* Nodes that cannot be seen in many rows, and what was asked for that networks of pictures have no
 * use for. */
static void warn(const viewing_run *r)
{
    static const char *const unused[] = {"width", NULL};
    const viewing *v = &r->v;
    for (size_t j = 0; j < v->by.d; j++) {
        char text[300];
        char room[NODE_NAME_ROOM];
        double hidden = 0;
        double rows = 0;
        for (size_t row = 0; row < v->by.rows; row++) {
            rows += design_is_set(&v->by, row, j) ? 0 : 1;
            hidden += v->unseen[row * v->by.d + j];
        }
        if (hidden > tuned_warn_outside() * rows) {
            (void)snprintf(text, sizeof text,
                           "node %s cannot be read off %.0f%% of the pictures (hidden, out of the "
                           "picture, or unlike any that do() set): there its z is what the "
                           "mechanisms make of the others",
                           name_of(v->names, j, room, sizeof room), 100 * hidden / rows);
            (void)json_array_append_new(r->f->warnings, json_string(text));
        }
    }
    belonging_unused(r->f, unused, "networks of pictures have widths of their own");
}

/* From the networks to the posterior. */
static lscm_status conclude(viewing_run *r, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    fit *f = r->f;
    double begun = clock_seconds();
    stages_enter(&f->stages, FIT_INFER);
    TRY(viewing_read(&r->v, f->data, NULL, why));
    r->seconds_encode = clock_seconds() - begun;
    begun = clock_seconds();
    anchored_input in = input_of(r);
    TRY(viewing_infer(&r->v, &r->a, &in, why));
    r->seconds_graph = clock_seconds() - begun;
    if (f->settings.holdout > 0) {
        TRY(judge_all(r, why));
    }
    TRY(read_off_check(f, &r->v.off, &r->a, why));
    warn(r);
    in.progress = NULL;
    const anchored_input untold = read_off_with_errors(&r->v.off, &in);
    TRY(advise_on_knowledge(&f->known, &untold, &r->a, NULL, f->data->node_names, f->warnings,
                            why));
    advise_on_judgement(&r->j, &r->a, f->data->node_names, f->warnings);
    advise_on_left_out(&r->targets, f->warnings);
    anchored_noise_unused(f, "noise is normal where z is read off x that bends");
    bends_unused(f, &r->a,
                 "mechanisms are straight where pictures may say nothing of z beyond the values "
                 "that do() set, or noise has one scale");
    advise_on_directions(f, design_observational(&r->v.by), r->a.edge_prob);
done:
    if (status == LSCM_STOPPED && f->run->folder != NULL && f->settings.checkpoint > 0) {
        return fail(why, LSCM_STOPPED,
                    "stopped after training; continue with the same command and --resume");
    }
    return status;
}

static lscm_status open_pictures(viewing *v, fit *f, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    meter m = meter_over(f->data, &f->stages.part, "reading pictures");
    TRY(fit_take_device(f, why));
    TRY(viewing_open(v, f->data, &f->device, (uint64_t)f->settings.seed, &m, why));
done:
    return status;
}

lscm_status viewing_trial_of(fit *f, double *missed, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    viewing v = {0};
    TRY(open_pictures(&v, f, why));
    TRY(viewing_trial(&v, &f->settings, &f->stages.part, missed, why));
done:
    viewing_close(&v);
    return status;
}

lscm_status viewing_fit(fit *f, const char *reason, lscm_posterior **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    viewing_run r = {.f = f};
    lscm_posterior *p = NULL;
    f->settings.decoder = LSCM_DECODER_AUTO;
    f->settings.encoder = LSCM_ENCODER_CONV;
    if (f->settings.noise == LSCM_NOISE_AUTO) {
        f->settings.noise = LSCM_NOISE_UNEQUAL;
    }
    stages_expect(&f->stages, FIT_INFER, 0);
    f->stages.patience = 0;
    stages_enter(&f->stages, FIT_ENCODE);
    TRY(open_pictures(&r.v, f, why));
    f->read = clock_seconds() - f->begun;
    TRY(train(&r, why));
    TRY(conclude(&r, why));
    TRY(posterior_of(&r, &p, why));
    json_t *summary = summary_of(&r, reason);
    const anchored_input in = input_of(&r);
    anchored_store(&r.a, p, summary);
    bends_tell(summary, &in, &r.a, f->data->node_names);
    TRY(bends_store(&r.a, p, why));
    TRY(training_save(&r.t, p, summary, why));
    *out = p;
    p = NULL;
done:
    if (status != LSCM_OK && f->run->folder != NULL) {
        (void)rmdir(f->run->folder); /* goes only when nothing is in it */
    }
    lscm_posterior_free(p);
    judgement_close(&r.j);
    anchored_close(&r.a);
    viewing_close(&r.v);
    training_close(&r.t);
    return status;
}
