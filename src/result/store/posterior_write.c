/* posterior.nc: see run_folder.h. */
#include "result/store/run_folder.h"

#include "scm/posterior/posterior.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_ARRAYS = 41 + BENT_ARRAYS + ENCODER_ARRAYS, MOST_ATTRIBUTES = 24, NAME_BYTES = 16 };

const char *const DECODER_NAMES[5] = {[DECODER_LINEAR] = "linear",
                                      [DECODER_MLP] = "mlp",
                                      [DECODER_IMAGE] = "image",
                                      [DECODER_IDENTITY] = "identity",
                                      [DECODER_POSITIONS] = "positions"};
const char *const ACTIVATION_NAMES[3] = {
    [DECODER_GELU] = "gelu", [DECODER_RELU] = "relu", [DECODER_ELU] = "elu"};

typedef struct tables {
    const lscm_posterior *p;
    netcdf_array arrays[MOST_ARRAYS];
    size_t count;
    netcdf_attribute attributes[MOST_ATTRIBUTES];
    size_t noted;
    int64_t *numbers; /* 0, 1, 2, .. : coordinates without names */
    int64_t *order;   /* (draws, d) */
    double *curves;   /* of mechanisms that bend */
    int64_t x_shape[LSCM_MAX_DIMS];
    int32_t version;
    char layer[DECODER_MOST_LAYERS][NAME_BYTES], unit[DECODER_MOST_LAYERS][NAME_BYTES];
    char bias[DECODER_MOST_LAYERS][NAME_BYTES];
    char axis[ENCODER_ARRAYS][LSCM_MAX_DIMS][ENCODER_AXIS];
} tables;

static lscm_status make_numbers(tables *t, lscm_error *why)
{
    const lscm_posterior *p = t->p;
    size_t most = p->draws > p->d ? p->draws : p->d;
    t->numbers = malloc(most * sizeof *t->numbers);
    t->order = malloc(p->draws * p->d * sizeof *t->order);
    if (t->numbers == NULL || t->order == NULL) {
        return fail_memory(why, p->draws * p->d * sizeof *t->order);
    }
    for (size_t k = 0; k < most; k++) {
        t->numbers[k] = (int64_t)k;
    }
    for (size_t k = 0; k < p->draws * p->d; k++) {
        t->order[k] = (int64_t)p->order[k];
    }
    return LSCM_OK;
}

static void add(tables *t, netcdf_array array)
{
    t->arrays[t->count++] = array;
}

static void note(tables *t, netcdf_attribute attribute)
{
    t->attributes[t->noted++] = attribute;
}

/* What stands along an axis, which every group says for itself: xarray looks no further. */
static void add_coordinate(tables *t, const char *group, netcdf_axis axis, bool nodes)
{
    bool named = nodes && t->p->node_names != NULL;
    add(t, (netcdf_array){.group = group,
                          .name = axis.name,
                          .ndim = 1,
                          .axes = {axis},
                          .type = DTYPE_INT64,
                          .raw = named ? NULL : t->numbers,
                          .texts = named ? t->p->node_names : NULL});
}

/* Laws of noise, where any is not normal. */
static void add_noise(tables *t, netcdf_axis chain, netcdf_axis draw, netcdf_axis node)
{
    const noise_shapes *n = &t->p->noise;
    const struct {
        const char *name, *long_name;
        const double *raw;
    } arrays[] = {
        {"noise_dof", "degrees of freedom of Student's noise; infinite: normal, or a mixture",
         n->dof},
        {"noise_share", "share of rows whose noise is wider, in mixtures; 0 elsewhere", n->share},
        {"noise_ratio", "how many times as wide it is there", n->ratio}};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0] && n->dof != NULL; k++) {
        add(t, (netcdf_array){.group = "posterior",
                              .name = arrays[k].name,
                              .ndim = 3,
                              .axes = {chain, draw, node},
                              .type = DTYPE_FLOAT64,
                              .raw = arrays[k].raw,
                              .long_name = arrays[k].long_name});
    }
}

