/* Decoders against plain loops, against values of jax.nn.gelu and the logistic function, and one
 * network by hand. */
#include "made_posterior.h"

#include "scm/posterior/posterior.h"

#include "testing.h"

static double gelu(double u)
{
    return u / (1 + exp(-2 * sqrt(2 / 3.14159265358979323846) * (u + 0.044715 * u * u * u)));
}

/* x (D) of one z, layer by layer; g has at most 64 units anywhere. */
static void decode_plainly(const decoder *g, const double *z, double *x)
{
    double in[64];
    double out[64];
    const double *weights = g->weights;
    const double *bias = g->bias;
    memcpy(in, z, g->sizes[0] * sizeof *in);
    for (size_t k = 0; k < g->layers; k++) {
        bool last = k + 1 == g->layers;
        bool biased = g->biases == BIASES_ALL || (g->biases == BIASES_LAST && last);
        for (size_t to = 0; to < g->sizes[k + 1]; to++) {
            out[to] = biased ? *bias++ : 0;
            for (size_t from = 0; from < g->sizes[k]; from++) {
                out[to] += in[from] * weights[from * g->sizes[k + 1] + to];
            }
            double f = g->between == DECODER_RELU  ? fmax(out[to], 0)
                       : g->between == DECODER_ELU ? (out[to] > 0 ? out[to] : exp(out[to]) - 1)
                                                   : gelu(out[to]);
            out[to] = last ? out[to] : f;
        }
        weights += g->sizes[k] * g->sizes[k + 1];
        memcpy(in, out, sizeof in);
    }
    for (size_t i = 0; i < decoder_features(g); i++) {
        x[i] = g->kind == DECODER_IMAGE ? 1 / (1 + exp(-in[i])) : in[i];
    }
}

enum { MOST = 40 };
static const size_t hidden[] = {16, 7, 9, 0};

static decoder with(decoder_kind kind, decoder_activation between, decoder_biases biases)
{
    decoder g = made_decoder(kind, 3, hidden, MOST);
    g.between = between;
    g.biases = biases;
    return g;
}

static void every_kind_matches_plain_loops(void **state)
{
    enum { ROWS = 131 };
    static const size_t none[] = {0};
    static double z[2 * DECODER_TILE * 3];
    static double x[2 * DECODER_TILE * MOST];
    static double tiled[2 * DECODER_TILE * MOST];
    (void)state;
    const decoder kinds[] = {
        made_decoder(DECODER_IDENTITY, 3, none, 3),   made_decoder(DECODER_LINEAR, 3, none, MOST),
        made_decoder(DECODER_MLP, 3, hidden, MOST),   made_decoder(DECODER_MLP, 3, none, 5),
        made_decoder(DECODER_IMAGE, 3, hidden, MOST), with(DECODER_MLP, DECODER_RELU, BIASES_ALL),
        with(DECODER_MLP, DECODER_RELU, BIASES_NONE), with(DECODER_MLP, DECODER_GELU, BIASES_ALL),
        with(DECODER_MLP, DECODER_RELU, BIASES_LAST), with(DECODER_MLP, DECODER_ELU, BIASES_ALL),
        with(DECODER_IMAGE, DECODER_RELU, BIASES_ALL)};
    lcg random = {5};
    for (size_t k = 0; k < ROWS * 3; k++) {
        z[k] = lcg_normal(&random);
    }
    for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
        lscm_posterior *p = made_posterior(1, 1, &kinds[kind]);
        const decoder *g = &p->decode;
        size_t D = decoder_features(g);
        double *scratch =
            calloc(decoder_scratch(g, ROWS) + decoder_tiles_scratch(g, 2) + 1, sizeof *scratch);
        assert_non_null(scratch);
        decoder_apply(g, ROWS, z, scratch, x);
        decoder_apply_tiles(g, 2, z, 2, scratch, tiled);
        for (size_t row = 0; row < ROWS; row++) {
            double wanted[64];
            decode_plainly(g, z + row * 3, wanted);
            for (size_t i = 0; i < D; i++) {
                assert_near(x[row * D + i], wanted[i], 1e-12 * (1 + fabs(wanted[i])));
                assert_near(tiled[row * D + i], wanted[i], 1e-12 * (1 + fabs(wanted[i])));
            }
        }
        free(scratch);
        lscm_posterior_free(p);
    }
}

