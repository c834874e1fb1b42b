/* lscm_posterior_evaluate: the scores of docs/metrics.md over the draws, and
 *
 *   x_mse = mean over rows and features of (x - g(z))^2,   z the posterior's mean, g its decoder
 *
 * with x read in blocks of rows. A decoder of positions is asked pixel by pixel: of more than
 * PIXELS_MOST every so-manieth picture is scored. Where the truth has no z or x, their scores are
 * NaN; where it has them, they must be those of the rows that were fitted, as many and in the same
 * order.
 */
#include "result/ask/evaluate_do.h"
#include "scm/metrics/metrics.h"
#include "scm/posterior/posterior.h"

#include <math.h>
#include <omp.h>
#include <string.h>

static const char WHO[] = "the run";
static const size_t PIXELS_MOST = (size_t)1 << 24; /* some ten seconds of a core */

static lscm_status check_nodes(const lscm_posterior *p, const lscm_dataset *truth, lscm_error *why)
{
    if (p->d != truth->nodes) {
        return fail(why, LSCM_SHAPE, "%s has %zu nodes but %s has %zu; they must match", WHO, p->d,
                    truth->path, truth->nodes);
    }
    for (size_t i = 0; p->node_names != NULL && truth->node_names != NULL && i < p->d; i++) {
        if (strcmp(p->node_names[i], truth->node_names[i]) != 0) {
            return fail(why, LSCM_SHAPE,
                        "node %zu (0-based) is '%s' in the run but '%s' in %s; names must match", i,
                        p->node_names[i], truth->node_names[i], truth->path);
        }
    }
    return LSCM_OK;
}

static lscm_status check_rows(const lscm_posterior *p, const lscm_dataset *truth, lscm_error *why)
{
    bool rows = truth->shape[LSCM_X].present || truth->shape[LSCM_Z].present;
    if (p->rows > 0 && rows && p->rows != truth->rows) {
        return fail(why, LSCM_SHAPE,
                    "%s was fitted to %zu rows but %s has %zu; give the data that were fitted, or "
                    "the graph alone",
                    WHO, p->rows, truth->path, truth->rows);
    }
    if (truth->shape[LSCM_X].present && lscm_dataset_features(truth) != p->features) {
        return fail(why, LSCM_SHAPE, "%s has %zu features but x of %s has %zu; they must match",
                    WHO, p->features, truth->path, lscm_dataset_features(truth));
    }
    return LSCM_OK;
}

/* Blocks of whole tiles; the rows past the end are decoded too, and not looked at. */
typedef struct block_work {
    double *z;        /* (tiles * decoder_tile, d) */
    double *seen, *x; /* (tiles * decoder_tile, D) */
    double *scratch;
} block_work;

static void lay_out(block_work *work, arena *a, const decoder *g, size_t tiles, int threads)
{
    size_t rows = tiles * decoder_tile(g);
    work->z = arena_take(a, rows * decoder_nodes(g), sizeof *work->z);
    work->seen = arena_take(a, rows * decoder_features(g), sizeof *work->seen);
    work->x = arena_take(a, rows * decoder_features(g), sizeof *work->x);
    work->scratch = arena_take(a, decoder_tiles_scratch(g, threads), sizeof *work->scratch);
}

/* Rows first, first + every, .. of x, and their z. */
static lscm_status take_rows(block_work *work, const lscm_posterior *p, const lscm_dataset *truth,
                             size_t first, size_t count, size_t every, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = p->d;
    size_t D = p->features;
    size_t run = every == 1 ? count : 1; /* rows that stand together */
    for (size_t r = 0; r < count; r += run) {
        size_t row = first + r * every;
        TRY(lscm_dataset_read(truth, LSCM_X, row, run, work->seen + r * D, why));
        memcpy(work->z + r * d, p->z + row * d, run * d * sizeof *work->z);
    }
done:
    return status;
}

/* Missing entries become what was decoded there; how many they are. */
static size_t fill_missing(const block_work *work, size_t count)
{
    size_t missing = 0;
    for (size_t k = 0; k < count; k++) {
        bool gone = isnan(work->seen[k]);
        work->seen[k] = gone ? work->x[k] : work->seen[k];
        missing += gone ? 1 : 0;
    }
    return missing;
}

static size_t rows_apart(const lscm_posterior *p)
{
    size_t pixels = p->decode.height * p->decode.width;
    size_t most = pixels > 0 && pixels < PIXELS_MOST ? PIXELS_MOST / pixels : 1;
    return p->decode.kind == DECODER_POSITIONS ? (p->rows + most - 1) / most : 1;
}

static lscm_status score_x(const lscm_posterior *p, const lscm_dataset *truth, double *mse,
                           lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena memory = {0};
    block_work work;
    size_t D = p->features;
    int threads = omp_get_max_threads();
    size_t every = rows_apart(p);
    size_t rows = (p->rows + every - 1) / every;
    size_t tiles = decoder_round(&p->decode, rows, threads);
    size_t tile = decoder_tile(&p->decode);
    size_t block = tiles * tile;
    double sum = 0;
    size_t entries = rows * D; /* that are there */
    lay_out(&work, &memory, &p->decode, tiles, threads);
    TRY(arena_open(&memory, why));
    lay_out(&work, &memory, &p->decode, tiles, threads);
    for (size_t first = 0; first < rows; first += block) {
        size_t count = rows - first < block ? rows - first : block;
        TRY(take_rows(&work, p, truth, first * every, count, every, why));
        decoder_apply_tiles(&p->decode, (count + tile - 1) / tile, work.z, threads, work.scratch,
                            work.x);
        entries -= fill_missing(&work, count * D);
        for (size_t row = 0; row < count; row++) {
            double part = 0; /* by row: the sum does not depend on the number of threads */
            TRY(metrics_check_finite(truth->path, "x", work.seen + row * D, (first + row) * every,
                                     1, D, why));
            for (size_t k = row * D; k < (row + 1) * D; k++) {
                part += (work.seen[k] - work.x[k]) * (work.seen[k] - work.x[k]);
            }
            sum += part;
        }
    }
    *mse = sum / (double)entries;
done:
    arena_close(&memory);
    return status;
}

lscm_status lscm_posterior_evaluate(lscm_scores *out, const lscm_posterior *posterior,
                                    const lscm_dataset *truth, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const lscm_posterior *p = posterior;
    arena memory = {0};
    lscm_truth known;
    lscm_estimate estimate = {.draws = p->draws,
                              .nodes = p->d,
                              .w = p->w,
                              .sigma = p->sigma,
                              .edge_prob = p->edge_prob,
                              .threshold = p->threshold};
    TRY(truth_check(truth, why));
    TRY(check_nodes(p, truth, why));
    TRY(check_rows(p, truth, why));
    if (p->rows > 0 && truth->shape[LSCM_Z].present) {
        estimate.rows = p->rows;
        estimate.z = p->z;
        estimate.z_sd = p->z_sd;
    }
    TRY(truth_read(&known, truth, estimate.rows, &memory, why));
    TRY(metrics_evaluate(out, &estimate, &known, WHO, truth->path, why));
    truth_spare_weights(out, truth);
    if (p->bent != NULL && p->bent->terms > 0) { /* it is of linear mechanisms */
        out->kl_z = NAN;
    }
    if (p->rows > 0 && truth->shape[LSCM_X].present) {
        TRY(score_x(p, truth, &out->x_mse, why));
    }
    TRY(evaluate_do(out, p, truth, why));
done:
    arena_close(&memory);
    return status;
}
