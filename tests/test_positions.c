/* Decoders of positions against loops over pixels and units, their backdrops against the sum of
 * hats that bilinear interpolation is, runs that have one on disk and asked for pictures of any
 * size. `test_positions make FOLDER` leaves such a run, for positions_test.sh. */
#include "made.h"
#include "made_posterior.h"

#include "data/dataset/dataset.h"

#include "testing.h"

#include "home.h"

#include <sys/stat.h>

static lscm_error why;

static double gelu(double u)
{
    return 0.5 * u * (1 + tanh(sqrt(2 / 3.14159265358979323846) * (u + 0.044715 * u * u * u)));
}

typedef struct made_size {
    size_t d, width, layers, height, across, channels;
} made_size;

static lscm_posterior *made_positions(size_t draws, size_t rows, const made_size *m)
{
    lcg random = {m->width + m->height};
    decoder g = {.kind = DECODER_POSITIONS,
                 .biases = BIASES_ALL,
                 .layers = m->layers,
                 .sizes = {m->d + 2},
                 .x_noise = 0.1};
    for (size_t k = 1; k < m->layers; k++) {
        g.sizes[k] = m->width;
    }
    g.sizes[m->layers] = m->channels;
    lscm_posterior *p = NULL;
    /* made_posterior counts d by sizes[0] */
    if (posterior_new(&p, draws, m->d, rows, decoder_weights(&g), decoder_bias_count(&g), NULL) !=
        LSCM_OK) {
        abort();
    }
    g.weights = p->decode.weights;
    g.bias = p->decode.bias;
    p->decode = g;
    assert_ok(posterior_add_backdrop(p, m->height, m->across, m->channels, &why));
    p->features = decoder_features(&p->decode);
    p->x_ndim = m->channels > 1 ? 4 : 3;
    p->x_dims[0] = m->height;
    p->x_dims[1] = m->across;
    p->x_dims[2] = m->channels > 1 ? m->channels : 0;
    for (size_t s = 0; s < draws; s++) {
        lcg_weights(&random, m->d, 0.6, p->order + s * m->d, p->w + s * m->d * m->d);
        for (size_t i = 0; i < m->d; i++) {
            p->sigma[s * m->d + i] = 0.1 + lcg_uniform(&random);
        }
    }
    for (size_t k = 0; k < rows * m->d; k++) {
        p->z[k] = lcg_normal(&random);
    }
    for (size_t k = 0; k < decoder_weights(&g); k++) {
        g.weights[k] = 0.5 * lcg_normal(&random);
    }
    for (size_t k = 0; k < decoder_bias_count(&g); k++) {
        g.bias[k] = lcg_normal(&random);
    }
    for (size_t k = 0; k < p->features; k++) {
        p->decode.backdrop[k] = lcg_uniform(&random);
    }
    return p;
}

/* One colour of pixel (i, j) of a picture of that size; the unit `to` of a layer by all before it.
 */
static double unit(const decoder *g, const double *input, size_t layer, size_t to)
{
    const double *weights = g->weights;
    const double *bias = g->bias;
    double before[64];
    for (size_t k = 0; k < layer; k++) {
        weights += g->sizes[k] * g->sizes[k + 1];
        bias += g->sizes[k + 1];
    }
    for (size_t from = 0; from < g->sizes[layer]; from++) {
        before[from] = layer > 0 ? unit(g, input, layer - 1, from) : input[from];
    }
    double sum = bias[to];
    for (size_t from = 0; from < g->sizes[layer]; from++) {
        sum += before[from] * weights[from * g->sizes[layer + 1] + to];
    }
    return layer + 1 == g->layers ? sum : gelu(sum) + (layer > 0 ? before[to] : 0);
}

static double hat(double at, size_t place, size_t count)
{
    double inside = fmin(fmax(at, 0), (double)count - 1);
    return fmax(0, 1 - fabs(inside - (double)place));
}

