/* The network as something that trains (infer/run/trainee.h), on a course of its own. With biases
 * or without is tried first, and held-out values decide:
 *
 *     two rounds with biases -> two without -> the chosen network, to its end
 *
 * or the last alone where there is nothing to choose. A step is one of the optimiser, or a round:
 * z refined through the network, and the model that z asks for. Where it stands, what it has
 * learned and the model are what a checkpoint holds, so that nothing is done twice. */
#include "infer/anchored/nonlinear.h"

#include "base/tuned.h"
#include "infer/graph/graph.h"
#include "infer/run/run.h"

#include <math.h>
#include <stdio.h>

static lscm_status open_network(nonlinear *n, bool homogeneous, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const lscm_fit_settings *s = n->asked.settings;
    const features *x = &n->x;
    generator_rows rows = {x->rows, x->d, x->R, x->f, &x->design, n->held, n->guess, n->off.sd};
    generator_settings settings = {.device = n->device,
                                   .homogeneous = homogeneous,
                                   .hidden = (size_t)s->width,
                                   .batch = (size_t)s->batch,
                                   .rate = s->rate,
                                   .seed = (uint64_t)s->seed};
    generator_choose(&settings, &rows);
    if (!n->network) {
        settings.first += settings.each * settings.rounds;
        settings.rounds = settings.each = 0;
    }
    if (s->steps > 0) { /* the same share of rounds */
        double share =
            (double)s->steps / (double)(settings.first + settings.each * settings.rounds);
        settings.first = (size_t)fmax(1, share * (double)settings.first);
        settings.each =
            settings.rounds > 0 ? ((size_t)s->steps - settings.first) / settings.rounds : 0;
    }
    TRY(generator_open(&n->net[homogeneous ? 1 : 0], &rows, &settings, why));
done:
    return status;
}

/* Kernels hardly tell a network with biases from one without; the networks themselves do, but not
 * after two rounds of many nodes. */
lscm_status nonlinear_begin(nonlinear *n, const anchored_input *in, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bool homogeneous = n->kernel.space.family == KERNEL_HOMOGENEOUS;
    n->asked = *in;
    n->network = in->settings->encoder != LSCM_ENCODER_KERNEL;
    bool both =
        n->network && n->kernel.space.family != KERNEL_LINEAR && n->x.d <= tuned_pilot_nodes();
    if (both || !homogeneous) {
        TRY(open_network(n, false, why));
    }
    if (both || homogeneous) {
        TRY(open_network(n, true, why));
    }
done:
    return status;
}

/* The network that is not trained to its end goes. */
void nonlinear_settle(nonlinear *n)
{
    generator **other = &n->net[n->homogeneous ? 0 : 1];
    generator_close(*other);
    *other = NULL;
}

/* ---- Steps ---- */

static lscm_status take_round(nonlinear *n, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(generator_refine(n->g, &n->stage.last, why));
    if (n->x.d <= DAG_EXACT_MOST || generator_rounds(n->g) % tuned_model_every() == 1) {
        TRY(nonlinear_model(n, why));
    }
done:
    return status;
}

static bool pilot_over(const nonlinear *n)
{
    return generator_rounds(n->g) >= tuned_pilot_rounds() ||
           generator_done(n->g) >= generator_total(n->g);
}

/* What a network misses after its first rounds: noise (held-out kernel)^(1/4), the rms of what is
 * left of f, in its own units, the share of held-out values' variance, and that of the kernel of
 * its kind. The first tells most: values are all within the labels, where either kind may do. */
static double missed_by(const nonlinear *n)
{
    double kernel = 1 - n->kernel.r2[n->homogeneous ? KERNEL_HOMOGENEOUS : KERNEL_BIASED];
    double held_out = isnan(n->stage.last.held_out) ? 1 : n->stage.last.held_out;
    return generator_noise(n->g) * sqrt(sqrt(held_out * fmax(kernel, 0)));
}

static void train(nonlinear *n, bool homogeneous)
{
    n->homogeneous = homogeneous;
    n->g = n->net[homogeneous ? 1 : 0];
}

static lscm_status next_stage(nonlinear *n, lscm_error *why)
{
    nonlinear_stage *s = &n->stage;
    double missed = missed_by(n);
    s->last = (generator_round){0};
    if (s->at == NONLINEAR_BIASED) {
        s->at = NONLINEAR_HOMOGENEOUS;
        s->missed = missed;
        train(n, true);
        return LSCM_OK;
    }
    s->at = NONLINEAR_CHOSEN;
    /* with biases less is left from the start */
    train(n, missed < tuned_pilot_handicap() * s->missed);
    return n->homogeneous ? LSCM_OK : nonlinear_model(n, why); /* it was the other's */
}

/* ---- As the loop sees it ---- */

