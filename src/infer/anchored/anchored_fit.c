/* A fit by the anchored method, from the data set to the run folder: which decoder, one pass over
 * the data, inference, what held-out sets say of it, advice. */
#include "infer/anchored/anchored_fit.h"
#include "base/clock.h"
#include "base/tuned.h"
#include "infer/anchored/advice.h"
#include "infer/anchored/anchored_bends.h"
#include "infer/anchored/anchored_check.h"
#include "infer/anchored/anchored_judged.h"
#include "infer/anchored/anchored_missing.h"
#include "infer/anchored/anchored_noise.h"
#include "infer/anchored/anchored_refuted.h"
#include "infer/anchored/anchored_run.h"
#include "infer/anchored/anchored_time.h"
#include "infer/anchored/knowledge_advice.h"
#include "infer/anchored/nonlinear_fit.h"
#include "infer/anchored/viewing_fit.h"
#include "infer/encoder/encoder.h"
#include "infer/run/run.h"
#include "infer/sight/sight.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_network(const fit *f)
{
    return f->settings.decoder == LSCM_DECODER_MLP || f->settings.decoder == LSCM_DECODER_IMAGE;
}

/* Observed variables have no values of their own, or are asked for. */
static void choose(fit *f, const char **reason)
{
    lscm_fit_settings *s = &f->settings;
    bool values = f->data->shape[LSCM_VALUES].present;
    *reason = "as asked";
    if (s->decoder == LSCM_DECODER_AUTO) {
        bool linear = values || lscm_dataset_features(f->data) != f->data->nodes;
        s->decoder = linear ? LSCM_DECODER_LINEAR : LSCM_DECODER_IDENTITY;
        *reason = linear ? "values set by do() label the causal variables"
                         : "the variables themselves are observed";
    }
    if (s->noise == LSCM_NOISE_AUTO) {
        s->noise = LSCM_NOISE_UNEQUAL;
    }
}

/* One pass; rows are checked as they are read, and where something is not finite the check of the
 * whole data set says what. */
static lscm_status read_signal(fit *f, linear_view *s, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    meter m = meter_over(f->data, f->progress, "reading");
    TRY(f->settings.decoder == LSCM_DECODER_IDENTITY
            ? linear_view_identity(s, f->data, &m, why)
            : linear_view_of(s, f->data, f->settings.x_noise, &m, why));
    if (!isfinite(s->variance)) {
        TRY(lscm_dataset_check(f->data, &(lscm_overview){0}, f->progress, why));
    }
    TRY(batches_find(s, why));
done:
    return status;
}

static lscm_status take_decoder(lscm_posterior *p, const linear_view *s, const anchored *a,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    p->decode.x_noise = linear_view_noise(s);
    if (s->kind != VIEW_LINEAR) {
        p->decode.kind = DECODER_IDENTITY;
        p->decode.sizes[0] = s->d;
        return LSCM_OK;
    }
    p->decode.kind = DECODER_LINEAR;
    p->decode.biases = BIASES_LAST;
    p->decode.layers = 1;
    p->decode.sizes[0] = s->d;
    p->decode.sizes[1] = s->D;
    TRY(encoder_invert(s, a, p->decode.weights, p->decode.bias, why));
done:
    return status;
}

anchored_input anchored_input_of(const fit *f, const linear_view *s)
{
    return (anchored_input){.view = s,
                            .settings = &f->settings,
                            .order = f->order,
                            .forbidden = f->known.forbidden,
                            .required = f->known.required,
                            .mechanism =
                                s->mask != NULL ? LSCM_MECHANISM_LINEAR : f->settings.mechanism,
                            .draws = (size_t)f->settings.draws,
                            .steps = (size_t)f->settings.steps,
                            .progress = f->progress};
}