static double behind(const decoder *g, size_t height, size_t width, size_t i, size_t j, size_t c)
{
    double sum = 0;
    double y = ((double)i + 0.5) / (double)height * (double)g->height - 0.5;
    double x = ((double)j + 0.5) / (double)width * (double)g->width - 0.5;
    for (size_t row = 0; row < g->height; row++) {
        for (size_t column = 0; column < g->width; column++) {
            sum += hat(y, row, g->height) * hat(x, column, g->width) *
                   g->backdrop[(row * g->width + column) * g->sizes[g->layers] + c];
        }
    }
    return sum;
}

static double colour(const decoder *g, const double *z, size_t height, size_t width, size_t i,
                     size_t j, size_t c)
{
    double input[16];
    size_t d = g->sizes[0] - 2;
    memcpy(input, z, d * sizeof *input);
    input[d] = (2.0 * (double)i + 1) / (double)height - 1;
    input[d + 1] = (2.0 * (double)j + 1) / (double)width - 1;
    return behind(g, height, width, i, j, c) + unit(g, input, g->layers - 1, c);
}

/* Sizes that are multiples of nothing; a tile of pixels ends within a line, or a picture within a
 * tile. */
static const made_size sizes[] = {{3, 5, 2, 3, 5, 1},   {1, 9, 3, 17, 11, 2}, {4, 3, 4, 13, 21, 3},
                                  {2, 6, 3, 1, 130, 4}, {5, 1, 3, 16, 16, 1}, {2, 16, 2, 16, 9, 4}};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static void colours_are_those_of_plain_loops(void **state)
{
    enum { ROWS = 3 };
    (void)state;
    for (size_t s = 0; s < SIZES; s++) {
        const made_size *m = &sizes[s];
        lscm_posterior *p = made_positions(1, ROWS, m);
        const decoder *g = &p->decode;
        size_t D = p->features;
        assert_int_equal(D, m->height * m->across * m->channels);
        assert_int_equal(decoder_nodes(g), m->d);
        double *x = calloc(3 * ROWS * D, sizeof *x);
        double *scratch = calloc(decoder_tiles_scratch(g, 3), sizeof *scratch);
        assert_true(x != NULL && scratch != NULL);
        decoder_apply(g, ROWS, p->z, scratch, x);
        decoder_apply_tiles(g, ROWS, p->z, 3, scratch, x + ROWS * D);
        decoder_apply(g, 1, p->z + m->d, scratch, x + 2 * ROWS * D);
        assert_memory_equal(x + ROWS * D, x, ROWS * D * sizeof *x);
        assert_memory_equal(x + 2 * ROWS * D, x + D, D * sizeof *x);
        for (size_t k = 0; k < ROWS * D; k++) {
            size_t pixel = k % D / m->channels;
            double wanted = g->backdrop[k % D] +
                            colour(g, p->z + k / D * m->d, m->height, m->across, pixel / m->across,
                                   pixel % m->across, k % m->channels) -
                            behind(g, m->height, m->across, pixel / m->across, pixel % m->across,
                                   k % m->channels);
            assert_near(x[k], wanted, 1e-12 * (1 + fabs(wanted)));
        }
        free(x);
        free(scratch);
        lscm_posterior_free(p);
    }
}

static void backdrops_are_sums_of_hats(void **state)
{
    static const size_t others[][2] = {{8, 8}, {31, 7}, {2, 300}, {1, 1}, {64, 64}};
    (void)state;
    for (size_t s = 0; s < SIZES; s++) {
        lscm_posterior *p = made_positions(1, 1, &sizes[s]);
        const decoder *g = &p->decode;
        size_t C = sizes[s].channels;
        for (size_t o = 0; o < sizeof others / sizeof others[0]; o++) {
            size_t H = others[o][0];
            size_t W = others[o][1];
            double *out = calloc(H * W * C, sizeof *out);
            assert_non_null(out);
            decoder_resample(g, H, W, out);
            for (size_t k = 0; k < H * W * C; k++) {
                assert_near(out[k], behind(g, H, W, k / C / W, k / C % W, k % C), 1e-12);
            }
            free(out);
        }
        double *same = calloc(p->features, sizeof *same);
        assert_non_null(same);
        decoder_resample(g, sizes[s].height, sizes[s].across, same);
        assert_memory_equal(same, g->backdrop, p->features * sizeof *same);
        free(same);
        lscm_posterior_free(p);
    }
}

