/* The layer in one precision; included by batch_norm.h for each. */
typedef struct BATCH_NORM {
    size_t cols;
    double *inverse; /* (cols): 1 / sqrt(v + e) of the last batch */
    double *sums;    /* (2, cols): scratch */
} BATCH_NORM;

void NAMED(batch_norm, lay_out)(BATCH_NORM *b, arena *a, size_t cols);

/* What the CPU has for norm and norm_back. */
void NAMED(batch_norm, forward)(const device *on, const BATCH_NORM *b, size_t rows,
                                const REAL *parameters, REAL *y, REAL *a, REAL *running);
void NAMED(batch_norm, backward)(const device *on, const BATCH_NORM *b, size_t rows,
                                 const REAL *parameters, const REAL *d, REAL *u, REAL *gradient);
