/* Networks of pictures (sight_reader.h) to named arrays and back, and rows by them. The shape of x
 * and the number of nodes decide all counts but that of members. */
#include "infer/encoder/encoder_slots.h"

#include <stdio.h>
#include <string.h>

enum { READER_SLOTS = 7 };

static void reader_slots(sight_reader *r, double **scale, encoder_slot out[READER_SLOTS])
{
    const picture_shape *eye = &r->eye;
    const encoder_slot list[READER_SLOTS] = {
        {"parameters", &r->parameters, {r->members, picture_count(eye)}, DTYPE_FLOAT32, false},
        {"offset", &r->offset, {r->members, r->d}, DTYPE_FLOAT64, false},
        {"spread", &r->spread, {r->members, r->d}, DTYPE_FLOAT64, false},
        {"backdrop", &r->backdrop, {eye->height, eye->width, eye->channels}, DTYPE_FLOAT32, false},
        {"scale", scale, {1}, DTYPE_FLOAT64, false},
        {"errors", &r->error, {3, r->d}, DTYPE_FLOAT64, false},
        {"stretch", &r->stretch, {r->d, STRETCH_SIDES, STRETCH_NUMBERS}, DTYPE_FLOAT64, false},
    };
    memcpy(out, list, sizeof list);
}

lscm_status encoder_pack_sight(lscm_posterior *p, const sight_reader *r, const design *by,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    sight_reader kept = *r;
    double *scale = &kept.scale;
    encoder_slot slots[READER_SLOTS];
    (void)snprintf(p->encoder.kind, sizeof p->encoder.kind, "pictures");
    reader_slots(&kept, &scale, slots);
    TRY(encoder_put(p, slots, READER_SLOTS, why));
    TRY(encoder_put_range(p, by, why));
done:
    return status;
}

/* The shape of x, where it is pictures that networks take; else all is 0. */
static picture_shape eye_of(const lscm_posterior *p)
{
    size_t channels = p->x_ndim == 4 ? p->x_dims[2] : 1;
    bool good = (p->x_ndim == 3 || p->x_ndim == 4) && channels >= 1 && channels <= 4;
    for (int k = 0; k < 2 && good; k++) {
        good = p->x_dims[k] >= PICTURE_SIDE_LEAST && p->x_dims[k] <= PICTURE_SIDE_MOST;
    }
    return good && p->features == p->x_dims[0] * p->x_dims[1] * channels
               ? picture_shape_of(p->x_dims[0], p->x_dims[1], channels, p->d)
               : (picture_shape){0};
}

static bool errors_are_sound(const sight_reader *r)
{
    bool good = true;
    for (size_t k = 0; k < 3 * r->d && good; k++) { /* V, I and a share of 1 */
        good = r->error[k] >= 0 && (k < 2 * r->d || r->error[k] <= 1);
    }
    return good;
}

static bool spreads_are_sound(const sight_reader *r)
{
    bool good = true;
    for (size_t k = 0; k < r->members * r->d && good; k++) {
        good = r->spread[k] > 0;
    }
    return good;
}

static bool stretches_are_sound(const sight_reader *r)
{
    bool good = true;
    for (size_t k = 0; k < r->d * STRETCH_SIDES && good; k++) {
        good = stretch_is_sound(r->stretch + k * STRETCH_NUMBERS);
    }
    return good;
}

lscm_status encoder_take_sight(encoder *e, const lscm_posterior *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    sight_reader *r = &e->sight;
    encoder_slot slots[READER_SLOTS];
    double *scale = NULL;
    e->kind = ENCODES_PICTURES;
    e->width = e->D;
    r->d = e->d;
    r->members = encoder_length(p, "parameters", 2, 0);
    r->eye = eye_of(p);
    TRY(r->eye.convs > 0 ? LSCM_OK : encoder_unsound("backdrop", why));
    if (r->members < 2 || r->members > SIGHT_MEMBERS) {
        TRY(encoder_unsound("parameters", why));
    }
    reader_slots(r, &scale, slots);
    TRY(encoder_take(p, slots, READER_SLOTS, why));
    for (size_t k = 0; k < READER_SLOTS; k++) {
        TRY(encoder_finite(p, slots[k].name) ? LSCM_OK : encoder_unsound(slots[k].name, why));
    }
    r->scale = *scale;
    TRY(r->scale > 0 ? LSCM_OK : encoder_unsound("scale", why));
    TRY(spreads_are_sound(r) ? LSCM_OK : encoder_unsound("spread", why));
    TRY(errors_are_sound(r) ? LSCM_OK : encoder_unsound("errors", why));
    TRY(stretches_are_sound(r) ? LSCM_OK : encoder_unsound("stretch", why));
done:
    return status;
}

void encoder_reduce_sight(const encoder *e, size_t n, const double *x, float *f)
{
    const pictures as = {.count = e->D, .backdrop = e->sight.backdrop, .scale = e->sight.scale};
#pragma omp parallel for schedule(static)
    for (size_t row = 0; row < n; row++) {
        pictures_scale(&as, x + row * e->D, f + row * e->D);
    }
}

lscm_status encoder_apply_sight(const encoder *e, const encoder_rows *rows,
                                const lscm_progress *progress, lscm_error *why)
{
    enum { TOGETHER = 256 }; /* pictures between two looks at whether to go on */
    lscm_status status = LSCM_OK;
    meter m = {.progress = progress, .what = "encoding", .total = rows->rows};
    for (size_t row = 0; row < rows->rows; row += TOGETHER) {
        size_t n = rows->rows - row < TOGETHER ? rows->rows - row : TOGETHER;
        size_t at = row * e->d;
        TRY(sight_read(&e->sight, rows->device, n, rows->f + row * e->D, rows->z + at,
                       rows->sd + at, NULL, why));
        TRY(meter_add(&m, n, why));
    }
    design_put(rows->design, rows->z, rows->sd);
done:
    return status;
}