/* Far from 0, gelu is u or 0, and never NaN. */
static void far_inputs_are_harmless(void **state)
{
    const made_size m = {1, 4, 2, 2, 2, 1};
    static const double far[] = {-1e150, -1e5, 1e5, 1e150};
    (void)state;
    lscm_posterior *p = made_positions(1, 1, &m);
    double scratch[2048];
    double x[4];
    assert_true(decoder_scratch(&p->decode, 1) <= 2048);
    for (size_t k = 0; k < 4; k++) {
        decoder_apply(&p->decode, 1, &far[k], scratch, x);
        for (size_t i = 0; i < 4; i++) {
            double wanted = colour(&p->decode, &far[k], 2, 2, i / 2, i % 2, 0);
            assert_near(x[i], wanted, 1e-12 * (1 + fabs(wanted)));
        }
    }
    lscm_posterior_free(p);
}

static void large_pictures_are_made_a_few_at_a_time(void **state)
{
    (void)state;
    decoder g = {.kind = DECODER_POSITIONS, .layers = 2, .sizes = {5, 8, 4}};
    g.height = g.width = 1024;
    assert_int_equal(decoder_round(&g, 1000, 64), 1);
    assert_true(decoder_tiles_scratch(&g, 64) < 1 << 20);
    g.height = g.width = 64;
    assert_int_equal(decoder_round(&g, 1000, 64), 256);
    assert_int_equal(decoder_round(&g, 10, 64), 10);
    g.height = g.width = 1;
    assert_int_equal(decoder_round(&g, 100000, 2), 256);
}

/* ---- Runs on disk ---- */

static void a_run_comes_back_bit_for_bit(void **state)
{
    (void)state;
    for (size_t s = 0; s < SIZES; s++) {
        lscm_posterior *p = made_positions(4, 6, &sizes[s]);
        lscm_posterior *back = NULL;
        if (sizes[s].channels == 1 && s > 0) { /* said, or not */
            p->x_ndim = 4;
            p->x_dims[2] = 1;
        }
        assert_ok(posterior_save(p, home, &why));
        assert_ok(lscm_posterior_open(&back, home, &why));
        const decoder *a = &p->decode;
        const decoder *b = &back->decode;
        assert_int_equal(b->kind, DECODER_POSITIONS);
        assert_int_equal(b->biases, BIASES_ALL);
        assert_int_equal(b->between, DECODER_GELU);
        assert_int_equal(b->layers, a->layers);
        assert_memory_equal(b->sizes, a->sizes, sizeof a->sizes);
        assert_int_equal(b->height, a->height);
        assert_int_equal(b->width, a->width);
        assert_int_equal(back->features, p->features);
        assert_int_equal(back->x_ndim, p->x_ndim);
        assert_memory_equal(b->weights, a->weights, decoder_weights(a) * sizeof(double));
        assert_memory_equal(b->bias, a->bias, decoder_bias_count(a) * sizeof(double));
        assert_memory_equal(b->backdrop, a->backdrop, p->features * sizeof(double));
        assert_near(b->x_noise, a->x_noise, 0);
        lscm_posterior_free(back);
        lscm_posterior_free(p);
    }
}

typedef void (*spoil_fn)(lscm_posterior *p);

static void spoil_backdrop(lscm_posterior *p)
{
    p->decode.backdrop[7] = NAN;
}

static void spoil_weights(lscm_posterior *p)
{
    p->decode.weights[7] = INFINITY;
}

