/* A network on a device, in one precision; included by mlp.h for each.
 *
 * A batch is cut into chunks of rows that go forward and back through all layers while they are in
 * a core's cache, one chunk per worker. Chunks are dealt, in order, to at most 32 partial
 * gradients, which are added up in order; how many of either depends on the batch and the network
 * only, so results are the same bits for any number of workers.
 */
typedef struct MLP {
    mlp_shape shape;
    const device *device;
    size_t rows;             /* that `forward` keeps, at most */
    size_t workers;          /* of the thread that laid it out */
    size_t chunk_least;      /* rows in a chunk of a small batch */
    size_t slots;            /* partial gradients, at most */
    REAL *value[MLP_LAYERS]; /* (rows held, width[l + 1]): h_{l+1}, then its gradient */
    REAL *slope[MLP_LAYERS]; /* the same shape: f'; NULL for the identity */
    REAL *partial;           /* (slots - 1, parameters); the first is the caller's gradient */
    double *loss;            /* (slots) */
} MLP;

/* Measures or places the scratch. `rows` is the largest batch given to `forward`, 0 when only
 * `pass` is used, which takes any number of rows. */
void NAMED(mlp, lay_out)(MLP *net, arena *a, const mlp_shape *shape, size_t rows, const device *on);

/* Weights N(0, 1/fan_in) cut at two standard deviations, zero biases; uses the whole stream. Equal
 * in both precisions, but for the rounding. */
void NAMED(mlp, draw)(const mlp_shape *shape, rng r, REAL *parameters);

/* Called for rows first .. first + n - 1 with y (n, width[layers]), the output; replaces it by the
 * gradient of the loss with respect to it, and returns their part of the loss. Calls for different
 * rows come at the same time from several threads. */
typedef double (*NAMED(mlp, loss))(void *self, size_t first, size_t n, REAL *y);

/* Forward, loss and back for input (n, width[0]); returns the sum of the losses. gradient
 * (parameters) is set, or added to when `add`; NULL: forward only, the output is `loss`'s to use.
 * input_gradient (n, width[0]) is set, unless NULL. */
double NAMED(mlp, pass)(const MLP *net, const REAL *parameters, size_t n, const REAL *input,
                        NAMED(mlp, loss) loss, void *self, bool add, REAL *gradient,
                        REAL *input_gradient);

/* The same in two halves, n at most `rows`. The first returns the output (n, width[layers]) in the
 * network's memory; the caller puts its gradient there, and the second takes it from there. */
REAL *NAMED(mlp, forward)(const MLP *net, const REAL *parameters, size_t n, const REAL *input);
void NAMED(mlp, backward)(const MLP *net, const REAL *parameters, size_t n, const REAL *input,
                          bool add, REAL *gradient, REAL *input_gradient);
