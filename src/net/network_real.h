/* A network on a device, in one precision; included by network.h for each.
 *
 * A batch is cut into chunks of rows that go forward and back through all layers while they are in
 * a core's cache, one chunk per worker. Chunks are dealt, in order, to at most 32 partial
 * gradients, which are added up in order; how many of either depends on the batch and the network
 * only, so results are the same bits for any number of workers.
 *
 * Where a layer needs all rows of a batch, it goes through layer by layer: products are cut into
 * tiles of rows, and going back the two products of a layer are found side by side, with the same
 * promise.
 */
typedef struct NETWORK {
    network_shape shape;
    const device *device;
    bool whole;                  /* a layer needs all rows of a batch */
    size_t rows;                 /* that `forward` keeps, at most */
    size_t workers;              /* of the thread that laid it out */
    size_t chunk_least;          /* rows in a chunk of a small batch */
    size_t slots;                /* partial gradients, at most */
    REAL *value[NETWORK_LAYERS]; /* (rows held, out): h_{l+1} */
    REAL *back[NETWORK_LAYERS];  /* the same shape: its gradient, in its place where that can be */
    REAL *slope[NETWORK_LAYERS]; /* the same shape: f'; NULL for the identity */
    BATCH_NORM norm[NETWORK_LAYERS];
    REAL *partial; /* (slots - 1, parameters); the first is the caller's gradient */
} NETWORK;

/* Rows, and where their gradients go. */
typedef struct NETWORK_BATCH {
    const REAL *parameters;
    REAL *running; /* of the network; NULL: the averages stay */
    size_t n;
    const REAL *input;    /* (n, in) */
    REAL *gradient;       /* (parameters), or NULL: forward only */
    bool add;             /* to the gradient; else it is set. Not with norms */
    REAL *input_gradient; /* (n, in), set; or NULL */
} NETWORK_BATCH;

/* Measures or places the scratch. `rows` is the largest batch given to `forward`, 0 when only
 * `pass` is used, which takes any number of rows where no layer needs them all at once. */
void NAMED(network, lay_out)(NETWORK *net, arena *a, const network_shape *shape, size_t rows,
                             const device *on);

/* Parameters, and averages (NULL where there are none), where the layers begin (layer_body.h); uses
 * the whole stream. Equal in both precisions, but for the rounding. */
void NAMED(network, draw)(const network_shape *shape, rng r, REAL *parameters, REAL *running);
/* The same with a stream for each matrix, r.stream + k 2^32 for the k-th. */
void NAMED(network, draw_apart)(const network_shape *shape, rng r, REAL *parameters, REAL *running);

/* Called for rows first .. first + n - 1 with y (n, out), the output; replaces it by the gradient
 * of the loss with respect to it, and returns their part of the loss. Calls for different rows come
 * at the same time from several threads. */
typedef double (*NAMED(network, loss))(void *self, size_t first, size_t n, REAL *y);

/* Forward, loss and back; returns the sum of the losses. Without a gradient the output is `loss`'s
 * to use. */
double NAMED(network, pass)(const NETWORK *net, const NETWORK_BATCH *b, NAMED(network, loss) loss,
                            void *self);

/* The same in two halves, n at most `rows`. The first returns the output (n, out) in the network's
 * memory; the caller puts its gradient there, and the second takes it from there. */
REAL *NAMED(network, forward)(const NETWORK *net, const NETWORK_BATCH *b);
void NAMED(network, backward)(const NETWORK *net, const NETWORK_BATCH *b);

/* The parameters of network_plain that the network has with its averages for statistics. */
void NAMED(network, fold)(const network_shape *shape, const REAL *parameters, const REAL *running,
                          REAL *plain);
