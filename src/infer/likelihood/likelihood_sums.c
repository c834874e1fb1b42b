/* See likelihood_value.h: the Gram matrices of (1, y, v), set by set. */
#include "infer/likelihood/likelihood_value.h"

#include <math.h>
#include <string.h>

static void lay_out(likelihood_sums *s, size_t sets)
{
    arena *a = &s->memory;
    size_t d = s->d;
    size_t f = 2 * d + 1;
    double **vectors[] = {&s->noise, &s->actuator, &s->y_mean, &s->y_unit, &s->v_mean, &s->unit};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = arena_take(a, d, sizeof(double));
    }
    s->target = arena_take(a, sets * d, 1);
    s->count = arena_take(a, sets, sizeof(double));
    s->drift = arena_take(a, sets, sizeof(double));
    s->gram = arena_take(a, sets * f * f, sizeof(double));
}

/* Means and sds of y over the rows that count, means of v where it was set. */
static void find_units(likelihood_sums *s, const linear_view *view, const uint8_t *keep)
{
    size_t d = s->d;
    double set[LIKELIHOOD_MOST] = {0};
    for (size_t row = 0; row < view->rows; row++) {
        if (!row_counts(keep, row)) {
            continue;
        }
        s->rows++;
        for (size_t c = 0; c < d; c++) {
            double y = view->y[row * d + c];
            bool is_set = design_is_set(&view->design, row, c);
            s->y_mean[c] += y;
            s->y_unit[c] += y * y;
            s->v_mean[c] += is_set ? design_value(&view->design, row, c) : 0;
            set[c] += is_set ? 1 : 0;
        }
    }
    for (size_t c = 0; c < d; c++) {
        s->y_mean[c] /= s->rows;
        s->y_unit[c] = sqrt(fmax(s->y_unit[c] / s->rows - s->y_mean[c] * s->y_mean[c], 0));
        s->y_unit[c] = s->y_unit[c] > 0 ? s->y_unit[c] : 1;
        s->v_mean[c] /= fmax(set[c], 1);
        s->noise[c] = view->x_noise * view->x_noise / (s->y_unit[c] * s->y_unit[c]);
    }
}

static void add_row(const likelihood_sums *s, const linear_view *view, size_t row, double *gram)
{
    size_t d = s->d;
    size_t f = 2 * d + 1;
    double one[2 * LIKELIHOOD_MOST + 1] = {1};
    for (size_t c = 0; c < d; c++) {
        double v = design_value(&view->design, row, c) - s->v_mean[c];
        one[1 + c] = (view->y[row * d + c] - s->y_mean[c]) / s->y_unit[c];
        one[1 + d + c] = design_is_set(&view->design, row, c) ? v / s->unit[c] : 0;
    }
    for (size_t i = 0; i < f; i++) {
        for (size_t c = 0; c < f; c++) {
            gram[i * f + c] += one[i] * one[c];
        }
    }
}

/* The last set becomes two: what varies about its mean, and the mean. */
static void split_set(likelihood_sums *s)
{
    size_t d = s->d;
    size_t f = 2 * d + 1;
    size_t k = s->sets - 1;
    double n = s->count[k];
    double *gram = s->gram + k * f * f;
    double *mean = gram + f * f;
    for (size_t i = 0; i < f; i++) {
        for (size_t c = 0; c < f; c++) {
            mean[i * f + c] = gram[i] * gram[c] / n;
        }
    }
    for (size_t e = 0; e < f * f; e++) {
        gram[e] -= mean[e];
    }
    memcpy(s->target + (k + 1) * d, s->target + k * d, d);
    s->count[k] = n - 1;
    s->count[k + 1] = 1;
    s->drift[k + 1] = n;
    s->sets++;
}

/* The end of the set, or where these are split of the batch, that begins at place `from` of the
 * rows set by set. */
static size_t part_end(const design *s, bool split, size_t from)
{
    size_t to = from + 1;
    size_t set = s->set[s->row[from]];
    size_t batch = design_batch(s, s->row[from]);
    while (to < s->rows && s->set[s->row[to]] == set &&
           (!split || design_batch(s, s->row[to]) == batch)) {
        to++;
    }
    return to;
}

lscm_status likelihood_sums_of(likelihood_sums *out, const linear_view *s, const uint8_t *keep,
                               const double *unit, const double *actuator, bool split,
                               lscm_error *why)
{
    lscm_status status = LSCM_OK;
    const design *from = &s->design;
    size_t f = 2 * s->d + 1;
    likelihood_sums sums = {.d = s->d};
    size_t most = split ? 2 * design_batches(from) : from->sets;
    size_t to = 0;
    lay_out(&sums, most);
    TRY(arena_open(&sums.memory, why));
    lay_out(&sums, most);
    find_units(&sums, s, keep);
    for (size_t j = 0; j < s->d; j++) {
        sums.unit[j] = unit[j];
        sums.actuator[j] = actuator[j] * actuator[j] / (unit[j] * unit[j]);
    }
    for (size_t at = 0; at < from->rows;) {
        double *gram = sums.gram + sums.sets * f * f;
        const uint8_t *target = design_targets(from, from->row[at]);
        for (to = part_end(from, split, at); at < to; at++) {
            if (row_counts(keep, from->row[at])) {
                add_row(&sums, s, from->row[at], gram);
            }
        }
        if (gram[0] > 0) {
            memcpy(sums.target + sums.sets * s->d, target, s->d);
            sums.count[sums.sets++] = gram[0];
            if (split) {
                split_set(&sums);
            }
        }
    }
    *out = sums;
    sums.memory = (arena){0};
done:
    arena_close(&sums.memory);
    return status;
}

void likelihood_sums_close(likelihood_sums *s)
{
    arena_close(&s->memory);
}
