/* The one registry of random streams: a number for each use, so that no two uses share their random
 * numbers and changing one knob leaves those of the others as they are. A use that needs several
 * (one per chain, restart or step) numbers its parts in the upper half (stream_part), so that no
 * part meets another use. */
#ifndef LSCM_BASE_STREAMS_H
#define LSCM_BASE_STREAMS_H

#include "base/rng.h"

enum stream {
    /* the simulator */
    STREAM_ORDER = 1,
    STREAM_EDGES,
    STREAM_WEIGHTS,
    STREAM_SIGNS,
    STREAM_SIGMA,
    STREAM_TARGET_COUNT,
    STREAM_TARGETS,
    STREAM_VALUES,
    STREAM_NOISE,
    STREAM_ACTUATOR,
    STREAM_PROJECTION,
    STREAM_X_NOISE,
    STREAM_DO_SAMPLE,
    STREAM_UNTOUCHED,
    STREAM_BIASES,
    STREAM_SCENE,
    STREAM_NOISE_LAW,
    STREAM_MECHANISM,
    STREAM_MECHANISM_SIZE,
    STREAM_REFERENCE,
    /* the paper's method */
    STREAM_BIOLS_EPS = 100,
    STREAM_BIOLS_GUMBEL,
    STREAM_BIOLS_Z,
    STREAM_BIOLS_BATCH,
    STREAM_BIOLS_NET,
    STREAM_BIOLS_ORDER_NET,
    STREAM_BIOLS_DRAW_EPS,
    STREAM_BIOLS_DRAW_GUMBEL,
    STREAM_BIOLS_DRAW_Z,
    /* its baselines */
    STREAM_BASELINE_EPS = 200,
    STREAM_BASELINE_ROWS,
    STREAM_BASELINE_NET,
    STREAM_BASELINE_GATES,
    /* reading x, where nobody gives a seed */
    STREAM_VIEW_SAMPLE = 300,
    STREAM_FEATURE_SAMPLE,
    STREAM_PRINCIPAL,
    STREAM_COLUMNS,
    STREAM_MISSING,
    /* the anchored method */
    STREAM_HOLD_OUT = 400,
    STREAM_KERNEL_LABELS,
    STREAM_KERNEL_CHOICE,
    STREAM_KERNEL_INPUTS,
    STREAM_KERNEL_SD,
    STREAM_GENERATOR,
    STREAM_GENERATOR_BATCH,
    STREAM_GRAPHS,
    STREAM_GRAPH_MODELS,
    STREAM_GRAPH_AGAIN,
    STREAM_HYPER,
    STREAM_POOLED,
    STREAM_MECHANISMS,
    STREAM_LEAKS,
    STREAM_GAINS,
    STREAM_JOINT,
    STREAM_LATENT,
    STREAM_LEAK_EDGES,
    STREAM_LEFT_OUT,
    STREAM_CLASSES,
    STREAM_LIKELIHOOD,
    STREAM_FILL,
    STREAM_SIGHT,
    STREAM_SIGHT_BATCH,
    STREAM_SIGHT_PIXELS,
    STREAM_SIGHT_KEEP,
    STREAM_SIGHT_MEMBERS,
    STREAM_BENDS,
    STREAM_JUDGE,
    STREAM_TAILS,

    STREAM_ALONE = 1 << 16 /* added for rows under one do() that are no part of the data */
};

static inline rng stream_of(uint64_t seed, enum stream use)
{
    return (rng){seed, (uint64_t)use};
}

/* Part 0, 1, .. of a stream, up to 2^32 of them. */
static inline rng stream_part(rng r, uint64_t part)
{
    return (rng){r.seed, r.stream + (part << 32)};
}

#endif
