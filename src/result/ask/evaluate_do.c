/* The recipe of simulated data is the true model: it is made again (and compared with the truth
 * that the data hold), asked for rows under 24 do(), half on one node and half on 1 to d - 1, whose
 * values have the law of the data's, and the posterior for as many. Everything through lscm.h, so
 * that whatever mechanisms there are on either side is scored alike. Nothing of it shares random
 * numbers with the data or the fit.
 */
#include "result/ask/evaluate_do.h"

#include "base/arena.h"
#include "scm/metrics/metrics.h"
#include "scm/recipe/recipe.h"

#include <math.h>
#include <string.h>

enum {
    SETS = 24,
    ROWS = 1000,      /* of each side, under each do() */
    THIN = 4,         /* every fourth of these for energy: pairs are many */
    PLAIN_ROWS = 4000 /* without do() */
};

static const int64_t OTHER_SEED = 0x5DEECE66D; /* changes that of the data */

typedef struct do_work {
    lscm_simulation *model; /* of the recipe; x is z */
    size_t d;
    uint8_t *set;             /* (d) */
    double *targets;          /* (SETS, d) */
    double *values;           /* (SETS, d) */
    double *sd;               /* (d): of the truth without do() */
    double *ours, *theirs;    /* (ROWS, d) */
    double *scratch;          /* (2 ROWS / THIN, d) */
    double *w, *w_stored;     /* (d, d) */
    double *own, *own_stored; /* (d): sigma */
    arena memory;
} do_work;

static void lay_out(do_work *k)
{
    arena *a = &k->memory;
    size_t d = k->d;
    k->set = arena_take(a, d, 1);
    k->targets = arena_take(a, SETS * d, sizeof(double));
    k->values = arena_take(a, SETS * d, sizeof(double));
    k->sd = arena_take(a, d, sizeof(double));
    k->ours = arena_take(a, ROWS * d, sizeof(double));
    k->theirs = arena_take(a, ROWS * d, sizeof(double));
    k->scratch = arena_take(a, 2 * ROWS / THIN * d, sizeof(double));
    k->w = arena_take(a, d * d, sizeof(double));
    k->w_stored = arena_take(a, d * d, sizeof(double));
    k->own = arena_take(a, d, sizeof(double));
    k->own_stored = arena_take(a, d, sizeof(double));
}

/* x is of no interest, and neither is what says how it is made. */
static void forget_x(lscm_simulation *s)
{
    lscm_simulation usual;
    lscm_settings_defaults(lscm_simulation_table(), &usual);
    s->projection = LSCM_PROJECTION_IDENTITY;
    s->activation = usual.activation;
    s->biases = usual.biases;
    s->scene = usual.scene;
    s->size = usual.size;
    s->width = usual.width;
    s->grey = usual.grey;
    s->pixels = usual.pixels;
    s->x_noise = 0;
}

/* As close as numbers stored as float32 are. */
static bool close(const double *a, const double *b, size_t n)
{
    bool same = true;
    for (size_t k = 0; k < n; k++) {
        same = same && fabs(a[k] - b[k]) <= 1e-5 * fabs(a[k]);
    }
    return same;
}

/* Whether the model of the recipe is the truth that is stored. Slopes of bent mechanisms are means
 * over rows: of them the edges are compared. */
static lscm_status is_truth(const do_work *k, const lscm_dataset *truth, bool *same,
                            lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_dataset *made = NULL;
    size_t d = k->d;
    lscm_simulation straight = *k->model;
    bool bent = straight.mechanism != LSCM_MECHANISM_LAW_LINEAR;
    straight.mechanism = LSCM_MECHANISM_LAW_LINEAR;
    *same = false;
    if (lscm_dataset_shape(truth, LSCM_SIGMA).ndim == 0) {
        return LSCM_OK;
    }
    TRY(lscm_simulate(&made, &straight, NULL, why));
    TRY(lscm_dataset_read(made, LSCM_W, 0, d, k->w, why));
    TRY(lscm_dataset_read(made, LSCM_SIGMA, 0, d, k->own, why));
    TRY(lscm_dataset_read(truth, LSCM_W, 0, d, k->w_stored, why));
    TRY(lscm_dataset_read(truth, LSCM_SIGMA, 0, d, k->own_stored, why));
    for (size_t e = 0; e < d * d && bent; e++) {
        k->w[e] = k->w[e] != 0 ? 1 : 0;
        k->w_stored[e] = k->w_stored[e] != 0 ? 1 : 0;
    }
    *same = close(k->w, k->w_stored, d * d) && close(k->own, k->own_stored, d);
done:
    lscm_dataset_free(made);
    return status;
}

