#include "infer/sight/sight_net_parts.h"

#include "base/streams.h"
#include "base/tuned.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIGHT_ASKED = 512 }; /* pictures asked for labels */

/* First sizes are about those that weights are drawn with, but for the last layers of the encoder,
 * which begin small. */
static muon_plan plan_of(const sight_net *n)
{
    const picture_shape *e = &n->eye;
    const pixel_shape *b = &n->brush;
    size_t d = tile_columns(e->d);
    muon_plan p = {.count = n->count, .decay = tuned_sight_decay()};
    const size_t part[PICTURE_END][2] = {
        {e->maps, e->keys}, {e->features, PICTURE_HIDDEN}, {PICTURE_HIDDEN, d}, {2 * e->keys, d}};
    for (size_t l = 0; l < e->convs; l++) {
        size_t in = 9 * e->conv[l].in;
        p.matrix[p.matrices++] =
            (muon_matrix){picture_conv_at(e, l), in, e->conv[l].out, sqrt(2 / (double)in)};
    }
    for (size_t k = 0; k < PICTURE_END; k++) {
        p.matrix[p.matrices++] = (muon_matrix){picture_part_at(e, (picture_part)k), part[k][0],
                                               part[k][1], sqrt(1 / (double)part[k][0])};
    }
    for (size_t l = 0; l < PIXEL_LAYERS; l++) {
        size_t in = l == 0 ? b->d + 2 : b->in[l];
        p.matrix[p.matrices++] =
            (muon_matrix){n->eyes + b->at[l], b->in[l], b->out[l], sqrt(1 / (double)in)};
    }
    return p;
}

static void lay_out(sight_net *n)
{
    arena *a = &n->memory;
    size_t pixels = n->settings.pixels;
    n->offset = arena_take(a, n->by->d, sizeof *n->offset);
    n->spread = arena_take(a, n->by->d, sizeof *n->spread);
    n->parameters = arena_take(a, n->count, sizeof(float));
    n->turned = arena_take(a, n->count, sizeof(float));
    n->gradient = arena_take(a, n->count, sizeof(float));
    n->partial = arena_take(a, SIGHT_SLOTS * n->count, sizeof(float));
    n->losses = arena_take(a, (size_t)SIGHT_SLOTS * 2, sizeof(double));
    n->best = arena_take(a, n->count, sizeof(float));
    const muon_plan plan = plan_of(n);
    muon_f32_lay_out(&n->optimiser, a, &plan, n->settings.device);
    n->batch = arena_take(a, n->settings.batch, sizeof *n->batch);
    n->asked = arena_take(a, SIGHT_ASKED, sizeof *n->asked);
    n->desk = arena_take(a, n->workers, sizeof *n->desk);
    for (size_t w = 0; w < n->workers; w++) {
        sight_desk nowhere;
        sight_desk *at = n->desk != NULL ? &n->desk[w] : &nowhere;
        picture_f32_lay_out(&at->eye, a, &n->eye);
        pixel_f32_lay_out(&at->brush, a, &n->brush, pixels);
        at->x = arena_take(a, n->x->count, sizeof(float));
        at->put = arena_take(a, n->by->d, sizeof(float));
        at->pixel = arena_take(a, pixels, sizeof *at->pixel);
    }
}

/* Mean and sd of the labels of each node. */
static void find_units(sight_net *n)
{
    size_t d = n->by->d;
    for (size_t j = 0; j < d; j++) {
        column_spread s = {0};
        for (size_t row = 0; row < n->by->rows; row++) {
            if (sight_seen(n, row, j)) {
                spread_add(&s, design_value(n->by, row, j));
            }
        }
        n->offset[j] = s.mean;
        n->spread[j] = s.n > 0 && s.squares > 0 ? sqrt(s.squares / s.n) : 1;
    }
}

/* Pictures with labels held out, evenly among them. */
static void list_asked(sight_net *n)
{
    size_t all = 0;
    for (int pass = 0; pass < 2; pass++) {
        size_t stride = all / SIGHT_ASKED + 1;
        size_t seen = 0;
        for (size_t k = 0; k < n->x->kept && n->held != NULL; k++) {
            bool any = memchr(n->held + n->x->row[k] * n->by->d, 1, n->by->d) != NULL;
            if (any && pass == 1 && seen % stride == 0) {
                n->asked[n->asks++] = k;
            }
            seen += any ? 1 : 0;
        }
        all = seen;
    }
}

