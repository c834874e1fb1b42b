/* Networks of pictures: convolutions against sums written out, gradients of everything against
 * central differences, float against double. Sides are multiples of nothing. */
#include "base/rng.h"
#include "net/vision/vision.h"
#include "on_cpu.h"
#include "testing.h"

static lscm_error why;

static void fill(double *x, size_t n, uint64_t stream)
{
    for (size_t k = 0; k < n; k++) {
        x[k] = rng_normal((rng){11, stream}, k);
    }
}

/* ---- Convolutions ---- */

/* x at an unpadded place, 0 outside. */
static double at(const double *map, const conv *c, size_t channels, long i, long j, size_t k)
{
    bool inside = i >= 0 && j >= 0 && i < (long)c->height && j < (long)c->width;
    return inside ? map[((size_t)(i + 1) * (c->width + 2) + (size_t)(j + 1)) * channels + k] : 0;
}

static void fill_inside(double *map, size_t height, size_t width, size_t channels, uint64_t stream)
{
    for (size_t i = 0; i < height; i++) {
        fill(map + ((i + 1) * (width + 2) + 1) * channels, width * channels, stream + i);
    }
}

static void check_conv(size_t height, size_t width, size_t in, size_t out, size_t stride)
{
    const conv c = {height, width, in, out, stride};
    size_t high = conv_high(&c);
    size_t wide = conv_wide(&c);
    size_t parameters = conv_weights(&c) + out;
    double *x = calloc(map_count(height, width, in), sizeof *x);
    double *dx = calloc(map_count(height, width, in), sizeof *dx);
    double *y = calloc(map_count(high, wide, out), sizeof *y);
    double *d = calloc(map_count(high, wide, out), sizeof *d);
    double *w = calloc(parameters, sizeof *w);
    double *dw = calloc(parameters, sizeof *dw);
    double *turned = calloc(parameters, sizeof *turned);
    double *dx_by_hand = calloc(map_count(height, width, in), sizeof *dx);
    double *dw_by_hand = calloc(parameters, sizeof *dw);
    fill_inside(x, height, width, in, 100);
    fill_inside(d, high, wide, out, 200);
    fill(w, parameters, 3);
    conv_f64_forward(&c, w, x, y);
    conv_f64_by_weights(&c, x, d, dw);
    for (size_t i = 0; i < high; i++) {
        for (size_t j = 0; j < wide; j++) {
            for (size_t o = 0; o < out; o++) {
                size_t here = ((i + 1) * (wide + 2) + j + 1) * out + o;
                double sum = w[conv_weights(&c) + o];
                dw_by_hand[conv_weights(&c) + o] += d[here];
                for (size_t n = 0; n < 9 * in; n++) {
                    long u = (long)(stride * i + n / in / 3) - 1;
                    long v = (long)(stride * j + n / in % 3) - 1;
                    double value = at(x, &c, in, u, v, n % in);
                    sum += value * w[n * out + o];
                    dw_by_hand[n * out + o] += value * d[here];
                    if (u >= 0 && v >= 0 && u < (long)height && v < (long)width) {
                        dx_by_hand[((size_t)(u + 1) * (width + 2) + (size_t)(v + 1)) * in +
                                   n % in] += w[n * out + o] * d[here];
                    }
                }
                assert_near(y[here], sum, 1e-12);
            }
        }
    }
    for (size_t k = 0; k < parameters; k++) {
        assert_near(dw[k], dw_by_hand[k], 1e-11);
    }
    if (in % TILE_LANES == 0) {
        conv_f64_turn(&c, w, turned);
        conv_f64_by_input(&c, turned, d, dx);
        for (size_t k = 0; k < map_count(height, width, in); k++) {
            assert_near(dx[k], dx_by_hand[k], 1e-11);
        }
    }
    double *all[] = {x, dx, y, d, w, dw, turned, dx_by_hand, dw_by_hand};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        free(all[k]);
    }
}

static void test_conv(void **state)
{
    (void)state;
    check_conv(16, 16, 16, 32, 1);
    check_conv(16, 16, 16, 32, 2);
    check_conv(5, 7, 16, 16, 1);
    check_conv(7, 5, 32, 16, 2);
    check_conv(9, 20, 16, 48, 2);
    check_conv(19, 11, 3, 16, 2);
    check_conv(17, 18, 6, 32, 1);
    check_conv(1, 3, 16, 16, 2);
}

