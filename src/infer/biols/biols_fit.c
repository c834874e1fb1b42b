/* Algorithm 1 as a run: what it chooses and refuses, and its result; the loop is training.c. */
#include "base/clock.h"
#include "base/threads.h"
#include "base/tuned.h"
#include "data/dataset/dataset.h"
#include "infer/biols/biols_estimator.h"
#include "infer/biols/expected_z.h"
#include "infer/run/run.h"
#include "scm/posterior/posterior.h"

static void choose(fit *f)
{
    lscm_fit_settings *s = &f->settings;
    size_t d = f->data->nodes;
    if (s->decoder == LSCM_DECODER_AUTO) {
        s->decoder = f->data->shape[LSCM_X].ndim > 2 ? LSCM_DECODER_IMAGE : LSCM_DECODER_LINEAR;
    }
    if (s->restarts == 0) {
        /* an order that was settled too early is not found again: start several times */
        bool learned = f->order == NULL && d > 1;
        size_t often = d <= 6    ? tuned_biols_restarts_few()
                       : d <= 12 ? tuned_biols_restarts_some()
                                 : tuned_biols_restarts_many();
        s->restarts = s->decoder != LSCM_DECODER_LINEAR ? 1 : !learned ? 3 : (int64_t)often;
    }
}

/* What only the anchored method can do. */
static lscm_status refuse_anchored(const fit *f, lscm_error *why)
{
    if (f->settings.decoder == LSCM_DECODER_IDENTITY) {
        return fail(why, LSCM_USAGE,
                    "the method biols has no identity decoder; leave --decoder out, or take "
                    "--method anchored");
    }
    return fit_refuse_knowledge(f, why);
}

static lscm_status finish(const training *r, biols *b, lscm_posterior **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    fit *f = r->f;
    lscm_posterior *p = NULL;
    decoder g = biols_decoder_shape(b);
    TRY(fit_posterior(f, &p, decoder_weights(&g), decoder_bias_count(&g), why));
    TRY(biols_collect(b, why));
    biols_decoder(b, &p->decode);
    p->threshold = 0.3;
    TRY(training_draw(r, p, why));
    TRY(expected_z(p, f->data, why));
    TRY(directions_find(f, p, why));
    TRY(training_save(r, p, training_summary(r, p), why));
    *out = p;
    p = NULL;
done:
    lscm_posterior_free(p);
    return status;
}

lscm_status biols_fit(fit *f, lscm_posterior **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    training r = {0};
    biols *b = NULL;
    int threads = 0;
    if (f->data->nodes < 8 && f->data->shape[LSCM_X].ndim == 2 &&
        f->settings.decoder <= LSCM_DECODER_LINEAR) {
        /* steps of a fraction of a millisecond: waiting for threads would cost more than they save
         */
        threads = threads_use(1);
    }
    TRY(refuse_anchored(f, why));
    TRY(check_pass(f->data, f->progress, why));
    choose(f);
    TRY(f->settings.decoder != LSCM_DECODER_LINEAR ? fit_take_device(f, why) : LSCM_OK);
    TRY(biols_open(&b, &f->device, f->data, &f->settings, f->order, f->progress, why));
    f->read = clock_seconds() - f->begun;
    trainee learner = biols_trainee(b);
    TRY(training_open(&r, f, &learner, false, why));
    TRY(training_run(&r, why));
    TRY(finish(&r, b, out, why));
done:
    lscm_set_threads(threads);
    training_close(&r);
    biols_close(b);
    return status;
}
