/* See kernel_beyond.h. The outer half of a node's labels is predicted from the inner half by
 * kernels of both kinds, from at most so many rows (kernel_trial.h), with ridges as they were
 * chosen. */
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
    kernel_space linear, bent[2]; /* bent: biased, homogeneous */
    double *number;               /* (N): scratch */
    double *line, *away;          /* (KERNEL_TRIAL): of held-out labels: l; distance */
    arena memory;
} looking;

static void lay_out(kernel_beyond *b, arena *a)
{
    b->line = arena_take(a, (b->R + 1) * b->d, sizeof(double));
    for (size_t k = 0; k < 2; k++) {
        b->rule[k] = arena_take(a, RULES * b->d, sizeof(double));
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

/* The inner half of the node's labels is learned from, the outer held out; false where either is
 * too small. */
static bool divide(looking *w, size_t j)
{
    kernel_trial *t = &w->trial;
    size_t all = kernel_labels_rows(&w->labels, j, KERNEL_TRAIN | KERNEL_HELD, t->rows);
    for (size_t i = 0; i < all; i++) {
        w->number[i] = kernel_trial_value(t, t->rows[i], j);
    }
    qsort(w->number, all, sizeof *w->number, quantile_compare);
    double middle = quantile_of_sorted(w->number, all, 0.5);
    for (size_t i = 0; i < all; i++) {
        w->number[i] = fabs(w->number[i] - middle);
    }
    qsort(w->number, all, sizeof *w->number, quantile_compare);
    double edge = quantile_of_sorted(w->number, all, 0.5);
    size_t by = all / (2 * (size_t)KERNEL_TRIAL) + 1; /* of many, every so-manieth */
    t->n = 0;
    t->h = 0;
    for (size_t i = 0; i < all; i += by) {
        double out = fabs(kernel_trial_value(t, t->rows[i], j) - middle) - edge;
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
    if (!divide(w, j) || !kernel_trial_linear(t, &w->linear, j, w->e->ridge_of[KERNEL_LINEAR])) {
        return;
    }
    for (size_t i = 0; i < t->h; i++) {
        w->line[i] = (double)t->z[i];
    }
    for (size_t kind = 0; kind < 2; kind++) {
        weigh(w, j, kind, b);
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
