/* Networks of pictures on a CUDA device: the table of net/vision/picture_machine.h. */
#ifndef LSCM_CUDA_PICTURE_MACHINE_H
#define LSCM_CUDA_PICTURE_MACHINE_H

#include "cuda/picture_layers.h"
#include "cuda/pool.h"

extern "C" {
extern const picture_machine cuda_pictures;
}

/* Pictures that stay on the device; shared by the networks that learn from them. */
struct picture_store {
    const device *on;
    device_pool pool;
    picture_plates plates; /* sizes; its pointers are the device's */
    conv_source source;
    double *reach;
};

lscm_status picture_store_keep(picture_store **out, const device *on, const picture_plates *p,
                               lscm_error *why);
void picture_store_drop(picture_store *s);

lscm_status picture_pupil_open(picture_pupil **out, const picture_store *s, const picture_lesson *l,
                               lscm_error *why);
void picture_pupil_close(picture_pupil *t);
lscm_status picture_pupil_put(picture_pupil *t, const float *parameters, const float *state,
                              lscm_error *why);
lscm_status picture_pupil_get(picture_pupil *t, float *parameters, float *state, lscm_error *why);
lscm_status picture_pupil_train(picture_pupil *t, const picture_steps *steps, double *losses,
                                lscm_error *why);
lscm_status picture_pupil_ask(picture_pupil *t, size_t count, const uint32_t *picture, float *u,
                              lscm_error *why);

lscm_status picture_eyes_look(picture_eyes **out, const device *on, const picture_shape *eye,
                              size_t members, const float *parameters, lscm_error *why);
lscm_status picture_eyes_read(picture_eyes *e, size_t count, const float *x, float *u,
                              lscm_error *why);
void picture_eyes_rest(picture_eyes *e);

#endif
