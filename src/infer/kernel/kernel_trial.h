/* Some labels of a node predicted by others of its labels: what an encoder would say of them.
 *
 *     train (n), held (h) rows -> z (h)
 *
 * At most KERNEL_TRIAL rows on either side: more would only take longer. */
#ifndef LSCM_INFER_KERNEL_KERNEL_TRIAL_H
#define LSCM_INFER_KERNEL_KERNEL_TRIAL_H

#include "infer/kernel/kernel_parts.h"

enum { KERNEL_TRIAL = 1500 };

typedef struct kernel_trial {
    const kernel_labels *l;
    uint32_t *rows;         /* (N): scratch */
    uint32_t *train, *held; /* (most): rows to learn from, and held out */
    uint32_t *lit;          /* (most): of train, those with a direction */
    size_t n, h;            /* of train and held */
    kernel_points a, b;     /* (most): of lit and held */
    float *k;               /* (n, n): lower triangle */
    float *across;          /* (h, n) */
    float *factor;          /* (n, n) */
    float *x;               /* (n): y, then alpha */
    float *z;               /* (h): predicted */
    double *y;              /* (n) */
    double *part;           /* (KERNEL_ROWS, R + 1) */
    double *gram, *lower;   /* (R + 1, R + 1) */
    double *moment, *slope; /* (R + 1) */
    double *cosine;         /* (threads, KERNEL_ROWS, KERNEL_COLUMNS) */
    arena memory;
} kernel_trial;

lscm_status kernel_trial_open(kernel_trial *w, const kernel_labels *l, lscm_error *why);
void kernel_trial_close(kernel_trial *w);
double kernel_trial_value(const kernel_trial *w, size_t row, size_t j);
/* Rows that label node j to learn from, and those held out. */
void kernel_trial_rows(kernel_trial *w, size_t j, uint64_t seed);
/* z by ridge regression; slope is its coefficients. False when it cannot be solved. */
bool kernel_trial_linear(kernel_trial *w, const kernel_space *s, size_t j, double ridge);
/* Kernels of the rows, without those to learn from that have no direction; then z for any ridge. */
void kernel_trial_kernel(kernel_trial *w, const kernel_space *s);
bool kernel_trial_solve(kernel_trial *w, const kernel_space *s, size_t j, double ridge);

#endif
