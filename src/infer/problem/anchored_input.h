/* What is asked of an inference over graphs: the rows, who was set, settings and background
 * knowledge, and what is known of the errors of z. */
#ifndef LSCM_INFER_PROBLEM_ANCHORED_INPUT_H
#define LSCM_INFER_PROBLEM_ANCHORED_INPUT_H

#include "data/statistics/statistics.h"

typedef struct anchored_input {
    const linear_view *view;
    const uint8_t *keep; /* (rows) or NULL: use only rows where it is not 0 */
    const lscm_fit_settings *settings;
    const size_t *order;                 /* (d), or NULL: learned */
    const uint8_t *forbidden, *required; /* (d, d), or NULL */
    const double *reach; /* (d) or NULL: z_j is known within +-reach_j, beyond that only its sign */
    bool saturated; /* with reach: x may say nothing of z beyond it, as pixels do at their ends */
    const uint8_t
        *unknown;         /* (rows, d) or NULL, with reach: 1 where z says nothing of a free node */
    const double *leak;   /* (d, d) or NULL: sd of what of z_p is in the z_i that was read off;
                         0 on the diagonal */
    double gain;          /* with leak: sd of the error of the scale of z_j, a share of it */
    const double *blur;   /* (d, d, d) or NULL: covariance of the error of z where node i is free,
                             mean over rows; for variables that were read off x before */
    const double *size;   /* (rows) or NULL: of each row, as row_weights.h has it */
    const double *weight; /* (d, rows) or NULL: what a row counts for each node, given a law of its
                             noise that is a scale mixture (noise_law.h) */
    const double *gains;  /* (d, 2^d) or NULL, with these: what laws of noise say of directions
                             (noise_gain.h) */
    const double *noise_sd;   /* (d), with these: the sd of noise in units of its scale s */
    bool hole;                /* with these, of the slab */
    bool conditional;         /* .. and in units of data without do() (graph/hyper.h) */
    double ridge, log_odds;   /* of the prior; ridge 0: as the settings have it, or learned */
    lscm_mechanism mechanism; /* how far mechanisms may bend: as the settings have it, or found */
    bool curves; /* .. where that is to be found: curves alone, not what two causes do together */
    size_t draws;
    size_t steps; /* of each chain; 0 chooses */
    bool brief;   /* few draws are all that is wanted, of kept rows alone: no edge probabilities,
                     chains a quarter shorter */
    const lscm_progress *progress;
} anchored_input;

#endif
