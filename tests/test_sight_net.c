/* A network that reads z off pictures, on pictures so small that it learns in a moment: a spot
 * whose place is z. */
#include "made.h"
#include "on_cpu.h"

#include "infer/sight/sight.h"

#include "lcg.h"
#include "testing.h"

#include <stdbool.h>

static lscm_error why;

enum { SIDE = 16, COUNT = SIDE * SIDE, D = 2, LONG = 200 };

/* Rows in threes: nothing is set, node 0, node 1; one label in five is held out. */
typedef struct world {
    lscm_dataset *data;
    size_t rows;
    double *z;            /* (rows, D) */
    uint8_t *mask, *held; /* (rows, D) */
    design by;
    pictures x;
} world;

static void draw_spot(const double *z, float *x)
{
    for (size_t k = 0; k < COUNT; k++) {
        double down = (double)(k / SIDE) - 7.5 - 3 * z[0];
        double right = (double)(k % SIDE) - 7.5 - 3 * z[1];
        x[k] = (float)exp(-(down * down + right * right) / 8);
    }
}

static world world_new(size_t rows, size_t held_each)
{
    lcg random = {rows};
    world w = {.data = made_new(), .rows = rows};
    float *x = made_field(w.data, LSCM_X, DTYPE_FLOAT32, rows, SIDE, SIDE, 1);
    size_t labels[D] = {0};
    w.z = calloc(rows * D, sizeof *w.z);
    w.mask = calloc(2 * rows * D, 1);
    assert_true(w.z != NULL && w.mask != NULL);
    w.held = w.mask + rows * D;
    for (size_t row = 0; row < rows; row++) {
        for (size_t j = 0; j < D; j++) {
            size_t k = row * D + j;
            w.z[k] = 3 * lcg_uniform(&random) - 1.5;
            w.mask[k] = row % 3 == j + 1 ? 1 : 0;
            w.held[k] = w.mask[k] != 0 && held_each > 0 && labels[j]++ % held_each == 0 ? 1 : 0;
        }
        draw_spot(w.z + row * D, x + row * COUNT);
    }
    assert_ok(design_of(&w.by, rows, D, w.mask, w.z, &why));
    assert_ok(pictures_of(&w.x, w.data, 1, NULL, &why));
    return w;
}

static void world_free(world *w)
{
    pictures_close(&w->x);
    design_close(&w->by);
    lscm_dataset_free(w->data);
    free(w->z);
    free(w->mask);
}

static sight_net net_of(const world *w, size_t steps, double rate)
{
    const sight_settings s = {
        .device = on_cpu(), .steps = steps, .batch = 4, .pixels = 32, .rate = rate, .seed = 3};
    sight_net n;
    assert_ok(sight_net_open(&n, &w->x, &w->by, w->held, &s, &why));
    return n;
}

/* All that a checkpoint keeps; the caller frees it. */
static char *state_of(sight_net *n, size_t *bytes)
{
    piece pieces[SIGHT_PIECES];
    size_t count = sight_net_pieces(n, pieces);
    *bytes = pieces_bytes(pieces, count);
    char *out = malloc(*bytes);
    assert_non_null(out);
    pieces_get(pieces, count, out);
    return out;
}

