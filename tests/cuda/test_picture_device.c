/* Networks of pictures on a device against the same on the CPU: they take the same steps and read
 * the same z, whatever the pictures' sides, channels and type, the batch and the number of nodes;
 * the same bits again; and the same bits where memory is short. */
#include "infer/sight/sight.h"

#include "lcg.h"
#include "on_device.h"
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static lscm_error why;

typedef struct world {
    size_t rows, height, width, channels, d;
    bool bytes;
    size_t batch, pixels;
    pictures x;
    design by;
    double *z;
    uint8_t *mask, *held;
    picture_store *store;
    arena memory;
} world;

static void lay_out(world *w)
{
    size_t count = w->height * w->width * w->channels;
    arena *a = &w->memory;
    w->x.row = arena_take(a, w->rows, sizeof *w->x.row);
    w->x.x = arena_take(a, w->rows * count, sizeof(float));
    w->x.backdrop = arena_take(a, count, sizeof(float));
    w->x.reach = arena_take(a, w->height * w->width, sizeof(double));
    w->z = arena_take(a, w->rows * w->d, sizeof *w->z);
    w->mask = arena_take(a, w->rows * w->d, 1);
    w->held = arena_take(a, w->rows * w->d, 1);
}

/* Pictures of noise, labels of noise: nothing is to be learned, all is to be the same. */
static void world_open(world *w, uint64_t seed)
{
    lcg random = {seed};
    size_t count = w->height * w->width * w->channels;
    pictures *p = &w->x;
    lay_out(w);
    assert_ok(arena_open(&w->memory, &why));
    lay_out(w);
    p->rows = p->kept = w->rows;
    p->height = w->height;
    p->width = w->width;
    p->channels = w->channels;
    p->count = count;
    p->type = w->bytes ? DTYPE_UINT8 : DTYPE_FLOAT32;
    p->scale = w->bytes ? 60 : 0.25;
    for (size_t k = 0; k < w->rows * count; k++) {
        double u = lcg_uniform(&random);
        if (w->bytes) {
            ((uint8_t *)p->x)[k] = (uint8_t)(255 * u);
        } else {
            ((float *)p->x)[k] = (float)u;
        }
    }
    for (size_t k = 0; k < count; k++) {
        p->backdrop[k] = (float)((w->bytes ? 255 : 1) * lcg_uniform(&random));
    }
    for (size_t k = 0; k < w->height * w->width; k++) {
        p->reach[k] = (double)(k + 1) / (double)(w->height * w->width);
    }
    for (size_t k = 0; k < w->rows * w->d; k++) {
        p->row[k / w->d] = (uint32_t)(k / w->d);
        w->z[k] = 4 * lcg_uniform(&random) - 2;
        w->mask[k] = lcg_uniform(&random) < 0.4 ? 1 : 0;
        w->held[k] = w->mask[k] != 0 && lcg_uniform(&random) < 0.2 ? 1 : 0;
    }
    assert_ok(design_of(&w->by, w->rows, w->d, w->mask, w->z, &why));
    assert_ok(sight_store(&w->store, &w->x, on_device(), &why));
    assert_non_null(w->store);
}

static void world_close(world *w)
{
    on_device()->pictures->drop(w->store);
    design_close(&w->by);
    arena_close(&w->memory);
}

static sight_net net_on(const world *w, const device *on, size_t steps)
{
    const sight_settings s = {.device = on,
                              .store = on->pictures != NULL ? w->store : NULL,
                              .steps = steps,
                              .batch = w->batch,
                              .pixels = w->pixels,
                              .rate = 1e-3,
                              .seed = 5};
    sight_net n;
    assert_ok(sight_net_open(&n, &w->x, &w->by, w->held, &s, &why));
    assert_true((n.pupil != NULL) == (on->pictures != NULL));
    return n;
}

static void run(sight_net *n)
{
    while (!sight_net_over(n)) {
        assert_ok(sight_net_step(n, &why));
    }
}

