#include "scm/metrics/truth.h"

#include <math.h>

lscm_status truth_check(const lscm_dataset *data, lscm_error *why)
{
    if (data->shape[LSCM_W].present) {
        return LSCM_OK;
    }
    return fail(why, LSCM_MISSING,
                "%s: there is no true graph 'w' to compare with; give a file that has one",
                data->path);
}

typedef struct truth_memory {
    double *w, *sigma, *z; /* (d, d), (d), (rows, d) */
    uint8_t *targets;      /* (rows, d) */
} truth_memory;

static void lay_out(truth_memory *t, const lscm_dataset *data, size_t rows, arena *a)
{
    size_t d = data->nodes;
    t->w = arena_take(a, d * d, sizeof *t->w);
    t->sigma = arena_take(a, data->shape[LSCM_SIGMA].present ? d : 0, sizeof *t->sigma);
    t->z = arena_take(a, rows * d, sizeof *t->z);
    t->targets = arena_take(a, data->shape[LSCM_TARGETS].present ? rows * d : 0, 1);
}

lscm_status truth_read(lscm_truth *out, const lscm_dataset *data, size_t rows, arena *memory,
                       lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const array_shape *shape = data->shape;
    size_t d = data->nodes;
    truth_memory t;
    *out = (lscm_truth){0};
    rows = shape[LSCM_Z].present ? rows : 0;
    lay_out(&t, data, rows, memory);
    TRY(arena_open(memory, why));
    lay_out(&t, data, rows, memory);
    TRY(lscm_dataset_read(data, LSCM_W, 0, d, t.w, why));
    out->w = t.w;
    if (shape[LSCM_SIGMA].present) {
        TRY(lscm_dataset_read(data, LSCM_SIGMA, 0, d, t.sigma, why));
        out->sigma = t.sigma;
    }
    if (rows > 0 && shape[LSCM_TARGETS].present) {
        /* z's place serves as the doubles that targets are read through */
        TRY(lscm_dataset_read(data, LSCM_TARGETS, 0, rows, t.z, why));
        for (size_t k = 0; k < rows * d; k++) {
            t.targets[k] = t.z[k] != 0 ? 1 : 0;
        }
        out->targets = t.targets;
    }
    if (rows > 0) {
        TRY(lscm_dataset_read(data, LSCM_Z, 0, rows, t.z, why));
        out->z = t.z;
    }
done:
    return status;
}

void truth_spare_weights(lscm_scores *scores, const lscm_dataset *data)
{
    if (lscm_dataset_graph_alone(data)) {
        scores->w_mse = scores->kl_z = scores->coverage_90 = scores->coverage_90_edges = NAN;
    }
}