void anchored_store(const anchored *a, lscm_posterior *p, json_t *summary)
{
    static const char *const samplers[] = {"exact", "mcmc", "joint", "latent", "likelihood"};
    size_t n = a->draws * a->d;
    memcpy(p->w, a->w, n * a->d * sizeof(double));
    memcpy(p->sigma, a->sigma, n * sizeof(double));
    memcpy(p->intercept, a->intercept, n * sizeof(double));
    memcpy(p->effect, a->effect, n * sizeof(double));
    memcpy(p->order, a->order, n * sizeof *p->order);
    memcpy(p->log_p, a->log_p, a->draws * sizeof(double));
    memcpy(p->log_q, a->log_q, a->draws * sizeof(double));
    memcpy(p->edge_prob, a->edge_prob, a->d * a->d * sizeof(double));
    (void)json_object_set_new(summary, "sampler", json_string(samplers[a->sampler]));
    (void)json_object_set_new(summary, "r_hat", json_real(a->r_hat));
    (void)json_object_set_new(summary, "ess", json_real(a->ess));
    if (a->replaced > 0) {
        (void)json_object_set_new(summary, "chains_replaced",
                                  json_integer((json_int_t)a->replaced));
        (void)json_object_set_new(summary, "r_hat_kept", json_real(a->r_hat_kept));
    }
    if (a->dispersion > 1) {
        (void)json_object_set_new(summary, "dispersion", json_real(a->dispersion));
    }
}

/* Without the clipped, whose z is not what x says. */
static bool judges(const fit *f, const anchored *a)
{
    return f->settings.holdout > 0 && !(a->clip > 0) && can_judge(a);
}

/* What interventions that the fit was not shown say of it. */
typedef struct verdict {
    judgement sets;
    left_out targets;
    double seconds;
} verdict;

static lscm_status ask(verdict *out, fit *f, const anchored_input *in, const anchored *a,
                       lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double begun = clock_seconds();
    anchored_input part = *in;
    part.progress = &f->stages.part; /* one of several, each as long as the other */
    part.mechanism = bends_found(a, in);
    anchored_input known = part; /* targets are left out under the prior that was found */
    known.ridge = a->ridge;
    known.hole = a->hole;
    known.conditional = a->conditional;
    known.log_odds = a->log_odds;
    judged again = anchored_judged(in);
    judged without = anchored_judged(&known);
    read_again read = {0};
    if (judges(f, a)) {
        stages_enter(&f->stages, FIT_SETS);
        TRY(judge(&out->sets, &again, f->settings.holdout, why));
        bool linear = in->view->kind == VIEW_LINEAR;
        stages_enter(&f->stages, FIT_TARGETS);
        if (linear) {
            TRY(read_again_open(&read, &part, a, why));
            without = read_again_judged(&read);
        }
        TRY(judge_targets(&out->targets, &without, judged_targets(a->d, !linear), why));
        out->targets.read = linear;
    }
    out->seconds = clock_seconds() - begun;
done:
    read_again_close(&read);
    return status;
}

static json_t *summary_of(const fit *f, const linear_view *s, const anchored *a, const verdict *v,
                          const char *reason)
{
    json_t *summary = json_object();
    json_t *seconds = json_pack("{s:f, s:f, s:f}", "read", f->read, "anchor", a->seconds_anchor,
                                "graph", a->seconds_graph);
    bool uniform =
        a->sampler == SAMPLER_MCMC ||
        (f->settings.graph_prior == LSCM_GRAPH_PRIOR_UNIFORM && a->sampler == SAMPLER_EXACT);
    json_t *held_out = judgement_json(&v->sets, f->data->node_names);
    json_t *unseen = left_out_json(&v->targets);
    json_t *effects = effects_json(a, f->data->node_names);
    (void)json_object_set_new(summary, "reason", json_string(reason));
    (void)json_object_set_new(summary, "prior",
                              json_string(uniform ? "uniform over graphs" : "uniform over orders"));
    (void)json_object_set_new(summary, "x_noise", json_real(linear_view_noise(s)));
    (void)json_object_set_new(summary, "actuator_noise", json_real(a->anchor.actuator_noise));
    if (s->kind == VIEW_LINEAR) {
        (void)json_object_set_new(summary, "explained", json_real(linear_view_explained(s)));
        (void)json_object_set_new(summary, "anchors", anchors_json(a, f->data->node_names));
    }
    if (effects != NULL) {
        (void)json_object_set_new(summary, "batch_effects", effects);
    }
    if (s->missing > 0) {
        (void)json_object_set_new(summary, "missing", json_integer((json_int_t)s->missing));
    }
    if (s->design.batch != NULL) {
        (void)json_object_set_new(summary, "batches", json_integer((json_int_t)s->design.batches));
    }
    if (a->censored > 0) {
        (void)json_object_set_new(summary, "clip", json_real(a->clip));
        (void)json_object_set_new(summary, "censored", json_integer((json_int_t)a->censored));
    }
    if (held_out != NULL) {
        (void)json_object_set_new(summary, "held_out", held_out);
    }
    if (unseen != NULL) {
        (void)json_object_set_new(summary, "left_out_targets", unseen);
    }
    if (held_out != NULL || unseen != NULL) {
        (void)json_object_set_new(seconds, "judge", json_real(v->seconds));
    }
    (void)json_object_set_new(summary, "seconds", seconds);
    return summary;
}

