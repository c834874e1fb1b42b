/* posterior.nc (see run_folder.h), with nothing in it believed: shapes must agree, every draw's
 * order be a permutation that its w follows, and numbers finite (log_p and log_q may be NaN). */
#include "result/store/run_folder.h"

#include "base/order.h"
#include "scm/metrics/metrics.h"
#include "scm/posterior/posterior.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double NOISE_WIDEST = 1e6;

/* Which of the names an attribute of the decoder has; *found is left alone when there is none. */
static lscm_status read_word(const netcdf_file *file, const char *attribute,
                             const char *const *names, size_t count, size_t *found, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    char *word = NULL;
    size_t k = 0;
    TRY(netcdf_arrays_note(file, "decoder", attribute, &word, why));
    while (word != NULL && k < count && strcmp(word, names[k]) != 0) {
        k++;
    }
    if (k == count) {
        TRY(fail(why, LSCM_FORMAT, "%s: the %s of the decoder is '%s', which is unknown",
                 file->path, attribute, word));
    }
    *found = word != NULL ? k : *found;
done:
    free(word);
    return status;
}

static lscm_status read_decoder_kind(const netcdf_file *file, decoder *g, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t kind = SIZE_MAX;
    size_t between = DECODER_GELU; /* old files do not say */
    TRY(read_word(file, "kind", DECODER_NAMES, 5, &kind, why));
    TRY(read_word(file, "activation", ACTIVATION_NAMES, 3, &between, why));
    if (kind == SIZE_MAX) {
        TRY(fail(why, LSCM_FORMAT, "%s: the kind of the decoder is missing", file->path));
    }
    g->kind = (decoder_kind)kind;
    g->between = (decoder_activation)between;
done:
    return status;
}

/* bias_0, bias_1, .. of all layers, or `bias` of the last. */
static lscm_status find_biases(const netcdf_file *file, decoder *g, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    array_shape all;
    array_shape last;
    TRY(netcdf_arrays_shape(file, "decoder", "bias_0", &all, why));
    TRY(netcdf_arrays_shape(file, "decoder", "bias", &last, why));
    if (g->layers > 0) {
        g->biases = all.present ? BIASES_ALL : last.present ? BIASES_LAST : BIASES_NONE;
    }
done:
    return status;
}

typedef struct header {
    size_t draws, d, rows, features;
    bool intercepts, effects; /* old files have none */
    int x_ndim;
    size_t x_dims[3];
    double threshold;
    decoder decode;
} header;

/* Layers of one width, biases in all, GELU, and a backdrop of the shape that x has. */
static lscm_status check_positions(const netcdf_file *file, const header *h, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const decoder *g = &h->decode;
    size_t channels = h->x_ndim == 4 ? h->x_dims[2] : 1;
    array_shape shape;
    if (h->x_ndim < 3 || channels > DECODER_MOST_CHANNELS) {
        TRY(fail(
            why, LSCM_SHAPE,
            "%s: the decoder (positions) makes pictures of 1 to %d channels; x is no such picture",
            file->path, DECODER_MOST_CHANNELS));
    }
    bool good = g->layers > 1 && g->biases == BIASES_ALL && g->between == DECODER_GELU;
    for (size_t k = 1; k < g->layers; k++) {
        good = good && g->sizes[k] == g->sizes[1];
    }
    if (!good) {
        TRY(fail(why, LSCM_SHAPE,
                 "%s: the decoder (positions) needs two layers or more, of one width, with biases "
                 "and gelu",
                 file->path));
    }
    TRY(posterior_array_shape(file, "decoder", "backdrop", 3, &shape, why));
    if (g->sizes[g->layers] != channels || shape.dims[0] != h->x_dims[0] ||
        shape.dims[1] != h->x_dims[1] || shape.dims[2] != channels) {
        TRY(fail(why, LSCM_SHAPE,
                 "%s: the decoder (positions, %zu channels, with a backdrop of %zu x %zu x %zu) "
                 "does not fit x of %zu x %zu x %zu",
                 file->path, g->sizes[g->layers], shape.dims[0], shape.dims[1], shape.dims[2],
                 h->x_dims[0], h->x_dims[1], channels));
    }
done:
    return status;
}

