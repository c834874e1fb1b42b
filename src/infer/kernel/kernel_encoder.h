/* A kernel encoder: causal variables from features f of x, in closed form. Where t_j = 1, v_j is a
 * label of z_j, and z_j(f) is a Gaussian process that saw the n_j labels (kernel ridge regression):
 *
 *     z_j(f) = shift_j + r(f) sum_i k(f, f_i) alpha_ij,   (K_LL + ridge I) alpha_j = y_j,
 *     y_i = (v_ij - shift_j) / r(f_i),
 *     var z_j(f) = u_j^2 r(f)^2 (1 - k_S (K_SS + ridge I)^-1 k_S' + ridge),
 *
 * with k the neural tangent kernel of a ReLU network with two hidden layers and no biases, scaled
 * to k = 1 on the diagonal, a function of the cosine of two inputs (kernel_map.c), and r the length
 * of the input. Families:
 *
 *     homogeneous  the input is f: z(2x) = 2 z(x), shift = 0. Rows with |f| under a hundredth of
 *                  the median have no direction: they are no labels, and z at f = 0 is 0
 *     biased       the input is ((f - mean) / rms, 0.3); shift = mean of the labels
 *     linear       z = shift + ((f - mean) / rms, 1) b by ridge regression, the same formulas with
 *                  k the inner product and r = 1
 *
 * Family and ridge are those that predict held-out labels best (kernel_choice.c): about a fifth of
 * the intervention sets (with all of their rows) is left out; of a node with fewer
 * than 5 sets, a fifth of its rows.
 *
 * All labelled rows are inputs of the solution while there are at most 12 000 of them, else a
 * random 12 000, half of them shared out among the nodes so that each has labels there; other rows
 * label nothing. The solution is exact: float32 Cholesky of K_LL, whose smallest eigenvalues are
 * about 1e-2 (refining it gains 1e-4 of z, so that is not done). A device with a machine for it
 * (backend/cholesky_machine.h) factors it from 4 000 labels on: other last bits, and on a device
 * without room for it a failure.
 *
 * The variance rests on S_j: all labels of the node when that costs under 1e11 operations, else a
 * random thousand of them. u_j^2 = (y'alpha / n) c_j, and c_j makes the mean
 * squared error of held-out labels over their variance 1, all of it computed with the same formula
 * (without the held-out rows). So sd is that of a label: actuator noise is in it.
 *
 * Memory beyond f, z and sd: 2 m^2 + 4 max(n_j)^2 bytes, 0.9 GB at most. An encoder takes
 * 4 m (R + d) bytes.
 */
#ifndef LSCM_INFER_KERNEL_KERNEL_ENCODER_H
#define LSCM_INFER_KERNEL_KERNEL_ENCODER_H

#include "backend/backend.h"
#include "data/statistics/statistics.h"

typedef enum kernel_family {
    KERNEL_LINEAR,
    KERNEL_HOMOGENEOUS,
    KERNEL_BIASED,
    KERNEL_FAMILIES /* as a setting: choose */
} kernel_family;

typedef struct kernel_settings {
    uint64_t seed;
    kernel_family family; /* KERNEL_FAMILIES: the one that predicts held-out labels best */
    double ridge;         /* relative to the diagonal; 0: the best of 1e-5, 1e-4, 1e-3, 1e-2 */
    size_t rows;          /* most labelled rows that are inputs; 0: 12 000 */
    size_t sd_rows;       /* most rows in S_j; 0: chosen as above */
    const device *on;     /* that factors K_LL where it is large; NULL: the CPU */
} kernel_settings;

/* Where inputs live: what turns a row of f into a unit vector (k) and its length r. */
typedef struct kernel_space {
    kernel_family family;
    size_t R;
    double scale;   /* median |f| (homogeneous), rms of |f - centre| (others); 1 when that is 0 */
    double *centre; /* (R); not used by the homogeneous family */
} kernel_space;

typedef struct kernel_encoder {
    kernel_space space;
    size_t d;
    size_t m;         /* inputs; R + 1 coefficients when linear */
    double *shift;    /* (d) */
    double *ridge;    /* (d): the chosen one, or tenfold of it as often as it took to solve */
    double *unit;     /* (d): u */
    float *alpha;     /* (m, d): 0 for rows that do not label the node */
    float *inputs;    /* (m, R): rows of f; NULL when linear */
    size_t *sd_first; /* (d + 1): S_j is sd_row[sd_first[j]] .. ; all 0 when linear */
    uint32_t *sd_row; /* (sd_count): of inputs */
    size_t sd_count;  /* room in sd_row */
    float *factor;    /* linear (d, m, m): lower Cholesky factors; NULL when over 64 MB: then
                         the sd of a node is the same for all rows */
    /* what held-out labels said */
    double log_error[KERNEL_FAMILIES];  /* mean over nodes of mean log((v - z)^2 / var v + 1e-8) */
    double log_beyond[KERNEL_FAMILIES]; /* the same beyond the labels; 0 for linear */
    double r2[KERNEL_FAMILIES];         /* mean over nodes, each at least -1, of 1 - mse / var v, at
                                           most 1 500 rows to learn from */
    double ridge_of[KERNEL_FAMILIES];   /* the best ridge of each family */
    bool *usable;                       /* (d): false: fewer than 10 labels, or all the same; then
                                           column j of alpha is 0 and so are z and sd */
    size_t *labels;                     /* (d): rows that label the node */
    double *node_r2;     /* (d): chosen family, all other labels to learn from; 0 when
                            nothing could be held out */
    double *residual;    /* (d): rms of v - z over held-out labels */
    double *calibration; /* (d): c */
    arena memory;
} kernel_encoder;

/* z, sd (rows, d) of all rows of f; at labels, z is what the encoder says, not v. Fails only for
 * want of memory or when stopped. The same numbers on any number of threads. */
lscm_status kernel_encode(kernel_encoder *out, double *z, double *sd, const features *f,
                          const kernel_settings *settings, const lscm_progress *progress,
                          lscm_error *why);
/* z, sd (n, d), sd may be NULL, of rows f (n, R). Factors of K_SS are computed anew in each call:
 * give it many rows. */
lscm_status kernel_apply(const kernel_encoder *e, size_t n, const float *f, double *z, double *sd,
                         const lscm_progress *progress, lscm_error *why);
/* Room for everything, zeroed; space.family, space.R, d, m, sd_count are set, all else is 0: how an
 * encoder that was stored comes back. */
lscm_status kernel_encoder_open(kernel_encoder *e, lscm_error *why);
void kernel_encoder_close(kernel_encoder *e);
const char *kernel_family_name(kernel_family family);

#endif