static void spoil_height(lscm_posterior *p)
{
    p->decode.height--;
}

static void spoil_width(lscm_posterior *p)
{
    p->decode.width /= 2;
}

static void spoil_size(lscm_posterior *p)
{
    p->x_dims[0] *= 2;
    p->x_dims[1] /= 2;
    p->decode.width = 10; /* and x is 26 x 10 */
}

static void spoil_channels(lscm_posterior *p)
{
    p->x_dims[2] = 1;
}

static void spoil_many_channels(lscm_posterior *p)
{
    p->x_dims[2] = 5;
}

static void spoil_vector(lscm_posterior *p)
{
    p->x_ndim = 2;
}

static void spoil_activation(lscm_posterior *p)
{
    p->decode.between = DECODER_RELU;
}

static void spoil_biases(lscm_posterior *p)
{
    p->decode.biases = BIASES_LAST;
}

static void spoil_inner(lscm_posterior *p)
{
    p->decode.sizes[2] = 2;
}

static void spoil_inputs(lscm_posterior *p)
{
    p->decode.sizes[0] = 4;
}

static void spoil_layers(lscm_posterior *p)
{
    p->decode.sizes[1] = 3;
    p->decode.layers = 1;
}

static void damaged_runs_are_refused(void **state)
{
    static const struct {
        spoil_fn spoil;
        lscm_status code;
        const char *part;
    } cases[] = {
        {spoil_backdrop, LSCM_VALUE, "'backdrop' is"},
        {spoil_weights, LSCM_VALUE, "'decoder' is"},
        {spoil_height, LSCM_SHAPE, "backdrop of 12 x 21 x 3) does not fit x of 13 x 21 x 3"},
        {spoil_width, LSCM_SHAPE, "backdrop of 13 x 10 x 3) does not fit x of 13 x 21 x 3"},
        {spoil_size, LSCM_SHAPE, "backdrop of 13 x 10 x 3) does not fit x of 26 x 10 x 3"},
        {spoil_channels, LSCM_SHAPE, "3 channels, with a backdrop of 13 x 21 x 3) does not fit"},
        {spoil_many_channels, LSCM_SHAPE, "1 to 4 channels; x is no such picture"},
        {spoil_vector, LSCM_SHAPE, "x is no such picture"},
        {spoil_activation, LSCM_SHAPE, "of one width, with biases and gelu"},
        {spoil_biases, LSCM_SHAPE, "of one width, with biases and gelu"},
        {spoil_inner, LSCM_SHAPE, "of one width"},
        {spoil_inputs, LSCM_SHAPE, "takes 4 inputs; 6 are there"},
        {spoil_layers, LSCM_SHAPE, "two layers or more"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        lscm_posterior *back = NULL;
        lscm_posterior *p = made_positions(2, 3, &sizes[2]);
        cases[k].spoil(p);
        assert_ok(posterior_save(p, home, &why));
        assert_fails(lscm_posterior_open(&back, home, &why), cases[k].code, cases[k].part);
        assert_null(back);
        lscm_posterior_free(p);
    }
}

static void absurd_backdrops_are_refused(void **state)
{
    (void)state;
    lscm_posterior *p = made_positions(1, 1, &sizes[0]);
    double *backdrop = p->decode.backdrop;
    assert_int_equal(posterior_add_backdrop(p, SIZE_MAX / 2, 3, 1, &why), LSCM_MEMORY);
    assert_int_equal(posterior_add_backdrop(p, SIZE_MAX / 8, 1, 1, &why), LSCM_MEMORY);
    assert_ptr_equal(p->decode.backdrop, backdrop);
    lscm_posterior_free(p);
}

/* ---- What is asked of them ---- */

enum { ROWS = 7 };

/* The same rows of z at any size, and x of it at that size, in any blocks, by any threads, after
 * the run is gone. */
static void pictures_of_any_size(void **state)
{
    static const size_t wanted[][2] = {{0, 0}, {13, 21}, {8, 8}, {29, 12}};
    const uint8_t targets[] = {0, 1, 0, 0};
    const double values[] = {0, 2, 0, 0};
    double z[2][ROWS * 4];
    float *first = NULL; /* as fitted */
    (void)state;
    for (size_t s = 0; s < 4; s++) {
        size_t H = s > 0 ? wanted[s][0] : 13;
        size_t W = s > 0 ? wanted[s][1] : 21;
        size_t D = H * W * 3;
        float *x = calloc(2 * ROWS * D, sizeof *x);
        assert_non_null(x);
        lscm_posterior *p = made_positions(5, 1, &sizes[2]);
        for (int threads = 1; threads < 4; threads += 2) {
            lscm_dataset *data = NULL;
            lscm_posterior *copy = made_positions(5, 1, &sizes[2]);
            lscm_set_threads(threads);
            if (s == 0) {
                assert_ok(lscm_posterior_sample(&data, copy, targets, values, ROWS, 3, &why));
            } else {
                assert_ok(
                    lscm_posterior_sample_sized(&data, copy, targets, values, ROWS, H, W, 3, &why));
            }
            lscm_posterior_free(copy);
            lscm_shape shape = lscm_dataset_shape(data, LSCM_X);
            assert_int_equal(shape.ndim, 4);
            assert_int_equal(shape.dims[1], H);
            assert_int_equal(shape.dims[2], W);
            assert_int_equal(shape.dims[3], 3);
            assert_string_equal(shape.dtype, "float32");
            assert_ok(lscm_dataset_read(data, LSCM_Z, 0, ROWS, z[s > 0], &why));
            assert_memory_equal(z[s > 0], z[0], sizeof z[0]);
            float *out = threads == 1 ? x : x + ROWS * D;
            size_t cut = threads == 1 ? ROWS : 3;
            assert_ok(dataset_read_raw(data, LSCM_X, cut % ROWS, ROWS - cut % ROWS,
                                       out + cut % ROWS * D, &why));
            assert_ok(dataset_read_raw(data, LSCM_X, 0, cut, out, &why));
            lscm_dataset_free(data);
        }
        assert_memory_equal(x, x + ROWS * D, ROWS * D * sizeof *x);
        for (size_t k = 0; k < ROWS * D; k += 5) {
            size_t pixel = k % D / 3;
            double plain = colour(&p->decode, z[0] + k / D * 4, H, W, pixel / W, pixel % W, k % 3);
            assert_near(x[k], plain, 1e-7 * (1 + fabs(plain)));
        }
        if (s == 0) {
            first = x;
        } else {
            assert_true(s != 1 || memcmp(x, first, ROWS * D * sizeof *x) == 0);
            free(x);
        }
        lscm_posterior_free(p);
    }
    free(first);
}

static void other_sizes_and_runs_are_refused(void **state)
{
    static const size_t bad[][2] = {{7, 64},    {64, 7}, {1025, 64},
                                    {64, 1025}, {0, 0},  {SIZE_MAX, 9}};
    const uint8_t targets[] = {0, 0, 0, 0};
    const double values[] = {0, 0, 0, 0};
    lscm_dataset *data = NULL;
    (void)state;
    lscm_posterior *p = made_positions(2, 1, &sizes[2]);
    for (size_t k = 0; k < 6; k++) {
        assert_fails(lscm_posterior_sample_sized(&data, p, targets, values, 1, bad[k][0], bad[k][1],
                                                 0, &why),
                     LSCM_USAGE, "each side has 8 to 1024 pixels");
        assert_null(data);
    }
    assert_fails(lscm_posterior_sample_sized(&data, p, targets, values, 0, 9, 9, 0, &why),
                 LSCM_USAGE, "at least one");
    lscm_posterior_free(p);
    p = made_linear();
    assert_fails(lscm_posterior_sample_sized(&data, p, targets, values, 1, 64, 64, 0, &why),
                 LSCM_USAGE, "only the decoder 'positions'");
    assert_null(data);
    lscm_posterior_free(p);
}

/* decode gives x in double; evaluate its distance from pictures that are off by a known amount. */
static void decoded_and_scored(void **state)
{
    enum { MANY = 150 };
    const made_size *m = &sizes[1];
    lscm_scores scores;
    (void)state;
    lscm_posterior *p = made_positions(3, MANY, m);
    size_t D = p->features;
    lscm_dataset *data = made_new();
    double *seen = made_field(data, LSCM_X, DTYPE_FLOAT64, MANY, m->height, m->across, m->channels);
    double *w = made_field(data, LSCM_W, DTYPE_FLOAT64, m->d, m->d, 0, 0);
    (void)made_field(data, LSCM_TARGETS, DTYPE_UINT8, MANY, m->d, 0, 0);
    double *x = calloc(2 * MANY * D, sizeof *x);
    assert_non_null(x);
    lscm_set_threads(1);
    assert_ok(lscm_posterior_decode(p, MANY, p->z, x, &why));
    lscm_set_threads(2);
    assert_ok(lscm_posterior_decode(p, MANY, p->z, x + MANY * D, &why));
    assert_memory_equal(x, x + MANY * D, MANY * D * sizeof *x);
    for (size_t row = 0; row < MANY; row++) {
        for (size_t k = 0; k < D; k++) {
            size_t pixel = k / m->channels;
            double plain = colour(&p->decode, p->z + row * m->d, m->height, m->across,
                                  pixel / m->across, pixel % m->across, k % m->channels);
            seen[row * D + k] = plain + (k % 2 == 0 ? 0.5 : -0.25);
            assert_near(x[row * D + k], plain, 1e-12 * (1 + fabs(plain)));
        }
    }
    w[0] = 0;
    assert_ok(lscm_posterior_evaluate(&scores, p, data, &why));
    double even = (double)((D + 1) / 2) / (double)D;
    assert_near(scores.x_mse, 0.25 * even + 0.0625 * (1 - even), 1e-12);
    free(x);
    lscm_dataset_free(data);
    lscm_posterior_free(p);
}

/* A decoder of positions answers for a pixel at a time, which took hours of a million pictures: of
 * more than 2^24 pixels every second picture is scored, of more than twice that every third. */
static void of_many_pixels_some_are_scored(void **state)
{
    enum { SIDE = 256, PICTURES = SIDE + 1, PIXELS = SIDE * SIDE };
    const made_size m = {1, 2, 2, SIDE, SIDE, 1};
    lscm_scores scores;
    (void)state;
    lscm_posterior *p = made_positions(2, PICTURES, &m);
    lscm_dataset *data = made_new();
    uint8_t *seen = made_field(data, LSCM_X, DTYPE_UINT8, PICTURES, SIDE, SIDE, 1);
    (void)made_field(data, LSCM_W, DTYPE_FLOAT64, m.d, m.d, 0, 0);
    (void)made_field(data, LSCM_TARGETS, DTYPE_UINT8, PICTURES, m.d, 0, 0);
    double *x = calloc(PIXELS, sizeof *x);
    double sum = 0;
    assert_non_null(x);
    for (size_t row = 0; row < PICTURES; row++) {
        memset(seen + row * PIXELS, row % 2 == 0 ? 3 : 200, PIXELS);
        if (row % 2 == 0) {
            assert_ok(lscm_posterior_decode(p, 1, p->z + row * m.d, x, &why));
            for (size_t k = 0; k < PIXELS; k++) {
                sum += (x[k] - 3) * (x[k] - 3) / PIXELS;
            }
        }
    }
    assert_ok(lscm_posterior_evaluate(&scores, p, data, &why));
    assert_near(scores.x_mse, sum / (SIDE / 2 + 1), 1e-10 * sum);
    free(x);
    lscm_dataset_free(data);
    lscm_posterior_free(p);
}

/* 20 x 28 in colours that are nearly those of light: the first pixel is beyond it. */
static lscm_posterior *made_scene(void)
{
    const made_size m = {3, 8, 3, 20, 28, 3};
    lscm_posterior *p = made_positions(6, 40, &m);
    decoder *g = &p->decode;
    double *last = g->weights + decoder_weights(g) - g->sizes[2] * 3;
    for (size_t k = 0; k < g->sizes[2] * 3; k++) {
        last[k] *= 0.01;
    }
    memset(g->bias + decoder_bias_count(g) - 3, 0, 3 * sizeof *g->bias);
    for (size_t k = 0; k < p->features; k++) {
        g->backdrop[k] = 0.1 + 0.8 * (double)(k % 84) / 84;
    }
    g->backdrop[0] = -0.05;
    g->backdrop[1] = 1.05;
    return p;
}

/* A little beyond black and white is black and white in a folder of pictures; far beyond is not. */
static void pictures_a_little_beyond_light(void **state)
{
    enum { MANY = 3, NUMBERS = 20 * 28 * 3 };
    const uint8_t targets[] = {1, 0, 0};
    const double values[] = {1.5, 0, 0};
    const double far[] = {1e4, 0, 0};
    static double x[MANY * NUMBERS];
    static double back[MANY * NUMBERS];
    lscm_dataset *data = NULL;
    lscm_dataset *seen = NULL;
    (void)state;
    lscm_posterior *p = made_scene();
    assert_ok(lscm_posterior_sample(&data, p, targets, values, MANY, 0, &why));
    assert_ok(lscm_dataset_read(data, LSCM_X, 0, MANY, x, &why));
    assert_ok(lscm_dataset_save(data, at("seen.pngs"), false, NULL, &why));
    assert_ok(lscm_dataset_open(&seen, at("seen.pngs"), NULL, &why));
    assert_ok(lscm_dataset_read(seen, LSCM_X, 0, MANY, back, &why));
    assert_true(x[0] < -0.01 && x[1] > 1.01);
    for (size_t k = 0; k < (size_t)MANY * NUMBERS; k++) {
        assert_near(back[k], fmin(fmax(x[k], 0), 1), 1e-5);
    }
    lscm_dataset_free(seen);
    lscm_dataset_free(data);
    assert_ok(lscm_posterior_sample(&data, p, targets, far, MANY, 0, &why));
    assert_fails(lscm_dataset_save(data, at("far.pngs"), false, NULL, &why), LSCM_VALUE,
                 "a picture holds numbers from 0 (black) to 1 (white)");
    lscm_dataset_free(data);
    lscm_posterior_free(p);
}

static int make_run(const char *folder)
{
    lscm_posterior *p = made_scene();
    p->summary = strdup("{\"method\": \"anchored\", \"decoder\": \"positions\", \"seconds\": {}}");
    bool made = mkdir(folder, 0777) == 0 && posterior_save(p, folder, &why) == LSCM_OK;
    lscm_posterior_free(p);
    return made ? 0 : 1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_are_those_of_plain_loops),
        cmocka_unit_test(backdrops_are_sums_of_hats),
        cmocka_unit_test(far_inputs_are_harmless),
        cmocka_unit_test(large_pictures_are_made_a_few_at_a_time),
        TEST_AT_HOME(a_run_comes_back_bit_for_bit),
        TEST_AT_HOME(damaged_runs_are_refused),
        cmocka_unit_test(absurd_backdrops_are_refused),
        cmocka_unit_test(pictures_of_any_size),
        cmocka_unit_test(other_sizes_and_runs_are_refused),
        cmocka_unit_test(decoded_and_scored),
        cmocka_unit_test(of_many_pixels_some_are_scored),
        TEST_AT_HOME(pictures_a_little_beyond_light),
    };
    if (argc == 3 && strcmp(argv[1], "make") == 0) {
        return make_run(argv[2]);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
