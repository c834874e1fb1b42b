/* The causal variables behind simulated rows. Row r is a pure function of (settings, r):
 *
 *   mask_r from the set that r belongs to,  values v_r,  noise e_r  ->  z_r by ancestral sampling
 *
 * Rows: the observational ones first, then `sets` x `per_set`. Paired: interventional row k shares
 * its noise with observational row k. Rows are made in whole tiles, which keeps every bit the same
 * for any block size and any number of threads.
 */
#ifndef LSCM_SCM_SIMULATE_LATENTS_H
#define LSCM_SCM_SIMULATE_LATENTS_H

#include "scm/simulate/model.h"

enum { TILE = 128 }; /* rows */

/* One do() of all rows, in place of the sets that the settings draw: mask and values (d), 0 off
 * target. Their noise comes from the settings' seed too, but shares none with the rows of the data.
 */
typedef struct latent_do {
    const uint8_t *mask;
    const double *values;
} latent_do;

/* How far to go: each level includes those before it. */
typedef enum latent_level { LATENT_MASK, LATENT_VALUES, LATENT_Z } latent_level;

typedef struct latent_rows {
    uint8_t *mask;  /* (rows, d) */
    double *values; /* (rows, d), 0 off target */
    double *z;      /* (rows, d), clipped */
} latent_rows;

/* Scratch of one thread. */
typedef struct latent_scratch {
    double *noise;                    /* (TILE, d) */
    double *values_t, *noise_t, *z_t; /* (d, TILE); z before it is clipped */
    uint8_t *mask_t;                  /* (d, TILE) */
    size_t *pool;                     /* (d): nodes that may be targets, then the others */
    size_t *chosen;                   /* (d) */
} latent_scratch;

latent_scratch latent_scratch_take(arena *a, size_t d);
/* Observational rows that these settings give. */
size_t latent_observational(const lscm_simulation *settings);
/* Fills TILE rows of `out` (which points at them) with rows first .. first + TILE - 1; `alone` may
 * be NULL. */
void latents_make(const lscm_simulation *settings, const scm_model *model, const latent_do *alone,
                  size_t first, latent_level level, latent_scratch *scratch, latent_rows out);

#endif
