/* A structural causal model, known: the truth behind simulated data.
 *
 *     z_i = sum_{j in parents(i)} w[j][i] z_j + e_i,  or f_i(z_parents) + e_i,  e_i of sd sigma_i
 *     do(t, v):  z_i = v_i + N(0, s_I^2)  where t_i = 1
 */
#ifndef LSCM_SCM_SIMULATE_MODEL_H
#define LSCM_SCM_SIMULATE_MODEL_H

#include "scm/simulate/bends.h"

typedef struct scm_model {
    size_t d;
    double *w;            /* (d, d), w[j][i] is j -> i; 1 of edges that bend, until their mean
                             slopes are known (slopes.h) */
    double *sigma;        /* (d) */
    size_t *order;        /* (d), causes first */
    size_t *parent_start; /* (d + 1): parents of i are parents[parent_start[i] ..
                             parent_start[i+1]-1] */
    size_t *parents;      /* (edges) */
    bool bent;            /* mechanisms are f, not w */
    scm_bends f;
    arena memory;
} scm_model;

/* u, the unit of z that the settings imply: half the rms of the values; 1 where they say nothing.
 */
double scm_value_unit(const lscm_simulation *settings);
/* A random model, a pure function of the settings (graph, degree, weights or mechanism, noise,
 * seed). */
lscm_status scm_model_random(scm_model *out, const lscm_simulation *settings, lscm_error *why);
void scm_model_close(scm_model *model);

/* Ancestral sampling of n samples at once, one node after the other, columns contiguous.
 * mask, values (d, n); noise (d, n) holds e_i, or do()'s own noise where mask is 1; z (d, n). */
void scm_model_sample(const scm_model *model, size_t n, const uint8_t *mask, const double *values,
                      const double *noise, double *z);

#endif
