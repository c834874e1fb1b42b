/* A fit where x is not linear in z, from the data set to the run folder: features, kernel, the
 * network trained (nonlinear_train.c) by the one loop, posterior, what held-out sets say, advice.
 */
#include "infer/anchored/nonlinear_fit.h"
#include "base/clock.h"
#include "base/tuned.h"
#include "infer/anchored/advice.h"
#include "infer/anchored/anchored_bends.h"
#include "infer/anchored/anchored_check.h"
#include "infer/anchored/anchored_judged.h"
#include "infer/anchored/anchored_noise.h"
#include "infer/anchored/anchored_run.h"
#include "infer/anchored/knowledge_advice.h"
#include "infer/anchored/nonlinear_result.h"
#include "infer/anchored/viewing_fit.h"
#include "infer/judge/judge.h"
#include "infer/run/run.h"

#include <stdio.h>
#include <unistd.h>

typedef struct nonlinear_run {
    fit *f;
    nonlinear n;
    anchored a;
    judgement j;
    left_out targets;
    training t;
    double seconds_encode, seconds_train, seconds_graph, seconds_judge;
} nonlinear_run;

static anchored_input input_of(const nonlinear_run *r)
{
    anchored_input in = anchored_input_of(r->f, &r->n.off.latents);
    in.saturated = r->f->data->shape[LSCM_X].ndim > 2;
    return in;
}

