/* See kernel_beyond.h. Four predictions of a node's labels from others of them, each by kernels of
 * both kinds (the sides and those at random: by the encoder's own):
 *
 *     inner half -> outer half;   lower -> upper half, upper -> lower;   most -> those held out.
 *
 * Each at most so many rows (kernel_trial.h), with family and ridge as they were chosen. */
#include "infer/kernel/kernel_beyond.h"

#include "base/quantile.h"
#include "base/threads.h"
#include "base/tuned.h"
#include "infer/kernel/kernel_trial.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BENT, GROWTH, LOW, HIGH, RULES };

typedef struct looking {
    const kernel_encoder *e;
    const features *f;
    const kernel_settings *settings;
    kernel_labels labels;
    kernel_trial trial;
    kernel_space linear, bent[2], own; /* bent: biased, homogeneous */
    double *number;                    /* (N): scratch */
    double *line, *away;               /* (KERNEL_TRIAL): of held-out labels: l; distance */
    arena memory;
} looking;

static void lay_out(kernel_beyond *b, arena *a)
{
    double **nodes[] = {&b->in, &b->near, &b->side, &b->far};
    b->line = arena_take(a, (b->R + 1) * b->d, sizeof(double));
    for (size_t k = 0; k < 2; k++) {
        b->rule[k] = arena_take(a, RULES * b->d, sizeof(double));
    }
    for (size_t k = 0; k < sizeof nodes / sizeof nodes[0]; k++) {
        *nodes[k] = arena_take(a, b->d, sizeof(double));
    }
}

static void lay_out_looking(looking *w, arena *a)
{
    w->number = arena_take(a, w->f->rows, sizeof(double));
    w->line = arena_take(a, KERNEL_TRIAL, sizeof(double));
    w->away = arena_take(a, KERNEL_TRIAL, sizeof(double));
}

static kernel_space space_of(looking *w, kernel_family family)
{
    kernel_space s = {.family = family, .R = w->f->R, .centre = w->f->mean};
    s.scale = kernel_scale(&s, w->f->rows, w->f->f, w->number);
    return s;
}

static lscm_status open_looking(looking *w, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    lay_out_looking(w, &w->memory);
    TRY(arena_open(&w->memory, why));
    lay_out_looking(w, &w->memory);
    w->linear = space_of(w, KERNEL_LINEAR);
    w->bent[0] = space_of(w, KERNEL_BIASED);
    w->bent[1] = space_of(w, KERNEL_HOMOGENEOUS);
    w->own = w->e->space.family == KERNEL_LINEAR
                 ? w->linear
                 : w->bent[w->e->space.family == KERNEL_HOMOGENEOUS ? 1 : 0];
    TRY(kernel_labels_of(&w->labels, w->f, w->settings->seed, why));
    TRY(kernel_trial_open(&w->trial, &w->labels, why));
done:
    return status;
}

static void close_looking(looking *w)
{
    kernel_trial_close(&w->trial);
    kernel_labels_close(&w->labels);
    arena_close(&w->memory);
}

/* ---- Which labels are learned from ---- */

typedef enum part { OUTER, UPPER, LOWER } part;

/* Half of the node's labels are learned from, and `held` is the other; false where either is too
 * small. Of values that are few, those in the middle may be in neither. */
static bool divide(looking *w, size_t j, part held)
{
    kernel_trial *t = &w->trial;
    size_t all = kernel_labels_rows(&w->labels, j, KERNEL_TRAIN | KERNEL_HELD, t->rows);
    for (size_t i = 0; i < all; i++) {
        w->number[i] = kernel_trial_value(t, t->rows[i], j);
    }
    qsort(w->number, all, sizeof *w->number, quantile_compare);
    double middle = quantile_of_sorted(w->number, all, 0.5);
    for (size_t i = 0; i < all && held == OUTER; i++) {
        w->number[i] = fabs(w->number[i] - middle);
    }
    qsort(w->number, all, sizeof *w->number, quantile_compare);
    double edge = held == OUTER ? quantile_of_sorted(w->number, all, 0.5) : 0;
    size_t by = all / (2 * (size_t)KERNEL_TRIAL) + 1; /* of many, every so-manieth */
    t->n = 0;
    t->h = 0;
    for (size_t i = 0; i < all; i += by) {
        double from = kernel_trial_value(t, t->rows[i], j) - middle;
        double out = held == OUTER ? fabs(from) - edge : held == UPPER ? from : -from;
        if (out > 0 && t->h < KERNEL_TRIAL) {
            w->away[t->h] = out;
            t->held[t->h++] = t->rows[i];
        } else if (out <= 0 && t->n < KERNEL_TRIAL) {
            t->train[t->n++] = t->rows[i];
        }
    }
    return t->n >= tuned_kernel_least_labels() && t->h >= tuned_kernel_least_labels();
}

