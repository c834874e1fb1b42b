/* See encoder_slots.h. */
#include "infer/encoder/encoder_slots.h"

#include <string.h>

static void *get(const encoder_slot *s)
{
    void *raw = NULL;
    memcpy(&raw, s->at, sizeof raw);
    return raw;
}

static void set(const encoder_slot *s, void *raw)
{
    memcpy(s->at, &raw, sizeof raw);
}

static array_shape shape_of(const encoder_slot *s)
{
    array_shape shape = {.present = true, .type = s->type};
    while (shape.ndim < 3 && s->dims[shape.ndim] > 0) {
        shape.dims[shape.ndim] = s->dims[shape.ndim];
        shape.ndim++;
    }
    return shape;
}

/* ---- Into the posterior ---- */

lscm_status encoder_put(lscm_posterior *p, const encoder_slot *slots, size_t count, lscm_error *why)
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
lscm_status encoder_put_range(lscm_posterior *p, const design *s, lscm_error *why)
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

lscm_status encoder_unsound(const char *name, lscm_error *why)
{
    return fail(why, LSCM_FORMAT,
                "the encoder of this run is damaged: '%s' is missing or does not fit; fit again",
                name);
}

bool encoder_has(const lscm_posterior *p, const char *name)
{
    return find(p, name) != NULL;
}

size_t encoder_length(const lscm_posterior *p, const char *name, int ndim, int dim)
{
    const encoder_array *array = find(p, name);
    return array != NULL && array->shape.ndim == ndim ? array->shape.dims[dim] : 0;
}

bool encoder_finite(const lscm_posterior *p, const char *name)
{
    const encoder_array *array = find(p, name);
    size_t count = array != NULL ? shape_count(&array->shape) : 0;
    return count > 0 && dtype_first_nonfinite(array->shape.type, array->raw, count) == count;
}

static bool fits(const encoder_slot *s, const encoder_array *array)
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

lscm_status encoder_take(const lscm_posterior *p, const encoder_slot *slots, size_t count,
                         lscm_error *why)
{
    lscm_status status = LSCM_OK;
    for (size_t k = 0; k < count; k++) {
        const encoder_array *array = find(p, slots[k].name);
        if (array == NULL ? !slots[k].optional : !fits(&slots[k], array)) {
            TRY(encoder_unsound(slots[k].name, why));
        }
        set(&slots[k], array != NULL ? array->raw : NULL);
    }
done:
    return status;
}