static void begin(void *self, size_t restart)
{
    nonlinear *n = self;
    bool both = n->net[0] != NULL && n->net[1] != NULL;
    (void)restart;
    n->stage = (nonlinear_stage){.at = both ? NONLINEAR_BIASED : NONLINEAR_CHOSEN};
    train(n, n->net[0] == NULL);
}

static lscm_status step(void *self, double rate, training_terms *terms, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    nonlinear *n = self;
    nonlinear_stage *s = &n->stage;
    bool due = generator_due(n->g);
    (void)rate;
    (void)terms;
    TRY(due ? take_round(n, why) : generator_step(n->g, why));
    s->fresh = due && s->at == NONLINEAR_CHOSEN ? 1 : 0;
    s->rounds += s->fresh;
    if (s->at != NONLINEAR_CHOSEN && pilot_over(n)) {
        TRY(next_stage(n, why));
    }
done:
    return status;
}

static size_t pieces(void *self, piece out[PIECES])
{
    nonlinear *n = self;
    size_t d = n->x.d;
    size_t count = 0;
    out[count++] = (piece){&n->stage, sizeof n->stage};
    out[count++] = (piece){&n->homogeneous, sizeof n->homogeneous};
    /* beyond DAG_EXACT_MOST nodes the model is older than z */
    out[count++] = (piece){n->off.w, d * d * sizeof(double)};
    out[count++] = (piece){n->off.intercept, d * sizeof(double)};
    out[count++] = (piece){n->off.sigma, d * sizeof(double)};
    if (n->asked.mechanism != LSCM_MECHANISM_LINEAR) {
        const bent_mechanisms *b = &n->off.bent;
        size_t most = bends_most_terms(d);
        out[count++] = (piece){b->basis, d * sizeof *b->basis};
        out[count++] = (piece){b->first, (d + 1) * sizeof *b->first};
        out[count++] = (piece){b->parent, most * 2 * sizeof *b->parent};
        out[count++] = (piece){b->coef, most * CURVE_WIDTH * sizeof *b->coef};
    }
    for (size_t k = 0; k < 2; k++) {
        count += n->net[k] != NULL ? generator_pieces(n->net[k], out + count) : 0;
    }
    return count;
}

static void restored(void *self)
{
    nonlinear *n = self;
    train(n, n->homogeneous);
    for (size_t k = 0; k < 2; k++) {
        if (n->net[k] != NULL) {
            generator_renew(n->net[k]);
        }
    }
    n->off.bent.draws = 1;
    n->off.bent.d = n->x.d;
    n->off.bent.terms = n->off.bent.first[n->x.d];
    if (generator_rounds(n->g) > 0) {
        const mechanism_model model = read_off_model(&n->off);
        generator_use(n->g, &model);
    }
}

static lscm_status collect(void *self, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    nonlinear *n = self;
    for (size_t k = 0; k < 2; k++) {
        TRY(n->net[k] != NULL ? generator_collect(n->net[k], why) : LSCM_OK);
    }
done:
    return status;
}

static bool over(const void *self)
{
    const nonlinear *n = self;
    return n->stage.at == NONLINEAR_CHOSEN && generator_done(n->g) >= generator_total(n->g) &&
           !generator_due(n->g);
}

static void place(const void *self, trainee_place *out)
{
    const nonlinear *n = self;
    const nonlinear_stage *s = &n->stage;
    bool choosing = s->at != NONLINEAR_CHOSEN;
    if (s->rounds > 0) {
        (void)snprintf(out->what, sizeof out->what, "network: misfit %.4f, held-out R2 %.4f",
                       s->last.misfit, 1 - s->last.held_out);
    } else {
        (void)snprintf(out->what, sizeof out->what, "%s",
                       choosing ? "choosing a network" : "network");
    }
    out->stage = choosing ? "while choosing a network, " : "";
    out->done = generator_done(n->g);
    out->total = generator_total(n->g);
    const generator *other = n->net[n->homogeneous ? 0 : 1];
    out->tried = other != NULL ? generator_done(other) : 0;
}

static size_t row(const void *self, double out[TRAINEE_COLUMNS])
{
    const nonlinear *n = self;
    const nonlinear_stage *s = &n->stage;
    out[0] = (double)s->rounds - 1;
    out[1] = (double)generator_done(n->g);
    out[2] = s->last.misfit;
    out[3] = s->last.held_out;
    return s->fresh != 0 ? 4 : 0;
}

static const trainee_course course = {
    .over = over, .place = place, .columns = "round,step,misfit,held_out_missed", .row = row};

trainee nonlinear_trainee(nonlinear *n)
{
    return (trainee){.self = n,
                     .begin = begin,
                     .step = step,
                     .pieces = pieces,
                     .course = &course,
                     .restored = restored,
                     .collect = collect};
}
