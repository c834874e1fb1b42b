/* What an estimator hands on: draws of the model, the causal variables, the decoder. A draw is
 *
 *     z_i = c_i + sum_j w[j][i] z_j + e_i,   e_i ~ N(0, sigma_i^2),   c its intercept,
 *
 * e_i with the sd sigma_i and the law that `noise` has where that is not normal,
 *
 * or, where node i bends in it, the effect that `bent` has in the place of the sum
 * (scm/mechanism/bent.h); w[j][i] is then the average slope.
 *
 * Estimators fill it (src/infer), everything that stores, scores, samples or reports reads it
 * (src/result). */
#ifndef LSCM_SCM_POSTERIOR_POSTERIOR_H
#define LSCM_SCM_POSTERIOR_POSTERIOR_H

#include "base/arena.h"
#include "data/dataset/dataset.h"
#include "scm/mechanism/mechanism.h"
#include "scm/posterior/decoder.h" /* x = g(z) */

/* What turns x into z, as named arrays: src/infer/encoder/stored_encoder.h fills and uses them, the
 * rest only keeps them. Observed variables need none. */
enum { ENCODER_ARRAYS = 40, ENCODER_NAME = 32 };

typedef struct encoder_array {
    char name[ENCODER_NAME];
    array_shape shape; /* no dimension is empty */
    void *raw;         /* owned */
} encoder_array;

typedef struct encoder_store {
    char kind[ENCODER_NAME]; /* "": there is no encoder */
    size_t count;
    encoder_array array[ENCODER_ARRAYS];
} encoder_store;

struct lscm_posterior {
    size_t draws, d, rows, features;
    int x_ndim; /* of x: 2 to 4, and its dims past the first */
    size_t x_dims[3];
    double *w;             /* (draws, d, d) */
    double *sigma;         /* (draws, d) */
    double *intercept;     /* (draws, d): c */
    double *effect;        /* (draws, d): sd of the intercepts that sets have of their own */
    bent_mechanisms *bent; /* NULL: no node bends in any draw */
    noise_shapes noise;    /* (draws, d): laws of e_i; NULL: normal */
    size_t *order;         /* (draws, d) */
    double *log_p;         /* (draws): log p(x, draw), or NaN */
    double *log_q;         /* (draws): log density of the draw under q */
    double *edge_prob;     /* (d, d) */
    double *z, *z_sd;      /* (rows, d) */
    double threshold;      /* a draw has an edge where |w| exceeds it: 0 for explicit graphs */
    decoder decode;
    encoder_store encoder;
    char **node_names;            /* (d), or NULL; owned */
    char *config;                 /* JSON: every setting, the seed, versions; owned */
    char *summary;                /* JSON: seconds, peak_bytes, method, decoder, warnings; owned */
    lscm_diagnostics diagnostics; /* of the summary */
    uint8_t *undirected;          /* (d, d): 1 where nothing tells which way an edge points */
    double *figures;              /* (3, d): their r2, coverage and r2 of anchors */
    char **warnings;              /* (diagnostics.warnings), or NULL; owned */
    struct finding_store *findings; /* of the diagnostics, or NULL; owned */
    arena memory;                   /* of all arrays .. */
    arena bent_memory;              /* .. but those of `bent` */
    arena noise_memory;             /* .. and of `noise` */
};

/* A posterior of zeros with room for these shapes; weights and bias: numbers in the decoder's
 * matrices and biases (decoder_weights, decoder_bias_count). They are at decode.weights and .bias;
 * the rest of decode is the caller's to fill. */
lscm_status posterior_new(struct lscm_posterior **out, size_t draws, size_t d, size_t rows,
                          size_t weights, size_t bias, lscm_error *why);
/* The backdrop of a decoder of positions, of zeros, to be filled: decode.backdrop, with
 * decode.height and .width; x of the posterior has that shape. Owned by the posterior. */
lscm_status posterior_add_backdrop(struct lscm_posterior *posterior, size_t height, size_t width,
                                   size_t channels, lscm_error *why);
/* Room for mechanisms that bend, of zeros, to be filled: posterior->bent, with so many terms in
 * all. Owned by the posterior. */
lscm_status posterior_add_bent(struct lscm_posterior *posterior, size_t terms, lscm_error *why);
/* Room for laws of noise that are not normal, to be filled: posterior->noise, of all draws. */
lscm_status posterior_add_noise(struct lscm_posterior *posterior, lscm_error *why);
/* Fills the diagnostics from the summary, once it is there; nothing changes them afterwards. */
lscm_status posterior_diagnose(struct lscm_posterior *posterior, lscm_error *why);
/* Probability of the edge as it is shown: of j -> i, or of either way where nothing tells which. */
double posterior_shown(const struct lscm_posterior *posterior, size_t from, size_t to);
/* Adds an array to the encoder; *raw is its memory, to be filled. */
lscm_status posterior_add_encoder(struct lscm_posterior *posterior, const char *name,
                                  const array_shape *shape, void **raw, lscm_error *why);
/* Makes the folder of a run; refuses one that holds a run already unless `force` (its files are
 * removed) or `resume`. */
lscm_status run_folder_begin(const char *folder, bool force, bool resume, lscm_error *why);
/* Writes config.json, summary.json and, last, posterior.nc into a folder that exists, each whole or
 * not at all. */
lscm_status posterior_save(const struct lscm_posterior *posterior, const char *folder,
                           lscm_error *why);

#endif