static void warn_of_clip(const fit *f, const anchored *a)
{
    char text[160];
    (void)snprintf(
        text, sizeof text,
        "%zu causal variables lie at +-%.4g: they were clipped there, and are treated as "
        "censored (--clip)",
        a->censored, a->clip);
    (void)json_array_append_new(f->warnings, json_string(text));
}

/* Where more than half of the rows lack one of two columns, and others do not tell it, missing
 * entries that were drawn under a graph outweigh those that were seen: rounds hardly leave it. */
static void warn_of_missing(const fit *f, const linear_view *s)
{
    char text[240];
    size_t most = 0;
    size_t worst = 0;
    for (size_t j = 0; j < s->D && s->mask != NULL; j++) {
        size_t lacking = 0;
        for (size_t row = 0; row < s->rows; row++) {
            lacking += s->mask[row * s->D + j];
        }
        worst = lacking > most ? j : worst;
        most = lacking > most ? lacking : most;
    }
    double there = 1 - (double)most / (double)s->rows;
    double columns = (double)s->D - (double)s->missing / (double)s->rows; /* of a row, on average */
    bool told = s->kind == VIEW_LINEAR && columns > (double)s->d;
    if (there * there < 0.5 && !told) {
        (void)snprintf(
            text, sizeof text,
            "x lacks much (column %zu, 0-based, in %.0f%% of the rows): what was filled in "
            "may keep the graph that it was drawn under, and edges be false however "
            "certain they look",
            worst, 100 * (1 - there));
        (void)json_array_append_new(f->warnings, json_string(text));
    }
}

/* What was asked of a network or of chains that there are not. */
static void warn_of_unused(const fit *f, const anchored *a)
{
    static const char *const network[] = {"encoder", "width", "rate", "batch", NULL};
    static const char *const chains[] = {"steps", "chains", NULL};
    belonging_unused(f, network, "x is taken as linear in z, and no network was trained");
    if (a->sampler == SAMPLER_EXACT) {
        belonging_unused(f, chains, "draws are exact here, without chains");
    }
}

static void warn(const fit *f, const anchored *a)
{
    if (a->clip > 0 && f->settings.clip == 0) {
        warn_of_clip(f, a);
    }
    warn_of_unused(f, a);
    if (a->clip > 0 || f->settings.noise == LSCM_NOISE_EQUAL) {
        anchored_noise_unused(f, "noise is normal where it has one scale, or z was clipped");
    }
    if (f->settings.graph_prior == LSCM_GRAPH_PRIOR_UNIFORM && a->sampler != SAMPLER_EXACT &&
        a->sampler != SAMPLER_MCMC) {
        (void)json_array_append_new(
            f->warnings,
            json_string("the prior is uniform over orders, not over graphs: only draws of "
                        "graphs alone can be, and the encoder is uncertain here"));
    }
}

