#include "infer/sight/sight_stretch.h"

#include "base/tuned.h"

#include <math.h>
#include <string.h>

enum { LIMIT, HALF, FAR, FIRST, C_FIRST = FIRST + 2 };
enum { PARTS = 32, STEPS = 50 }; /* of an integral; Newton's */

/* g, its slopes by a_1 and a_2 and theirs (11, 12, 22) at e <= far, by Simpson's rule; log g'. */
typedef struct curve {
    double g, by[2], bend[3], log_slope;
} curve;

static curve curve_at(const double *side, double e)
{
    curve c = {0};
    for (size_t k = 0; k <= PARTS; k++) {
        double u = e * (double)k / PARTS / side[FAR];
        double weight = (k == 0 || k == PARTS ? 1 : k % 2 == 1 ? 4 : 2) * e / (3 * PARTS);
        double slope = exp(side[FIRST] * u + side[FIRST + 1] * u * u);
        c.g += weight * slope;
        c.by[0] += weight * slope * u;
        c.by[1] += weight * slope * u * u;
        c.bend[0] += weight * slope * u * u;
        c.bend[1] += weight * slope * u * u * u;
        c.bend[2] += weight * slope * u * u * u * u;
        c.log_slope = log(slope);
    }
    return c;
}

/* How far a reading is beyond; not positive within. */
static double beyond(const double *side, double z)
{
    return (z - side[LIMIT]) / side[HALF];
}

void stretch_begin(const design *by, double *stretch)
{
    for (size_t j = 0; j < by->d; j++) {
        double low = INFINITY;
        double high = -INFINITY;
        for (size_t row = 0; row < by->rows; row++) {
            if (design_is_set(by, row, j)) {
                low = fmin(low, design_value(by, row, j));
                high = fmax(high, design_value(by, row, j));
            }
        }
        for (size_t k = 0; k < STRETCH_SIDES; k++) {
            double *side = stretch + (j * STRETCH_SIDES + k) * STRETCH_NUMBERS;
            memset(side, 0, STRETCH_NUMBERS * sizeof *side);
            side[LIMIT] = k == 0 ? high : low;
            side[HALF] = (k == 0 ? 1 : -1) * (high - low) / 2;
        }
    }
}

void stretch_apply(const double *stretch, double *z, double *variance)
{
    for (size_t k = 0; k < STRETCH_SIDES; k++) {
        const double *side = stretch + k * STRETCH_NUMBERS;
        double e = beyond(side, *z);
        if (!(e > 0) || !(side[FAR] > 0)) {
            continue;
        }
        double within = fmin(e, side[FAR]);
        const double *C = side + C_FIRST;
        curve c = curve_at(side, within);
        double slope = exp(c.log_slope);
        double u = within / side[FAR];
        double more = (e - within) * slope; /* of the straight line */
        double by[2] = {c.by[0] + more * u, c.by[1] + more * u * u};
        double own = by[0] * by[0] * C[0] + 2 * by[0] * by[1] * C[1] + by[1] * by[1] * C[2];
        own = fmax(0, own); /* but for rounding */
        *z = side[LIMIT] + side[HALF] * (c.g + more);
        *variance = *variance * slope * slope + side[HALF] * side[HALF] * own;
        return;
    }
}

bool stretch_is_sound(const double *side)
{
    const double *C = side + C_FIRST;
    bool flat = side[FAR] == 0;
    return side[FAR] >= 0 && (flat || side[HALF] != 0) && C[0] >= 0 && C[2] >= 0 &&
           C[1] * C[1] <= C[0] * C[2] * (1 + 1e-9);
}

/* ---- The fit of a side ---- */

typedef struct side_rows {
    const design *by;
    const mechanism_model *model;
    const double *z; /* (rows, d): readings of the node, all else put right */
    size_t node;
    const uint8_t *unknown;
} side_rows;

static bool tells(const side_rows *r, size_t row)
{
    return !design_is_set(r->by, row, r->node) &&
           (r->unknown == NULL || r->unknown[row * r->by->d + r->node] == 0);
}

/* What log p(a) is near a, apart from the prior: slopes; sums of squares of the slopes of
 * (h - m)/s, which are Gauss and Newton's matrix, and what they leave of the curvature. */
typedef struct nearby {
    double slope[2], squares[3], rest[3]; /* 11, 12, 22 */
} nearby;

static double prior_of(void)
{
    return 1 / (tuned_sight_stretch() * tuned_sight_stretch());
}

