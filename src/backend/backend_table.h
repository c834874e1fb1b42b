/* The table of operations in one precision; included by backend.h for each. They are called by a
 * job, or by the host when no job runs, and start no threads of their own except `adam` on many
 * parameters. A NaN that goes in comes out. */
typedef struct BACKEND {
    const backend_device *device;

    /* c (m, n) = alpha op(a) op(b) + beta c; a is (m, k), or (k, m) when flipped; b is (k, n), or
     * (n, k) when flipped. With beta = 0, c need not be set. */
    void (*gemm)(bool flip_a, bool flip_b, size_t m, size_t n, size_t k, REAL alpha, const REAL *a,
                 const REAL *b, REAL beta, REAL *c);
    /* h (rows, cols) <- f(h + bias), bias (cols) or NULL; slope (rows, cols) = f'(h + bias), not
     * touched for the identity. */
    void (*activate)(activation f, size_t rows, size_t cols, const REAL *bias, REAL *h,
                     REAL *slope);
    /* d (rows, cols), the gradient of f's output, becomes that of its input: d <- d slope (or as it
     * is when NULL). Its column sums go to `bias` (cols), if not NULL: bias <- beta bias + sums. */
    void (*activate_back)(size_t rows, size_t cols, const REAL *slope, REAL *d, REAL beta,
                          REAL *bias);
    void (*fill)(size_t n, REAL value, REAL *x);
    void (*copy)(size_t n, const REAL *x, REAL *y);
    void (*scale)(size_t n, REAL factor, REAL *x);
    /* y <- y + factor x */
    void (*axpy)(size_t n, REAL factor, const REAL *x, REAL *y);
    double (*sum_squares)(size_t n, const REAL *x);
    /* y <- factor (y - x), the gradient of factor/2 |y - x|^2; returns |y - x|^2. */
    double (*residual)(size_t n, REAL factor, const REAL *x, REAL *y);
    /* parameters, gradient, m, s (n) */
    void (*adam)(size_t n, const backend_adam *step, REAL *parameters, const REAL *gradient,
                 REAL *m, REAL *s);
} BACKEND;

extern const BACKEND TYPED(backend_cpu);