/* From the signal to the run. */
static lscm_status fit_signal(fit *f, linear_view *s, const char *reason, lscm_posterior **out,
                              lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_posterior *p = NULL;
    anchored a = {0};
    verdict v = {0};
    refutations refuted = {0};
    anchored_input in = anchored_input_of(f, s);
    stages_expect(&f->stages, FIT_INFER, (double)NAN);
    if (s->mask != NULL) {
        time_rounds(f, anchored_rounds(s));
    }
    stages_enter(&f->stages, FIT_INFER);
    if (s->mask != NULL) {
        TRY(anchored_infer_missing(&a, s, &in, why));
    } else {
        TRY(anchored_infer_refuting(&a, &refuted, &in, why));
        in.forbidden = refuted.count > 0 ? refuted.forbidden : in.forbidden;
        TRY(anchored_infer_noise(&a, &in, why));
        anchored_noise_known(&in, &a);
    }
    time_judgement(f, s, &a, judges(f, &a));
    TRY(ask(&v, f, &in, &a, why));
    TRY(anchored_check(f, s, &a, why));
    warn(f, &a);
    warn_of_missing(f, s);
    if (s->mask != NULL) {
        anchored_noise_unused(f, "noise is normal where entries of x are missing");
    }
    stages_enter(&f->stages, FIT_COMPARE);
    TRY(advise_on_knowledge(&f->known, &in, &a, &v.sets, f->data->node_names, f->warnings, why));
    advise_on_judgement(&v.sets, &a, f->data->node_names, f->warnings);
    advise_on_left_out(&v.targets, f->warnings);
    advise_on_directions(f, design_observational(&s->design), a.edge_prob);
    size_t weights = s->kind == VIEW_LINEAR ? s->d * s->D : 0;
    TRY(fit_posterior(f, &p, weights, s->kind == VIEW_LINEAR ? s->D : 0, why));
    TRY(take_decoder(p, s, &a, why));
    TRY(encoder_pack_linear(p, s, &a, why));
    encoder_z(s, &a, p->z, p->z_sd);
    if (f->run->folder != NULL &&
        f->run->force) { /* only now: the old run stays until there is a new */
        TRY(run_folder_begin(f->run->folder, true, false, why));
    }
    json_t *summary = summary_of(f, s, &a, &v, reason);
    anchored_store(&a, p, summary);
    bends_tell(summary, &in, &a, f->data->node_names);
    refutations_tell(&refuted, f->data->node_names, summary, f->warnings);
    TRY(bends_store(&a, p, why));
    TRY(anchored_noise_store(&a, p, f->data->node_names, summary, why));
    TRY(fit_save(f, p, summary, why));
    *out = p;
    p = NULL;
done:
    lscm_posterior_free(p);
    judgement_close(&v.sets);
    refutations_close(&refuted);
    anchored_close(&a);
    return status;
}

/* What the values' own regressions miss at sets that they did not see, on average over nodes. */
static lscm_status find_missed(const linear_view *s, double *missed, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    anchor a = {0};
    size_t count = 0;
    *missed = 0;
    TRY(anchor_of(&a, s, NULL, why));
    for (size_t j = 0; j < a.d; j++) {
        if (a.kind[j] == ANCHOR_VALUES && !isnan(a.r2[j])) {
            *missed += 1 - a.r2[j];
            count++;
        }
    }
    *missed /= count > 0 ? (double)count : 1;
done:
    anchor_close(&a);
    return status;
}

/* Where the decoder is left to us and x bends: *done when that was the way. */
static lscm_status try_nonlinear(fit *f, const linear_view *s, lscm_posterior **out, bool *done,
                                 lscm_error *why)
{
    lscm_status status = LSCM_OK;
    rivals others = {0};
    /* so little bends that it may be noise with a structure of its own; or something else is seen
     */
    others.linear = s->guided || linear_view_explained(s) > tuned_linear_explained();
    others.pictures = f->settings.encoder == LSCM_ENCODER_AUTO && pictures_are(f->data);
    if (others.linear) {
        TRY(find_missed(s, &others.missed, why));
    }
    f->settings.decoder = LSCM_DECODER_AUTO;
    TRY(nonlinear_fit(f, out, &others, why));
    if (others.winner == RIVAL_LINEAR) {
        f->settings.decoder = LSCM_DECODER_LINEAR;
    }
    if (others.winner == RIVAL_PICTURES) {
        char reason[200];
        (void)snprintf(reason, sizeof reason,
                       "values set by do() label the causal variables; of those held out, "
                       "convolutions missed %.2g after a short trial, a kernel %.2g (share of "
                       "their variance)",
                       others.trial, others.kernel);
        TRY(viewing_fit(f, reason, out, why));
    }
done:
    *done = others.winner != RIVAL_LINEAR;
    return status;
}

/* Pictures in which nothing shows that x bends: noise of many pixels may hide it. A linear reading
 * stays unless a few steps of a network of pictures tell values left out far better. `reason` gets
 * both figures; what networks refuse is read linearly. */
