/* x = g(z) for z of the caller: z (rows, d) to x (rows, D), by whole tiles as lscm_posterior_sample
 * makes them, so that the same z give the same x there and here. */
#include "base/node_name.h"
#include "scm/posterior/posterior.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <string.h>

typedef struct decoding {
    double *z, *x;   /* (rows of whole tiles, d) and (.., D) */
    double *scratch; /* of the decoder */
} decoding;

static void lay_out(decoding *w, arena *a, const decoder *g, size_t tiles, int threads)
{
    w->z = arena_take(a, tiles * decoder_tile(g), decoder_nodes(g) * sizeof(double));
    w->x = arena_take(a, tiles * decoder_tile(g), decoder_features(g) * sizeof(double));
    w->scratch = arena_take(a, decoder_tiles_scratch(g, threads), sizeof(double));
}

static lscm_status check(const lscm_posterior *p, size_t rows, const double *z, lscm_error *why)
{
    for (size_t k = 0; k < rows * p->d; k++) {
        if (!(fabs(z[k]) <= DBL_MAX)) {
            char room[NODE_NAME_ROOM];
            return fail(why, LSCM_VALUE, "z of node %s in row %zu (0-based) is %g; give a number",
                        name_of(p->node_names, k % p->d, room, sizeof room), k / p->d, z[k]);
        }
    }
    return LSCM_OK;
}

lscm_status lscm_posterior_decode(const lscm_posterior *posterior, size_t rows, const double *z,
                                  double *x, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const decoder *g = &posterior->decode;
    size_t d = posterior->d;
    size_t D = posterior->features;
    int threads = omp_get_max_threads();
    size_t tile = decoder_tile(g);
    size_t tiles = decoder_round(g, rows, threads);
    decoding w = {0};
    arena memory = {0};
    TRY(check(posterior, rows, z, why));
    lay_out(&w, &memory, g, tiles, threads);
    TRY(arena_open(&memory, why));
    lay_out(&w, &memory, g, tiles, threads);
    for (size_t first = 0; first < rows; first += tiles * tile) {
        size_t left = rows - first;
        size_t n = left < tiles * tile ? left : tiles * tile;
        memcpy(w.z, z + first * d, n * d * sizeof *z);
        decoder_apply_tiles(g, (n + tile - 1) / tile, w.z, threads, w.scratch, w.x);
        memcpy(x + first * D, w.x, n * D * sizeof *x);
    }
done:
    arena_close(&memory);
    return status;
}