/* ---- z of a picture ---- */

typedef struct eye {
    picture_shape shape;
    picture_work_f64 work;
    double *parameters, *turned, *gradient, *x, *weight;
    arena memory;
} eye;

static void lay_out_eye(eye *e)
{
    arena *a = &e->memory;
    size_t count = picture_count(&e->shape);
    picture_f64_lay_out(&e->work, a, &e->shape);
    e->parameters = arena_take(a, count, sizeof(double));
    e->turned = arena_take(a, count, sizeof(double));
    e->gradient = arena_take(a, count, sizeof(double));
    e->x = arena_take(a, e->shape.height * e->shape.width * e->shape.channels, sizeof(double));
    e->weight = arena_take(a, e->shape.d, sizeof(double));
}

/* sum_j weight_j z_j + z_j^2 / 2 */
static double loss_of(const eye *e)
{
    double loss = 0;
    picture_f64_show(&e->shape, &e->work, e->x);
    picture_f64_forward(&e->shape, on_cpu(), e->parameters, &e->work);
    for (size_t j = 0; j < e->shape.d; j++) {
        double z = e->work.z[j];
        loss += e->weight[j] * z + z * z / 2;
    }
    return loss;
}

static void check_eye(size_t height, size_t width, size_t channels, size_t d)
{
    eye e = {.shape = picture_shape_of(height, width, channels, d)};
    size_t count = picture_count(&e.shape);
    lay_out_eye(&e);
    assert_ok(arena_open(&e.memory, &why));
    lay_out_eye(&e);
    picture_f64_ready(&e.shape, &e.work);
    picture_f64_draw(&e.shape, (rng){5, 1}, e.parameters);
    for (size_t k = 0; k < count; k++) { /* biases and what begins small, too */
        e.parameters[k] += e.parameters[k] != 0 ? 0 : 0.01 * rng_normal((rng){5, 2}, k);
    }
    fill(e.x, height * width * channels, 7);
    fill(e.weight, d, 8);
    (void)loss_of(&e);
    for (size_t j = 0; j < d; j++) {
        e.work.z_back[j] = e.weight[j] + e.work.z[j];
    }
    picture_f64_turn(&e.shape, e.parameters, e.turned);
    picture_f64_backward(&e.shape, e.turned, &e.work, e.gradient);
    for (size_t probe = 0; probe < 400; probe++) {
        const double step = 1e-6;
        size_t k = rng_below((rng){5, 3}, probe, count);
        double before = e.parameters[k];
        e.parameters[k] = before + step;
        double up = loss_of(&e);
        e.parameters[k] = before - step;
        double down = loss_of(&e);
        e.parameters[k] = before;
        assert_near(e.gradient[k], (up - down) / (2 * step), 1e-6 * (1 + fabs(e.gradient[k])));
    }
    arena_close(&e.memory);
}

static void test_encoder_gradient(void **state)
{
    (void)state;
    check_eye(16, 16, 3, 4);
    check_eye(33, 18, 1, 3);
    check_eye(40, 37, 4, 17);
}

/* Whatever the size, maps are not too small, and every part has its place. */
static void test_shapes(void **state)
{
    (void)state;
    for (size_t side = PICTURE_SIDE_LEAST; side <= PICTURE_SIDE_MOST; side++) {
        picture_shape s = picture_shape_of(side, PICTURE_SIDE_MOST - side + 16, 3, 5);
        assert_true(s.convs >= 4 && s.convs <= PICTURE_CONVS);
        assert_true(s.high >= 16 || s.wide >= 16);
        assert_true(s.high < 32 || s.wide < 32);
        assert_true(s.keys >= 10);
        for (picture_part p = PICTURE_KEYS; p < PICTURE_END; p++) {
            assert_true(picture_part_at(&s, p) < picture_part_at(&s, p + 1));
        }
    }
}

