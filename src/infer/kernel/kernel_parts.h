/* Between the files of the kernel encoder: which rows label which node, the two ways to solve for
 * alpha, and the variance. */
#ifndef LSCM_INFER_KERNEL_KERNEL_PARTS_H
#define LSCM_INFER_KERNEL_KERNEL_PARTS_H

#include "base/rng.h"
#include "infer/kernel/kernel_map.h"

enum {
    KERNEL_TRAIN = 1, /* the row labels the node and is learned from throughout */
    KERNEL_HELD = 2   /* it labels the node and is held out at first */
};

/* ---- Labels (kernel_labels.c) ---- */

typedef struct kernel_labels {
    const features *f;
    uint8_t *role; /* (rows, d): 0, KERNEL_TRAIN or KERNEL_HELD; 0 for nodes that cannot be used */
    bool *usable;  /* (d) */
    size_t *count; /* (d): rows with a role */
    size_t *held;  /* (d): of these, held out */
    double *mean;  /* (d): of their values */
    double *variance; /* (d) */
    arena memory;
} kernel_labels;

lscm_status kernel_labels_of(kernel_labels *out, const features *f, uint64_t seed, lscm_error *why);
void kernel_labels_close(kernel_labels *l);
/* Rows without direction in this space label nothing; what is counted is counted again. */
void kernel_labels_lit(kernel_labels *l, const kernel_space *s, const double *radius);
/* Only these rows (n), ascending, label anything; the same. */
void kernel_labels_only(kernel_labels *l, const uint32_t *rows, size_t n);
/* Rows whose role of node j is among `roles`, ascending; returns how many. rows (f->rows). */
size_t kernel_labels_rows(const kernel_labels *l, size_t j, unsigned roles, uint32_t *rows);
void kernel_sort(uint32_t *rows, size_t n);
/* A random `most` of rows (n) come first, in ascending order; returns how many, at most n. */
size_t kernel_some(uint32_t *rows, size_t n, size_t most, rng r, uint64_t first);
/* What is learned of a label: (v - shift) / radius. */
double kernel_shift(const kernel_labels *l, kernel_family family, size_t j);

/* ---- The choice (kernel_choice.c) ---- */

/* r2 and ridge_of of all families. spaces (KERNEL_FAMILIES) have their scale. */
lscm_status kernel_choose(kernel_encoder *e, const kernel_labels *l, const kernel_space *spaces,
                          const kernel_settings *settings, const lscm_progress *progress,
                          lscm_error *why);

/* ---- Solving: column j of alpha, ridge and unit (u^2 = y'alpha / n), of all usable nodes ---- */

typedef struct kernel_inputs {
    size_t m;
    uint32_t *row; /* (m): of f, ascending */
    kernel_points points;
    double *cosine; /* (threads, KERNEL_ROWS, KERNEL_COLUMNS): scratch */
    size_t threads;
    arena memory;
} kernel_inputs;

/* rows (m) of f as points of the space; its first m rows when rows is NULL. */
lscm_status kernel_inputs_of(kernel_inputs *out, const kernel_space *s, const float *f,
                             const uint32_t *rows, size_t m, lscm_error *why);
void kernel_inputs_close(kernel_inputs *in);
/* All rows that label a node, when there are few enough; else half of them shared out among the
 * nodes, so that each has labels there, the others any, and rows that are not among them label
 * nothing any more. rows (f->rows) gets them, ascending; returns how many. */
size_t kernel_inputs_choose(kernel_labels *l, const kernel_settings *s, uint32_t *rows,
                            uint32_t *scratch);

/* K of all inputs, once, and room for the factor of one node. */
typedef struct kernel_exact {
    const kernel_inputs *in;
    const device *on; /* that factors, or NULL */
    float *k;         /* lower triangle of (m, m), packed by rows */
    float *a;         /* (most, most) */
    float *y;         /* (most) */
    uint32_t *label;  /* (most): inputs that label the node */
    arena memory;
} kernel_exact;

/* `most`: labels of any one node. */
lscm_status kernel_exact_open(kernel_exact *w, const kernel_inputs *in, size_t most,
                              const device *on, lscm_error *why);
lscm_status kernel_exact_fit(kernel_exact *w, kernel_encoder *e, const kernel_labels *l,
                             unsigned roles, double ridge, const lscm_progress *progress,
                             lscm_error *why);
void kernel_exact_close(kernel_exact *w);

/* out[i * stride] = ridge phi'(Phi'Phi + ridge I)^-1 phi + ridge of rows of f, as kernel_sd_rows.
 * By one thread; part (KERNEL_ROWS, k) is scratch. */
void kernel_linear_sd(const kernel_encoder *e, size_t j, const float *f, const uint32_t *row,
                      size_t n, float *part, double *out, size_t stride);
lscm_status kernel_linear_fit(kernel_encoder *e, const kernel_labels *l, unsigned roles,
                              double ridge, const lscm_progress *progress, lscm_error *why);
/* phi (k) = ((f - centre) / scale, 1) */
void kernel_linear_input(const kernel_space *s, const float *f, double *phi);
/* b = (G + ridge I)^-1 g for G (k, k), its lower triangle; factor (k, k) becomes L. False when it
 * cannot be. */
bool kernel_linear_solve(size_t k, const double *gram, const double *moment, double ridge,
                         double *factor, double *b);
/* G = Phi'Phi, g = Phi'y over rows (n), y (n). part (KERNEL_ROWS, k) is scratch. */
void kernel_linear_sums(const kernel_space *s, const float *f, const uint32_t *rows, size_t n,
                        const double *y, double *part, double *gram, double *moment);

/* ---- The variance (kernel_sd.c): r^2 (1 - k_S (K_SS + ridge I)^-1 k_S' + ridge) ---- */

typedef struct kernel_sd {
    const kernel_space *space;
    size_t most;          /* rows of S */
    size_t n;             /* of S_j now */
    double ridge;         /* in use */
    kernel_points points; /* S_j */
    float *factor;        /* (n, n) */
    double *cosine;       /* (threads, KERNEL_ROWS, KERNEL_COLUMNS) */
    float *block;         /* (threads, KERNEL_ROWS, most) */
    double *unit;         /* (threads, KERNEL_ROWS, k) */
    double *radius;       /* (threads, KERNEL_ROWS) */
    size_t threads;
    arena memory;
} kernel_sd;

lscm_status kernel_sd_open(kernel_sd *w, const kernel_space *s, size_t most, lscm_error *why);
void kernel_sd_close(kernel_sd *w);
/* S_j = rows (n) of f. */
void kernel_sd_set(kernel_sd *w, const float *f, const uint32_t *rows, size_t n, double ridge);
/* out[i * stride] of rows row[i] of f, or of its first n rows when row is NULL. */
void kernel_sd_rows(kernel_sd *w, const float *f, const uint32_t *row, size_t n, double *out,
                    size_t stride);

lscm_status kernel_told(const lscm_progress *progress, const char *what, size_t done, size_t total,
                        lscm_error *why);

#endif
