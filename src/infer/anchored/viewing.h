/* Causal variables of pictures of things that move: several networks (infer/sight), each taught by
 * the labels that were not held out of it, then z with its errors, then the posterior.
 */
#ifndef LSCM_INFER_ANCHORED_VIEWING_H
#define LSCM_INFER_ANCHORED_VIEWING_H

#include "infer/anchored/read_off.h"
#include "infer/run/run.h"
#include "infer/sight/sight.h"

typedef struct viewing {
    const device *device;
    char *const *names; /* (d) or NULL */
    pictures x;
    picture_store *store; /* those pictures where the device takes them, or NULL */
    design by;
    size_t members;
    sight_net net[SIGHT_MEMBERS];
    uint8_t *held;   /* (members, rows, d) */
    double *each;    /* (members, rows, d): z by every member */
    uint8_t *unseen; /* (rows, d): entries that members have nothing to go by for */
    uint64_t at;     /* the member that learns */
    uint64_t fresh;  /* the last step ended with a look at labels held out */
    sight_reader reader;
    read_off off;
    arena memory;
} viewing;

/* Pictures and who was set. Every node needs labels. */
lscm_status viewing_open(viewing *out, const lscm_dataset *data, const device *on, uint64_t seed,
                         meter *m, lscm_error *why);
void viewing_close(viewing *v);
/* The networks, untrained: as many and of as many steps as settings say, or as they need. */
lscm_status viewing_begin(viewing *v, const lscm_fit_settings *s, lscm_error *why);
/* Training, one member after the other (viewing_train.c). */
trainee viewing_trainee(viewing *v);
/* What one network misses of labels held out after a few steps: 1 - R2. */
lscm_status viewing_trial(viewing *v, const lscm_fit_settings *s, const lscm_progress *progress,
                          double *missed, lscm_error *why);
/* After training: z of all rows of the data set, its errors, and the posterior. */
lscm_status viewing_read(viewing *v, const lscm_dataset *data, meter *m, lscm_error *why);
lscm_status viewing_infer(viewing *v, anchored *out, const anchored_input *in, lscm_error *why);

#endif