/* The run's own part of the summary: time, and what held-out sets say. */
static json_t *summary_of(const nonlinear_run *r, const char *reason)
{
    json_t *held_out = judgement_json(&r->j, r->f->data->node_names);
    json_t *unseen = left_out_json(&r->targets);
    json_t *seconds =
        json_pack("{s:f, s:f, s:f, s:f}", "read", r->f->read, "encode", r->seconds_encode, "train",
                  r->seconds_train, "graph", r->seconds_graph);
    json_t *summary = nonlinear_summary(&r->n, reason, r->f->data->node_names);
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

/* Held-out values are best told by a linear regression, and by one on as many components of x as
 * there are nodes: with more of them, a regression bends, too. */
static bool linear_wins(const nonlinear *n, const rivals *others)
{
    return others->linear && n->kernel.space.family == KERNEL_LINEAR &&
           others->missed <= tuned_linear_missed() * (1 - n->kernel.r2[KERNEL_LINEAR]);
}

/* A network of pictures wins where a few of its steps tell them so well that all of them will tell
 * them better than the kernel, whose own network tells them little better than it does; or far
 * better than the linear reading that would win without. */
static lscm_status ask_rivals(nonlinear_run *r, rivals *others, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bool linear = linear_wins(&r->n, others);
    others->winner = linear ? RIVAL_LINEAR : RIVAL_NONE;
    if (others->pictures) {
        others->kernel = 1 - r->n.kernel.r2[r->n.kernel.space.family];
        TRY(viewing_trial_of(r->f, &others->trial, why));
        bool wins = linear ? tuned_linear_missed() * others->trial < others->missed
                           : others->trial < tuned_sight_trial_gain() * others->kernel;
        others->winner = wins ? RIVAL_PICTURES : others->winner;
    }
done:
    return status;
}

/* Targets left out of graph and mechanisms: z is what the network of all rows reads off. */
static lscm_status leave_targets_out(nonlinear_run *r, const anchored_input *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    read_again read = {0};
    anchored_input with = nonlinear_read_off(&r->n, in);
    with.progress = &r->f->stages.part;
    with.mechanism = bends_found(&r->a, in);
    TRY(read_again_open(&read, &with, &r->a, why));
    judged asked = read_again_judged(&read);
    size_t most = r->a.d <= tuned_judge_nodes() ? tuned_judge_parts() : 0;
    TRY(judge_targets(&r->targets, &asked, most, why));
    r->targets.read = true;
done:
    read_again_close(&read);
    return status;
}

/* What was told against what z, read off as it was, says by itself. */
static lscm_status compare_untold(const nonlinear_run *r, lscm_error *why)
{
    const anchored_input asked = input_of(r);
    anchored_input in = nonlinear_read_off(&r->n, &asked);
    in.progress = NULL;
    return advise_on_knowledge(&r->f->known, &in, &r->a, NULL, r->f->data->node_names,
                               r->f->warnings, why);
}

/* From the network to the posterior, and what held-out sets say of it. */
static lscm_status conclude(nonlinear_run *r, const anchored_input *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    fit *f = r->f;
    double begun = clock_seconds();
    stages_enter(&f->stages, FIT_INFER);
    TRY(nonlinear_finish(&r->n, &r->a, in, why));
    r->seconds_graph = clock_seconds() - begun;
    begun = clock_seconds();
    if (f->settings.holdout > 0) {
        nonlinear_again again = {&r->n, in};
        judged asked = nonlinear_judged(&again);
        stages_expect(&f->stages, FIT_SETS,
                      r->seconds_encode + r->seconds_train + r->seconds_graph);
        stages_enter(&f->stages, FIT_SETS);
        TRY(judge(&r->j, &asked, f->settings.holdout, why));
        stages_enter(&f->stages, FIT_TARGETS);
        TRY(leave_targets_out(r, in, why));
    }
    r->seconds_judge = clock_seconds() - begun;
done:
    if (status == LSCM_STOPPED && f->run->folder != NULL && f->settings.checkpoint > 0) {
        return fail(why, LSCM_STOPPED,
                    "stopped after training; continue with the same command and --resume");
    }
    return status;
}

/* Ends early where a rival wins. */
static lscm_status run_all(nonlinear_run *r, rivals *others, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    fit *f = r->f;
    anchored_input in = input_of(r);
    double begun = clock_seconds();
    TRY(nonlinear_encode(&r->n, &f->settings, &f->stages.part, why));
    r->seconds_encode = clock_seconds() - begun;
    if (others != NULL) {
        TRY(ask_rivals(r, others, why));
        if (others->winner != RIVAL_NONE) {
            goto done;
        }
    }
    if (f->settings.decoder == LSCM_DECODER_AUTO) {
        f->settings.decoder = LSCM_DECODER_MLP; /* of vectors and pictures alike */
    }
    begun = clock_seconds();
    stages_expect_like(&f->stages, FIT_SETS, FIT_TRAIN, f->settings.holdout > 0 ? 1 : 0);
    stages_enter(&f->stages, FIT_TRAIN);
    TRY(nonlinear_begin(&r->n, &in, why));
    trainee learner = nonlinear_trainee(&r->n);
    TRY(training_open(&r->t, f, &learner, true, why));
    TRY(training_run(&r->t, why));
    nonlinear_settle(&r->n);
    r->seconds_train = clock_seconds() - begun;
    TRY(conclude(r, &in, why));
done:
    return status;
}

/* Why this way was taken, for people: what was tried beside it, too. */
static void say_why(char *text, size_t room, bool asked, const rivals *others)
{
    if (!asked && others != NULL && others->pictures) {
        (void)snprintf(text, room,
                       "values set by do() label the causal variables, and x is not linear in "
                       "them; of those held out, a kernel missed %.2g, convolutions %.2g after a "
                       "short trial (share of their variance)",
                       others->kernel, others->trial);
        return;
    }
    (void)snprintf(text, room, "%s",
                   asked ? "as asked"
                         : "values set by do() label the causal variables, and x is not linear in "
                           "them");
}

lscm_status nonlinear_fit(fit *f, lscm_posterior **out, rivals *others, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    nonlinear_run r = {.f = f, .n = {.device = &f->device, .names = f->data->node_names}};
    lscm_posterior *p = NULL;
    in_units units = {0};
    const lscm_dataset *data = f->data;
    bool asked = f->settings.decoder != LSCM_DECODER_AUTO;
    char why_so[256];
    if (f->settings.noise == LSCM_NOISE_AUTO) {
        f->settings.noise = LSCM_NOISE_UNEQUAL;
    }
    TRY(fit_take_device(f, why));
    TRY(in_units_open(&units, data, ORIGIN_NEAR, why));
    f->data = &units.data;
    stages_expect(&f->stages, FIT_TRAIN, (double)NAN); /* until it trains */
    stages_expect(&f->stages, FIT_INFER, 0);
    f->stages.patience = 0;
    stages_enter(&f->stages, FIT_ENCODE);
    meter m = meter_over(f->data, &f->stages.part, "reading");
    TRY(features_of(&r.n.x, f->data, &m, why));
    f->read = clock_seconds() - f->begun;
    TRY(run_all(&r, others, why));
    if (others != NULL && others->winner != RIVAL_NONE) {
        goto done;
    }
    TRY(read_off_check(f, &r.n.off, &r.a, why));
    TRY(compare_untold(&r, why));
    advise_on_judgement(&r.j, &r.a, f->data->node_names, f->warnings);
    advise_on_left_out(&r.targets, f->warnings);
    anchored_noise_unused(f, "noise is normal where z is read off x that bends");
    bends_unused(f, &r.a,
                 "mechanisms are straight where pictures may say nothing of z beyond the values "
                 "that do() set, or noise has one scale");
    advise_on_directions(f, design_observational(&r.n.x.design), r.a.edge_prob);
    TRY(nonlinear_posterior(f, &r.n, &p, why));
    say_why(why_so, sizeof why_so, asked, others);
    json_t *summary = summary_of(&r, why_so);
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
    f->data = data;
    in_units_close(&units);
    lscm_posterior_free(p);
    judgement_close(&r.j);
    anchored_close(&r.a);
    nonlinear_close(&r.n);
    training_close(&r.t);
    return status;
}
