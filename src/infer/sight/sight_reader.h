/* z of pictures by several networks (sight_net.h) that began differently and were shown different
 * labels, with its sd:
 *
 *     z_j = mean over M members of z^m_j,   D_j = variance among them, unbiased.
 *
 * Members have errors of their own, variance I, and errors in common, variance S. Where a label was
 * held out of a member, its squared error has the mean T = S + I; among members, where nothing was
 * set, I is the mean of D. So the error of their mean has the variance
 *
 *     V = max(T - I (1 - 1/M), I/M),
 *
 * on average, and it grows where members disagree: beyond the labels, where a thing is hidden,
 * where an angle wraps. D of a row has M - 1 degrees of freedom only; it is believed as far as rows
 * differ by more than chance (credibility; Buehlmann 1967), with t^2 the variance of a row's own
 * law over rows in units of I^2:
 *
 *     sd_j^2 = V_j (1 + r_j (D_j / I_j - 1)),   r = t^2 / (t^2 + 2 (1 + t^2)/(M - 1)).
 */
#ifndef LSCM_INFER_SIGHT_SIGHT_READER_H
#define LSCM_INFER_SIGHT_SIGHT_READER_H

#include "infer/sight/sight_net.h"
#include "infer/sight/sight_stretch.h"

enum { SIGHT_MEMBERS = 5 }; /* at most */

/* Everything that reading a picture takes; a run keeps it. */
typedef struct sight_reader {
    size_t d, members;
    picture_shape eye;
    float *parameters;       /* (members, picture_count) */
    double *offset, *spread; /* (members, d): z = o + k u */
    float *backdrop;         /* (count): as pictures are scaled, (x - backdrop)/scale */
    double scale;
    double *error;   /* (3, d): V, I, r */
    double *stretch; /* (d, STRETCH_SIDES, STRETCH_NUMBERS): sight_stretch.h */
} sight_reader;

/* Numbers of a picture. */
static inline size_t sight_pixels(const sight_reader *r)
{
    return r->eye.height * r->eye.width * r->eye.channels;
}

/* z, sd (count, d) of pictures x (count, pixels and channels) as they are scaled; each (members,
 * count, d) or NULL: z by every member. z and sd may be NULL: before there are errors, sd must. */
lscm_status sight_read(const sight_reader *r, const device *on, size_t count, const float *x,
                       double *z, double *sd, double *each, lscm_error *why);

/* z and sd (entries) from z by every member (members, entries), entries = count d: as they are, and
 * put right beyond the labels. */
void sight_settle(const sight_reader *r, size_t entries, const double *each, double *z, double *sd);
void sight_put_right(const sight_reader *r, size_t entries, double *z, double *sd);

/* Errors from z by every member (members, rows, d): held (members, rows, d) is 1 where a label was
 * held out of a member, `by` says where z is free. r2 (d): of labels held out, NaN without any. */
void sight_errors(sight_reader *r, const design *by, const uint8_t *held, const double *each,
                  double *r2);

#endif