static lscm_status try_pictures(fit *f, const linear_view *s, char *reason, size_t room,
                                lscm_posterior **out, bool *done, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double missed = 0;
    double trial = 0;
    TRY(find_missed(s, &missed, why));
    status = viewing_trial_of(f, &trial, why);
    if (status == LSCM_VALUE) {
        return LSCM_OK;
    }
    TRY(status);
    *done = tuned_linear_missed() * trial < missed;
    (void)snprintf(reason, room,
                   "values set by do() label the causal variables; of those held out, a linear "
                   "reading missed %.2g, convolutions %.2g after a short trial (share of their "
                   "variance)",
                   missed, trial);
    if (*done) {
        TRY(viewing_fit(f, reason, out, why));
    }
done:
    return status;
}

/* Whether a network of pictures is in question where x does not seem to bend. */
static bool may_be_scenes(const fit *f, const linear_view *s)
{
    return f->settings.encoder == LSCM_ENCODER_AUTO && pictures_are(f->data) && s->mask == NULL &&
           linear_view_explained(s) <= tuned_linear_explained();
}

/* Asked for. */
static lscm_status fit_pictures(fit *f, lscm_posterior **out, lscm_error *why)
{
    if (!pictures_are(f->data)) {
        return fail(why, LSCM_USAGE,
                    "%s: the encoder 'conv' reads pictures of 16 to 256 pixels a side and 1 to 4 "
                    "channels, and x is none; leave --encoder out",
                    f->data->path);
    }
    if (!f->data->shape[LSCM_VALUES].present) {
        return fail(why, LSCM_MISSING,
                    "%s: the encoder 'conv' learns from the values that do() set, and there are "
                    "no 'values'",
                    f->data->path);
    }
    if (f->settings.decoder != LSCM_DECODER_AUTO) {
        return fail(why, LSCM_USAGE,
                    "the encoder 'conv' comes with a decoder of its own; leave --decoder out");
    }
    return viewing_fit(f, "as asked", out, why);
}

/* Whether do() ever set every node: a network needs labels of all, a linear reading does not. */
static bool all_labelled(const design *s)
{
    bool all = true;
    for (size_t j = 0; j < s->d; j++) {
        bool any = false;
        for (size_t k = 0; k < s->sets && !any; k++) {
            any = s->target[k * s->d + j] != 0;
        }
        all = all && any;
    }
    return all;
}

static lscm_status fit_any(fit *f, lscm_posterior **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    linear_view s = {0};
    const char *reason = NULL;
    char tried[256] = "";
    bool open = f->settings.decoder == LSCM_DECODER_AUTO && f->data->shape[LSCM_VALUES].present;
    bool done_already = false;
    if (f->settings.encoder == LSCM_ENCODER_CONV) {
        return fit_pictures(f, out, why);
    }
    if (is_network(f)) {
        return nonlinear_fit(f, out, NULL, why);
    }
    choose(f, &reason);
    if (f->run->folder != NULL && !f->run->force) {
        TRY(run_folder_begin(f->run->folder, false, f->run->resume, why));
    }
    time_all(f);
    TRY(read_signal(f, &s, why));
    open = open && all_labelled(&s.design);
    if (open && linear_view_bends(&s)) {
        TRY(try_nonlinear(f, &s, out, &done_already, why));
    } else if (open && may_be_scenes(f, &s)) {
        TRY(try_pictures(f, &s, tried, sizeof tried, out, &done_already, why));
        reason = tried[0] != '\0' ? tried : reason;
    }
    if (done_already) {
        goto done;
    }
    if (f->run->resume) {
        status = fail(why, LSCM_USAGE,
                      "there is nothing to resume: without a network the anchored method keeps no "
                      "checkpoints; run it again");
        goto done;
    }
    f->read = clock_seconds() - f->begun;
    TRY(fit_signal(f, &s, reason, out, why));
done:
    if (status != LSCM_OK && f->run->folder != NULL) {
        (void)rmdir(f->run->folder); /* goes only when nothing is in it */
    }
    linear_view_close(&s);
    return status;
}

lscm_status anchored_fit(fit *f, lscm_posterior **out, lscm_error *why)
{
    const lscm_progress *whole = f->progress;
    stages_begin(&f->stages, FIT_STAGES, whole);
    f->stages.patience = 1; /* what is over before says nothing of what is not */
    f->progress = &f->stages.own;
    lscm_status status = fit_any(f, out, why);
    f->progress = whole;
    return status;
}
