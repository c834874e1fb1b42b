/* What a reading beyond the labels means, by what mechanisms say.
 *
 * Within the range [low, high] of its labels a reading r is z. Beyond, networks go on in some
 * smooth and increasing way, which labels do not tell: with e how far beyond, in halves of the
 * range, and far the furthest that was seen,
 *
 *     z = h(r) = high + H g(e),   g(e) = int_0^e exp(a_1 t/far + a_2 (t/far)^2) dt,   H half the
 * range
 *
 * and likewise below. z is continuous, and so is its slope. Given its causes z is normal, mean m
 * and sd s, so the density of a reading is that of z times h'(r), and
 *
 *     log p(a) = sum over rows beyond of log g'(e) - (h(r) - m)^2/(2 s^2)  - |a|^2/(2 S^2):
 *
 * not a regression of m on r, which would shrink z towards what the mechanism says. Its maximum is
 * found by Gauss and Newton; C is the inverse of its whole curvature there (of their matrix where
 * that is none of a maximum), so that a reading has the variance, beside its own times h'(r)^2, of
 * H^2 (dg/da)' C (dg/da). Causes come before effects: m is of causes that have been put right.
 * Further out than `far` h goes on as a straight line.
 */
#ifndef LSCM_INFER_SIGHT_SIGHT_STRETCH_H
#define LSCM_INFER_SIGHT_SIGHT_STRETCH_H

#include "data/design/design.h"
#include "scm/mechanism/mechanism.h"

/* limit, H (with its sign), far, a_1, a_2, C_11, C_12, C_22 */
enum { STRETCH_NUMBERS = 8, STRETCH_SIDES = 2 };

/* stretch (d, STRETCH_SIDES, STRETCH_NUMBERS): no stretch at all, from the labels' range. */
void stretch_begin(const design *by, double *stretch);
/* Of readings z (rows, d), which are put right, with the mean model; order (d): causes first;
 * unknown (rows, d) or NULL: 1 where a reading tells nothing. */
void stretch_fit(double *stretch, const design *by, const uint8_t *unknown,
                 const mechanism_model *model, const size_t *order, double *z);
/* A reading of a node and its variance, put right. stretch: that node's. */
void stretch_apply(const double *stretch, double *z, double *variance);
/* Whether the numbers of a side can be some. */
bool stretch_is_sound(const double *side);

#endif