lscm_status sight_net_open(sight_net *out, const pictures *x, const design *by, const uint8_t *held,
                           const sight_settings *settings, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const device *on = settings->device;
    rng r = stream_of(settings->seed, STREAM_SIGHT);
    sight_net n = {.x = x,
                   .by = by,
                   .held = held,
                   .settings = *settings,
                   .eye = picture_shape_of(x->height, x->width, x->channels, by->d),
                   .brush = pixel_shape_of(by->d, x->channels),
                   .workers = on->workers(on)};
    n.eyes = picture_count(&n.eye);
    n.count = n.eyes + pixel_count(&n.brush);
    lay_out(&n);
    TRY(on->claim(on, &n.memory, why));
    lay_out(&n);
    for (size_t w = 0; w < n.workers; w++) {
        picture_f32_ready(&n.eye, &n.desk[w].eye);
    }
    picture_f32_draw(&n.eye, r, n.parameters);
    pixel_f32_draw(&n.brush, stream_part(r, 1), n.parameters + n.eyes);
    find_units(&n);
    list_asked(&n);
    if (settings->store != NULL) {
        const muon_plan plan = plan_of(&n);
        TRY(sight_pupil_open(&n, &plan, why));
    }
    n.now = (sight_counts){.fall = settings->steps / 2,
                           .end = settings->steps,
                           .missed = (double)NAN,
                           .best = (double)NAN};
done:
    *out = n;
    return status;
}

void sight_net_close(sight_net *n)
{
    sight_pupil_close(n);
    if (n->settings.device != NULL) {
        n->settings.device->release(n->settings.device, &n->memory);
    }
}

/* ---- A step ---- */

/* Places along the distribution function, evenly from a random start: every pixel as often as
 * drawn, with less chance. */
static void draw_pixels(const sight_net *n, rng r, size_t index, size_t *pixel)
{
    size_t most = n->x->height * n->x->width;
    double start = rng_uniform(r, index);
    for (size_t k = 0; k < n->settings.pixels; k++) {
        double at = ((double)k + start) / (double)n->settings.pixels;
        size_t low = 0;
        size_t high = most - 1;
        while (low < high) {
            size_t middle = (low + high) / 2;
            bool below = n->x->reach[middle] < at;
            low = below ? middle + 1 : low;
            high = below ? high : middle;
        }
        pixel[k] = low;
    }
}

typedef struct sight_batch {
    const sight_net *net;
    float label, pixel; /* factors of the gradients */
    rng places;
} sight_batch;

/* Labels: u^ takes their place; returns their squared error. */
static double meet_labels(const sight_batch *b, const sight_desk *at, size_t row)
{
    const sight_net *n = b->net;
    double loss = 0;
    for (size_t j = 0; j < n->by->d; j++) {
        float u = at->eye.z[j];
        at->put[j] = u;
        at->eye.z_back[j] = 0;
        if (sight_seen(n, row, j)) {
            double v = sight_label(n, row, j);
            float error = u - (float)v;
            at->put[j] = (float)v;
            at->eye.z_back[j] = b->label * error;
            loss += (double)error * (double)error;
        }
    }
    return loss;
}

/* The first pixels on the desk, drawn from u^: what they miss is left in colour_back; its squares.
 */
static double draw(const sight_net *n, const sight_desk *at, size_t count)
{
    const pixel_work_f32 *w = &at->brush;
    size_t d = n->by->d;
    size_t out = n->brush.out[PIXEL_LAYERS - 1];
    size_t channels = n->x->channels;
    double loss = 0;
    for (size_t k = 0; k < count; k++) {
        float *to = w->input + k * n->brush.in[0];
        memcpy(to, at->put, d * sizeof *to);
        size_t row = at->pixel[k] / n->x->width;
        size_t column = at->pixel[k] % n->x->width;
        to[d] = 2 * ((float)row + 0.5F) / (float)n->x->height - 1;
        to[d + 1] = 2 * ((float)column + 0.5F) / (float)n->x->width - 1;
    }
    pixel_f32_forward(&n->brush, n->settings.device, n->parameters + n->eyes, count, w);
    for (size_t k = 0; k < count; k++) {
        for (size_t c = 0; c < channels; c++) {
            float error =
                w->value[PIXEL_LAYERS - 1][k * out + c] - at->x[at->pixel[k] * channels + c];
            w->colour_back[k * out + c] = error;
            loss += (double)error * (double)error;
        }
    }
    return loss;
}

