/* Encoders to named arrays and back, both by the same table of what there is. Coming back nothing
 * is believed: types and shapes must agree, flags be 0 or 1, indices be inside. */
#include "infer/encoder/stored_encoder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An array: its name and shape, and the pointer to it. */
typedef struct slot {
    const char *name;
    void *at;       /* the address of a pointer to the elements; NULL there: no such array */
    size_t dims[3]; /* 0 ends them */
    dtype type;
    bool optional;
} slot;

static void *get(const slot *s)
{
    void *raw = NULL;
    memcpy(&raw, s->at, sizeof raw);
    return raw;
}

static void set(const slot *s, void *raw)
{
    memcpy(s->at, &raw, sizeof raw);
}

static array_shape shape_of(const slot *s)
{
    array_shape shape = {.present = true, .type = s->type};
    while (shape.ndim < 3 && s->dims[shape.ndim] > 0) {
        shape.dims[shape.ndim] = s->dims[shape.ndim];
        shape.ndim++;
    }
    return shape;
}

/* ---- Into the posterior ---- */

static lscm_status put(lscm_posterior *p, const slot *slots, size_t count, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t k = 0; k < count; k++) {
        array_shape shape = shape_of(&slots[k]);
        const void *from = get(&slots[k]);
        void *to = NULL;
        if (from != NULL && shape.ndim > 0) {
            TRY(posterior_add_encoder(p, slots[k].name, &shape, &to, why));
            memcpy(to, from, shape_bytes(&shape));
        }
    }
done:
    return status;
}

/* Of values that do() set. */
static lscm_status put_range(lscm_posterior *p, const design *s, lscm_error *why)
{
    size_t d = p->d;
    void *raw = NULL;
    const array_shape shape = {true, DTYPE_FLOAT64, 2, {2, d}};
    lscm_status status = posterior_add_encoder(p, "range", &shape, &raw, why);
    double *range = raw;
    for (size_t j = 0; j < d && status == LSCM_OK; j++) {
        bool any = false;
        range[j] = range[d + j] = 0;
        for (size_t row = 0; row < s->rows; row++) {
            if (design_is_set(s, row, j)) {
                double v = design_value(s, row, j);
                range[j] = any && range[j] < v ? range[j] : v;
                range[d + j] = any && range[d + j] > v ? range[d + j] : v;
                any = true;
            }
        }
    }
    return status;
}

enum { LINEAR_SLOTS = 7, KERNEL_SLOTS = 11, NETWORK_SLOTS = 5, NETWORK_NUMBERS = 5 };

static void linear_slots(encoder *e, double **actuator, slot out[LINEAR_SLOTS])
{
    size_t d = e->d;
    size_t r = e->width;
    const slot list[LINEAR_SLOTS] = {
        {"mean", &e->mean, {e->D}, DTYPE_FLOAT64, false},
        {"basis", &e->basis, {e->D, r}, DTYPE_FLOAT64, false},
        {"shift", &e->shift, {d}, DTYPE_FLOAT64, false},
        {"slope", &e->slope, {r, d}, DTYPE_FLOAT64, false},
        {"noise", &e->noise, {d}, DTYPE_FLOAT64, false},
        {"spread", &e->spread, {d, r + 1, r + 1}, DTYPE_FLOAT64, true},
        {"actuator_noise", actuator, {1}, DTYPE_FLOAT64, false},
    };
    memcpy(out, list, sizeof list);
}

static void kernel_slots(kernel_encoder *k, double **scale, slot out[KERNEL_SLOTS])
{
    size_t d = k->d;
    size_t R = k->space.R;
    bool linear = k->space.family == KERNEL_LINEAR;
    const slot list[KERNEL_SLOTS] = {
        {"scale", scale, {1}, DTYPE_FLOAT64, false},
        {"centre", &k->space.centre, {R}, DTYPE_FLOAT64, false},
        {"shift", &k->shift, {d}, DTYPE_FLOAT64, false},
        {"ridge", &k->ridge, {d}, DTYPE_FLOAT64, false},
        {"unit", &k->unit, {d}, DTYPE_FLOAT64, false},
        {"usable", &k->usable, {d}, DTYPE_UINT8, false},
        {"alpha", &k->alpha, {k->m, d}, DTYPE_FLOAT32, false},
        {"inputs", &k->inputs, {k->m, R}, DTYPE_FLOAT32, linear},
        {"sd_first", &k->sd_first, {d + 1}, DTYPE_UINT64, false},
        {"sd_row", &k->sd_row, {k->sd_count}, DTYPE_UINT32, true},
        {"factor", &k->factor, {d, k->m, k->m}, DTYPE_FLOAT32, true},
    };
    memcpy(out, list, sizeof list);
}

