#include "scm/mechanism/curves.h"

#include <string.h>

/* The piece that z is in, by its left knot, where there are two knots or more. */
static size_t piece_of(const curve_basis *b, double z)
{
    size_t left = 0;
    size_t right = b->knots - 1;
    while (right - left > 1) {
        size_t middle = left + (right - left) / 2;
        if (z < b->knot[middle]) {
            right = middle;
        } else {
            left = middle;
        }
    }
    return left;
}

/* Weights of the values and second derivatives at both ends of a piece, of phi at z or of its
 * derivative there; z lies in the piece. */
typedef struct piece_weights {
    size_t left;
    double value[2], second[2];
} piece_weights;

static piece_weights weights_at(const curve_basis *b, size_t left, double z)
{
    double h = b->knot[left + 1] - b->knot[left];
    double to = (z - b->knot[left]) / h;
    double from = 1 - to;
    return (piece_weights){
        left, {from, to}, {(from * from - 1) * from * h * h / 6, (to * to - 1) * to * h * h / 6}};
}

static piece_weights slopes_at(const curve_basis *b, size_t left, double z)
{
    double h = b->knot[left + 1] - b->knot[left];
    double to = (z - b->knot[left]) / h;
    double from = 1 - to;
    return (piece_weights){
        left, {-1 / h, 1 / h}, {(1 - 3 * from * from) * h / 6, (3 * to * to - 1) * h / 6}};
}

static void apply(const curve_basis *b, const piece_weights *w, double times, double *out)
{
    for (size_t k = 0; k < CURVE_WIDTH; k++) {
        out[k] += times *
                  (w->value[0] * b->value[w->left][k] + w->value[1] * b->value[w->left + 1][k] +
                   w->second[0] * b->second[w->left][k] + w->second[1] * b->second[w->left + 1][k]);
    }
}

/* The nearest place between the outermost knots. */
static double within(const curve_basis *b, double z)
{
    double low = b->knot[0];
    double high = b->knot[b->knots - 1];
    return z < low ? low : z > high ? high : z;
}

void curve_values(const curve_basis *basis, double z, double *out)
{
    memset(out, 0, CURVE_WIDTH * sizeof *out);
    if (basis->knots < 2) {
        return;
    }
    double at = within(basis, z);
    size_t left = piece_of(basis, at);
    piece_weights w = weights_at(basis, left, at);
    apply(basis, &w, 1, out);
    if (z < at || z > at) {
        w = slopes_at(basis, left, at);
        apply(basis, &w, z - at, out);
    }
}

void curve_slopes(const curve_basis *basis, double z, double *out)
{
    memset(out, 0, CURVE_WIDTH * sizeof *out);
    if (basis->knots < 2) {
        return;
    }
    double at = within(basis, z);
    piece_weights w = slopes_at(basis, piece_of(basis, at), at);
    apply(basis, &w, 1, out);
}
