/* What held-out sets judge where x bends is a model of the kind that is reported, from its features
 * on: kernel, network, z, graphs and what errors of z make of the draws. It sees the rows that are
 * kept and no others; z of the others is read off x as that of new rows is, without their values.
 * So nothing that is said of held-out sets can have come from them.
 *
 * It trains from its beginning, after the network that is reported and beside its checkpoint: what
 * is stopped here begins here again. */
#include "infer/anchored/nonlinear.h"

#include "base/tuned.h"

#include <string.h>

/* Rows of x that the encoder never saw. */
typedef struct unseen {
    size_t rows;
    float *f;       /* (rows, R) */
    uint8_t *mask;  /* (rows, d): 0, no value is told */
    double *z, *sd; /* (rows, d) */
    double *guess;  /* (2, rows, d) */
    design blind;
    arena memory;
} unseen;

static void lay_out(unseen *u, const features *x)
{
    arena *a = &u->memory;
    u->f = arena_take(a, u->rows * x->R, sizeof *u->f);
    u->mask = arena_take(a, u->rows * x->d, 1);
    u->z = arena_take(a, u->rows * x->d, sizeof *u->z);
    u->sd = arena_take(a, u->rows * x->d, sizeof *u->sd);
    u->guess = arena_take(a, 2 * u->rows * x->d, sizeof *u->guess);
}

static lscm_status read_unseen(unseen *u, const nonlinear *part, const features *x,
                               const uint8_t *keep, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t entries = u->rows * x->d;
    size_t n = 0;
    lay_out(u, x);
    TRY(arena_open(&u->memory, why));
    lay_out(u, x);
    for (size_t r = 0; r < x->rows; r++) {
        if (!row_counts(keep, r)) {
            memcpy(u->f + n++ * x->R, x->f + r * x->R, x->R * sizeof *u->f);
        }
    }
    TRY(design_of(&u->blind, u->rows, x->d, u->mask, NULL, why));
    TRY(kernel_apply(&part->kernel, u->rows, u->f, u->guess, u->guess + entries, NULL, why));
    if (part->network) {
        const generator_inverse inverse = generator_inverse_of(part->g);
        const generator_rows rows = {.rows = u->rows,
                                     .d = x->d,
                                     .R = x->R,
                                     .f = u->f,
                                     .design = &u->blind,
                                     .z = u->guess,
                                     .sd = u->guess + entries};
        TRY(generator_invert(&inverse, part->device, &rows, u->z, u->sd, why));
    } else {
        memcpy(u->z, u->guess, entries * sizeof *u->z);
        memcpy(u->sd, u->guess + entries, entries * sizeof *u->sd);
    }
done:
    return status;
}

/* z of all rows, in the place of those kept. */
static void lay_out_rows(judged_fit *f, size_t rows)
{
    f->a.z = arena_take(&f->memory, rows * f->a.d, sizeof *f->a.z);
    f->doubt = arena_take(&f->memory, rows * f->a.d, sizeof *f->doubt);
}

static lscm_status take_rows(judged_fit *f, const nonlinear *part, const unseen *u,
                             const design *all, const uint8_t *keep, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = all->d;
    size_t kept = 0;
    size_t left = 0;
    lay_out_rows(f, all->rows);
    TRY(arena_open(&f->memory, why));
    lay_out_rows(f, all->rows);
    for (size_t r = 0; r < all->rows; r++) {
        bool here = row_counts(keep, r);
        size_t from = here ? kept++ : left++;
        const double *sd = (here ? part->off.sd : u->sd) + from * d;
        memcpy(f->a.z + r * d, (here ? part->off.z : u->z) + from * d, d * sizeof *sd);
        for (size_t j = 0; j < d; j++) {
            f->doubt[r * d + j] = sd[j] * sd[j];
        }
    }
    f->a.rows = all->rows;
    f->a.z_sd = NULL;                  /* of the rows kept alone */
    design_put(all, f->a.z, f->doubt); /* what do() set is known: all else is asked given it */
done:
    return status;
}

static lscm_status train(nonlinear *part, const lscm_progress *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    trainee learner = nonlinear_trainee(part);
    training_terms terms;
    learner.begin(learner.self, 0);
    for (size_t step = 1; !learner.course->over(learner.self); step++) {
        trainee_place at;
        TRY(learner.step(learner.self, 0, &terms, why));
        learner.course->place(learner.self, &at);
        if (step % 10 == 0 && p != NULL && p->report != NULL &&
            !p->report(p->self, "judging: a network without the sets held out", at.tried + at.done,
                       at.tried + at.total)) {
            status = fail(why, LSCM_STOPPED, "stopped on request");
            goto done;
        }
    }
    nonlinear_settle(part);
done:
    return status;
}

static lscm_status fit_kept(const void *self, const uint8_t *keep, judged_fit *out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const nonlinear_again *again = self;
    const features *x = &again->whole->x;
    anchored_input in = *again->in;
    nonlinear part = {.device = again->whole->device};
    unseen others = {0};
    judged_fit f = {0};
    in.draws = tuned_judge_draws();
    in.progress = NULL;
    TRY(features_keep(&part.x, x, keep, why));
    others.rows = x->rows - part.x.rows;
    status = nonlinear_encode(&part, in.settings, NULL, why);
    if (status == LSCM_VALUE) { /* what is left labels too little: no draws */
        status = LSCM_OK;
        goto done;
    }
    TRY(status);
    TRY(nonlinear_begin(&part, &in, why));
    TRY(train(&part, again->in->progress, why));
    TRY(nonlinear_finish(&part, &f.a, &in, why));
    TRY(read_unseen(&others, &part, x, keep, why));
    TRY(take_rows(&f, &part, &others, &x->design, keep, why));
    *out = f;
    f = (judged_fit){0};
done:
    judged_fit_close(&f);
    design_close(&others.blind);
    arena_close(&others.memory);
    nonlinear_close(&part);
    return status;
}

judged nonlinear_judged(const nonlinear_again *again)
{
    const design *s = &again->whole->x.design;
    return (judged){s, (uint64_t)again->in->settings->seed, judged_labels(s->d), fit_kept, again};
}