static void assert_same_state(sight_net *a, sight_net *b)
{
    size_t sizes[2];
    char *one = state_of(a, &sizes[0]);
    char *other = state_of(b, &sizes[1]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(one, other, sizes[0]);
    free(one);
    free(other);
}

static void step(sight_net *n, size_t times)
{
    for (size_t k = 0; k < times; k++) {
        assert_ok(sight_net_step(n, &why));
    }
}

/* ---- It learns ---- */

/* z of all rows as the network reads them now (rows, D); the caller frees it. */
static double *read_all(const sight_net *n, const world *w)
{
    sight_reader r = {.d = D,
                      .members = 1,
                      .eye = n->eye,
                      .parameters = n->parameters,
                      .offset = n->offset,
                      .spread = n->spread};
    double *z = calloc(w->rows * D, sizeof *z);
    float *x = calloc(w->rows * COUNT, sizeof *x);
    assert_true(z != NULL && x != NULL);
    for (size_t row = 0; row < w->rows; row++) {
        pictures_kept(&w->x, row, x + row * COUNT);
    }
    assert_ok(sight_read(&r, on_cpu(), w->rows, x, NULL, NULL, z, &why));
    free(x);
    return z;
}

/* 1 - R2 of labels held out, in units of the spread of those that are seen and about their mean. */
static double missed_of(const sight_net *n, const world *w)
{
    double *z = read_all(n, w);
    double missed = 0;
    double all = 0;
    for (size_t j = 0; j < D; j++) {
        double sums[3] = {0};
        double squares = 0;
        for (size_t k = j; k < w->rows * D; k += D) {
            if (w->mask[k] != 0 && w->held[k] == 0) {
                sums[0]++;
                sums[1] += w->z[k];
            }
        }
        for (size_t k = j; k < w->rows * D; k += D) {
            double off = w->z[k] - sums[1] / sums[0];
            sums[2] += w->mask[k] != 0 && w->held[k] == 0 ? off * off / sums[0] : 0;
            squares += w->held[k] != 0 ? off * off : 0;
        }
        for (size_t k = j; k < w->rows * D; k += D) {
            missed += w->held[k] != 0 ? pow(z[k] - w->z[k], 2) / sums[2] : 0;
        }
        all += squares / sums[2];
        assert_near(n->offset[j], sums[1] / sums[0], 1e-12);
        assert_near(n->spread[j], sqrt(sums[2]), 1e-12);
    }
    free(z);
    return missed / all;
}

static void it_learns_what_was_held_out(void **state)
{
    (void)state;
    world w = world_new(120, 5);
    sight_net n = net_of(&w, LONG, 0.02);
    double label[2] = {0}; /* means of losses: first ten steps, last ten */
    double pixel[2] = {0};
    double error[2];
    assert_ok(sight_net_error(&n, w.rows, &error[0], &why));
    for (size_t k = 1; !sight_net_over(&n); k++) {
        const sight_counts before = n.now;
        double newest = fmax(0.01, 1 / (double)k);
        assert_ok(sight_net_step(&n, &why));
        assert_int_equal(n.now.steps, k);
        if (k <= 10 || k > LONG - 10) {
            label[k > 10] += (n.now.label - (1 - newest) * before.label) / newest / 10;
            pixel[k > 10] += (n.now.pixel - (1 - newest) * before.pixel) / newest / 10;
        }
        if (n.now.checked && n.now.steps % 30 == 0 && n.now.steps < n.now.end) {
            assert_near(n.now.missed / missed_of(&n, &w), 1, 1e-4);
        }
    }
    assert_true(label[1] < 0.05 * label[0]);
    assert_true(pixel[1] < 0.2 * pixel[0]);
    assert_true(n.now.best <= n.now.missed && n.now.best_at <= LONG);
    assert_near(n.now.best / missed_of(&n, &w), 1, 1e-4); /* parameters are the best */
    assert_true(n.now.best < 0.05);
    double *z = read_all(&n, &w);
    double missed = 0;
    for (size_t k = 0; k < w.rows * D; k++) { /* what nobody labelled, too; z are uniform */
        missed += w.mask[k] == 0 ? pow(z[k] - w.z[k], 2) / (160. * 0.75) : 0;
    }
    assert_true(missed < 0.1);
    assert_ok(sight_net_error(&n, w.rows, &error[1], &why));
    assert_true(error[1] < 0.2 * error[0]);
    assert_true(error[1] < 0.6 * w.x.scale * w.x.scale);
    free(z);
    sight_net_close(&n);
    world_free(&w);
}

/* The colour at a place by the decoder's formula, u (D). */
static double colour_of(const sight_net *n, const double *u, double down, double right)
{
    const pixel_shape *b = &n->brush;
    double h[PIXEL_HIDDEN] = {u[0], u[1], down, right};
    for (size_t l = 0; l < PIXEL_LAYERS; l++) {
        const float *weights = n->parameters + n->eyes + b->at[l];
        double next[PIXEL_HIDDEN];
        bool last = l + 1 == PIXEL_LAYERS;
        for (size_t o = 0; o < (last ? 1 : PIXEL_HIDDEN); o++) {
            double a = (double)weights[b->in[l] * b->out[l] + o];
            for (size_t i = 0; i < (l == 0 ? D + 2 : PIXEL_HIDDEN); i++) {
                a += h[i] * (double)weights[i * b->out[l] + o];
            }
            double bent =
                a / 2 * (1 + tanh(sqrt(2 / 3.14159265358979) * (a + 0.044715 * a * a * a)));
            next[o] = last ? a : l == 0 ? bent : h[o] + bent;
        }
        memcpy(h, next, sizeof h);
    }
    return h[0];
}

/* Mean squared error of pictures 0, 5, 10, .., seen labels in the places of what is read. */
static double error_of(const sight_net *n, const world *w)
{
    double *z = read_all(n, w);
    const float *x = w->x.x;
    double sum = 0;
    for (size_t row = 0; row < w->rows; row += 5) {
        double u[D];
        for (size_t j = 0; j < D; j++) {
            size_t k = row * D + j;
            bool seen = w->mask[k] != 0 && w->held[k] == 0;
            u[j] = ((seen ? w->z[k] : z[k]) - n->offset[j]) / n->spread[j];
        }
        for (size_t k = 0; k < COUNT; k++) {
            double down = (2 * (double)(k / SIDE) + 1) / SIDE - 1;
            double right = (2 * (double)(k % SIDE) + 1) / SIDE - 1;
            double drawn = (double)w->x.backdrop[k] + w->x.scale * colour_of(n, u, down, right);
            sum += pow(drawn - (double)x[row * COUNT + k], 2) / COUNT;
        }
    }
    free(z);
    return sum / ((double)w->rows / 5);
}

/* Every so many pictures, all their pixels, however many are drawn at a time. */
static void errors_of_pixels_are_of_all(void **state)
{
    (void)state;
    world w = world_new(60, 5);
    sight_net n = net_of(&w, LONG, 0.02);
    step(&n, 30);
    double fifth = 0;
    double all = 0;
    for (size_t count = 12; count <= 60; count += 48) {
        double error;
        double fewer;
        assert_ok(sight_net_error(&n, count, &error, &why));
        n.settings.pixels = 7; /* of the 32 that there is room for */
        assert_ok(sight_net_error(&n, count, &fewer, &why));
        n.settings.pixels = 32;
        assert_near(fewer / error, 1, 1e-6);
        *(count == 60 ? &all : &fifth) = error;
    }
    double more;
    assert_ok(sight_net_error(&n, 1000, &more, &why));
    assert_near(more, all, 0);
    assert_near(fifth / error_of(&n, &w), 1, 1e-4); /* every fifth */
    sight_net_close(&n);
    world_free(&w);
}

/* ---- Nothing else has a say ---- */

static void threads_do_not_show(void **state)
{
    (void)state;
    world w = world_new(60, 5);
    sight_net one;
    for (int threads = 1; threads <= 3; threads++) {
        lscm_set_threads(threads);
        sight_net n = net_of(&w, 32, 0.02);
        assert_int_equal(n.workers, threads);
        step(&n, 12);
        if (threads == 1) {
            one = n;
        } else {
            double errors[2];
            assert_same_state(&one, &n);
            assert_ok(sight_net_error(&one, 40, &errors[0], &why));
            assert_ok(sight_net_error(&n, 40, &errors[1], &why));
            assert_memory_equal(&errors[0], &errors[1], sizeof errors[0]);
            sight_net_close(&n);
        }
    }
    lscm_set_threads(1);
    sight_net_close(&one);
    world_free(&w);
}

static void what_was_saved_goes_on(void **state)
{
    (void)state;
    world w = world_new(60, 5);
    for (size_t at = 0; at < 24; at += 17) {
        sight_net whole = net_of(&w, 24, 0.02);
        sight_net again = net_of(&w, 24, 0.02);
        size_t bytes;
        step(&whole, at);
        char *saved = state_of(&whole, &bytes);
        while (!sight_net_over(&whole)) {
            step(&whole, 1);
        }
        piece pieces[SIGHT_PIECES];
        step(&again, 7); /* it need not be new */
        pieces_set(pieces, sight_net_pieces(&again, pieces), saved);
        while (!sight_net_over(&again)) {
            step(&again, 1);
        }
        assert_same_state(&whole, &again);
        free(saved);
        sight_net_close(&whole);
        sight_net_close(&again);
    }
    world_free(&w);
}

/* Values that are held out are seen by nobody but who looks at them. */
static void labels_held_out_have_no_say(void **state)
{
    (void)state;
    world w = world_new(60, 3);
    sight_net n = net_of(&w, 320, 0.02);
    double *other = calloc(w.rows * D, sizeof *other);
    design by;
    assert_non_null(other);
    for (size_t k = 0; k < w.rows * D; k++) {
        other[k] = w.held[k] != 0 ? 100 - 7 * w.z[k] : w.z[k];
    }
    assert_ok(design_of(&by, w.rows, D, w.mask, other, &why));
    const sight_settings s = n.settings;
    sight_net m;
    assert_ok(sight_net_open(&m, &w.x, &by, w.held, &s, &why));
    assert_memory_equal(n.offset, m.offset, D * sizeof *n.offset);
    assert_memory_equal(n.spread, m.spread, D * sizeof *n.spread);
    for (size_t k = 0; k < 21; k++) { /* two looks */
        step(&n, 1);
        step(&m, 1);
        assert_memory_equal(n.parameters, m.parameters, n.count * sizeof *n.parameters);
        assert_memory_equal(n.optimiser.state, m.optimiser.state, 2 * n.count * sizeof(float));
        assert_memory_equal(&n.now.label, &m.now.label, sizeof n.now.label);
        assert_memory_equal(&n.now.pixel, &m.now.pixel, sizeof n.now.pixel);
        n.now.fall = m.now.fall = 160; /* when the rate falls is for them to say */
        n.now.end = m.now.end = 320;
    }
    double errors[2];
    assert_ok(sight_net_error(&n, 20, &errors[0], &why));
    assert_ok(sight_net_error(&m, 20, &errors[1], &why));
    assert_memory_equal(&errors[0], &errors[1], sizeof errors[0]);
    assert_true(isfinite(n.now.missed) && isfinite(m.now.missed));
    assert_true(n.now.missed < m.now.missed || n.now.missed > m.now.missed);
    sight_net_close(&n);
    sight_net_close(&m);
    design_close(&by);
    free(other);
    world_free(&w);
}

/* ---- The gradient ---- */

/* Loss of the first step; with a rate of 0 no parameter moves. */
static double loss_of(sight_net *n)
{
    n->now.steps = 0;
    memset(n->optimiser.state, 0, 2 * n->count * sizeof(float));
    assert_ok(sight_net_step(n, &why));
    return n->now.label + n->now.pixel; /* weight 1 */
}

/* Of every part of the parameters, along the gradient of that part. */
static void gradients_are_those_of_the_loss(void **state)
{
    (void)state;
    world w = world_new(60, 5);
    sight_net n = net_of(&w, 320, 0.02);
    size_t ends[PICTURE_CONVS + PICTURE_END + PIXEL_LAYERS + 1] = {0};
    size_t parts = 0;
    step(&n, 12); /* weights that began at 0, or small, are something now */
    n.settings.rate = 0;
    for (size_t l = 1; l <= n.eye.convs; l++) {
        ends[++parts] = picture_conv_at(&n.eye, l);
    }
    for (int part = PICTURE_KEYS + 1; part <= PICTURE_END; part++) {
        ends[++parts] = picture_part_at(&n.eye, (picture_part)part);
    }
    for (size_t l = 1; l <= PIXEL_LAYERS; l++) {
        ends[++parts] = n.eyes + n.brush.at[l];
    }
    assert_int_equal(ends[parts], n.count);
    double *gradient = calloc(n.count, sizeof *gradient);
    float *start = malloc(n.count * sizeof *start);
    assert_true(gradient != NULL && start != NULL);
    double loss = loss_of(&n);
    memcpy(start, n.parameters, n.count * sizeof *start);
    for (size_t k = 0; k < SIGHT_SLOTS * n.count; k++) {
        gradient[k % n.count] += (double)n.partial[k];
    }
    for (size_t p = 0; p < parts; p++) {
        double size = 0;
        double there[2];
        for (size_t k = ends[p]; k < ends[p + 1]; k++) {
            size += gradient[k] * gradient[k];
        }
        size = sqrt(size);
        assert_true(size > 1e-4);
        double length = 5e-4 * loss / size;
        length = fmin(length, 0.01);
        for (int way = 0; way < 2; way++) {
            for (size_t k = ends[p]; k < ends[p + 1]; k++) {
                double by = (2 * way - 1) * length * gradient[k] / size;
                n.parameters[k] = (float)((double)start[k] + by);
            }
            there[way] = loss_of(&n);
        }
        memcpy(n.parameters, start, n.count * sizeof *start);
        assert_near((there[1] - there[0]) / (2 * length) / size, 1, 0.02);
    }
    free(gradient);
    free(start);
    sight_net_close(&n);
    world_free(&w);
}

/* ---- When it ends ---- */

/* Labels held out that are noise: once a third of all steps brought nothing the rate falls, over as
 * many steps as there were. Not before the rate has risen and an eighth of the steps is done: once
 * a network ended after 6 steps of 60, because the second of them was the better for no reason. */
static void no_gain_is_the_beginning_of_the_end(void **state)
{
    enum { STEPS = 640, EVERY = STEPS / 32, RISEN = 200 };
    (void)state;
    world w = world_new(60, 3);
    lcg random = {8};
    for (size_t k = 0; k < w.rows * D; k++) {
        w.by.value[k] = w.held[k] != 0 ? 3 * lcg_uniform(&random) - 1.5 : w.by.value[k];
    }
    sight_net n = net_of(&w, STEPS, 0.02);
    n.settings.batch = 1; /* of the 4 that there is room for */
    double least = INFINITY;
    size_t least_at = 0;
    size_t fall = STEPS / 2;
    size_t end = STEPS;
    size_t ignored = 0;
    for (size_t k = 1; k <= end; k++) {
        assert_false(sight_net_over(&n));
        assert_ok(sight_net_step(&n, &why));
        assert_int_equal(n.now.checked, k % EVERY == 0 || k == end);
        if (k % EVERY == 0 || k == end) {
            least_at = n.now.missed < least ? k : least_at;
            least = fmin(least, n.now.missed);
            ignored += k < RISEN && 3 * (k - least_at) >= k ? 1 : 0;
            if (k < fall && k >= RISEN && k >= STEPS / 8 && 3 * (k - least_at) >= k) {
                fall = k;
                end = 2 * k;
            }
        }
        assert_int_equal(n.now.fall, fall);
        assert_int_equal(n.now.end, end);
        assert_int_equal(n.now.best_at, least_at);
        assert_true(least_at > 0 ? n.now.best <= least && n.now.best >= least : isnan(n.now.best));
    }
    assert_true(sight_net_over(&n));
    assert_true(end < STEPS && ignored > 0);
    sight_net_close(&n);
    world_free(&w);
}

/* An eighth of many steps is more than the rise: what would end it before is put into its books. */
static void many_steps_are_not_given_up_early(void **state)
{
    enum { STEPS = 3200, EVERY = STEPS / 32 };
    (void)state;
    world w = world_new(30, 3);
    sight_net n = net_of(&w, STEPS, 0.02);
    for (size_t k = EVERY; k <= STEPS / 8; k += EVERY) {
        n.now.steps = k - 1;
        n.now.best = 0;
        n.now.best_at = k / 2;
        step(&n, 1);
        assert_true(n.now.checked != 0);
        assert_int_equal(n.now.fall, k < STEPS / 8 ? STEPS / 2 : k);
        assert_int_equal(n.now.end, k < STEPS / 8 ? STEPS : 2 * k);
    }
    sight_net_close(&n);
    world_free(&w);
}

/* Nothing is held out: half of the steps, and the last parameters. */
static void without_labels_held_out_it_takes_all_steps(void **state)
{
    (void)state;
    world w = world_new(60, 0);
    sight_net n = net_of(&w, 33, 0.02);
    sight_settings s = n.settings;
    sight_net m;
    assert_ok(sight_net_open(&m, &w.x, &w.by, NULL, &s, &why)); /* nobody says so */
    assert_int_equal(n.asks, 0);
    while (!sight_net_over(&n)) {
        step(&n, 1);
        step(&m, 1);
    }
    assert_int_equal(n.now.steps, 33);
    assert_int_equal(n.now.fall, 16);
    assert_true(isnan(n.now.missed) && isnan(n.now.best));
    assert_memory_equal(n.parameters, m.parameters, n.count * sizeof *n.parameters);
    sight_net_close(&n);
    sight_net_close(&m);
    world_free(&w);
}

static void what_is_not_finite_is_said(void **state)
{
    static const char sentence[] = "the network of pictures is no longer finite after ";
    static const double rates[] = {1e30, 1e18, 1e300, INFINITY};
    (void)state;
    world w = world_new(60, 5);
    for (size_t k = 0; k < sizeof rates / sizeof rates[0]; k++) {
        for (size_t steps = 1; steps < 12; steps += 5) { /* the last step, too */
            sight_net n = net_of(&w, steps, rates[k]);
            lscm_status status = LSCM_OK;
            for (size_t at = 0; at < 2 * steps && status == LSCM_OK && !sight_net_over(&n); at++) {
                status = sight_net_step(&n, &why);
            }
            assert_int_equal(status, LSCM_VALUE);
            assert_non_null(strstr(why.text, sentence));
            assert_non_null(strstr(why.text, "try a smaller --rate"));
            sight_net_close(&n);
        }
    }
    for (size_t k = 0; k < w.rows; k++) {
        ((float *)w.x.x)[k * COUNT + 100] = NAN;
    }
    sight_net n = net_of(&w, 10, 0.02);
    assert_fails(sight_net_step(&n, &why), LSCM_VALUE, "is no longer finite after 0 steps");
    sight_net_close(&n);
    world_free(&w);
}

/* ---- Who is asked ---- */

static void pictures_are_asked_evenly(void **state)
{
    static const size_t some[] = {3, 60, 600, 1533, 1536, 1539, 2400, 4500};
    (void)state;
    for (size_t k = 0; k < sizeof some / sizeof some[0]; k++) {
        world w = world_new(some[k], 1); /* all labels: two rows of three */
        sight_net n = net_of(&w, 10, 0.02);
        size_t all = 2 * some[k] / 3;
        size_t seen = 0;
        size_t between[2] = {SIZE_MAX, 0};
        size_t last = 0;
        for (size_t row = 0; row < w.rows; row++) {
            bool any = w.held[row * D] != 0 || w.held[row * D + 1] != 0;
            if (seen < n.asks && n.asked[seen] == row) {
                assert_true(any);
                if (seen++ > 0) {
                    between[0] = last < between[0] ? last : between[0];
                    between[1] = last > between[1] ? last : between[1];
                }
                last = 0;
            }
            last += any ? 1 : 0;
        }
        assert_int_equal(seen, n.asks);
        assert_true(n.asks <= 512 && 2 * n.asks >= (all < 512 ? 2 * all : 512));
        assert_true(n.asks == 1 || between[0] == between[1]);
        assert_true(last <= between[1] || n.asks == 1); /* and to the end */
        sight_net_close(&n);
        world_free(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_learns_what_was_held_out),
        cmocka_unit_test(errors_of_pixels_are_of_all),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(what_was_saved_goes_on),
        cmocka_unit_test(labels_held_out_have_no_say),
        cmocka_unit_test(gradients_are_those_of_the_loss),
        cmocka_unit_test(no_gain_is_the_beginning_of_the_end),
        cmocka_unit_test(many_steps_are_not_given_up_early),
        cmocka_unit_test(without_labels_held_out_it_takes_all_steps),
        cmocka_unit_test(what_is_not_finite_is_said),
        cmocka_unit_test(pictures_are_asked_evenly),
    };
    lscm_set_threads(1); /* steps so small that waiting for threads would take longer */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
