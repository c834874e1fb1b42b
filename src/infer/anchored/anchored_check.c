#include "infer/anchored/anchored_check.h"

#include "base/tuned.h"
#include "infer/anchored/advice.h"
#include "infer/check/check.h"
#include "infer/encoder/encoder.h"

#include <cblas.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct errors {
    double *blur;   /* (d, d) */
    double *amiss;  /* (d) */
    double *unsure; /* (d) */
    double *doubt;  /* (d): of a row */
    double *z;      /* (rows, d) */
    arena memory;
} errors;

static lscm_status errors_open(errors *e, size_t d, size_t rows, lscm_error *why)
{
    *e = (errors){.blur = NULL};
    for (size_t k = 0; k < 2; k++) {
        if (k == 1) {
            lscm_status status = arena_open(&e->memory, why);
            if (status != LSCM_OK) {
                return status;
            }
        }
        e->blur = arena_take(&e->memory, d * d, sizeof(double));
        e->amiss = arena_take(&e->memory, d, sizeof(double));
        e->unsure = arena_take(&e->memory, d, sizeof(double));
        e->doubt = arena_take(&e->memory, d, sizeof(double));
        e->z = arena_take(&e->memory, rows * d, sizeof(double));
    }
    return LSCM_OK;
}

static check_input input_of(const fit *f, const linear_view *s, const anchored *a)
{
    return (check_input){.view = s,
                         .a = a,
                         .z = s->kind == VIEW_OBSERVED ? s->y : a->z,
                         .names = f->data->node_names,
                         .column_names = f->data->feature_names,
                         .equal_noise = f->settings.noise == LSCM_NOISE_EQUAL,
                         .forbidden = f->known.forbidden,
                         .required = f->known.required,
                         .order = f->order};
}

/* In the place of entries that x (n, D) lacks: a column that is constant stays so. */
static void put_means(double *x, size_t n, size_t D)
{
    for (size_t j = 0; j < D; j++) {
        column_spread there = {0};
        for (size_t row = 0; row < n; row++) {
            if (!isnan(x[row * D + j])) {
                spread_add(&there, x[row * D + j]);
            }
        }
        for (size_t row = 0; row < n && there.n < (double)n; row++) {
            x[row * D + j] = isnan(x[row * D + j]) ? there.mean : x[row * D + j];
        }
    }
}

/* Columns of x: of the variables as they are, or of so many rows as have check_numbers numbers,
 * every so many of them. */
static lscm_status look_at_columns(check_columns *out, const fit *f, const linear_view *s,
                                   lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t rows = s->rows;
    size_t D = lscm_dataset_features(f->data);
    size_t stride = 1 + (rows * D - 1) / tuned_check_numbers();
    size_t count = (rows + stride - 1) / stride;
    double *x = NULL;
    if (s->kind == VIEW_OBSERVED) {
        return check_columns_of(out, s->y, rows, s->d, &s->design, why);
    }
    if (count < 2) {
        return LSCM_OK;
    }
    x = malloc(count * D * sizeof *x);
    if (x == NULL) {
        return fail_memory(why, count * D * sizeof *x);
    }
    for (size_t k = 0; k < count && stride > 1; k++) {
        TRY(lscm_dataset_read(f->data, LSCM_X, k * stride, 1, x + k * D, why));
    }
    if (stride == 1) {
        TRY(lscm_dataset_read(f->data, LSCM_X, 0, rows, x, why));
    }
    put_means(x, count, D);
    TRY(check_columns_of(out, x, count, D, NULL, why));
done:
    free(x);
    return status;
}

static void take_advice(fit *f, json_t *advice)
{
    find_told(f->checks, advice);
    (void)json_array_extend(f->warnings, advice);
    json_decref(advice);
}

