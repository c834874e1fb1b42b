/* The layer in one precision; included by batch_norm.h for each. */
typedef struct BATCH_NORM {
    size_t cols;
    double *inverse; /* (cols): 1 / sqrt(v + e) of the last batch */
    double *sums;    /* (2, cols): scratch */
} BATCH_NORM;

void NAMED(batch_norm, lay_out)(BATCH_NORM *b, arena *a, size_t cols);

/* y (rows, cols) becomes u, and a (rows, cols) is set. parameters: shift (cols), scale (cols).
 * running (2, cols), the averages of m and v, is moved unless NULL. */
void NAMED(batch_norm, forward)(const BATCH_NORM *b, size_t rows, const REAL *parameters, REAL *y,
                                REAL *a, REAL *running);
/* From d (rows, cols) = dloss/da and u of the last forward, which becomes dy; gradient: dshift,
 * dscale. */
void NAMED(batch_norm, backward)(const BATCH_NORM *b, size_t rows, const REAL *parameters,
                                 const REAL *d, REAL *u, REAL *gradient);