/* A key point follows what it looks at: the picture of one bright spot, its place read linearly. */
static void test_key_points_follow(void **state)
{
    (void)state;
    eye e = {.shape = picture_shape_of(32, 32, 1, 1)};
    lay_out_eye(&e);
    assert_ok(arena_open(&e.memory, &why));
    lay_out_eye(&e);
    picture_f64_ready(&e.shape, &e.work);
    /* every convolution hands the picture's first channel on, the keys look for it */
    for (size_t l = 0; l < e.shape.convs; l++) {
        size_t first = picture_conv_at(&e.shape, l);
        e.parameters[first + 4 * e.shape.conv[l].in * e.shape.conv[l].out] = 3;
    }
    e.parameters[picture_part_at(&e.shape, PICTURE_KEYS)] = 50;
    e.parameters[picture_part_at(&e.shape, PICTURE_DIRECT) +
                 e.shape.keys * tile_columns(e.shape.d)] = 1; /* across, of the first key */
    double before = -INFINITY;
    for (size_t j = 1; j < 31; j += 2) {
        memset(e.x, 0, 32 * 32 * sizeof *e.x);
        e.x[16 * 32 + j] = e.x[16 * 32 + j - 1] = e.x[17 * 32 + j] = e.x[17 * 32 + j - 1] = 1;
        (void)loss_of(&e);
        assert_near(e.work.z[0], (double)j / 16 - 1, 0.1);
        assert_true(e.work.z[0] > before);
        before = e.work.z[0];
    }
    arena_close(&e.memory);
}

/* ---- The colour of a pixel ---- */

enum { ROWS = 13 };

typedef struct brush {
    pixel_shape shape;
    pixel_work_f64 work;
    double *parameters, *turned, *gradient, *weight;
    arena memory;
} brush;

static void lay_out_brush(brush *b)
{
    size_t count = pixel_count(&b->shape);
    pixel_f64_lay_out(&b->work, &b->memory, &b->shape, ROWS);
    b->parameters = arena_take(&b->memory, count, sizeof(double));
    b->turned = arena_take(&b->memory, count, sizeof(double));
    b->gradient = arena_take(&b->memory, count, sizeof(double));
    b->weight = arena_take(&b->memory, ROWS * b->shape.channels, sizeof(double));
}

static double colours(const brush *b)
{
    size_t out = b->shape.out[PIXEL_LAYERS - 1];
    size_t channels = b->shape.channels;
    double loss = 0;
    pixel_f64_forward(&b->shape, on_cpu(), b->parameters, ROWS, &b->work);
    for (size_t k = 0; k < ROWS * channels; k++) {
        loss += b->weight[k] * b->work.value[PIXEL_LAYERS - 1][k / channels * out + k % channels];
    }
    return loss;
}

static void check_brush(size_t d, size_t channels)
{
    brush b = {.shape = pixel_shape_of(d, channels)};
    const double step = 1e-6;
    lay_out_brush(&b);
    assert_ok(arena_open(&b.memory, &why));
    lay_out_brush(&b);
    pixel_f64_draw(&b.shape, (rng){6, 1}, b.parameters);
    fill(b.weight, ROWS * channels, 9);
    for (size_t r = 0; r < ROWS; r++) {
        fill(b.work.input + r * b.shape.in[0], d + 2, 20 + r);
        for (size_t c = 0; c < channels; c++) {
            b.work.colour_back[r * b.shape.out[PIXEL_LAYERS - 1] + c] = b.weight[r * channels + c];
        }
    }
    (void)colours(&b);
    pixel_f64_turn(&b.shape, b.parameters, b.turned);
    pixel_f64_backward(&b.shape, b.turned, ROWS, &b.work, b.gradient);
    for (size_t probe = 0; probe < 300; probe++) {
        size_t k = rng_below((rng){6, 3}, probe, pixel_count(&b.shape));
        double before = b.parameters[k];
        b.parameters[k] = before + step;
        double up = colours(&b);
        b.parameters[k] = before - step;
        double down = colours(&b);
        b.parameters[k] = before;
        assert_near(b.gradient[k], (up - down) / (2 * step), 1e-6 * (1 + fabs(b.gradient[k])));
    }
    for (size_t k = 0; k < ROWS * (d + 2); k++) {
        double *x = b.work.input + k / (d + 2) * b.shape.in[0] + k % (d + 2);
        double before = *x;
        *x = before + step;
        double up = colours(&b);
        *x = before - step;
        double down = colours(&b);
        *x = before;
        assert_near(b.work.input_back[k / (d + 2) * b.shape.in[0] + k % (d + 2)],
                    (up - down) / (2 * step), 1e-6);
    }
    arena_close(&b.memory);
}

static void test_decoder_gradient(void **state)
{
    (void)state;
    check_brush(4, 3);
    check_brush(15, 1);
    check_brush(7, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),
        cmocka_unit_test(test_encoder_gradient),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_key_points_follow),
        cmocka_unit_test(test_decoder_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