/* What the encoder's own error gives z, mean over rows: as its draws, or labels, leave it open. */
static void take_unsure(const errors *e, const linear_view *s, const anchored *a)
{
    size_t stride = 1 + s->rows / tuned_judge_rows();
    size_t looked_at = (s->rows + stride - 1) / stride;
    for (size_t row = 0; row < s->rows; row += stride) {
        encoder_doubt(a, s->y + row * s->rank, e->doubt);
        for (size_t j = 0; j < a->d; j++) {
            e->unsure[j] += e->doubt[j] / (double)looked_at;
        }
    }
    for (size_t j = 0; j < a->d; j++) {
        double error = a->anchor.standard_error[j];
        e->unsure[j] = fmax(e->unsure[j], error * error);
    }
}

/* z = a + y B, y with noise s_x in every direction: s_x^2 B'B. */
lscm_status anchored_check(fit *f, const linear_view *s, const anchored *a, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = a->d;
    errors e = {0};
    check_input in = input_of(f, s, a);
    check_columns columns = {0};
    TRY(look_at_columns(&columns, f, s, why));
    in.columns = columns.count > 0 ? &columns : NULL;
    if (s->kind == VIEW_LINEAR) {
        TRY(errors_open(&e, d, s->rows, why));
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)d, (int)d, (int)a->rank,
                    s->x_noise * s->x_noise, a->slope, (int)d, a->slope, (int)d, 0, e.blur, (int)d);
        for (size_t j = 0; j < d; j++) {
            bool known = a->anchor.kind[j] == ANCHOR_VALUES;
            e.amiss[j] = known ? a->anchor.residual[j] * a->anchor.residual[j] : (double)NAN;
        }
        take_unsure(&e, s, a);
        if (!(a->clip > 0)) { /* where z was drawn, what the model makes of it is no test of it */
            anchor_apply(s, a->shift, a->slope, e.z);
            in.z = e.z;
        }
        in.blur = e.blur;
        in.amiss = e.amiss;
        in.unsure = e.unsure;
    }
    TRY(check_fit(f->checks, &f->pairs, &in, why));
    json_t *advice = json_array();
    advise(s, a, f->data->node_names, advice);
    take_advice(f, advice);
done:
    check_columns_close(&columns);
    arena_close(&e.memory);
    return status;
}

static void read_off_warn(const read_off *r, const anchored *a, json_t *warnings)
{
    char text[1024];
    char room[32];
    double worst = INFINITY;
    size_t node = 0;
    for (size_t j = 0; j < r->latents.d; j++) {
        if (r->r2[j] < worst) {
            worst = r->r2[j];
            node = j;
        }
    }
    if (worst < tuned_warn_held_out()) {
        (void)snprintf(
            text, sizeof text,
            "values of do() that were held out are predicted badly (R2 %.2f for %s): edges "
            "there rest on little; more rows or more varied sets would help",
            worst, name_of(r->names, node, room, sizeof room));
        (void)json_array_append_new(warnings, json_string(text));
    }
    advise_on_chains(a, r->names, warnings);
}

/* z as it was read off: its blur, mean over who is free, and what it misses of values
 * held out. */
lscm_status read_off_check(fit *f, const read_off *r, const anchored *a, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = a->d;
    const design *by = &r->latents.design;
    errors e = {0};
    check_input in = input_of(f, &r->latents, a);
    check_columns columns = {0};
    TRY(look_at_columns(&columns, f, &r->latents, why));
    in.columns = columns.count > 0 ? &columns : NULL;
    TRY(errors_open(&e, d, 0, why));
    for (size_t k = 0; k < d * d * d; k++) {
        e.blur[k % (d * d)] += r->blur[k] / (double)d;
    }
    for (size_t j = 0; j < d; j++) {
        column_spread s = {0};
        for (size_t row = 0; row < by->rows; row++) {
            if (design_is_set(by, row, j)) {
                spread_add(&s, design_value(by, row, j));
            }
        }
        e.amiss[j] = (1 - r->r2[j]) * s.squares / s.n;
    }
    in.z = r->z;
    in.blur = e.blur;
    in.amiss = e.amiss;
    TRY(check_fit(f->checks, &f->pairs, &in, why));
    json_t *advice = json_array();
    read_off_warn(r, a, advice);
    take_advice(f, advice);
done:
    check_columns_close(&columns);
    arena_close(&e.memory);
    return status;
}