static void add_posterior(tables *t)
{
    const lscm_posterior *p = t->p;
    static const char group[] = "posterior";
    const netcdf_axis chain = {"chain", 1};
    const netcdf_axis draw = {"draw", p->draws};
    const netcdf_axis parent = {"parent", p->d};
    const netcdf_axis child = {"child", p->d};
    const netcdf_axis node = {"node", p->d};
    const netcdf_axis position = {"position", p->d};
    add_coordinate(t, group, chain, false);
    add_coordinate(t, group, draw, false);
    add_coordinate(t, group, parent, true);
    add_coordinate(t, group, child, true);
    add_coordinate(t, group, node, true);
    add_coordinate(t, group, position, false);
    add(t, (netcdf_array){.group = group,
                          .name = "w",
                          .ndim = 4,
                          .axes = {chain, draw, parent, child},
                          .type = DTYPE_FLOAT64,
                          .raw = p->w,
                          .long_name = "edge weights, parent to child"});
    add(t, (netcdf_array){.group = group,
                          .name = "sigma",
                          .ndim = 3,
                          .axes = {chain, draw, node},
                          .type = DTYPE_FLOAT64,
                          .raw = p->sigma,
                          .long_name = "standard deviation of the noise"});
    add(t, (netcdf_array){.group = group,
                          .name = "intercept",
                          .ndim = 3,
                          .axes = {chain, draw, node},
                          .type = DTYPE_FLOAT64,
                          .raw = p->intercept,
                          .long_name = "value of a node whose parents are 0 and noise is 0"});
    add(t, (netcdf_array){.group = group,
                          .name = "effect",
                          .ndim = 3,
                          .axes = {chain, draw, node},
                          .type = DTYPE_FLOAT64,
                          .raw = p->effect,
                          .long_name =
                              "standard deviation of what intervention sets have of their own"});
    add_noise(t, chain, draw, node);
    add(t, (netcdf_array){.group = group,
                          .name = "order",
                          .ndim = 3,
                          .axes = {chain, draw, position},
                          .type = DTYPE_INT64,
                          .raw = t->order,
                          .long_name = "causal order: the node at each position, causes first"});
}

static void add_stats(tables *t)
{
    const lscm_posterior *p = t->p;
    static const char group[] = "sample_stats";
    const netcdf_axis chain = {"chain", 1};
    const netcdf_axis draw = {"draw", p->draws};
    add_coordinate(t, group, chain, false);
    add_coordinate(t, group, draw, false);
    add(t, (netcdf_array){.group = group,
                          .name = "lp",
                          .ndim = 2,
                          .axes = {chain, draw},
                          .type = DTYPE_FLOAT64,
                          .raw = p->log_p,
                          .long_name = "log density of data and draw"});
    add(t, (netcdf_array){.group = group,
                          .name = "log_q",
                          .ndim = 2,
                          .axes = {chain, draw},
                          .type = DTYPE_FLOAT64,
                          .raw = p->log_q,
                          .long_name = "log density of the draw under the approximation"});
}

static void add_constants(tables *t)
{
    const lscm_posterior *p = t->p;
    static const char group[] = "constant_data";
    const netcdf_axis parent = {"parent", p->d};
    const netcdf_axis child = {"child", p->d};
    add_coordinate(t, group, parent, true);
    add_coordinate(t, group, child, true);
    add(t, (netcdf_array){.group = group,
                          .name = "edge_prob",
                          .ndim = 2,
                          .axes = {parent, child},
                          .type = DTYPE_FLOAT64,
                          .raw = p->edge_prob,
                          .long_name = "posterior probability of each edge"});
    for (int i = 0; i + 1 < p->x_ndim; i++) {
        t->x_shape[i] = (int64_t)p->x_dims[i];
    }
    note(t, (netcdf_attribute){.group = group,
                               .name = "x_shape",
                               .type = DTYPE_INT64,
                               .count = (size_t)p->x_ndim - 1,
                               .numbers = t->x_shape});
    note(t, (netcdf_attribute){.group = group,
                               .name = "threshold",
                               .type = DTYPE_FLOAT64,
                               .count = 1,
                               .numbers = &p->threshold});
}

static void add_latents(tables *t)
{
    const lscm_posterior *p = t->p;
    static const char group[] = "latents";
    const netcdf_axis sample = {"sample", p->rows};
    const netcdf_axis node = {"node", p->d};
    if (p->rows == 0) {
        return;
    }
    add_coordinate(t, group, node, true);
    add(t, (netcdf_array){.group = group,
                          .name = "z",
                          .ndim = 2,
                          .axes = {sample, node},
                          .type = DTYPE_FLOAT64,
                          .raw = p->z,
                          .long_name = "causal variables: posterior mean"});
    add(t, (netcdf_array){.group = group,
                          .name = "z_sd",
                          .ndim = 2,
                          .axes = {sample, node},
                          .type = DTYPE_FLOAT64,
                          .raw = p->z_sd,
                          .long_name = "causal variables: posterior standard deviation"});
}

static const char DECODER_GROUP[] = "decoder";

/* What comes out of layer k. */
static netcdf_axis output_of(tables *t, size_t k)
{
    const decoder *g = &t->p->decode;
    (void)snprintf(t->unit[k], NAME_BYTES, "unit_%u", (unsigned)k + 1);
    const char *last = g->kind == DECODER_POSITIONS ? "channel" : "feature";
    return (netcdf_axis){k + 1 == g->layers ? last : t->unit[k], g->sizes[k + 1]};
}