/* Numbers in the network, as generator.h has it. */
static size_t generator_count(const generator_inverse *g)
{
    const network_shape shape = generator_layers(g->d, g->hidden, g->R, g->homogeneous);
    return network_count(&shape);
}

/* numbers: hidden, homogeneous, scale, spread, noise2 */
static void generator_slots(generator_inverse *g, double **numbers, size_t parameters,
                            slot out[NETWORK_SLOTS])
{
    const slot list[NETWORK_SLOTS] = {
        {"generator", numbers, {NETWORK_NUMBERS}, DTYPE_FLOAT64, false},
        {"generator_offset", &g->offset, {g->d}, DTYPE_FLOAT64, false},
        {"generator_centre", &g->centre, {g->R}, DTYPE_FLOAT64, false},
        {"generator_wrong", &g->wrong, {g->d}, DTYPE_FLOAT64, false},
        {"generator_parameters", &g->parameters, {parameters}, DTYPE_FLOAT32, false},
    };
    memcpy(out, list, sizeof list);
}

lscm_status encoder_pack_linear(lscm_posterior *p, const linear_view *s, const anchored *a,
                                lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double noise = a->anchor.actuator_noise;
    double *actuator = &noise;
    encoder e = {.d = s->d,
                 .D = s->D,
                 .width = s->rank,
                 .basis = s->basis,
                 .mean = s->mean,
                 .shift = a->shift,
                 .slope = a->slope,
                 .noise = a->anchor.noise,
                 .spread = a->spread};
    slot slots[LINEAR_SLOTS];
    if (s->kind == VIEW_OBSERVED) {
        return LSCM_OK;
    }
    (void)snprintf(p->encoder.kind, sizeof p->encoder.kind, "linear");
    linear_slots(&e, &actuator, slots);
    TRY(put(p, slots, LINEAR_SLOTS, why));
    TRY(put_range(p, &s->design, why));
done:
    return status;
}

lscm_status encoder_pack_nonlinear(lscm_posterior *p, const features *f, const kernel_encoder *k,
                                   const generator_inverse *inverse, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    kernel_encoder kernel = *k;
    double *scale = &kernel.space.scale;
    double *basis = f->basis;
    const slot projection = {"basis", &basis, {f->D, f->R}, DTYPE_FLOAT64, true};
    slot slots[KERNEL_SLOTS];
    (void)snprintf(p->encoder.kind, sizeof p->encoder.kind, "kernel %s",
                   kernel_family_name(k->space.family));
    TRY(put(p, &projection, 1, why));
    kernel_slots(&kernel, &scale, slots);
    TRY(put(p, slots, KERNEL_SLOTS, why));
    TRY(put_range(p, &f->design, why));
    if (inverse != NULL) {
        generator_inverse g = *inverse;
        double numbers[NETWORK_NUMBERS] = {(double)g.hidden, g.homogeneous ? 1 : 0, g.scale,
                                           g.spread, g.noise2};
        double *at = numbers;
        generator_slots(&g, &at, generator_count(&g), slots);
        TRY(put(p, slots, NETWORK_SLOTS, why));
    }
done:
    return status;
}

enum { SHRINK_SLOTS = 2, SHRINK_RULES = 4 };

static void shrink_slots(kernel_shrink *s, slot out[SHRINK_SLOTS])
{
    const slot list[SHRINK_SLOTS] = {
        {"beyond_line", &s->line, {s->R + 1, s->d}, DTYPE_FLOAT64, true},
        {"beyond", &s->rule, {SHRINK_RULES, s->d}, DTYPE_FLOAT64, true}};
    memcpy(out, list, sizeof list);
}

lscm_status encoder_pack_shrink(lscm_posterior *p, const kernel_shrink *s, lscm_error *why)
{
    slot slots[SHRINK_SLOTS];
    kernel_shrink kept = *s;
    shrink_slots(&kept, slots);
    return put(p, slots, SHRINK_SLOTS, why);
}

enum { UNIT_SLOTS = 2 };

