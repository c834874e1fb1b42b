/* Pictures of any size from z and the position of each pixel (decoder.h). With A_0 in three parts,
 *
 *     [z, q] A_0 + b_0 = (z A_z + b_0) + q_1 a_1 + q_2 a_2
 *
 * so the first layer is a product per tile and two numbers per unit of each pixel; what follows are
 * products of a tile's h (pixels, width) with matrices. Nothing is kept from tile to tile, so
 * memory is that of two such h, whatever the size of a picture, and a pixel has the same bits
 * wherever and by whomever it is made.
 */
#include "scm/posterior/positions.h"

#include "base/lanes_math.h"
#include "base/simd.h"

#include <cblas.h>
#include <string.h>

enum { POSITIONS_TILE = 128 };

size_t positions_tiles(const decoder *g)
{
    return (g->height * g->width + POSITIONS_TILE - 1) / POSITIONS_TILE;
}

size_t positions_scratch(const decoder *g)
{
    return (2 * POSITIONS_TILE + 1) * g->sizes[1]; /* h, what is added to it, z A_z + b_0 */
}

/* u / (1 + exp(-2 v)) is u (1 + tanh v) / 2 */
LANES_INLINE lanes gelu_of(lanes u)
{
    const double twice = 2 * 0.79788456080286535588; /* sqrt(2/pi) */
    return u / (lanes_exp((u * u * u * 0.044715 + u) * -twice) + 1.0);
}

/* h (n) + gelu(u) */
static CLONED void add_gelu(size_t n, const double *u, double *h)
{
    for (size_t k = 0; k < n; k += LANES) {
        size_t count = n - k < LANES ? n - k : LANES;
        lanes in = lanes_of(0);
        lanes sum = in;
        memcpy(&in, u + k, count * sizeof *u);
        memcpy(&sum, h + k, count * sizeof *h);
        sum += gelu_of(in);
        memcpy(h + k, &sum, count * sizeof *h);
    }
}

/* u (n, width): what goes into the first layer's gelu at pixels [first, first + n). shared (width).
 */
static void place(const decoder *g, const double *z, size_t first, size_t n, double *shared,
                  double *u)
{
    size_t width = g->sizes[1];
    size_t d = decoder_nodes(g);
    const double *down = g->weights + d * width;
    const double *across = down + width;
    memcpy(shared, g->bias, width * sizeof *shared);
    for (size_t j = 0; j < d; j++) {
        for (size_t k = 0; k < width; k++) {
            shared[k] += z[j] * g->weights[j * width + k];
        }
    }
    for (size_t pixel = 0; pixel < n; pixel++) {
        size_t row = (first + pixel) / g->width;
        size_t column = (first + pixel) % g->width;
        double low = 2 * ((double)row + 0.5) / (double)g->height - 1;
        double right = 2 * ((double)column + 0.5) / (double)g->width - 1;
        double *out = u + pixel * width;
        for (size_t k = 0; k < width; k++) {
            out[k] = shared[k] + low * down[k] + right * across[k];
        }
    }
}

void positions_apply(const decoder *g, size_t piece, const double *z, double *scratch, double *x)
{
    size_t width = g->sizes[1];
    size_t channels = g->sizes[g->layers];
    size_t row = piece / positions_tiles(g);
    size_t first = piece % positions_tiles(g) * POSITIONS_TILE;
    size_t left = g->height * g->width - first;
    size_t n = left < POSITIONS_TILE ? left : POSITIONS_TILE;
    double *h = scratch;
    double *u = h + POSITIONS_TILE * width;
    double *out = x + row * decoder_features(g) + first * channels;
    const double *behind = g->backdrop + first * channels;
    const double *weights = g->weights + g->sizes[0] * width;
    const double *bias = g->bias + width;
    place(g, z + row * decoder_nodes(g), first, n, u + POSITIONS_TILE * width, u);
    memset(h, 0, n * width * sizeof *h);
    add_gelu(n * width, u, h);
    for (size_t layer = 1; layer + 1 < g->layers; layer++) {
        for (size_t k = 0; k < n; k++) {
            memcpy(u + k * width, bias, width * sizeof *u);
        }
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)n, (blasint)width,
                    (blasint)width, 1, h, (blasint)width, weights, (blasint)width, 1, u,
                    (blasint)width);
        add_gelu(n * width, u, h);
        weights += width * width;
        bias += width;
    }
    for (size_t k = 0; k < n * channels; k++) {
        out[k] = behind[k] + bias[k % channels];
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (blasint)n, (blasint)channels,
                (blasint)width, 1, h, (blasint)width, weights, (blasint)channels, 1, out,
                (blasint)channels);
}

/* Where the middle of pixel i of `count` lies among `from` pixels: below `index` and the next by
 * `share`, or at a border. */
typedef struct between {
    size_t index, next;
    double share;
} between;

static between find(size_t i, size_t count, size_t from)
{
    double at = ((double)i + 0.5) * (double)from / (double)count - 0.5;
    double last = (double)(from - 1);
    double inside = at > 0 ? (at < last ? at : last) : 0;
    size_t index = (size_t)inside;
    return (between){index, index + 1 < from ? index + 1 : index, inside - (double)index};
}

void decoder_resample(const decoder *g, size_t height, size_t width, double *out)
{
    size_t channels = g->sizes[g->layers];
    size_t line = g->width * channels;
    if (height == g->height && width == g->width) {
        memcpy(out, g->backdrop, height * line * sizeof *out);
        return;
    }
    for (size_t i = 0; i < height; i++) {
        between y = find(i, height, g->height);
        const double *upper = g->backdrop + y.index * line;
        const double *lower = g->backdrop + y.next * line;
        for (size_t j = 0; j < width; j++) {
            between x = find(j, width, g->width);
            for (size_t c = 0; c < channels; c++) {
                size_t left = x.index * channels + c;
                size_t right = x.next * channels + c;
                double above = upper[left] + x.share * (upper[right] - upper[left]);
                double below = lower[left] + x.share * (lower[right] - lower[left]);
                *out++ = above + y.share * (below - above);
            }
        }
    }
}
