/* A layer at work, in one precision; included by layer.h for each. */

/* Some rows on their way through a layer, and back. */
typedef struct LAYER_RUN {
    const device *on;
    const layer *at;
    size_t rows;
    const REAL *parameters;
    const REAL *x; /* (rows, in) */
    REAL *u;       /* the same memory, where it is the network's: norm's u, then dx */
    REAL *y;       /* (rows, out) */
    REAL *slope;   /* (rows, out): f'; NULL for the identity */
    REAL *d;       /* (rows, out): dloss/dy; f' is taken in on the way back */
    REAL *dx;      /* (rows, in), or NULL; may be x's memory */
    REAL beta;     /* gradient <- beta gradient + the rows' */
    REAL *gradient;
    const BATCH_NORM *norm;
    REAL *running; /* averages; NULL: they stay */
} LAYER_RUN;

typedef struct LAYER_STEPS {
    bool whole; /* needs all rows of a batch at once; then u is x's memory, and beta is 0 */
    void (*forward)(const LAYER_RUN *r);
    /* Back: first through f, and all of it where nothing follows (NULL); then dloss/dparameters and
     * dloss/dx from d, in this order, or side by side where dx is not x's memory. */
    void (*back)(const LAYER_RUN *r);
    void (*by_parameters)(const LAYER_RUN *r);
    void (*by_input)(const LAYER_RUN *r);
    /* Where it begins; the draws of parameter k are numbers first + k, first + k + stride and so on
     * of the stream. */
    void (*draw)(const layer *at, rng r, size_t first, size_t stride, REAL *parameters,
                 REAL *running);
} LAYER_STEPS;

const LAYER_STEPS *NAMED(layer, steps)(const layer *at);
