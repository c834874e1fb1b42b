/* One random stream per use, so that changing one knob leaves the other random numbers as they are.
 */
#ifndef LSCM_SCM_STREAMS_H
#define LSCM_SCM_STREAMS_H

enum scm_stream {
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
    STREAM_ALONE = 1 << 16 /* added for rows under one do() that are no part of the data */
};

#endif
