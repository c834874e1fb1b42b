/* The loss in one precision; included by graphvae.h for each. */
typedef struct GRAPHVAE {
    graphvae_layout at;
    size_t d, D;
    const size_t *order; /* (d): the caller's */
    NETWORK encode, decode;
    NETWORK *top;      /* (d - 1) */
    REAL *z, *slope;   /* (rows, d) */
    REAL *seen, *back; /* (d - 1, rows, d), (rows, d): what top-down networks see, its slope */
    double *gate, *by; /* (d, d): c_ij at [j * d + i], its slope */
} GRAPHVAE;

/* `rows` of a batch, at most. */
void NAMED(graphvae, lay_out)(GRAPHVAE *g, arena *a, const graphvae_layout *at, const size_t *order,
                              size_t rows, const device *on);
/* Of a batch x (n, D): terms (loss and kl in nats per row) and the gradient. */
void NAMED(graphvae, loss)(const GRAPHVAE *g, const NETWORK_BATCH *b, const graphvae_drawn *drawn,
                           const x_noise_rule *noise, training_terms *terms);