static void unit_slots(encoder *e, slot out[UNIT_SLOTS])
{
    const slot list[UNIT_SLOTS] = {{"x_origin", &e->origin, {e->D}, DTYPE_FLOAT64, true},
                                   {"x_unit", &e->unit, {e->D}, DTYPE_FLOAT64, true}};
    memcpy(out, list, sizeof list);
}

lscm_status encoder_pack_units(lscm_posterior *p, const struct column_units *u, lscm_error *why)
{
    slot slots[UNIT_SLOTS];
    if (u == NULL) {
        return LSCM_OK;
    }
    encoder e = {.D = u->D, .origin = u->origin, .unit = u->scale};
    unit_slots(&e, slots);
    return put(p, slots, UNIT_SLOTS, why);
}

/* ---- Out of the posterior ---- */

static const encoder_array *find(const lscm_posterior *p, const char *name)
{
    for (size_t k = 0; k < p->encoder.count; k++) {
        if (strcmp(p->encoder.array[k].name, name) == 0) {
            return &p->encoder.array[k];
        }
    }
    return NULL;
}

static lscm_status fail_unsound(const char *name, lscm_error *why)
{
    return fail(why, LSCM_FORMAT,
                "the encoder of this run is damaged: '%s' is missing or does not fit; fit again",
                name);
}

/* Length of a dimension of an array, or 0. */
static size_t length_of(const lscm_posterior *p, const char *name, int ndim, int dim)
{
    const encoder_array *array = find(p, name);
    return array != NULL && array->shape.ndim == ndim ? array->shape.dims[dim] : 0;
}

static bool fits(const slot *s, const encoder_array *array)
{
    array_shape shape = shape_of(s);
    const uint8_t *flags = array->raw;
    bool good = shape.type == array->shape.type && shape.ndim == array->shape.ndim;
    for (int i = 0; i < shape.ndim && good; i++) {
        good = shape.dims[i] == array->shape.dims[i];
    }
    for (size_t k = 0; good && s->type == DTYPE_UINT8 && k < shape_count(&shape); k++) {
        good = flags[k] <= 1;
    }
    return good;
}

static lscm_status take(const lscm_posterior *p, const slot *slots, size_t count, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t k = 0; k < count; k++) {
        const encoder_array *array = find(p, slots[k].name);
        if (array == NULL ? !slots[k].optional : !fits(&slots[k], array)) {
            TRY(fail_unsound(slots[k].name, why));
        }
        set(&slots[k], array != NULL ? array->raw : NULL);
    }
done:
    return status;
}

static lscm_status take_linear(encoder *e, const lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    slot slots[LINEAR_SLOTS];
    double *actuator = NULL;
    e->kind = ENCODES_LINEAR;
    e->width = length_of(p, "basis", 2, 1);
    linear_slots(e, &actuator, slots);
    TRY(e->width > 0 ? take(p, slots, LINEAR_SLOTS, why) : fail_unsound("basis", why));
    e->actuator_noise = *actuator;
done:
    return status;
}

/* S of each node lies inside sd_row, and that inside the inputs. */
static bool known_is_sound(const kernel_encoder *k)
{
    bool good = k->sd_first[0] == 0;
    for (size_t j = 0; j < k->d && good; j++) {
        good = k->sd_first[j] <= k->sd_first[j + 1] && k->sd_first[j + 1] <= k->sd_count;
    }
    for (size_t i = 0; i < k->sd_count && good; i++) {
        good = k->sd_row[i] < k->m;
    }
    return good;
}

static lscm_status take_generator(encoder *e, const lscm_posterior *p, lscm_error *why)
{
    enum { WIDEST = 1 << 20 };
    lscm_status status = LSCM_OK;
    generator_inverse *g = &e->inverse;
    slot slots[NETWORK_SLOTS];
    double *n = NULL;
    g->d = e->d;
    g->R = e->width;
    generator_slots(g, &n, length_of(p, "generator_parameters", 1, 0), slots);
    TRY(take(p, slots, NETWORK_SLOTS, why));
    bool sound = n[0] >= 1 && n[0] <= WIDEST && n[2] > 0 && n[3] > 0 && n[4] >= 0;
    g->hidden = sound ? (size_t)n[0] : 0;
    g->homogeneous = n[1] != 0;
    g->scale = n[2];
    g->spread = n[3];
    g->noise2 = n[4];
    if (!sound || generator_count(g) != length_of(p, "generator_parameters", 1, 0)) {
        TRY(fail_unsound("generator", why));
    }
    e->inverted = true;
done:
    return status;
}

