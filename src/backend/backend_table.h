/* The table of operations in one precision; included by backend.h for each. They are called by a
 * job, or by the host when no job runs, and start no threads of their own except `adam` on many
 * parameters. The first argument is the device that they run on. A NaN that goes in comes out. */

/* c (m, n) = alpha op(a) op(b) + beta add; a is (m, k), or (k, m) when flipped; b is (k, n), or
 * (n, k) when flipped; add (m, n) stays, and is c itself when NULL. With beta = 0 it need not be
 * set. */
typedef struct PRODUCT {
    bool flip_a, flip_b;
    size_t m, n, k;
    REAL alpha, beta;
    const REAL *a, *b, *add;
    REAL *c;
} PRODUCT;

struct BATCH_NORM; /* batch_norm.h */

typedef struct BACKEND {
    void (*gemm)(const device *on, const PRODUCT *p);
    /* h (rows, cols) <- f(h + bias), bias (cols) or NULL; slope (rows, cols) = f'(h + bias), not
     * touched for the identity. */
    void (*activate)(const device *on, activation f, size_t rows, size_t cols, const REAL *bias,
                     REAL *h, REAL *slope);
    /* d (rows, cols), the gradient of f's output, becomes that of its input: d <- d slope (or as it
     * is when NULL). Its column sums go to `bias` (cols), if not NULL: bias <- beta bias + sums. */
    void (*activate_back)(const device *on, size_t rows, size_t cols, const REAL *slope, REAL *d,
                          REAL beta, REAL *bias);
    /* Batch normalisation, see batch_norm.h: y (rows, cols) becomes u, and a (rows, cols) is set.
     * parameters: shift (cols), scale (cols). running (2, cols), the averages of m and v, is moved
     * unless NULL. */
    void (*norm)(const device *on, const struct BATCH_NORM *b, size_t rows, const REAL *parameters,
                 REAL *y, REAL *a, REAL *running);
    /* From d (rows, cols) = dloss/da and u of the last norm, which becomes dy; gradient: dshift,
     * dscale. */
    void (*norm_back)(const device *on, const struct BATCH_NORM *b, size_t rows,
                      const REAL *parameters, const REAL *d, REAL *u, REAL *gradient);
    void (*fill)(const device *on, size_t n, REAL value, REAL *x);
    void (*copy)(const device *on, size_t n, const REAL *x, REAL *y);
    void (*scale)(const device *on, size_t n, REAL factor, REAL *x);
    /* y <- y + factor x */
    void (*axpy)(const device *on, size_t n, REAL factor, const REAL *x, REAL *y);
    double (*sum_squares)(const device *on, size_t n, const REAL *x);
    /* y <- factor (y - x), the gradient of factor/2 |y - x|^2; returns |y - x|^2. */
    double (*residual)(const device *on, size_t n, REAL factor, const REAL *x, REAL *y);
    /* x <- x / |x|; 0 stays */
    void (*unit)(const device *on, size_t n, REAL *x);
    /* parameters, gradient, m, s (n) */
    void (*adam)(const device *on, size_t n, const backend_adam *step, REAL *parameters,
                 const REAL *gradient, REAL *m, REAL *s);
    /* m <- keep m + gradient, u = gradient + keep m */
    void (*momentum)(const device *on, size_t n, REAL keep, const REAL *gradient, REAL *m, REAL *u);
    /* w <- (1 - rate decay) w - rate size u */
    void (*descend)(const device *on, size_t n, const backend_dial *dial, double decay, double size,
                    const REAL *u, REAL *w);
} BACKEND;