static void add_biases(tables *t)
{
    const decoder *g = &t->p->decode;
    const double *bias = g->bias;
    bool all = g->biases == BIASES_ALL;
    for (size_t k = 0; k < g->layers && g->biases != BIASES_NONE; k++) {
        if (!all && k + 1 < g->layers) {
            continue;
        }
        (void)snprintf(t->bias[k], NAME_BYTES, all ? "bias_%u" : "bias", (unsigned)k);
        add(t, (netcdf_array){.group = DECODER_GROUP,
                              .name = t->bias[k],
                              .ndim = 1,
                              .axes = {output_of(t, k)},
                              .type = DTYPE_FLOAT64,
                              .raw = bias,
                              .long_name = all ? "added to the output of a layer"
                                               : "added to the output of the last layer"});
        bias += g->sizes[k + 1];
    }
}

static void add_decoder(tables *t)
{
    const decoder *g = &t->p->decode;
    const double *weights = g->weights;
    const char *group = DECODER_GROUP;
    bool placed = g->kind == DECODER_POSITIONS;
    netcdf_axis in = {placed ? "input" : "node", g->sizes[0]};
    if (g->layers > 0 && !placed) {
        add_coordinate(t, group, in, true);
    }
    for (size_t k = 0; k < g->layers; k++) {
        netcdf_axis out = output_of(t, k);
        (void)snprintf(t->layer[k], NAME_BYTES, "layer_%u", (unsigned)k);
        add(t, (netcdf_array){.group = group,
                              .name = t->layer[k],
                              .ndim = 2,
                              .axes = {in, out},
                              .type = DTYPE_FLOAT64,
                              .raw = weights,
                              .long_name = "weights of a layer, input to output"});
        weights += g->sizes[k] * g->sizes[k + 1];
        in = out;
    }
    add_biases(t);
    if (placed) {
        add(t, (netcdf_array){.group = group,
                              .name = "backdrop",
                              .ndim = 3,
                              .axes = {{"height", g->height},
                                       {"width", g->width},
                                       {"channel", g->sizes[g->layers]}},
                              .type = DTYPE_FLOAT64,
                              .raw = g->backdrop,
                              .long_name = "picture that the network's output is added to"});
    }
    note(t, (netcdf_attribute){.group = group, .name = "kind", .text = DECODER_NAMES[g->kind]});
    if (g->kind == DECODER_MLP || g->kind == DECODER_IMAGE || placed) {
        note(t, (netcdf_attribute){
                    .group = group, .name = "activation", .text = ACTIVATION_NAMES[g->between]});
    }
    note(t, (netcdf_attribute){.group = group,
                               .name = "x_noise",
                               .type = DTYPE_FLOAT64,
                               .count = 1,
                               .numbers = &g->x_noise});
}

static void add_encoder(tables *t)
{
    const encoder_store *e = &t->p->encoder;
    if (e->kind[0] == '\0') {
        return;
    }
    note(t, posterior_encoder_kind(e));
    for (size_t k = 0; k < e->count; k++) {
        add(t, posterior_encoder_array(&e->array[k], t->axis[k]));
    }
}

/* Where no node bends in any draw, the file is as it was before there were such. */
static lscm_status add_mechanisms(tables *t, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const bent_mechanisms *bent = t->p->bent;
    netcdf_array arrays[BENT_ARRAYS];
    if (bent == NULL || bent->terms == 0) {
        return LSCM_OK;
    }
    TRY(posterior_bent_arrays(bent, &t->curves, arrays, why));
    add_coordinate(t, arrays[0].group, (netcdf_axis){"node", bent->d}, true);
    for (size_t k = 0; k < BENT_ARRAYS; k++) {
        add(t, arrays[k]);
    }
done:
    return status;
}

/* ArviZ looks for the library in each of its groups. */
static void note_library(tables *t)
{
    static const char *const groups[] = {"", "posterior", "sample_stats"};
    t->version = NETCDF_FORMAT_VERSION;
    note(t, (netcdf_attribute){.group = "", .name = "title", .text = "lscm posterior"});
    note(t, (netcdf_attribute){.group = "",
                               .name = "format_version",
                               .type = DTYPE_INT32,
                               .count = 1,
                               .numbers = &t->version});
    for (size_t i = 0; i < 3; i++) {
        note(t,
             (netcdf_attribute){.group = groups[i], .name = "inference_library", .text = "lscm"});
        note(t, (netcdf_attribute){.group = groups[i],
                                   .name = "inference_library_version",
                                   .text = lscm_version()});
    }
}

lscm_status posterior_write(const lscm_posterior *p, const char *to, const char *what,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    tables *t = calloc(1, sizeof *t);
    if (t == NULL) {
        return fail_memory(why, sizeof *t);
    }
    t->p = p;
    TRY(make_numbers(t, why));
    note_library(t);
    add_posterior(t);
    add_stats(t);
    add_constants(t);
    add_latents(t);
    add_decoder(t);
    add_encoder(t);
    TRY(add_mechanisms(t, why));
    const netcdf_content content = {t->arrays, t->count, t->attributes, t->noted};
    TRY(netcdf_arrays_write(&content, to, what, why));
done:
    free(t->numbers);
    free(t->order);
    free(t->curves);
    free(t);
    return status;
}
