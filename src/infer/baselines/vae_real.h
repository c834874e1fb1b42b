/* The loss in one precision; included by vae.h for each. */
typedef struct VAE {
    size_t d, D;
    MLP encode, decode;
    REAL *z, *slope; /* (rows, d) */
} VAE;

/* `rows` of a batch, at most. */
void NAMED(vae, lay_out)(VAE *v, arena *a, const mlp_shape *encoder, const mlp_shape *to_x,
                         size_t rows, const device *on);
/* Of n rows x (n, D) with eps (n, d): terms (loss and kl in nats per row) and gradient
 * (parameters). */
void NAMED(vae, loss)(const VAE *v, const REAL *parameters, size_t n, const REAL *x,
                      const double *eps, const x_noise_rule *noise, training_terms *terms,
                      REAL *gradient);
