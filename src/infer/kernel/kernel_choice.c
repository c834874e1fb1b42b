/* Family and ridge by held-out labels; per node at most 1 500 rows to learn from and as many held
 * out. The ridge of a family by R2 (1 - mse / variance of the node's labels, at least -1), averaged
 * over nodes; then the family by the typical error,
 *
 *     mean log((v - z)^2 / var v + 1e-8),
 *
 * since R2 would leave the choice to the few rows with large x, where every family is far off: on
 * 39 data sets of bias-free networks, 5 and 10 nodes, it took another family on 8, the typical
 * error on none. Labels rarely reach as far as causal variables that are free, and the two kernels
 * differ most beyond the labels: between them the sum counts of that error and of the same when the
 * smaller half of the labels predicts the larger half of those held out.
 */
#include "base/tuned.h"
#include "infer/kernel/kernel_trial.h"

#include <math.h>
#include <stdlib.h>

enum { RIDGES = 4 };
static const double ridges[RIDGES] = {1e-5, 1e-4, 1e-3, 1e-2};
static const double ALIKE = 1e-8; /* errors over the variance of labels: below, they are alike */

typedef struct choice {
    kernel_trial trial;
    const lscm_progress *progress;
    double ridge[RIDGES];
    size_t count; /* of ridges */
} choice;

typedef struct verdict {
    double r2, log_error;
} verdict;

static const verdict failed = {-1, 0};

/* Of a node at its held-out rows, z (h) predicted. */
static verdict judge(const kernel_trial *w, size_t j)
{
    verdict v = {0};
    for (size_t i = 0; i < w->h; i++) {
        double off = kernel_trial_value(w, w->held[i], j) - (double)w->z[i];
        double share = off * off / w->l->variance[j];
        v.r2 += share / (double)w->h;
        v.log_error += log(share + ALIKE) / (double)w->h;
    }
    v.r2 = fmax(1 - v.r2, -1);
    return v;
}

static verdict try_linear(kernel_trial *w, const kernel_space *s, size_t j, double ridge)
{
    return kernel_trial_linear(w, s, j, ridge) ? judge(w, j) : failed;
}

static verdict try_kernel(kernel_trial *w, const kernel_space *s, size_t j, double ridge)
{
    return kernel_trial_solve(w, s, j, ridge) ? judge(w, j) : failed;
}

/* Adds the verdicts on each ridge to sums (count). */
static void try_ridges(choice *c, const kernel_space *s, size_t j, verdict *sums)
{
    kernel_trial *w = &c->trial;
    bool linear = s->family == KERNEL_LINEAR;
    if (!linear) {
        kernel_trial_kernel(w, s);
    }
    for (size_t t = 0; t < c->count; t++) {
        double ridge = c->ridge[t];
        verdict v = linear ? try_linear(w, s, j, ridge) : try_kernel(w, s, j, ridge);
        sums[t].r2 += v.r2;
        sums[t].log_error += v.log_error;
    }
}

/* Node j has labels to learn from and labels held out. */
static bool tells(const kernel_labels *l, size_t j)
{
    return l->usable[j] && l->held[j] > 0 && l->held[j] < l->count[j];
}

static int ascending(const void *left, const void *right)
{
    const double *a = left;
    const double *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* Labels nearer to the mean than half of them are learned from, the others held out; false when one
 * side has too few. */
static bool halve(kernel_trial *w, size_t j)
{
    double mean = w->l->mean[j];
    size_t n = 0;
    size_t h = 0;
    for (size_t i = 0; i < w->n; i++) {
        w->y[i] = fabs(kernel_trial_value(w, w->train[i], j) - mean);
    }
    qsort(w->y, w->n, sizeof *w->y, ascending);
    double near = w->n > 0 ? w->y[w->n / 2] : 0;
    for (size_t i = 0; i < w->n; i++) {
        if (fabs(kernel_trial_value(w, w->train[i], j) - mean) <= near) {
            w->train[n++] = w->train[i];
        }
    }
    for (size_t i = 0; i < w->h; i++) {
        if (fabs(kernel_trial_value(w, w->held[i], j) - mean) > near) {
            w->held[h++] = w->held[i];
        }
    }
    w->n = n;
    w->h = h;
    return n >= tuned_kernel_least_labels() && h >= tuned_kernel_least_labels();
}

/* The best ridge of each family, and what it says; nodes: that tell. */
static lscm_status choose_ridges(choice *w, kernel_encoder *e, const kernel_space *spaces,
                                 const kernel_settings *settings, size_t *nodes, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = w->trial.l->f->d;
    verdict sums[KERNEL_FAMILIES][RIDGES] = {{{0}}};
    for (size_t j = 0; j < d; j++) {
        TRY(kernel_told(w->progress, "choosing the encoder", j, 2 * d, why));
        if (tells(w->trial.l, j)) {
            ++*nodes;
            kernel_trial_rows(&w->trial, j, settings->seed);
            for (size_t family = 0; family < KERNEL_FAMILIES; family++) {
                try_ridges(w, spaces + family, j, sums[family]);
            }
        }
    }
    for (size_t family = 0; family < KERNEL_FAMILIES; family++) {
        size_t best = w->count > 1 ? 1 : 0; /* 1e-4 unless another is better */
        for (size_t t = 0; t < w->count; t++) {
            best = sums[family][t].r2 > sums[family][best].r2 ? t : best;
        }
        e->ridge_of[family] = w->ridge[best];
        e->r2[family] = sums[family][best].r2 / fmax((double)*nodes, 1);
        e->log_error[family] = sums[family][best].log_error / fmax((double)*nodes, 1);
    }
done:
    return status;
}

/* The same beyond the labels, of the families that bend. */
static lscm_status look_beyond(choice *w, kernel_encoder *e, const kernel_space *spaces,
                               const kernel_settings *settings, size_t nodes, lscm_error *why)
{
    lscm_status status = LSCM_OK;
    size_t d = w->trial.l->f->d;
    for (size_t j = 0; j < d; j++) {
        TRY(kernel_told(w->progress, "choosing the encoder", d + j, 2 * d, why));
        if (!tells(w->trial.l, j)) {
            continue;
        }
        kernel_trial_rows(&w->trial, j, settings->seed);
        bool both = halve(&w->trial, j);
        for (size_t family = 1; both && family < KERNEL_FAMILIES; family++) {
            kernel_trial_kernel(&w->trial, spaces + family);
            verdict v = try_kernel(&w->trial, spaces + family, j, e->ridge_of[family]);
            e->log_beyond[family] += v.log_error / (double)nodes;
        }
    }
done:
    return status;
}

lscm_status kernel_choose(kernel_encoder *e, const kernel_labels *l, const kernel_space *spaces,
                          const kernel_settings *settings, const lscm_progress *progress,
                          lscm_error *why)
{
    lscm_status status = LSCM_OK;
    choice w = {.progress = progress, .count = settings->ridge > 0 ? 1 : RIDGES};
    size_t nodes = 0;
    TRY(kernel_trial_open(&w.trial, l, why));
    for (size_t t = 0; t < w.count; t++) {
        w.ridge[t] = settings->ridge > 0 ? settings->ridge : ridges[t];
    }
    TRY(choose_ridges(&w, e, spaces, settings, &nodes, why));
    TRY(look_beyond(&w, e, spaces, settings, nodes, why));
done:
    kernel_trial_close(&w.trial);
    return status;
}