/* The sizes of the layers, which must fit one another, d nodes and x. */
static lscm_status read_layers(const netcdf_file *file, header *h, lscm_error *why)
{
    decoder *g = &h->decode;
    lscm_status status = LSCM_OK;
    size_t count = 0;
    TRY(read_decoder_kind(file, g, why));
    TRY(netcdf_arrays_numbers(file, "decoder", "x_noise", 1, &g->x_noise, &count, why));
    bool placed = g->kind == DECODER_POSITIONS;
    g->sizes[0] = h->d + (placed ? DECODER_PLACE : 0);
    for (size_t k = 0; k < DECODER_MOST_LAYERS; k++) {
        char name[32];
        array_shape shape;
        (void)snprintf(name, sizeof name, "layer_%zu", k);
        TRY(netcdf_arrays_shape(file, "decoder", name, &shape, why));
        if (!shape.present) {
            break;
        }
        TRY(posterior_array_shape(file, "decoder", name, 2, &shape, why));
        if (shape.dims[0] != g->sizes[k]) {
            TRY(fail(why, LSCM_SHAPE, "%s: '%s' of the decoder takes %zu inputs; %zu are there",
                     file->path, name, shape.dims[0], g->sizes[k]));
        }
        g->sizes[++g->layers] = shape.dims[1];
    }
    bool fits = g->kind == DECODER_IDENTITY ? g->layers == 0
                : g->kind == DECODER_LINEAR ? g->layers == 1
                                            : g->layers > 0;
    g->height = placed ? h->x_dims[0] : 0;
    g->width = placed ? h->x_dims[1] : 0;
    TRY(find_biases(file, g, why));
    if (placed) {
        TRY(check_positions(file, h, why));
    }
    if (!fits || decoder_features(g) != h->features || count != 1 ||
        !(g->x_noise >= 0 && g->x_noise <= DBL_MAX)) {
        TRY(fail(why, LSCM_SHAPE,
                 "%s: the decoder (%s, %zu layers to %zu features) does not fit x of %zu features",
                 file->path, DECODER_NAMES[g->kind], g->layers, decoder_features(g), h->features));
    }
done:
    return status;
}

static lscm_status read_x_shape(const netcdf_file *file, header *h, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double dims[3] = {0};
    size_t count = 0;
    TRY(netcdf_arrays_numbers(file, "constant_data", "x_shape", 3, dims, &count, why));
    h->features = 1;
    bool good = count > 0;
    for (size_t i = 0; i < count && good; i++) {
        h->x_dims[i] = dims[i] >= 1 && dims[i] < 1e15 ? (size_t)dims[i] : 0;
        good = h->x_dims[i] > 0 && !__builtin_mul_overflow(h->features, h->x_dims[i], &h->features);
    }
    h->x_ndim = (int)count + 1;
    TRY(netcdf_arrays_numbers(file, "constant_data", "threshold", 1, &h->threshold, &count, why));
    if (!good || count != 1 || !(h->threshold >= 0 && h->threshold <= DBL_MAX)) {
        TRY(fail(why, LSCM_FORMAT,
                 "%s: this is not a posterior of lscm: the attributes x_shape and threshold of "
                 "constant_data are missing or wrong",
                 file->path));
    }
done:
    return status;
}

static lscm_status read_header(const netcdf_file *file, header *h, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    array_shape w;
    array_shape z;
    array_shape intercept;
    array_shape effect;
    TRY(posterior_array_shape(file, "posterior", "w", 4, &w, why));
    h->draws = w.dims[1];
    h->d = w.dims[2];
    if (w.dims[0] != 1) {
        TRY(fail(why, LSCM_SHAPE, "%s: there are %zu chains; lscm reads one", file->path,
                 w.dims[0]));
    }
    TRY(netcdf_arrays_shape(file, "latents", "z", &z, why));
    if (z.present) {
        TRY(posterior_array_shape(file, "latents", "z", 2, &z, why));
        h->rows = z.dims[0];
    }
    TRY(read_x_shape(file, h, why));
    TRY(read_layers(file, h, why));
    TRY(netcdf_arrays_shape(file, "posterior", "intercept", &intercept, why));
    h->intercepts = intercept.present;
    TRY(netcdf_arrays_shape(file, "posterior", "effect", &effect, why));
    h->effects = effect.present;
done:
    return status;
}

