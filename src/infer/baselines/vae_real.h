/* The loss in one precision; included by vae.h for each. */
typedef struct VAE {
    size_t d, D;
    NETWORK encode, decode;
    REAL *z, *slope; /* (rows, d) */
} VAE;

/* `rows` of a batch, at most. */
void NAMED(vae, lay_out)(VAE *v, arena *a, const network_shape *encoder, const network_shape *to_x,
                         size_t rows, const device *on);
/* Of a batch x (n, D) with eps (n, d): terms (loss and kl in nats per row) and the gradient. */
void NAMED(vae, loss)(const VAE *v, const NETWORK_BATCH *b, const double *eps,
                      const x_noise_rule *noise, training_terms *terms);
