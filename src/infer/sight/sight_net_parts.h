/* What the files of one network share behind its door (sight_net.h): steps on the CPU, steps on a
 * device, labels held out.
 */
#ifndef LSCM_INFER_SIGHT_SIGHT_NET_PARTS_H
#define LSCM_INFER_SIGHT_SIGHT_NET_PARTS_H

#include "infer/sight/sight_net.h"

/* What a worker has on its desk. */
typedef struct sight_desk {
    picture_work_f32 eye;
    pixel_work_f32 brush;
    float *x;      /* (count): x~ */
    float *put;    /* (d): u^ */
    size_t *pixel; /* (pixels) */
} sight_desk;

/* Labels that may be seen, v~ of any. */
static inline bool sight_seen(const sight_net *n, size_t row, size_t j)
{
    return design_is_set(n->by, row, j) && (n->held == NULL || n->held[row * n->by->d + j] == 0);
}

static inline double sight_label(const sight_net *n, size_t row, size_t j)
{
    return (design_value(n->by, row, j) - n->offset[j]) / n->spread[j];
}

/* The pictures of a step, into `batch`; how many labels are seen in them. */
size_t sight_draw_batch(const sight_net *n, uint64_t step, size_t *batch);
/* Rises over the first steps, falls to 0 over the last. */
double sight_rate_at(const sight_net *n, uint64_t step);
/* Factors of the gradients of labels, `seen` of them, and of pixels. */
double sight_label_factor(size_t seen);
double sight_pixel_factor(const sight_net *n);
/* Sums of squares of a step into the running means. */
lscm_status sight_count_losses(sight_net *n, size_t seen, const double sums[2], lscm_error *why);
/* After so many steps labels held out are looked at. */
uint64_t sight_check_every(const sight_net *n);
lscm_status sight_check(sight_net *n, lscm_error *why);
lscm_status sight_not_finite(const sight_net *n, lscm_error *why);

/* ---- sight_device.c: where the device takes pictures (sight_settings.store) ---- */

lscm_status sight_pupil_open(sight_net *n, const muon_plan *plan, lscm_error *why);
void sight_pupil_close(sight_net *n);
/* Steps until labels are looked at, or a few. */
lscm_status sight_pupil_steps(sight_net *n, lscm_error *why);
/* Squared errors of labels held out, and their squares. */
lscm_status sight_pupil_ask(sight_net *n, double sums[2], lscm_error *why);

#endif
