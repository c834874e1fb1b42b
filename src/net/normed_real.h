/* A normalised network on a device, in one precision; included by normed.h for each. A batch goes
 * through layer by layer, as its statistics need all rows; products are cut into tiles of rows, and
 * going back the two products of a layer are found side by side. Neither depends on the number of
 * workers, so results are the same bits for any. */
typedef struct NORMED {
    mlp_shape shape;
    const device *device;
    size_t rows;             /* of a batch, at most */
    size_t workers;          /* of the thread that laid it out */
    REAL *value[MLP_LAYERS]; /* (rows, width[l + 1]): h_{l-1} W_l, then u, then its gradient */
    REAL *out[MLP_LAYERS];   /* the same shape, hidden layers: h_l */
    REAL *back[MLP_LAYERS];  /* the same shape, hidden layers: its gradient */
    REAL *slope[MLP_LAYERS]; /* the same shape, hidden layers: f'; NULL for the identity */
    BATCH_NORM norm[MLP_LAYERS];
} NORMED;

void NAMED(normed, lay_out)(NORMED *net, arena *a, const mlp_shape *shape, size_t rows,
                            const device *on);

/* Weights as in mlp_real.h, from stream r.stream + l 2^32 for layer l; shift 0, scale 1, b 0;
 * averages 0 and 1. */
void NAMED(normed, draw)(const mlp_shape *shape, rng r, REAL *parameters, REAL *running);

/* The output (n, width[layers]) for input (n, width[0]) with the statistics of this batch; the
 * averages move unless NULL. The caller puts its gradient there, and `backward` sets gradient
 * (parameters) and input_gradient (n, width[0]), unless NULL. */
REAL *NAMED(normed, forward)(const NORMED *net, const REAL *parameters, size_t n, const REAL *input,
                             REAL *running);
void NAMED(normed, backward)(const NORMED *net, const REAL *parameters, size_t n, const REAL *input,
                             REAL *gradient, REAL *input_gradient);

/* The plain network of the same shape that this is with the averages for statistics. */
void NAMED(normed, fold)(const mlp_shape *shape, const REAL *parameters, const REAL *running,
                         REAL *plain);
