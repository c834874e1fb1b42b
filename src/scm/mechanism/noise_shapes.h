/* Noise that is not normal, of many draws: e with the sd sigma and the law of Student's t with so
 * many degrees of freedom, above 2; or normal, in a share of all rows so many times as wide as in
 * others. INFINITY and 0 for normal noise.
 */
#ifndef LSCM_SCM_MECHANISM_NOISE_SHAPES_H
#define LSCM_SCM_MECHANISM_NOISE_SHAPES_H

typedef struct noise_shapes {
    double *dof;           /* (draws, d) */
    double *share, *ratio; /* (draws, d) */
} noise_shapes;

#endif