/* |a - b| / |b| */
static double off_by(size_t n, const float *a, const float *b)
{
    double off = 0;
    double all = 0;
    for (size_t k = 0; k < n; k++) {
        off += ((double)a[k] - (double)b[k]) * ((double)a[k] - (double)b[k]);
        all += (double)b[k] * (double)b[k];
    }
    return sqrt(off / all);
}

/* One step: momentum is the gradient, where there is a matrix; Adam's mean a tenth of it. Every
 * layer has to be right, not only their sum. */
static void assert_same_gradient(const sight_net *a, const sight_net *b)
{
    size_t begin = 0;
    for (size_t l = 0; l <= a->eye.convs + PICTURE_END + PIXEL_LAYERS; l++) {
        size_t convs = a->eye.convs;
        size_t end = l < convs ? picture_conv_at(&a->eye, l + 1)
                     : l < convs + PICTURE_END
                         ? picture_part_at(&a->eye, (picture_part)(l - convs + 1))
                     : l < convs + PICTURE_END + PIXEL_LAYERS
                         ? a->eyes + a->brush.at[l - convs - PICTURE_END + 1]
                         : a->count;
        if (end > begin) {
            double off =
                off_by(end - begin, a->optimiser.state + begin, b->optimiser.state + begin);
            if (!(off < 2e-4)) {
                print_error("layer %zu: off by %g\n", l, off);
            }
            assert_true(off < 2e-4);
        }
        begin = end;
    }
}

static void assert_same_steps(world w)
{
    world_open(&w, w.rows + w.height);
    sight_net there = net_on(&w, on_device(), 1);
    sight_net here = net_on(&w, on_cpu(), 1);
    run(&there);
    run(&here);
    assert_same_gradient(&there, &here);
    assert_true(off_by(here.count, there.parameters, here.parameters) < 1e-3);
    assert_near(there.now.label, here.now.label, 1e-4 * here.now.label);
    assert_near(there.now.pixel, here.now.pixel, 1e-4 * here.now.pixel);
    assert_true(isnan(there.now.missed) == isnan(here.now.missed));
    assert_true(isnan(here.now.missed) ||
                fabs(there.now.missed - here.now.missed) < 1e-3 * here.now.missed);
    sight_net_close(&there);
    sight_net_close(&here);
    world_close(&w);
}

static void test_steps(void **state)
{
    (void)state;
    assert_same_steps((world){
        .rows = 9, .height = 16, .width = 16, .channels = 1, .d = 2, .batch = 4, .pixels = 32});
    assert_same_steps((world){.rows = 7,
                              .height = 33,
                              .width = 21,
                              .channels = 3,
                              .d = 5,
                              .bytes = true,
                              .batch = 5,
                              .pixels = 19});
    assert_same_steps((world){
        .rows = 5, .height = 64, .width = 64, .channels = 3, .d = 6, .batch = 2, .pixels = 128});
    assert_same_steps((world){
        .rows = 3, .height = 35, .width = 70, .channels = 4, .d = 18, .batch = 2, .pixels = 50});
    assert_same_steps((world){.rows = 4,
                              .height = 16,
                              .width = 57,
                              .channels = 2,
                              .d = 1,
                              .bytes = true,
                              .batch = 1,
                              .pixels = 1});
}

/* Several steps, several looks at labels: rates, batches and dials of each. */
static void test_many_steps(void **state)
{
    (void)state;
    world w = {
        .rows = 40, .height = 16, .width = 18, .channels = 1, .d = 2, .batch = 2, .pixels = 17};
    world_open(&w, 77);
    sight_net there = net_on(&w, on_device(), 18);
    sight_net again = net_on(&w, on_device(), 18);
    sight_net here = net_on(&w, on_cpu(), 18);
    run(&there);
    run(&again);
    run(&here);
    assert_int_equal(there.now.steps, here.now.steps);
    assert_int_equal(there.now.best_at, here.now.best_at);
    assert_true(off_by(here.count, there.parameters, here.parameters) < 2e-3);
    assert_memory_equal(there.parameters, again.parameters, there.count * sizeof(float));
    assert_memory_equal(there.optimiser.state, again.optimiser.state,
                        2 * there.count * sizeof(float));
    sight_net_close(&there);
    sight_net_close(&again);
    sight_net_close(&here);
    world_close(&w);
}

