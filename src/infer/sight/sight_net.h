/* One network that reads z off pictures, learned from the values v that do() sets (labels) and from
 * all pictures, by drawing them again (net/vision):
 *
 *     u = encoder(x~),   u^_j = v~_j where do() set node j and that may be seen, else u_j
 *
 *     loss = mean over seen labels of (u_j - v~_j)^2 + weight mean over drawn pixels of
 *            (decoder(u^, pixel) - x~(pixel))^2
 *
 * over a batch of pictures and `pixels` of each, drawn where pixels vary (pictures.h); v~ are
 * labels in units of their own spread, z = o + k u. Steps of matrices are orthogonal (net/muon.h),
 * of biases Adam's, with decay, at a rate that rises at first, stays, and falls to 0 over as many
 * steps as there were before. It begins to fall at half of the steps, or when labels held out are
 * no longer told better, but not before an eighth of the steps and while it rises; parameters are
 * those that told them best. A batch is cut into fixed parts whose gradients are added in their
 * order: the same numbers on any number of threads. A device that takes pictures
 * (net/vision/picture_machine.h) takes the same steps; here is what they came to after each call.
 */
#ifndef LSCM_INFER_SIGHT_SIGHT_NET_H
#define LSCM_INFER_SIGHT_SIGHT_NET_H

#include "base/pieces.h"
#include "data/design/design.h"
#include "infer/sight/pictures.h"
#include "net/muon.h"
#include "net/vision/picture_machine.h"
#include "net/vision/vision.h"

enum { SIGHT_SLOTS = 8 };

typedef struct sight_settings {
    const device *device;
    const picture_store *store; /* pictures there, where it takes steps itself, or NULL */
    size_t steps, batch, pixels;
    double rate;
    uint64_t seed;
} sight_settings;

typedef struct sight_counts {
    uint64_t steps, fall, end; /* done; from where the rate falls, and where it is 0 */
    uint64_t best_at;          /* steps at which labels held out were told best */
    uint64_t checked;          /* the last step looked at them */
    double label, pixel;       /* running means of the two losses, newest steps most */
    double missed, best;       /* 1 - R2 of labels held out: last, and least; NaN without any */
} sight_counts;

typedef struct sight_net {
    const pictures *x;
    const design *by;    /* all rows of the data set, whose values are labels where .. */
    const uint8_t *held; /* .. (rows, d) is 0 */
    sight_settings settings;
    picture_shape eye;
    pixel_shape brush;
    double *offset, *spread;               /* (d): o, k */
    size_t count, eyes;                    /* parameters: all; of the encoder, which come first */
    float *parameters, *turned, *gradient; /* (count) */
    muon_f32 optimiser;
    float *best;             /* (count): that told labels held out best */
    float *partial;          /* (SIGHT_SLOTS, count) */
    double *losses;          /* (SIGHT_SLOTS, 2) */
    size_t *batch;           /* (batch): pictures kept */
    size_t *asked, asks;     /* pictures kept with labels held out */
    struct sight_desk *desk; /* (workers) */
    picture_pupil *pupil;    /* this network on the device, or NULL */
    size_t workers;
    sight_counts now;
    arena memory;
} sight_net;

/* Pictures to where the device takes steps; *out stays NULL where it does not. */
lscm_status sight_store(picture_store **out, const pictures *x, const device *on, lscm_error *why);
lscm_status sight_net_open(sight_net *out, const pictures *x, const design *by, const uint8_t *held,
                           const sight_settings *settings, lscm_error *why);
void sight_net_close(sight_net *n);
/* One step, or on a device of its own memory some. Fails where something is not finite. At the end
 * parameters are the best. */
lscm_status sight_net_step(sight_net *n, lscm_error *why);
bool sight_net_over(const sight_net *n);
enum { SIGHT_PIECES = 4 };
size_t sight_net_pieces(sight_net *n, piece out[SIGHT_PIECES]);
/* Mean squared error of the pixels of `count` pictures, every so many, drawn from z as it is read,
 * values in their places; in units of x. */
lscm_status sight_net_error(const sight_net *n, size_t count, double *out, lscm_error *why);

#endif
