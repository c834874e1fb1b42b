#include "infer/anchored/anchored_missing.h"

#include "base/streams.h"
#include "base/tuned.h"
#include "infer/anchored/rounds.h"
#include "infer/encoder/encoder.h"
#include "infer/sample/sample.h"

#include <math.h>
#include <string.h>

/* What the rounds that count have said of z. */
typedef struct laws {
    linear_view *s;
    rng random;
    double count;            /* rounds whose laws of z count */
    double *z, *squares;     /* (rows, d): mean of z by the laws of its row; squares about it */
    double *var;             /* (rows, d): .. its variance, summed */
    double *mean, *variance; /* (rows, d): of the round in hand */
    arena memory;
} laws;

static void lay_out(laws *p, const linear_view *s)
{
    double **rows[] = {&p->z, &p->squares, &p->var, &p->mean, &p->variance};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        *rows[k] = arena_take(&p->memory, s->rows * s->d, sizeof(double));
    }
}

/* z of the round in hand: means about each other, for they may be far from 0 (Welford). */
static void add_laws(laws *p, const anchored *a)
{
    p->count++;
    for (size_t k = 0; k < a->rows * a->d; k++) {
        double away = p->mean[k] - p->z[k];
        p->z[k] += away / p->count;
        p->squares[k] += away * (p->mean[k] - p->z[k]);
        p->var[k] += p->variance[k];
    }
}

/* Whether z of rows is known worse than the mechanisms resolve, for what is missing. */
static bool matters(const laws *p, const anchored *a)
{
    bool any = false;
    for (size_t j = 0; j < a->d; j++) {
        double sum = 0;
        for (size_t row = 0; row < a->rows; row++) {
            sum += p->variance[row * a->d + j] / (double)a->rows;
        }
        any = any || !(sqrt(sum) <= tuned_rows_matter() * a->sigma[j]);
    }
    return any;
}

/* z and its sd: of rows that lack something by their laws, with the encoder's doubt. */
static lscm_status take_rows(laws *p, const linear_view *s, anchored *a, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double *sd = p->variance;
    double *doubt = p->mean; /* both are free by now */
    encoder_z(s, a, a->z, sd);
    for (size_t row = 0; row < s->rows; row++) {
        if (!linear_view_lacks(s, row)) {
            continue;
        }
        encoder_doubt(a, s->y + row * s->rank, doubt);
        for (size_t j = 0; j < s->d; j++) {
            size_t at = row * s->d + j;
            if (s->kind == VIEW_OBSERVED && s->mask[at] == 0) {
                continue;
            }
            double own = (p->var[at] + p->squares[at]) / p->count;
            a->z[at] = p->z[at];
            sd[at] = sqrt(own + (s->kind == VIEW_LINEAR ? doubt[j] : 0));
        }
    }
    if (a->z_sd == NULL) {
        (void)arena_take(&a->rows_memory, s->rows * s->d, sizeof(double));
        TRY(arena_open(&a->rows_memory, why));
        a->z_sd = arena_take(&a->rows_memory, s->rows * s->d, sizeof(double));
    }
    memcpy(a->z_sd, sd, s->rows * s->d * sizeof *sd);
done:
    return status;
}

/* The law by one of its draws. */
static fill_law law_of(const anchored *a, size_t draw)
{
    return (fill_law){.model = {.d = a->d,
                                .w = a->w + draw * a->d * a->d,
                                .intercept = a->intercept + draw * a->d,
                                .sigma = a->sigma + draw * a->d},
                      .effect = a->effect + draw * a->d,
                      .shift = a->shift,
                      .slope = a->slope,
                      .actuator_noise = a->anchor.actuator_noise};
}

static size_t rounds_to_settle(const linear_view *s)
{
    return s->kind == VIEW_OBSERVED ? tuned_missing_settle_observed() : tuned_missing_settle();
}

size_t anchored_rounds(const linear_view *s)
{
    return rounds_to_settle(s) + tuned_missing_fills();
}

static lscm_status fill(void *self, const anchored *a, size_t round, anchored_input *in,
                        bool *enough, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    laws *p = self;
    const fill_law law = law_of(a, rng_below(p->random, round, a->draws));
    (void)in;
    TRY(fill_draw(p->s, &law, stream_part(p->random, 4 * round), p->mean, p->variance, why));
    *enough = round == 0 && !matters(p, a);
    if (*enough || round >= rounds_to_settle(p->s)) {
        add_laws(p, a);
    }
done:
    return status;
}

lscm_status anchored_infer_missing(anchored *out, linear_view *s, const anchored_input *in,
                                   lscm_error *why)
{
    lscm_status status = LSCM_OK;
    anchored a = {0};
    laws p = {.s = s, .random = stream_of((uint64_t)in->settings->seed, STREAM_FILL)};
    const rounds all = {.settle = rounds_to_settle(s),
                        .count = tuned_missing_fills(),
                        .what = "missing entries",
                        .self = &p,
                        .between = fill};
    lay_out(&p, s);
    TRY(arena_open(&p.memory, why));
    lay_out(&p, s);
    TRY(rounds_run(&all, &a, in, why));
    TRY(take_rows(&p, s, &a, why));
    *out = a;
    a = (anchored){0};
done:
    anchored_close(&a);
    arena_close(&p.memory);
    return status;
}
