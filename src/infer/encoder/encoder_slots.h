/* Arrays of an encoder by a table: slots say what there is, put copies it into a posterior, take
 * points at it there. Coming back nothing is believed: types and shapes must agree.
 */
#ifndef LSCM_INFER_ENCODER_ENCODER_SLOTS_H
#define LSCM_INFER_ENCODER_ENCODER_SLOTS_H

#include "infer/encoder/stored_encoder.h"

/* An array: its name and shape, and the pointer to it. */
typedef struct encoder_slot {
    const char *name;
    void *at;       /* the address of a pointer to the elements; NULL there: no such array */
    size_t dims[3]; /* 0 ends them */
    dtype type;
    bool optional;
} encoder_slot;

/* Arrays that are there (not NULL). */
lscm_status encoder_put(lscm_posterior *p, const encoder_slot *slots, size_t count,
                        lscm_error *why);
/* `range`, of the values that do() set. */
lscm_status encoder_put_range(lscm_posterior *p, const design *s, lscm_error *why);
/* Pointers to the posterior's; flags are 0 or 1. Optional ones that lack are NULL. */
lscm_status encoder_take(const lscm_posterior *p, const encoder_slot *slots, size_t count,
                         lscm_error *why);
/* Whether there is an array of that name. */
bool encoder_has(const lscm_posterior *p, const char *name);
/* Length of a dimension of an array that has `ndim` of them, or 0. */
size_t encoder_length(const lscm_posterior *p, const char *name, int ndim, int dim);
/* Whether all numbers of an array that is there are finite. */
bool encoder_finite(const lscm_posterior *p, const char *name);
/* The sentence for an array that is missing or does not fit. */
lscm_status encoder_unsound(const char *name, lscm_error *why);

/* ---- encoder_sight.c: pictures ---- */

lscm_status encoder_take_sight(encoder *e, const lscm_posterior *p, lscm_error *why);
/* Coordinates of n rows x (n, D), and z and sd of all rows by these. */
void encoder_reduce_sight(const encoder *e, size_t n, const double *x, float *f);
lscm_status encoder_apply_sight(const encoder *e, const encoder_rows *rows,
                                const lscm_progress *progress, lscm_error *why);

#endif
