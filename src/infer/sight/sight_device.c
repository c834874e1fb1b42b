/* Steps of a network of pictures by a device with memory of its own: what is drawn for them here is
 * drawn for the CPU, too, so that both take the same steps. Parameters go there and come back with
 * every call, and are here what they are there in between. */
#include "base/streams.h"
#include "infer/sight/sight_net_parts.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS_MOST = 256 }; /* in one call: a blink */

lscm_status sight_store(picture_store **out, const pictures *x, const device *on, lscm_error *why)
{
    bool bytes = x->type == DTYPE_UINT8;
    if (on->pictures == NULL) {
        return LSCM_OK;
    }
    const picture_plates p = {.count = x->kept,
                              .height = x->height,
                              .width = x->width,
                              .channels = x->channels,
                              .bytes = bytes ? x->x : NULL,
                              .floats = bytes ? NULL : x->x,
                              .backdrop = x->backdrop,
                              .scale = x->scale,
                              .reach = x->reach};
    return on->pictures->keep(out, on, &p, why);
}

lscm_status sight_pupil_open(sight_net *n, const muon_plan *plan, lscm_error *why)
{
    size_t d = n->by->d;
    lscm_status status = LSCM_OK;
    float *labels = malloc(n->x->kept * d * sizeof *labels);
    if (labels == NULL) {
        return fail_memory(why, n->x->kept * d * sizeof *labels);
    }
    for (size_t k = 0; k < n->x->kept * d; k++) {
        size_t row = n->x->row[k / d];
        labels[k] = sight_seen(n, row, k % d) ? (float)sight_label(n, row, k % d) : NAN;
    }
    const picture_lesson lesson = {.eye = &n->eye,
                                   .brush = &n->brush,
                                   .plan = plan,
                                   .batch = n->settings.batch,
                                   .pixels = n->settings.pixels,
                                   .labels = labels};
    TRY(n->settings.device->pictures->open(&n->pupil, n->settings.store, &lesson, why));
done:
    free(labels);
    return status;
}

void sight_pupil_close(sight_net *n)
{
    if (n->pupil != NULL) {
        n->settings.device->pictures->close(n->pupil);
    }
}

/* Numbers of the next steps. */
typedef struct step_list {
    uint32_t *picture;    /* (count, batch) */
    double *start;        /* (count, batch) */
    picture_dials *dials; /* (count) */
    double *losses;       /* (count, 2) */
    size_t *seen;         /* (count): labels */
    arena memory;
} step_list;

static void lay_out(step_list *l, size_t count, size_t batch)
{
    l->picture = arena_take(&l->memory, count * batch, sizeof *l->picture);
    l->start = arena_take(&l->memory, count * batch, sizeof *l->start);
    l->dials = arena_take(&l->memory, count, sizeof *l->dials);
    l->losses = arena_take(&l->memory, 2 * count, sizeof *l->losses);
    l->seen = arena_take(&l->memory, count, sizeof *l->seen);
}

static void list_steps(const sight_net *n, size_t count, const step_list *l)
{
    size_t size = n->settings.batch;
    rng places = stream_of(n->settings.seed, STREAM_SIGHT_PIXELS);
    for (size_t k = 0; k < count; k++) {
        uint64_t step = n->now.steps + k;
        backend_dial dial[MUON_DIALS];
        const muon_f32 next = {.steps = step + 1};
        muon_f32_dials(&next, sight_rate_at(n, step), dial);
        l->seen[k] = sight_draw_batch(n, step, n->batch);
        l->dials[k] = (picture_dials){.label = (float)sight_label_factor(l->seen[k]),
                                      .pixel = (float)sight_pixel_factor(n),
                                      .rate = (float)dial[0].rate,
                                      .adam_rate = (float)dial[1].rate,
                                      .adam_correct = (float)dial[1].correct};
        for (size_t b = 0; b < size; b++) {
            l->picture[k * size + b] = (uint32_t)n->batch[b];
            l->start[k * size + b] = rng_uniform(places, step * size + b);
        }
    }
}

/* Up to the next look at labels, and the end. */
static size_t count_steps(const sight_net *n)
{
    const sight_counts *c = &n->now;
    uint64_t every = sight_check_every(n);
    uint64_t count = every - c->steps % every;
    count = count < c->end - c->steps ? count : c->end - c->steps;
    return count < STEPS_MOST ? (size_t)count : STEPS_MOST;
}

lscm_status sight_pupil_steps(sight_net *n, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const picture_machine *m = n->settings.device->pictures;
    size_t count = count_steps(n);
    step_list l = {0};
    lay_out(&l, count, n->settings.batch);
    TRY(arena_open(&l.memory, why));
    lay_out(&l, count, n->settings.batch);
    list_steps(n, count, &l);
    const picture_steps steps = {count, l.picture, l.start, l.dials};
    TRY(m->put(n->pupil, n->parameters, n->optimiser.state, why));
    TRY(m->train(n->pupil, &steps, l.losses, why));
    TRY(m->get(n->pupil, n->parameters, n->optimiser.state, why));
    for (size_t k = 0; k < count; k++) {
        TRY(sight_count_losses(n, l.seen[k], l.losses + 2 * k, why));
    }
done:
    arena_close(&l.memory);
    return status;
}

lscm_status sight_pupil_ask(sight_net *n, double sums[2], lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = n->by->d;
    float *u = malloc((n->asks * d + 1) * sizeof *u);
    uint32_t *picture = malloc((n->asks + 1) * sizeof *picture);
    if (u == NULL || picture == NULL) {
        TRY(fail_memory(why, n->asks * d * sizeof *u));
    }
    for (size_t k = 0; k < n->asks; k++) {
        picture[k] = (uint32_t)n->asked[k];
    }
    TRY(n->settings.device->pictures->ask(n->pupil, n->asks, picture, u, why));
    for (size_t k = 0; k < n->asks * d; k++) {
        size_t row = n->x->row[n->asked[k / d]];
        if (n->held[row * d + k % d] != 0) {
            double v = sight_label(n, row, k % d);
            double off = (double)u[k] - v;
            sums[0] += off * off;
            sums[1] += v * v;
        }
    }
done:
    free(u);
    free(picture);
    return status;
}
