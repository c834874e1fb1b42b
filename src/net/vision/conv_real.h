/* The layer in one precision; included by conv.h for each. x, y, d, dx are maps with borders. */

/* The inside of y. weights: w, then b. */
void NAMED(conv, forward)(const conv *c, const REAL *weights, const REAL *x, REAL *y);
/* turned (9, out, in) */
void NAMED(conv, turn)(const conv *c, const REAL *weights, REAL *turned);
/* The inside of dx. */
void NAMED(conv, by_input)(const conv *c, const REAL *turned, const REAL *d, REAL *dx);
/* gradient (weights, then bias) += */
void NAMED(conv, by_weights)(const conv *c, const REAL *x, const REAL *d, REAL *gradient);