static lscm_status take_units(encoder *e, const lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    slot slots[UNIT_SLOTS];
    unit_slots(e, slots);
    TRY(take(p, slots, UNIT_SLOTS, why));
    bool sound = (e->origin == NULL) == (e->unit == NULL);
    for (size_t j = 0; j < e->D && sound && e->unit != NULL; j++) {
        sound = e->unit[j] > 0;
    }
    status = sound ? LSCM_OK : fail_unsound("x_unit", why);
done:
    return status;
}

static lscm_status take_shrink(encoder *e, const lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    slot slots[SHRINK_SLOTS];
    e->shrink.d = e->d;
    e->shrink.R = e->width;
    shrink_slots(&e->shrink, slots);
    TRY(take(p, slots, SHRINK_SLOTS, why));
    bool sound = (e->shrink.line == NULL) == (e->shrink.rule == NULL);
    for (size_t k = 0; k < 2 * e->d && sound && e->shrink.rule != NULL; k++) {
        double number = e->shrink.rule[k]; /* a share of 1, then growths */
        sound = number >= 0 && (k >= e->d || number <= 1);
    }
    status = sound ? LSCM_OK : fail_unsound("beyond", why);
done:
    return status;
}

static lscm_status take_kernel(encoder *e, const lscm_posterior *p, kernel_family of,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    kernel_encoder *k = &e->kernel;
    bool linear = of == KERNEL_LINEAR;
    slot slots[KERNEL_SLOTS];
    double *scale = NULL;
    e->kind = ENCODES_KERNEL;
    e->width = length_of(p, "centre", 1, 0);
    k->space = (kernel_space){.family = of, .R = e->width};
    k->d = e->d;
    k->m = length_of(p, "alpha", 2, 0);
    k->sd_count = length_of(p, "sd_row", 1, 0);
    const slot projection = {"basis", &e->basis, {e->D, e->width}, DTYPE_FLOAT64, true};
    kernel_slots(k, &scale, slots);
    TRY(k->m > 0 && e->width > 0 ? LSCM_OK : fail_unsound("alpha", why));
    TRY(take(p, &projection, 1, why));
    TRY(take(p, slots, KERNEL_SLOTS, why));
    k->space.scale = *scale;
    if (e->basis == NULL && e->width != e->D) {
        TRY(fail_unsound("basis", why));
    }
    if (linear ? k->m != e->width + 1 || k->inputs != NULL : !known_is_sound(k)) {
        TRY(fail_unsound("sd_row", why));
    }
    if (!(k->space.scale > 0)) {
        TRY(fail_unsound("scale", why));
    }
    TRY(take_shrink(e, p, why));
    TRY(take_units(e, p, why));
    if (find(p, "generator") != NULL) {
        TRY(take_generator(e, p, why));
    }
done:
    return status;
}

/* "kernel biased"; KERNEL_FAMILIES when it is none of them. */
static kernel_family family_named(const char *kind)
{
    static const char prefix[] = "kernel ";
    size_t length = sizeof prefix - 1;
    size_t k = strncmp(kind, prefix, length) == 0 ? 0 : KERNEL_FAMILIES;
    while (k < KERNEL_FAMILIES &&
           strcmp(kind + length, kernel_family_name((kernel_family)k)) != 0) {
        k++;
    }
    return (kernel_family)k;
}

lscm_status encoder_open(encoder *out, const lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const char *kind = p->encoder.kind;
    encoder e = {.d = p->d, .D = p->features};
    const slot range = {"range", &e.range, {2, p->d}, DTYPE_FLOAT64, true};
    if (kind[0] == '\0' && p->decode.kind == DECODER_IDENTITY) {
        e.width = e.D;
    } else if (kind[0] == '\0') {
        TRY(fail(why, LSCM_MISSING,
                 "this run has no encoder: the method biols never infers z from x, and the "
                 "baselines and older runs do not keep it; fit with --method anchored"));
    } else if (strcmp(kind, "linear") == 0) {
        TRY(take_linear(&e, p, why));
    } else if (family_named(kind) == KERNEL_FAMILIES) {
        TRY(fail(why, LSCM_FORMAT, "the encoder of this run is of the kind '%s', which is unknown",
                 kind));
    } else {
        TRY(take_kernel(&e, p, family_named(kind), why));
    }
    TRY(take(p, &range, 1, why));
    *out = e;
done:
    return status;
}
