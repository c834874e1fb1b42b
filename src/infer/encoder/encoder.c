/* Encoders to named arrays and back, both by the same table of what there is (encoder_slots.h).
 * Coming back flags must be 0 or 1, indices be inside. */
#include "infer/encoder/encoder_slots.h"

#include <stdio.h>
#include <string.h>

/* ---- Into the posterior ---- */

enum { LINEAR_SLOTS = 7, KERNEL_SLOTS = 11, NETWORK_SLOTS = 5, NETWORK_NUMBERS = 5 };

static void linear_slots(encoder *e, double **actuator, encoder_slot out[LINEAR_SLOTS])
{
    size_t d = e->d;
    size_t r = e->width;
    const encoder_slot list[LINEAR_SLOTS] = {
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

static void kernel_slots(kernel_encoder *k, double **scale, encoder_slot out[KERNEL_SLOTS])
{
    size_t d = k->d;
    size_t R = k->space.R;
    bool linear = k->space.family == KERNEL_LINEAR;
    const encoder_slot list[KERNEL_SLOTS] = {
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
                            encoder_slot out[NETWORK_SLOTS])
{
    const encoder_slot list[NETWORK_SLOTS] = {
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
    encoder_slot slots[LINEAR_SLOTS];
    if (s->kind == VIEW_OBSERVED) {
        return LSCM_OK;
    }
    (void)snprintf(p->encoder.kind, sizeof p->encoder.kind, "linear");
    linear_slots(&e, &actuator, slots);
    TRY(encoder_put(p, slots, LINEAR_SLOTS, why));
    TRY(encoder_put_range(p, &s->design, why));
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
    const encoder_slot projection = {"basis", &basis, {f->D, f->R}, DTYPE_FLOAT64, true};
    encoder_slot slots[KERNEL_SLOTS];
    (void)snprintf(p->encoder.kind, sizeof p->encoder.kind, "kernel %s",
                   kernel_family_name(k->space.family));
    TRY(encoder_put(p, &projection, 1, why));
    kernel_slots(&kernel, &scale, slots);
    TRY(encoder_put(p, slots, KERNEL_SLOTS, why));
    TRY(encoder_put_range(p, &f->design, why));
    if (inverse != NULL) {
        generator_inverse g = *inverse;
        double numbers[NETWORK_NUMBERS] = {(double)g.hidden, g.homogeneous ? 1 : 0, g.scale,
                                           g.spread, g.noise2};
        double *at = numbers;
        generator_slots(&g, &at, generator_count(&g), slots);
        TRY(encoder_put(p, slots, NETWORK_SLOTS, why));
    }
done:
    return status;
}

enum { SHRINK_SLOTS = 2, SHRINK_RULES = 4 };

static void shrink_slots(kernel_shrink *s, encoder_slot out[SHRINK_SLOTS])
{
    const encoder_slot list[SHRINK_SLOTS] = {
        {"beyond_line", &s->line, {s->R + 1, s->d}, DTYPE_FLOAT64, true},
        {"beyond", &s->rule, {SHRINK_RULES, s->d}, DTYPE_FLOAT64, true}};
    memcpy(out, list, sizeof list);
}

lscm_status encoder_pack_shrink(lscm_posterior *p, const kernel_shrink *s, lscm_error *why)
{
    encoder_slot slots[SHRINK_SLOTS];
    kernel_shrink kept = *s;
    shrink_slots(&kept, slots);
    return encoder_put(p, slots, SHRINK_SLOTS, why);
}

static encoder_slot alike_slot(size_t d, void *alike)
{
    return (encoder_slot){"alike", alike, {d + 1, d}, DTYPE_FLOAT64, true};
}

lscm_status encoder_pack_alike(lscm_posterior *p, const double *alike, lscm_error *why)
{
    const encoder_slot slot = alike_slot(p->d, &alike);
    return encoder_put(p, &slot, 1, why);
}

enum { UNIT_SLOTS = 2 };

static void unit_slots(encoder *e, encoder_slot out[UNIT_SLOTS])
{
    const encoder_slot list[UNIT_SLOTS] = {{"x_origin", &e->origin, {e->D}, DTYPE_FLOAT64, true},
                                           {"x_unit", &e->unit, {e->D}, DTYPE_FLOAT64, true}};
    memcpy(out, list, sizeof list);
}

lscm_status encoder_pack_units(lscm_posterior *p, const struct column_units *u, lscm_error *why)
{
    encoder_slot slots[UNIT_SLOTS];
    if (u == NULL) {
        return LSCM_OK;
    }
    encoder e = {.D = u->D, .origin = u->origin, .unit = u->scale};
    unit_slots(&e, slots);
    return encoder_put(p, slots, UNIT_SLOTS, why);
}

/* ---- Out of the posterior ---- */

static lscm_status take_linear(encoder *e, const lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    encoder_slot slots[LINEAR_SLOTS];
    double *actuator = NULL;
    e->kind = ENCODES_LINEAR;
    e->width = encoder_length(p, "basis", 2, 1);
    linear_slots(e, &actuator, slots);
    TRY(e->width > 0 ? encoder_take(p, slots, LINEAR_SLOTS, why) : encoder_unsound("basis", why));
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
    encoder_slot slots[NETWORK_SLOTS];
    double *n = NULL;
    g->d = e->d;
    g->R = e->width;
    generator_slots(g, &n, encoder_length(p, "generator_parameters", 1, 0), slots);
    TRY(encoder_take(p, slots, NETWORK_SLOTS, why));
    bool sound = n[0] >= 1 && n[0] <= WIDEST && n[2] > 0 && n[3] > 0 && n[4] >= 0;
    g->hidden = sound ? (size_t)n[0] : 0;
    g->homogeneous = n[1] != 0;
    g->scale = n[2];
    g->spread = n[3];
    g->noise2 = n[4];
    if (!sound || generator_count(g) != encoder_length(p, "generator_parameters", 1, 0)) {
        TRY(encoder_unsound("generator", why));
    }
    e->inverted = true;
done:
    return status;
}

static lscm_status take_units(encoder *e, const lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    encoder_slot slots[UNIT_SLOTS];
    unit_slots(e, slots);
    TRY(encoder_take(p, slots, UNIT_SLOTS, why));
    bool sound = (e->origin == NULL) == (e->unit == NULL);
    for (size_t j = 0; j < e->D && sound && e->unit != NULL; j++) {
        sound = e->unit[j] > 0;
    }
    status = sound ? LSCM_OK : encoder_unsound("x_unit", why);
done:
    return status;
}

static lscm_status take_shrink(encoder *e, const lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    encoder_slot slots[SHRINK_SLOTS];
    e->shrink.d = e->d;
    e->shrink.R = e->width;
    shrink_slots(&e->shrink, slots);
    TRY(encoder_take(p, slots, SHRINK_SLOTS, why));
    bool sound = (e->shrink.line == NULL) == (e->shrink.rule == NULL);
    for (size_t k = 0; k < 2 * e->d && sound && e->shrink.rule != NULL; k++) {
        double number = e->shrink.rule[k]; /* a share of 1, then growths */
        sound = number >= 0 && (k >= e->d || number <= 1);
    }
    status = sound ? LSCM_OK : encoder_unsound("beyond", why);
done:
    return status;
}

static lscm_status take_alike(encoder *e, const lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const encoder_slot slot = alike_slot(e->d, &e->alike);
    TRY(encoder_take(p, &slot, 1, why));
    if (e->alike != NULL && !encoder_finite(p, "alike")) {
        TRY(encoder_unsound("alike", why));
    }
done:
    return status;
}

static lscm_status take_kernel(encoder *e, const lscm_posterior *p, kernel_family of,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    kernel_encoder *k = &e->kernel;
    bool linear = of == KERNEL_LINEAR;
    encoder_slot slots[KERNEL_SLOTS];
    double *scale = NULL;
    e->kind = ENCODES_KERNEL;
    e->width = encoder_length(p, "centre", 1, 0);
    k->space = (kernel_space){.family = of, .R = e->width};
    k->d = e->d;
    k->m = encoder_length(p, "alpha", 2, 0);
    k->sd_count = encoder_length(p, "sd_row", 1, 0);
    const encoder_slot projection = {"basis", &e->basis, {e->D, e->width}, DTYPE_FLOAT64, true};
    kernel_slots(k, &scale, slots);
    TRY(k->m > 0 && e->width > 0 ? LSCM_OK : encoder_unsound("alpha", why));
    TRY(encoder_take(p, &projection, 1, why));
    TRY(encoder_take(p, slots, KERNEL_SLOTS, why));
    k->space.scale = *scale;
    if (e->basis == NULL && e->width != e->D) {
        TRY(encoder_unsound("basis", why));
    }
    if (linear ? k->m != e->width + 1 || k->inputs != NULL : !known_is_sound(k)) {
        TRY(encoder_unsound("sd_row", why));
    }
    if (!(k->space.scale > 0)) {
        TRY(encoder_unsound("scale", why));
    }
    TRY(take_shrink(e, p, why));
    TRY(take_alike(e, p, why));
    TRY(take_units(e, p, why));
    if (encoder_has(p, "generator")) {
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
    const encoder_slot range = {"range", &e.range, {2, p->d}, DTYPE_FLOAT64, true};
    if (kind[0] == '\0' && p->decode.kind == DECODER_IDENTITY) {
        e.width = e.D;
    } else if (kind[0] == '\0') {
        TRY(fail(why, LSCM_MISSING,
                 "this run has no encoder: the method biols never infers z from x, and the "
                 "baselines and older runs do not keep it; fit with --method anchored"));
    } else if (strcmp(kind, "linear") == 0) {
        TRY(take_linear(&e, p, why));
    } else if (strcmp(kind, "pictures") == 0) {
        TRY(encoder_take_sight(&e, p, why));
    } else if (family_named(kind) == KERNEL_FAMILIES) {
        TRY(fail(why, LSCM_FORMAT, "the encoder of this run is of the kind '%s', which is unknown",
                 kind));
    } else {
        TRY(take_kernel(&e, p, family_named(kind), why));
    }
    TRY(encoder_take(p, &range, 1, why));
    *out = e;
done:
    return status;
}