/* Laws of noise that are not normal; runs without have none. */
static lscm_status read_noise(const netcdf_file *file, lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const size_t per_node[LSCM_MAX_DIMS] = {1, p->draws, p->d};
    array_shape shape;
    TRY(netcdf_arrays_shape(file, "posterior", "noise_dof", &shape, why));
    if (!shape.present) {
        return LSCM_OK;
    }
    TRY(posterior_add_noise(p, why));
    TRY(posterior_read_array(file, "posterior", "noise_dof", per_node, p->noise.dof, why));
    TRY(posterior_read_array(file, "posterior", "noise_share", per_node, p->noise.share, why));
    TRY(posterior_read_array(file, "posterior", "noise_ratio", per_node, p->noise.ratio, why));
    for (size_t k = 0; k < p->draws * p->d; k++) {
        double ratio = p->noise.ratio[k];
        if (!(p->noise.dof[k] > 2) || !(p->noise.share[k] >= 0 && p->noise.share[k] < 1) ||
            !(ratio >= 1 && ratio <= NOISE_WIDEST)) {
            TRY(fail(why, LSCM_VALUE,
                     "%s: the law of the noise of node %zu in draw %zu is none: 'noise_dof' must "
                     "be above 2, 'noise_share' from 0 to below 1, 'noise_ratio' 1 to %g",
                     file->path, k % p->d, k / p->d, NOISE_WIDEST));
        }
    }
done:
    return status;
}

/* Each draw's order as indices: a permutation that its w follows. `stored` (draws, d). */
static lscm_status take_orders(const netcdf_file *file, lscm_posterior *p, const double *stored,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = p->d;
    size_t *position = calloc(d, sizeof *position);
    if (position == NULL) {
        return fail_memory(why, d * sizeof *position);
    }
    for (size_t s = 0; s < p->draws; s++) {
        size_t *order = p->order + s * d;
        bool good = true;
        for (size_t k = 0; k < d; k++) {
            double node = stored[s * d + k];
            good = good && node >= 0 && node < (double)d && node == floor(node);
            order[k] = good ? (size_t)node : 0;
        }
        if (!good || !order_fits_graph(p->w + s * d * d, d, order, position)) {
            TRY(fail(why, LSCM_VALUE,
                     "%s: 'order' of draw %zu is not an order of its nodes that 'w' follows",
                     file->path, s));
        }
    }
done:
    free(position);
    return status;
}

static lscm_status check_numbers(const netcdf_file *file, const lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = p->d;
    TRY(metrics_check_finite(file->path, "w", p->w, 0, p->draws, d * d, why));
    TRY(metrics_check_finite(file->path, "sigma", p->sigma, 0, p->draws, d, why));
    TRY(metrics_check_finite(file->path, "intercept", p->intercept, 0, p->draws, d, why));
    TRY(metrics_check_finite(file->path, "effect", p->effect, 0, p->draws, d, why));
    TRY(metrics_check_finite(file->path, "edge_prob", p->edge_prob, 0, d, d, why));
    TRY(metrics_check_finite(file->path, "z", p->z, 0, p->rows, d, why));
    TRY(metrics_check_finite(file->path, "z_sd", p->z_sd, 0, p->rows, d, why));
    TRY(metrics_check_finite(file->path, "decoder", p->decode.weights, 0, 1,
                             decoder_weights(&p->decode), why));
    TRY(metrics_check_finite(file->path, "bias", p->decode.bias, 0, 1,
                             decoder_bias_count(&p->decode), why));
    if (p->decode.kind == DECODER_POSITIONS) {
        TRY(metrics_check_finite(file->path, "backdrop", p->decode.backdrop, 0, 1, p->features,
                                 why));
    }
    for (size_t k = 0; k < p->draws * d; k++) {
        if (p->sigma[k] < 0) {
            TRY(fail(why, LSCM_VALUE, "%s: 'sigma' is negative in draw %zu", file->path, k / d));
        }
    }
done:
    return status;
}

