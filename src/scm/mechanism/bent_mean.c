#include "scm/mechanism/bent_mean.h"

#include <string.h>

void bent_line(const curve_basis *basis, double *middle, double *sd)
{
    *sd = (basis->knot[1] - basis->knot[0]) / (basis->value[1][0] - basis->value[0][0]);
    *middle = basis->knot[0] - basis->value[0][0] * *sd;
}

/* Coefficients of a term of the node that is last so far, which begins at `begin`: 0 where it is
 * new; NULL where there is no room. */
static double *coef_of(bent_mechanisms *to, size_t most, uint64_t begin, int32_t p, int32_t q)
{
    for (uint64_t t = begin; t < to->terms; t++) {
        if (to->parent[2 * t] == p && to->parent[2 * t + 1] == q) {
            return to->coef + t * CURVE_WIDTH;
        }
    }
    if (to->terms == most) {
        return NULL;
    }
    size_t t = to->terms++;
    to->parent[2 * t] = p;
    to->parent[2 * t + 1] = q;
    memset(to->coef + t * CURVE_WIDTH, 0, CURVE_WIDTH * sizeof *to->coef);
    return to->coef + t * CURVE_WIDTH;
}

/* A node that never changed has no curves: z itself stands in, for the draws that are straight. */
static void take_curves(const drawn_mechanisms *of, bent_mechanisms *to)
{
    memcpy(to->basis, of->bent->basis, of->d * sizeof *to->basis);
    for (size_t p = 0; p < of->d; p++) {
        if (to->basis[p].knots < 2) {
            to->basis[p] = (curve_basis){.knots = 2, .knot = {0, 1}, .value = {{0}, {1}}};
        }
    }
}

static void add_bent(const drawn_mechanisms *of, size_t k, size_t i, size_t most,
                     bent_mechanisms *to)
{
    const bent_mechanisms *b = of->bent;
    for (uint64_t t = b->first[k * of->d + i]; t < b->first[k * of->d + i + 1]; t++) {
        int32_t p = b->parent[2 * t];
        int32_t q = b->parent[2 * t + 1];
        bool known = b->basis[p].knots > 1 && (q == BENT_ALONE || b->basis[q].knots > 1);
        double *coef = known ? coef_of(to, most, to->first[i], p, q) : NULL;
        for (size_t c = 0; c < CURVE_WIDTH && coef != NULL; c++) {
            coef[c] += b->coef[t * CURVE_WIDTH + c] / (double)of->draws;
        }
    }
}

static void add_straight(const drawn_mechanisms *of, size_t k, size_t i, size_t most,
                         bent_mechanisms *to, double *intercept)
{
    for (size_t p = 0; p < of->d; p++) {
        double w = of->w[(k * of->d + p) * of->d + i] / (double)of->draws;
        double *coef = w != 0 ? coef_of(to, most, to->first[i], (int32_t)p, BENT_ALONE) : NULL;
        if (coef != NULL) {
            double middle;
            double sd;
            bent_line(&to->basis[p], &middle, &sd);
            coef[0] += w * sd;
            *intercept += w * middle;
        }
    }
}

static bool bends_ever(const drawn_mechanisms *of, size_t i)
{
    bool any = false;
    for (size_t k = 0; k < of->draws && of->bent != NULL; k++) {
        any = any || bent_bends(of->bent, k, i);
    }
    return any;
}

void bent_mean(const drawn_mechanisms *of, size_t most, bent_mechanisms *to, double *w,
               double *intercept)
{
    size_t d = of->d;
    double share = 1 / (double)of->draws;
    memset(w, 0, d * d * sizeof *w);
    memset(intercept, 0, d * sizeof *intercept);
    for (size_t k = 0; k < of->draws; k++) {
        for (size_t e = 0; e < d * d; e++) {
            w[e] += share * of->w[k * d * d + e];
        }
        for (size_t i = 0; i < d; i++) {
            intercept[i] += share * of->intercept[k * d + i];
        }
    }
    to->draws = 1;
    to->d = d;
    to->terms = 0;
    if (of->bent != NULL) {
        take_curves(of, to);
    }
    for (size_t i = 0; i < d; i++) {
        to->first[i] = to->terms;
        bool bends = bends_ever(of, i);
        for (size_t k = 0; k < of->draws && bends; k++) {
            if (of->bent != NULL && bent_bends(of->bent, k, i)) {
                add_bent(of, k, i, most, to);
            } else {
                add_straight(of, k, i, most, to, &intercept[i]);
            }
        }
    }
    to->first[d] = to->terms;
}