/* One number through two layers of weight 1: jax.nn.gelu, in double precision. */
static void gelu_is_that_of_jax(void **state)
{
    static const double pairs[][2] = {{0, 0},
                                      {1, 0.84119199060827676},
                                      {-1, -0.15880800939172324},
                                      {0.5, 0.34571400982514394},
                                      {-3, -0.0036373920817729943},
                                      {20, 20}};
    static const size_t one[] = {1, 0};
    double weights[2] = {1, 1};
    (void)state;
    decoder g = made_decoder(DECODER_MLP, 1, one, 1);
    g.weights = weights;
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
        double scratch[2];
        double x = NAN;
        decoder_apply(&g, 1, &pairs[k][0], scratch, &x);
        assert_near(x, pairs[k][1], 1e-15);
    }
}

/* z = (1, -2): layer 0 (1 2; 3 1) + (1, -1) gives (-4, -1) -> 0, 0; z = (2, 1): (6, 4). Then
 * (1 0 -1; 2 1 0) + (0.5, 0.25, -1). */
static void relu_and_biases_by_hand(void **state)
{
    static const size_t two[] = {2, 0};
    static const double z[] = {1, -2, 2, 1};
    static const double wanted[] = {0.5, 0.25, -1, 14.5, 4.25, -7};
    double weights[] = {1, 2, 3, 1, 1, 0, -1, 2, 1, 0};
    double biases[] = {1, -1, 0.5, 0.25, -1};
    double scratch[8];
    double x[6];
    (void)state;
    decoder g = made_decoder(DECODER_MLP, 2, two, 3);
    g.between = DECODER_RELU;
    g.biases = BIASES_ALL;
    g.weights = weights;
    g.bias = biases;
    assert_int_equal(decoder_bias_count(&g), 5);
    assert_true(decoder_scratch(&g, 2) <= 8);
    decoder_apply(&g, 2, z, scratch, x);
    for (size_t k = 0; k < 6; k++) {
        assert_near(x[k], wanted[k], 1e-15);
    }
    g.biases = BIASES_LAST;
    assert_int_equal(decoder_bias_count(&g), 3);
    g.biases = BIASES_NONE;
    assert_int_equal(decoder_bias_count(&g), 0);
}

static void pictures_stay_between_black_and_white(void **state)
{
    static const double pairs[][2] = {
        {0, 0.5}, {2, 0.88079707797788244}, {-2, 0.11920292202211756}, {-800, 0}, {800, 1}};
    static const size_t none[] = {0};
    double weight = 1;
    (void)state;
    decoder g = made_decoder(DECODER_IMAGE, 1, none, 1);
    g.weights = &weight;
    for (size_t k = 0; k < sizeof pairs / sizeof pairs[0]; k++) {
        double x = NAN;
        decoder_apply(&g, 1, &pairs[k][0], NULL, &x);
        assert_near(x, pairs[k][1], 1e-15);
    }
}

static void sizes_that_do_not_fit_are_seen(void **state)
{
    (void)state;
    decoder g = {.kind = DECODER_LINEAR, .layers = 1, .sizes = {SIZE_MAX / 2, 3}};
    assert_true(decoder_weights(&g) == SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_matches_plain_loops),
        cmocka_unit_test(gelu_is_that_of_jax),
        cmocka_unit_test(relu_and_biases_by_hand),
        cmocka_unit_test(pictures_stay_between_black_and_white),
        cmocka_unit_test(sizes_that_do_not_fit_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