static lscm_status read_decoder(const netcdf_file *file, const decoder *g, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double *weights = g->weights;
    for (size_t k = 0; k < g->layers; k++) {
        char name[32];
        (void)snprintf(name, sizeof name, "layer_%zu", k);
        TRY(posterior_read_array(file, "decoder", name,
                                 (const size_t[LSCM_MAX_DIMS]){g->sizes[k], g->sizes[k + 1]},
                                 weights, why));
        weights += g->sizes[k] * g->sizes[k + 1];
    }
    double *bias = g->bias;
    for (size_t k = g->biases == BIASES_ALL ? 0 : g->layers - 1;
         g->biases != BIASES_NONE && k < g->layers; k++) {
        char name[32];
        (void)snprintf(name, sizeof name, g->biases == BIASES_ALL ? "bias_%zu" : "bias", k);
        TRY(posterior_read_array(file, "decoder", name,
                                 (const size_t[LSCM_MAX_DIMS]){g->sizes[k + 1]}, bias, why));
        bias += g->sizes[k + 1];
    }
    if (g->kind == DECODER_POSITIONS) {
        TRY(posterior_read_array(
            file, "decoder", "backdrop",
            (const size_t[LSCM_MAX_DIMS]){g->height, g->width, g->sizes[g->layers]}, g->backdrop,
            why));
    }
done:
    return status;
}

static lscm_status read_all(const netcdf_file *file, const header *h, lscm_posterior *p,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = p->d;
    size_t n = p->draws;
    double *order = malloc(n * d * sizeof *order);
    if (order == NULL) {
        return fail_memory(why, n * d * sizeof *order);
    }
    const size_t per_node[LSCM_MAX_DIMS] = {1, n, d};
    const size_t per_draw[LSCM_MAX_DIMS] = {1, n};
    const size_t per_row[LSCM_MAX_DIMS] = {p->rows, d};
    TRY(posterior_read_array(file, "posterior", "w", (const size_t[LSCM_MAX_DIMS]){1, n, d, d},
                             p->w, why));
    TRY(posterior_read_array(file, "posterior", "sigma", per_node, p->sigma, why));
    if (h->intercepts) {
        TRY(posterior_read_array(file, "posterior", "intercept", per_node, p->intercept, why));
    }
    if (h->effects) {
        TRY(posterior_read_array(file, "posterior", "effect", per_node, p->effect, why));
    }
    TRY(read_noise(file, p, why));
    TRY(posterior_read_array(file, "posterior", "order", per_node, order, why));
    TRY(posterior_read_array(file, "sample_stats", "lp", per_draw, p->log_p, why));
    TRY(posterior_read_array(file, "sample_stats", "log_q", per_draw, p->log_q, why));
    TRY(posterior_read_array(file, "constant_data", "edge_prob",
                             (const size_t[LSCM_MAX_DIMS]){d, d}, p->edge_prob, why));
    if (p->rows > 0) {
        TRY(posterior_read_array(file, "latents", "z", per_row, p->z, why));
        TRY(posterior_read_array(file, "latents", "z_sd", per_row, p->z_sd, why));
    }
    TRY(read_decoder(file, &p->decode, why));
    TRY(posterior_read_encoder(file, p, why));
    TRY(netcdf_arrays_texts(file, "posterior", "node", d, &p->node_names, why));
    TRY(check_numbers(file, p, why));
    TRY(take_orders(file, p, order, why));
    TRY(posterior_read_bent(file, p, why));
done:
    free(order);
    return status;
}

lscm_status posterior_read(lscm_posterior **out, const char *path, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    netcdf_file file = {.id = -1, .path = path, .failure = LSCM_READ};
    lscm_posterior *p = NULL;
    header h = {0};
    *out = NULL;
    TRY(netcdf_open_file(&file, why));
    TRY(read_header(&file, &h, why));
    TRY(posterior_new(&p, h.draws, h.d, h.rows, decoder_weights(&h.decode),
                      decoder_bias_count(&h.decode), why));
    double *weights = p->decode.weights;
    double *bias = p->decode.bias;
    p->features = h.features;
    p->x_ndim = h.x_ndim;
    memcpy(p->x_dims, h.x_dims, sizeof p->x_dims);
    p->threshold = h.threshold;
    p->decode = h.decode;
    p->decode.weights = weights;
    p->decode.bias = bias;
    if (h.decode.kind == DECODER_POSITIONS) {
        TRY(posterior_add_backdrop(p, h.x_dims[0], h.x_dims[1], h.decode.sizes[h.decode.layers],
                                   why));
    }
    TRY(read_all(&file, &h, p, why));
    *out = p;
    p = NULL;
done:
    netcdf_close(&file);
    lscm_posterior_free(p);
    return status;
}
