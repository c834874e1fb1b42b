/* Networks of pictures on a device with memory of its own (backend.h: device.pictures). Pictures go
 * there once; a network's parameters, its optimiser's state and all that a step makes stay there.
 *
 *     TRY(on->pictures->keep(&store, on, &plates, why));
 *     TRY(on->pictures->open(&t, store, &lesson, why));
 *     TRY(on->pictures->put(t, parameters, state, why));
 *     TRY(on->pictures->train(t, &steps, losses, why));
 *     TRY(on->pictures->get(t, parameters, state, why));
 *
 * What a step is, infer/sight/sight_net.h says: the same numbers as on the CPU but for the order in
 * which they are added; on the same device the same bits, however little memory there is.
 */
#ifndef LSCM_NET_VISION_PICTURE_MACHINE_H
#define LSCM_NET_VISION_PICTURE_MACHINE_H

#include "net/muon.h"
#include "net/vision/picture_encoder.h"
#include "net/vision/pixel_decoder.h"

typedef struct picture_store picture_store;
typedef struct picture_pupil picture_pupil;
typedef struct picture_eyes picture_eyes;

/* Pictures as a network sees them, (x - backdrop)/scale. */
typedef struct picture_plates {
    size_t count, height, width, channels;
    const uint8_t *bytes; /* (count, height, width, channels), or NULL: */
    const float *floats;
    const float *backdrop; /* (height, width, channels) */
    double scale;
    const double *reach; /* (height, width): distribution function of pixels to draw */
} picture_plates;

typedef struct picture_lesson {
    const picture_shape *eye;
    const pixel_shape *brush;
    const muon_plan *plan;
    size_t batch, pixels;
    const float *labels; /* (count, d): v~ that may be seen; NAN: none */
} picture_lesson;

/* Numbers of one step: factors of the gradients of labels and pixels, the rate, and Adam's. */
typedef struct picture_dials {
    float label, pixel;
    float rate, adam_rate, adam_correct;
} picture_dials;

typedef struct picture_steps {
    size_t count;
    const uint32_t *picture;    /* (count, batch): of those kept */
    const double *start;        /* (count, batch): where drawing pixels begins */
    const picture_dials *dials; /* (count) */
} picture_steps;

typedef struct picture_machine {
    lscm_status (*keep)(picture_store **out, const device *on, const picture_plates *p,
                        lscm_error *why);
    void (*drop)(picture_store *s);
    lscm_status (*open)(picture_pupil **out, const picture_store *s, const picture_lesson *l,
                        lscm_error *why);
    void (*close)(picture_pupil *t);
    /* parameters (count), the optimiser's state (2 count) */
    lscm_status (*put)(picture_pupil *t, const float *parameters, const float *state,
                       lscm_error *why);
    lscm_status (*get)(picture_pupil *t, float *parameters, float *state, lscm_error *why);
    /* losses (steps, 2): sums of squares of labels, of pixels */
    lscm_status (*train)(picture_pupil *t, const picture_steps *steps, double *losses,
                         lscm_error *why);
    /* u (count, d) of pictures kept */
    lscm_status (*ask)(picture_pupil *t, size_t count, const uint32_t *picture, float *u,
                       lscm_error *why);
    /* Networks that read: parameters (members, picture_count); u (members, count, d) of x~. */
    lscm_status (*look)(picture_eyes **out, const device *on, const picture_shape *eye,
                        size_t members, const float *parameters, lscm_error *why);
    lscm_status (*read)(picture_eyes *e, size_t count, const float *x, float *u, lscm_error *why);
    void (*rest)(picture_eyes *e);
} picture_machine;

#endif