/* What they miss, told u where it is free, and the decoder. */
static double meet_pixels(const sight_batch *b, const sight_desk *at, size_t row, float *gradient)
{
    const sight_net *n = b->net;
    const pixel_work_f32 *w = &at->brush;
    size_t count = n->settings.pixels;
    size_t out = n->brush.out[PIXEL_LAYERS - 1];
    double loss = draw(n, at, count);
    for (size_t k = 0; k < count * out; k++) {
        w->colour_back[k] *= b->pixel; /* 0 beyond the channels */
    }
    pixel_f32_backward(&n->brush, n->turned + n->eyes, count, w, gradient + n->eyes);
    for (size_t j = 0; j < n->by->d; j++) {
        if (!sight_seen(n, row, j)) {
            float sum = 0;
            for (size_t k = 0; k < count; k++) {
                sum += w->input_back[k * n->brush.in[0] + j];
            }
            at->eye.z_back[j] += sum;
        }
    }
    return loss;
}

/* The pictures of one part of the batch. */
static void run_slot(void *self, size_t slot, size_t worker)
{
    const sight_batch *b = self;
    const sight_net *n = b->net;
    const sight_desk *at = &n->desk[worker];
    size_t size = n->settings.batch;
    float *gradient = n->partial + slot * n->count;
    memset(gradient, 0, n->count * sizeof *gradient);
    n->losses[2 * slot] = n->losses[2 * slot + 1] = 0;
    for (size_t k = slot * size / SIGHT_SLOTS; k < (slot + 1) * size / SIGHT_SLOTS; k++) {
        size_t row = n->x->row[n->batch[k]];
        pictures_kept(n->x, n->batch[k], at->x);
        picture_f32_show(&n->eye, &at->eye, at->x);
        picture_f32_forward(&n->eye, n->settings.device, n->parameters, &at->eye);
        draw_pixels(n, b->places, n->now.steps * size + k, at->pixel);
        n->losses[2 * slot] += meet_labels(b, at, row);
        n->losses[2 * slot + 1] += meet_pixels(b, at, row, gradient);
        picture_f32_backward(&n->eye, n->turned, &at->eye, gradient);
    }
}

double sight_rate_at(const sight_net *n, uint64_t step)
{
    const sight_counts *c = &n->now;
    double rise = fmin(1, (double)(step + 1) / (double)tuned_sight_warm());
    double left = (double)(c->end - step) / (double)(c->end - c->fall);
    return n->settings.rate * rise * fmin(1, left);
}

static void update(sight_net *n)
{
    const device *on = n->settings.device;
    memcpy(n->gradient, n->partial, n->count * sizeof(float));
    for (size_t slot = 1; slot < SIGHT_SLOTS; slot++) {
        on->backend_f32->axpy(on, n->count, 1, n->partial + slot * n->count, n->gradient);
    }
    n->optimiser.steps = n->now.steps;
    muon_f32_step(&n->optimiser, sight_rate_at(n, n->now.steps), n->parameters, n->gradient);
}

size_t sight_draw_batch(const sight_net *n, uint64_t step, size_t *batch)
{
    rng rows = stream_of(n->settings.seed, STREAM_SIGHT_BATCH);
    size_t size = n->settings.batch;
    size_t labels = 0;
    for (size_t k = 0; k < size; k++) {
        batch[k] = rng_below(rows, step * size + k, n->x->kept);
        for (size_t j = 0; j < n->by->d; j++) {
            labels += sight_seen(n, n->x->row[batch[k]], j) ? 1 : 0;
        }
    }
    return labels;
}

static double pixels_of(const sight_net *n)
{
    return (double)(n->settings.batch * n->settings.pixels * n->x->channels);
}

double sight_label_factor(size_t seen)
{
    return 2 / (double)(seen > 0 ? seen : 1);
}

double sight_pixel_factor(const sight_net *n)
{
    return 2 * tuned_sight_pixels_weight() / pixels_of(n);
}