/* From what a checkpoint holds on: the same bits as without a stop. */
static void test_goes_on(void **state)
{
    (void)state;
    enum { STEPS = 20 };
    world w = {
        .rows = 12, .height = 16, .width = 16, .channels = 1, .d = 2, .batch = 1, .pixels = 16};
    piece from[SIGHT_PIECES];
    piece to[SIGHT_PIECES];
    world_open(&w, 3);
    sight_net whole = net_on(&w, on_device(), STEPS);
    sight_net half = net_on(&w, on_device(), STEPS);
    sight_net rest = net_on(&w, on_device(), STEPS);
    run(&whole);
    while (half.now.steps < STEPS / 2) {
        assert_ok(sight_net_step(&half, &why));
    }
    size_t count = sight_net_pieces(&half, from);
    assert_int_equal(sight_net_pieces(&rest, to), count);
    for (size_t k = 0; k < count; k++) {
        memcpy(to[k].at, from[k].at, from[k].bytes);
    }
    run(&rest);
    assert_memory_equal(rest.parameters, whole.parameters, whole.count * sizeof(float));
    sight_net_close(&whole);
    sight_net_close(&half);
    sight_net_close(&rest);
    world_close(&w);
}

static void test_reads(void **state)
{
    (void)state;
    enum { COUNT = 11, MEMBERS = 2 };
    world w = {
        .rows = COUNT, .height = 40, .width = 23, .channels = 2, .d = 3, .batch = 2, .pixels = 8};
    world_open(&w, 4);
    sight_net a = net_on(&w, on_cpu(), 100);
    size_t count = picture_count(&a.eye);
    float *parameters = malloc(MEMBERS * count * sizeof *parameters);
    float *x = malloc(COUNT * w.x.count * sizeof *x);
    double here[MEMBERS * COUNT * 3];
    double there[MEMBERS * COUNT * 3];
    const double offset[MEMBERS * 3] = {0, 1, 2, 3, 4, 5};
    const double spread[MEMBERS * 3] = {1, 2, 1, 2, 1, 2};
    assert_true(parameters != NULL && x != NULL);
    for (size_t k = 0; k < MEMBERS * count; k++) {
        parameters[k] = a.parameters[k % count] * (k < count ? 1 : 1.1F);
    }
    for (size_t k = 0; k < COUNT; k++) {
        pictures_kept(&w.x, k, x + k * w.x.count);
    }
    x[3] = NAN; /* of the first picture */
    const sight_reader r = {.d = 3,
                            .members = MEMBERS,
                            .eye = a.eye,
                            .parameters = parameters,
                            .offset = (double *)offset,
                            .spread = (double *)spread};
    assert_ok(sight_read(&r, on_cpu(), COUNT, x, NULL, NULL, here, &why));
    assert_ok(sight_read(&r, on_device(), COUNT, x, NULL, NULL, there, &why));
    for (size_t k = 0; k < MEMBERS * COUNT * 3; k++) {
        assert_true(isnan(here[k]) == (k / 3 % COUNT == 0));
        assert_true(isnan(there[k]) || fabs(there[k] - here[k]) < 1e-4);
        assert_true(isnan(there[k]) == isnan(here[k]));
    }
    assert_ok(sight_read(&r, on_device(), 0, x, NULL, NULL, there, &why));
    free(parameters);
    free(x);
    sight_net_close(&a);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_many_steps),
        cmocka_unit_test(test_goes_on),
        cmocka_unit_test(test_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