/* ---- Beyond the labels ---- */

/* e^2 = g^2 away^2, least squares: g. */
static double growth_of(size_t n, const double *e, const double *away)
{
    double products = 0;
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        double square = away[i] * away[i];
        products += square * e[i] * e[i];
        squares += square * square;
    }
    return squares > 0 ? sqrt(products / squares) : 0;
}

/* Bent and growth of node j by one kind of kernel; l of the held-out labels is in w->line. */
static void weigh(looking *w, size_t j, size_t kind, kernel_beyond *b)
{
    kernel_trial *t = &w->trial;
    const kernel_space *s = &w->bent[kind];
    double products = 0;
    double squares = 0;
    kernel_trial_kernel(t, s);
    bool solved = kernel_trial_solve(t, s, j, w->e->ridge_of[s->family]);
    for (size_t i = 0; i < t->h && solved; i++) {
        double bend = (double)t->z[i] - w->line[i];
        products += bend * (kernel_trial_value(t, t->held[i], j) - w->line[i]);
        squares += bend * bend;
    }
    double bent = squares > 0 ? fmin(fmax(products / squares, 0), 1) : 1;
    for (size_t i = 0; i < t->h; i++) {
        double z = solved ? w->line[i] + bent * ((double)t->z[i] - w->line[i]) : w->line[i];
        w->number[i] = z - kernel_trial_value(t, t->held[i], j);
    }
    b->rule[kind][BENT * b->d + j] = bent;
    b->rule[kind][GROWTH * b->d + j] = growth_of(t->h, w->number, w->away);
}

/* The linear reading of all labels of node j, of f as it is. */
static void put_line(looking *w, size_t j, kernel_beyond *b)
{
    kernel_trial *t = &w->trial;
    const kernel_space *s = &w->linear;
    size_t all = kernel_labels_rows(&w->labels, j, KERNEL_TRAIN | KERNEL_HELD, t->rows);
    size_t by = all / (size_t)KERNEL_TRIAL + 1;
    double last = w->labels.mean[j];
    t->n = 0;
    t->h = 0;
    for (size_t i = 0; i < all; i += by) {
        t->train[t->n++] = t->rows[i];
    }
    bool solved = kernel_trial_linear(t, s, j, w->e->ridge_of[KERNEL_LINEAR]);
    for (size_t k = 0; k < s->R && solved; k++) {
        b->line[k * b->d + j] = t->slope[k] / s->scale;
        last -= t->slope[k] / s->scale * s->centre[k];
    }
    b->line[s->R * b->d + j] = last + (solved ? t->slope[s->R] : 0);
}

static void look_out(looking *w, size_t j, kernel_beyond *b)
{
    kernel_trial *t = &w->trial;
    if (!divide(w, j, OUTER) ||
        !kernel_trial_linear(t, &w->linear, j, w->e->ridge_of[KERNEL_LINEAR])) {
        return;
    }
    for (size_t i = 0; i < t->h; i++) {
        w->line[i] = (double)t->z[i];
    }
    for (size_t kind = 0; kind < 2; kind++) {
        weigh(w, j, kind, b);
    }
}

/* ---- Where no label was near ---- */

/* Adds the mean squared error of the labels held out, and the mean of V; false where it cannot be
 * told. */
static bool add_errors(looking *w, size_t j, double *error, double *variance)
{
    kernel_trial *t = &w->trial;
    double ridge = w->e->ridge_of[w->own.family];
    if (t->n < tuned_kernel_least_labels() || t->h < tuned_kernel_least_labels()) {
        return false;
    }
    bool linear = w->own.family == KERNEL_LINEAR;
    if (!linear) {
        kernel_trial_kernel(t, &w->own);
    }
    if (!(linear ? kernel_trial_linear(t, &w->own, j, ridge)
                 : kernel_trial_solve(t, &w->own, j, ridge))) {
        return false;
    }
    kernel_trial_variance(t, &w->own, ridge);
    for (size_t i = 0; i < t->h; i++) {
        double off = (double)t->z[i] - kernel_trial_value(t, t->held[i], j);
        *error += off * off / (double)t->h;
        *variance += t->v[i] / (double)t->h;
    }
    return true;
}