lscm_status sight_count_losses(sight_net *n, size_t seen, const double sums[2], lscm_error *why)
{
    double label = sums[0] / (double)(seen > 0 ? seen : 1);
    double pixel = sums[1] / pixels_of(n);
    if (!isfinite(label + pixel)) {
        return sight_not_finite(n, why);
    }
    double newest = fmax(0.01, 1 / (double)(n->now.steps + 1));
    n->now.label += newest * (label - n->now.label);
    n->now.pixel += newest * (pixel - n->now.pixel);
    n->now.steps++;
    return LSCM_OK;
}

static lscm_status step_here(sight_net *n, lscm_error *why)
{
    const device *on = n->settings.device;
    size_t seen = sight_draw_batch(n, n->now.steps, n->batch);
    sight_batch b = {.net = n,
                     .label = (float)sight_label_factor(seen),
                     .pixel = (float)sight_pixel_factor(n),
                     .places = stream_of(n->settings.seed, STREAM_SIGHT_PIXELS)};
    picture_f32_turn(&n->eye, n->parameters, n->turned);
    pixel_f32_turn(&n->brush, n->parameters + n->eyes, n->turned + n->eyes);
    on->each(on, n->workers, SIGHT_SLOTS, run_slot, &b);
    double sums[2] = {0, 0};
    for (size_t slot = 0; slot < SIGHT_SLOTS; slot++) {
        sums[0] += n->losses[2 * slot];
        sums[1] += n->losses[2 * slot + 1];
    }
    if (!isfinite(sums[0] + sums[1])) {
        return sight_not_finite(n, why);
    }
    update(n);
    return sight_count_losses(n, seen, sums, why);
}

lscm_status sight_net_step(sight_net *n, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(n->pupil != NULL ? sight_pupil_steps(n, why) : step_here(n, why));
    n->now.checked = n->now.steps % sight_check_every(n) == 0 || n->now.steps == n->now.end ? 1 : 0;
    TRY(n->now.checked != 0 ? sight_check(n, why) : LSCM_OK);
done:
    return status;
}

bool sight_net_over(const sight_net *n)
{
    return n->now.steps >= n->now.end;
}

size_t sight_net_pieces(sight_net *n, piece out[SIGHT_PIECES])
{
    size_t count = 0;
    out[count++] = (piece){n->parameters, n->count * sizeof(float)};
    out[count++] = (piece){n->optimiser.state, 2 * n->count * sizeof(float)};
    out[count++] = (piece){n->best, n->count * sizeof(float)};
    out[count++] = (piece){&n->now, sizeof n->now};
    return count;
}

/* ---- Pictures drawn again ---- */

typedef struct redrawing {
    const sight_net *net;
    size_t stride;
    double *sum; /* (count) */
} redrawing;

static void redraw(void *self, size_t job, size_t worker)
{
    const redrawing *t = self;
    const sight_net *n = t->net;
    const sight_desk *at = &n->desk[worker];
    size_t pixels = n->x->height * n->x->width;
    size_t row = n->x->row[job * t->stride];
    pictures_kept(n->x, job * t->stride, at->x);
    picture_f32_show(&n->eye, &at->eye, at->x);
    picture_f32_forward(&n->eye, n->settings.device, n->parameters, &at->eye);
    (void)meet_labels(&(sight_batch){.net = n}, at, row);
    for (size_t first = 0; first < pixels; first += n->settings.pixels) {
        size_t count = pixels - first < n->settings.pixels ? pixels - first : n->settings.pixels;
        for (size_t k = 0; k < count; k++) {
            at->pixel[k] = first + k;
        }
        t->sum[job] += draw(n, at, count);
    }
}

lscm_status sight_net_error(const sight_net *n, size_t count, double *out, lscm_error *why)
{
    const device *on = n->settings.device;
    size_t asked = count < n->x->kept ? count : n->x->kept;
    redrawing t = {n, n->x->kept / asked, calloc(asked, sizeof(double))};
    if (t.sum == NULL) {
        return fail_memory(why, asked * sizeof(double));
    }
    on->each(on, n->workers, asked, redraw, &t);
    *out = 0;
    for (size_t k = 0; k < asked; k++) {
        *out += t.sum[k] / (double)(asked * n->x->count) * n->x->scale * n->x->scale;
    }
    free(t.sum);
    return LSCM_OK;
}
