/* Pictures: a square grid of cells of 10 x 10 pixels, one node in a cell, 5 x 5 cells or as many as
 * the nodes need. Light fills the cell (image), or spreads around its middle and blends with that
 * of the others (blobs): see projection.h. */
#include "scm/simulate/projection_parts.h"

#include <math.h>
#include <string.h>

enum { SQUARE = 10, GRID = 5 };

static const double MIDDLE = (SQUARE - 1) / 2.0; /* of a square, from its first pixel */
static const double BLOB_SD = 7;                 /* pixels */
static const double BLOB_LIGHT = 4;              /* z per logit of light */

size_t picture_side(size_t d)
{
    size_t cells = GRID;
    while (cells * cells < d) {
        cells++;
    }
    return cells * SQUARE;
}

/* The paper's ten cells first, then the free ones in reading order. */
static void place_squares(const projection *p)
{
    static const size_t paper[10][2] = {{0, 0}, {0, 4}, {4, 0}, {4, 4}, {2, 2},
                                        {1, 1}, {1, 3}, {3, 1}, {3, 3}, {0, 2}};
    size_t cells = p->width / SQUARE;
    size_t node = 0;
    for (; node < p->d && node < 10; node++) {
        p->square[node] = (paper[node][0] * p->width + paper[node][1]) * SQUARE;
    }
    for (size_t cell = 0; node < p->d; cell++) {
        size_t pixel = ((cell / cells) * p->width + cell % cells) * SQUARE;
        bool taken = false;
        for (size_t k = 0; k < 10; k++) {
            taken = taken || p->square[k] == pixel;
        }
        if (!taken) {
            p->square[node++] = pixel;
        }
    }
}

void picture_place(const projection *p)
{
    place_squares(p);
    for (size_t i = 0; i < p->d && p->kind == LSCM_PROJECTION_BLOBS; i++) {
        size_t top = p->square[i] / p->width;
        size_t left = p->square[i] % p->width;
        for (size_t pixel = 0; pixel < p->features; pixel++) {
            size_t row = pixel / p->width;
            size_t column = pixel % p->width;
            double down = (double)row - (double)top - MIDDLE;
            double right = (double)column - (double)left - MIDDLE;
            p->matrix[0][i * p->features + pixel] =
                exp(-(down * down + right * right) / (2 * BLOB_SD * BLOB_SD));
        }
    }
}

void picture_squares(const projection *p, size_t n, const double *z, double *x)
{
    memset(x, 0, n * p->features * sizeof *x);
    for (size_t r = 0; r < n; r++) {
        for (size_t i = 0; i < p->d; i++) {
            double light = z[r * p->d + i] / 16 + 0.5;
            double *corner = x + r * p->features + p->square[i];
            for (size_t pixel = 0; pixel < (size_t)SQUARE * SQUARE; pixel++) {
                corner[pixel / SQUARE * p->width + pixel % SQUARE] = light;
            }
        }
    }
}

/* One blob after the other covers a share of the dark that is left: exact for faint light too. */
void picture_blobs(const projection *p, size_t n, const double *z, double *x)
{
    memset(x, 0, n * p->features * sizeof *x);
    for (size_t r = 0; r < n; r++) {
        double *restrict picture = x + r * p->features;
        for (size_t i = 0; i < p->d; i++) {
            double light = 1 / (1 + exp(-z[r * p->d + i] / BLOB_LIGHT));
            const double *restrict k = p->matrix[0] + i * p->features;
            for (size_t pixel = 0; pixel < p->features; pixel++) {
                picture[pixel] += light * k[pixel] * (1 - picture[pixel]);
            }
        }
    }
}