/* log p(a). */
static double score(const double *side, const side_rows *r, nearby *out)
{
    size_t d = r->by->d;
    double s = r->model->sigma[r->node];
    const double *a = side + FIRST;
    double total = -prior_of() / 2 * (a[0] * a[0] + a[1] * a[1]);
    nearby n = {.slope = {-prior_of() * a[0], -prior_of() * a[1]}};
    for (size_t row = 0; row < r->by->rows; row++) {
        const double *z = r->z + row * d;
        double e = beyond(side, z[r->node]);
        if (!tells(r, row) || !(e > 0)) {
            continue;
        }
        curve c = curve_at(side, e);
        double u[2] = {e / side[FAR], e / side[FAR] * e / side[FAR]};
        double mean = z[r->node] - mechanism_residual(r->model, r->node, z);
        double left = (side[LIMIT] + side[HALF] * c.g - mean) / s;
        double by[2] = {side[HALF] * c.by[0] / s, side[HALF] * c.by[1] / s};
        total += c.log_slope - left * left / 2;
        for (size_t k = 0; k < 3; k++) {
            n.squares[k] += by[k / 2] * by[(k + 1) / 2];
            n.rest[k] += left * side[HALF] * c.bend[k] / s;
        }
        n.slope[0] += u[0] - left * by[0];
        n.slope[1] += u[1] - left * by[1];
    }
    *out = n;
    return total;
}

/* Halved until it climbs; false where it does not. */
static bool climb(double *side, const side_rows *r, const double *step, double *at, nearby *n)
{
    double from[2] = {side[FIRST], side[FIRST + 1]};
    double share = 1;
    for (int halved = 0; halved < 20; halved++) {
        side[FIRST] = from[0] + share * step[0];
        side[FIRST + 1] = from[1] + share * step[1];
        nearby there;
        double now = score(side, r, &there);
        if (now > *at) {
            bool far = now > *at + 1e-6;
            *at = now;
            *n = there;
            return far;
        }
        share /= 2;
    }
    side[FIRST] = from[0];
    side[FIRST + 1] = from[1];
    return false;
}

/* (squares + prior)^-1, also where squares are of a row alone and large. */
static void invert(const double *squares, double *out)
{
    double prior = prior_of();
    double det = prior * (prior + squares[0] + squares[2]) +
                 fmax(0, squares[0] * squares[2] - squares[1] * squares[1]);
    out[0] = (squares[2] + prior) / det;
    out[1] = -squares[1] / det;
    out[2] = (squares[0] + prior) / det;
}

/* C by the whole curvature, where it is one of a maximum. */
static void take_errors(double *side, const nearby *n)
{
    double all[3];
    double *C = side + C_FIRST;
    for (size_t k = 0; k < 3; k++) {
        all[k] = n->squares[k] + n->rest[k] + (k == 1 ? 0 : prior_of());
    }
    double det = all[0] * all[2] - all[1] * all[1];
    if (all[0] > 0 && det > 1e-9 * all[0] * all[2] && isfinite(all[0] * all[2])) {
        C[0] = all[2] / det;
        C[1] = -all[1] / det;
        C[2] = all[0] / det;
    } else {
        invert(n->squares, C);
    }
}

static void fit_side(double *side, const side_rows *r)
{
    nearby n;
    side[FAR] = 0;
    for (size_t row = 0; row < r->by->rows; row++) {
        if (tells(r, row)) {
            side[FAR] = fmax(side[FAR], beyond(side, r->z[row * r->by->d + r->node]));
        }
    }
    if (!(side[FAR] > 0) || !isfinite(side[FAR])) {
        side[FAR] = 0;
        return;
    }
    double at = score(side, r, &n);
    bool on = true;
    for (size_t k = 0; k < STEPS && on; k++) {
        double C[3];
        invert(n.squares, C);
        const double step[2] = {C[0] * n.slope[0] + C[1] * n.slope[1],
                                C[1] * n.slope[0] + C[2] * n.slope[1]};
        on = climb(side, r, step, &at, &n);
    }
    take_errors(side, &n);
}

void stretch_fit(double *stretch, const design *by, const uint8_t *unknown,
                 const mechanism_model *model, const size_t *order, double *z)
{
    for (size_t at = 0; at < by->d; at++) {
        size_t j = order[at];
        double *own = stretch + j * STRETCH_SIDES * STRETCH_NUMBERS;
        const side_rows rows = {by, model, z, j, unknown};
        for (size_t k = 0; k < STRETCH_SIDES; k++) {
            fit_side(own + k * STRETCH_NUMBERS, &rows);
        }
        for (size_t row = 0; row < by->rows; row++) {
            double variance = 0;
            if (!design_is_set(by, row, j)) {
                stretch_apply(own, &z[row * by->d + j], &variance);
            }
        }
    }
}
