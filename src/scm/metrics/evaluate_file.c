/* lscm_evaluate_file: an estimate stored as NPZ against the truth stored with a data set.
 *
 *   w (draws, d, d) or (d, d); sigma (draws, d) or (d), the same for all draws; edge_prob (d, d);
 *   z (N, d); x (N, ...)
 *
 * All but w may lack, on either side; the scores that need them are then NaN. x is compared in
 * blocks of rows, so only w and z are ever in memory whole.
 */
#include "data/dataset/dataset.h"
#include "data/npy/npy.h"
#include "scm/metrics/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_NUMBERS = 1 << 16 }; /* of x, on each side */

typedef struct pair {
    const char *path; /* of the estimate */
    npz_file *file;
    const lscm_dataset *data;
    size_t d;
    lscm_estimate estimate;
    lscm_truth truth;
    double *w, *sigma, *edge_prob, *z, *z_sd; /* what estimate points to */
    arena memory;                             /* what truth points to */
} pair;

/* "3 x 5 x 5", for sentences. */
static const char *shape_text(const array_shape *shape, char out[96])
{
    size_t used = 0;
    out[0] = '\0';
    for (int k = 0; k < shape->ndim; k++) {
        int wrote = snprintf(out + used, 96 - used, "%s%zu", k > 0 ? " x " : "", shape->dims[k]);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
    return shape->ndim == 0 ? "a single number" : out;
}

static lscm_status fail_shape(const pair *p, const char *name, const array_shape *shape,
                              const char *wanted, lscm_error *why)
{
    char text[96];
    return fail(why, LSCM_SHAPE, "%s: '%s' is %s but 'w' of %s is %zu x %zu; it must be %s",
                p->path, name, shape_text(shape, text), p->data->path, p->d, p->d, wanted);
}

static lscm_status read_weights(pair *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    array_shape shape;
    TRY(npz_file_shape(p->file, "w", &shape, why));
    if (!shape.present) {
        return fail(why, LSCM_MISSING,
                    "%s: there is no 'w'; store the estimated weights as (draws, d, d) or (d, d)",
                    p->path);
    }
    bool square = (shape.ndim == 2 || shape.ndim == 3) && shape.dims[shape.ndim - 1] == p->d &&
                  shape.dims[shape.ndim - 2] == p->d;
    if (!square) {
        return fail_shape(p, "w", &shape, "d x d or draws x d x d for the same d nodes", why);
    }
    p->estimate.draws = shape.ndim == 3 ? shape.dims[0] : 1;
    TRY(npz_file_read_double(p->file, "w", &p->w, &shape, why));
    p->estimate.w = p->w;
done:
    return status;
}

static lscm_status read_sigma(pair *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    array_shape shape;
    double *one = NULL;
    size_t draws = p->estimate.draws;
    TRY(npz_file_shape(p->file, "sigma", &shape, why));
    if (!shape.present) {
        return LSCM_OK;
    }
    bool each = shape.ndim == 2 && shape.dims[0] == draws && shape.dims[1] == p->d;
    if (!each && !(shape.ndim == 1 && shape.dims[0] == p->d)) {
        char wanted[64];
        (void)snprintf(wanted, sizeof wanted, "%zu x %zu (draws x d), or %zu", draws, p->d, p->d);
        return fail_shape(p, "sigma", &shape, wanted, why);
    }
    TRY(npz_file_read_double(p->file, "sigma", &one, &shape, why));
    if (each) {
        p->sigma = one;
        one = NULL;
    } else {
        p->sigma = malloc(draws * p->d * sizeof *p->sigma);
        if (p->sigma == NULL) {
            status = fail_memory(why, draws * p->d * sizeof *p->sigma);
            goto done;
        }
        for (size_t s = 0; s < draws; s++) {
            memcpy(p->sigma + s * p->d, one, p->d * sizeof *one);
        }
    }
    p->estimate.sigma = p->sigma;
done:
    free(one);
    return status;
}

static lscm_status read_edge_prob(pair *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    array_shape shape;
    TRY(npz_file_shape(p->file, "edge_prob", &shape, why));
    if (shape.present && !(shape.ndim == 2 && shape.dims[0] == p->d && shape.dims[1] == p->d)) {
        return fail_shape(p, "edge_prob", &shape, "d x d for the same d nodes", why);
    }
    TRY(npz_file_read_double(p->file, "edge_prob", &p->edge_prob, &shape, why));
    p->estimate.edge_prob = p->edge_prob;
done:
    return status;
}

/* z or z_sd; NULL where either side has none. */
static lscm_status read_rows(const pair *p, const char *name, double **out, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    array_shape shape;
    const array_shape *real = &p->data->shape[LSCM_Z];
    TRY(npz_file_shape(p->file, name, &shape, why));
    if (!shape.present || !real->present) {
        return LSCM_OK;
    }
    if (shape.ndim != 2 || shape.dims[0] != real->dims[0] || shape.dims[1] != p->d) {
        char text[96];
        return fail(why, LSCM_SHAPE, "%s: '%s' is %s but 'z' of %s is %zu x %zu; they must match",
                    p->path, name, shape_text(&shape, text), p->data->path, real->dims[0], p->d);
    }
    TRY(npz_file_read_double(p->file, name, out, &shape, why));
done:
    return status;
}

static lscm_status read_z(pair *p, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    TRY(read_rows(p, "z", &p->z, why));
    if (p->z != NULL) {
        TRY(read_rows(p, "z_sd", &p->z_sd, why));
        p->estimate.rows = p->data->shape[LSCM_Z].dims[0];
    }
    p->estimate.z = p->z;
    p->estimate.z_sd = p->z_sd;
done:
    return status;
}

/* The mean of (x - true x)^2 over all rows and features. */
static lscm_status compare_x(const pair *p, size_t rows, size_t features, double *mse,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    arena memory = {0};
    double sum = 0;
    size_t block = (size_t)BLOCK_NUMBERS / features > 0 ? (size_t)BLOCK_NUMBERS / features : 1;
    (void)arena_take(&memory, block * features, sizeof(double));
    (void)arena_take(&memory, block * features, sizeof(double));
    TRY(arena_open(&memory, why));
    double *ours = arena_take(&memory, block * features, sizeof *ours);
    double *theirs = arena_take(&memory, block * features, sizeof *theirs);
    for (size_t first = 0; first < rows; first += block) {
        size_t count = rows - first < block ? rows - first : block;
        double part = 0;
        TRY(npz_file_rows_double(p->file, "x", first, count, ours, why));
        TRY(lscm_dataset_read(p->data, LSCM_X, first, count, theirs, why));
        TRY(metrics_check_finite(p->path, "x", ours, first, count, features, why));
        TRY(metrics_check_finite(p->data->path, "x", theirs, first, count, features, why));
        for (size_t k = 0; k < count * features; k++) {
            part += (ours[k] - theirs[k]) * (ours[k] - theirs[k]);
        }
        sum += part;
    }
    *mse = sum / (double)rows / (double)features;
done:
    arena_close(&memory);
    return status;
}

static lscm_status score_x(const pair *p, double *mse, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    array_shape shape;
    const array_shape *real = &p->data->shape[LSCM_X];
    TRY(npz_file_shape(p->file, "x", &shape, why));
    if (!shape.present || !real->present) {
        return LSCM_OK;
    }
    /* a picture may be stored flat on one side */
    if (shape.ndim < 2 || shape.dims[0] != real->dims[0] ||
        shape_count(&shape) != shape_count(real)) {
        char left[96];
        char right[96];
        return fail(why, LSCM_SHAPE, "%s: 'x' is %s but 'x' of %s is %s; they must match", p->path,
                    shape_text(&shape, left), p->data->path, shape_text(real, right));
    }
    TRY(compare_x(p, real->dims[0], lscm_dataset_features(p->data), mse, why));
done:
    return status;
}

lscm_status lscm_evaluate_file(lscm_scores *out, size_t *draws, const char *estimate,
                               const lscm_dataset *truth, double threshold, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    pair p = {.path = estimate, .data = truth, .d = lscm_dataset_nodes(truth)};
    p.estimate.nodes = p.d;
    p.estimate.threshold = threshold;
    TRY(truth_check(truth, why));
    TRY(npz_file_open(&p.file, estimate, why));
    TRY(read_weights(&p, why));
    TRY(read_sigma(&p, why));
    TRY(read_edge_prob(&p, why));
    TRY(read_z(&p, why));
    TRY(truth_read(&p.truth, truth, p.estimate.rows, &p.memory, why));
    TRY(metrics_evaluate(out, &p.estimate, &p.truth, estimate, truth->path, why));
    truth_spare_weights(out, truth);
    TRY(score_x(&p, &out->x_mse, why));
    if (draws != NULL) {
        *draws = p.estimate.draws;
    }
done:
    npz_file_close(p.file);
    free(p.w);
    free(p.sigma);
    free(p.edge_prob);
    free(p.z);
    free(p.z_sd);
    arena_close(&p.memory);
    return status;
}