/* Half of the sets: targets and values as a simulation of another seed has them. */
static lscm_status draw_sets(const do_work *k, lscm_target_law law, size_t first, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_dataset *made = NULL;
    lscm_simulation s = *k->model;
    s.mechanism = LSCM_MECHANISM_LAW_LINEAR; /* which these do not depend on */
    s.seed ^= OTHER_SEED;
    s.targets = law;
    s.untouched = 0;
    s.paired = false;
    s.observational = 0;
    s.sets = SETS / 2;
    s.per_set = 1;
    TRY(lscm_simulate(&made, &s, NULL, why));
    TRY(lscm_dataset_read(made, LSCM_TARGETS, 0, SETS / 2, k->targets + first * k->d, why));
    TRY(lscm_dataset_read(made, LSCM_VALUES, 0, SETS / 2, k->values + first * k->d, why));
done:
    lscm_dataset_free(made);
    return status;
}

static lscm_status true_sd(const do_work *k, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_dataset *rows = NULL;
    memset(k->set, 0, k->d);
    TRY(lscm_simulate_do(&rows, k->model, k->set, k->values, PLAIN_ROWS, SETS, why));
    TRY(lscm_dataset_bands(rows, LSCM_Z, &(lscm_bands){.sd = k->sd}, why));
done:
    lscm_dataset_free(rows);
    return status;
}

/* Both sides under do() number `set`. */
static lscm_status sample_both(const do_work *k, const lscm_posterior *p, size_t set,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lscm_dataset *ours = NULL;
    lscm_dataset *theirs = NULL;
    const double *values = k->values + set * k->d;
    for (size_t i = 0; i < k->d; i++) {
        k->set[i] = k->targets[set * k->d + i] != 0 ? 1 : 0;
    }
    TRY(lscm_posterior_sample(&ours, p, k->set, values, ROWS, (int64_t)set, why));
    TRY(lscm_dataset_read(ours, LSCM_Z, 0, ROWS, k->ours, why));
    TRY(lscm_simulate_do(&theirs, k->model, k->set, values, ROWS, (int64_t)set, why));
    TRY(lscm_dataset_read(theirs, LSCM_Z, 0, ROWS, k->theirs, why));
done:
    lscm_dataset_free(ours);
    lscm_dataset_free(theirs);
    return status;
}

/* Row 0, THIN, 2 THIN, .. of z (ROWS, d) become its first. */
static void thin(double *z, size_t d)
{
    for (size_t r = 1; r < ROWS / THIN; r++) {
        memcpy(z + r * d, z + r * THIN * d, d * sizeof *z);
    }
}

static lscm_status score(lscm_scores *out, const do_work *k, const lscm_posterior *p,
                         lscm_error *why)
{
    lscm_status status = LSCM_OK;
    double squares = 0;
    double energy = 0;
    size_t nodes = 0;
    for (size_t set = 0; set < SETS; set++) {
        do_rows rows = {ROWS, k->d, k->ours, k->theirs, k->sd, k->set};
        size_t count = 0;
        TRY(sample_both(k, p, set, why));
        squares += do_square_error(&rows, &count);
        nodes += count;
        thin(k->ours, k->d);
        thin(k->theirs, k->d);
        rows.n = ROWS / THIN;
        energy += do_energy(&rows, k->scratch) / SETS;
    }
    out->do_mean_error = nodes > 0 ? sqrt(fmax(squares / (double)nodes, 0)) : NAN;
    out->do_energy = energy;
done:
    return status;
}

lscm_status evaluate_do(lscm_scores *out, const lscm_posterior *posterior,
                        const lscm_dataset *truth, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    bool same = false;
    do_work k = {.model = lscm_simulation_new(), .d = lscm_dataset_nodes(truth)};
    if (k.model == NULL) {
        return fail_memory(why, sizeof *k.model);
    }
    if (!recipe_read(lscm_dataset_recipe(truth), lscm_simulation_table(), k.model) ||
        (size_t)k.model->nodes != k.d || k.d < 2) {
        goto done;
    }
    forget_x(k.model);
    lay_out(&k);
    TRY(arena_open(&k.memory, why));
    lay_out(&k);
    status = is_truth(&k, truth, &same, why);
    if (status != LSCM_OK || !same) { /* a recipe that cannot be followed is none */
        status = status == LSCM_USAGE ? LSCM_OK : status;
        goto done;
    }
    TRY(draw_sets(&k, LSCM_TARGETS_SINGLE, 0, why));
    TRY(draw_sets(&k, LSCM_TARGETS_MULTI, SETS / 2, why));
    TRY(true_sd(&k, why));
    TRY(score(out, &k, posterior, why));
done:
    lscm_simulation_free(k.model);
    arena_close(&k.memory);
    return status;
}