static void look_aside(looking *w, size_t j, kernel_beyond *b)
{
    double unit2 = w->e->unit[j] * w->e->unit[j] / w->e->calibration[j];
    double error[2] = {0};
    double variance[2] = {0};
    kernel_trial_rows(&w->trial, j, w->settings->seed);
    bool known = add_errors(w, j, &error[0], &variance[0]);
    for (part side = UPPER; side <= LOWER; side++) {
        if (divide(w, j, side)) {
            (void)add_errors(w, j, &error[1], &variance[1]);
        }
    }
    if (known && error[0] > 0 && error[1] > 0 && unit2 > 0) {
        b->in[j] = error[0] / (unit2 * variance[0]);
        b->near[j] = variance[0];
        b->side[j] = error[1] / (unit2 * variance[1]);
        b->far[j] = variance[1] / 2; /* of two sides */
    }
}

/* ---- All of it ---- */

static void find_range(const features *f, kernel_beyond *b)
{
    for (size_t j = 0; j < b->d; j++) {
        double low = INFINITY;
        double high = -INFINITY;
        for (size_t r = 0; r < f->rows; r++) {
            if (design_is_set(&f->design, r, j)) {
                low = fmin(low, design_value(&f->design, r, j));
                high = fmax(high, design_value(&f->design, r, j));
            }
        }
        for (size_t kind = 0; kind < 2; kind++) {
            b->rule[kind][BENT * b->d + j] = 1;
            b->rule[kind][LOW * b->d + j] = low < high ? low : 0;
            b->rule[kind][HIGH * b->d + j] = low < high ? high : 0;
        }
        b->in[j] = b->side[j] = 1;
        b->near[j] = b->far[j] = 1;
    }
}

lscm_status kernel_beyond_of(kernel_beyond *out, const kernel_encoder *e, const features *f,
                             const kernel_settings *settings, const lscm_progress *progress,
                             lscm_error *why)
{
    lscm_status status = LSCM_OK;
    kernel_beyond b = {.d = f->d, .R = f->R};
    looking w = {.e = e, .f = f, .settings = settings};
    threads_blas_single();
    lay_out(&b, &b.memory);
    TRY(arena_open(&b.memory, why));
    lay_out(&b, &b.memory);
    TRY(open_looking(&w, why));
    find_range(f, &b);
    for (size_t j = 0; j < f->d; j++) {
        TRY(kernel_told(progress, "encoding", j, f->d, why));
        if (w.labels.usable[j]) {
            put_line(&w, j, &b);
            look_out(&w, j, &b);
            look_aside(&w, j, &b);
        }
    }
    *out = b;
    b.memory = (arena){0};
done:
    threads_blas_restore();
    close_looking(&w);
    arena_close(&b.memory);
    return status;
}

void kernel_beyond_close(kernel_beyond *b)
{
    arena_close(&b->memory);
}

kernel_shrink kernel_beyond_shrink(const kernel_beyond *b, bool homogeneous)
{
    return (kernel_shrink){b->d, b->R, b->line, b->rule[homogeneous ? 1 : 0]};
}

double kernel_beyond_place(const kernel_beyond *b, size_t j, double V)
{
    double way = log(b->far[j] / b->near[j]);
    double place = way > 0 && V > 0 ? log(V / b->near[j]) / way : 0;
    return fmin(fmax(place, 0), 1);
}

void kernel_shrink_rows(const kernel_shrink *s, size_t n, const float *f, const design *told,
                        double *z, double *sd)
{
    size_t d = s->d;
    for (size_t r = 0; r < n; r++) {
        for (size_t j = 0; j < d; j++) {
            double low = s->rule[LOW * d + j];
            double high = s->rule[HIGH * d + j];
            double bent = s->rule[BENT * d + j];
            double l = s->line[s->R * d + j];
            double *at = z + r * d + j;
            if (design_is_set(told, r, j) || !(low < high)) {
                continue;
            }
            for (size_t k = 0; k < s->R; k++) {
                l += (double)f[r * s->R + k] * s->line[k * d + j];
            }
            double meant = l + bent * (*at - l);
            double away = fmax(fmax(low - meant, meant - high), 0);
            double share = fmin(2 * away / (high - low), 1);
            *at -= (1 - bent) * share * (*at - l);
            sd[r * d + j] = hypot(sd[r * d + j], s->rule[GROWTH * d + j] * away);
        }
    }
}
