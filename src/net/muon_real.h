/* The optimiser of one network in one precision; included by muon.h for each. State and count of
 * steps continue bit for bit. */
typedef struct MUON {
    muon_plan plan;
    const device *device;
    uint64_t steps; /* done */
    REAL *state;    /* (2, parameters): M, or Adam's m, of each; Adam's s */
    REAL *work;     /* of each matrix: (2, itself), then (2, its smaller side squared) */
} MUON;

void NAMED(muon, lay_out)(MUON *o, arena *a, const muon_plan *plan, const device *on);
/* Weights N(0, size^2), zero biases: size = 1/sqrt(in) of the first layer, sqrt(2/in) after a ReLU
 * or its like. Uses the whole stream. */
void NAMED(muon, draw)(const network_shape *shape, rng r, REAL *parameters);
/* The dials of step number `steps`, from 1: of matrices, and of the rest; and what a step does by
 * dials in memory that the device can be given. */
void NAMED(muon, dials)(const MUON *o, double rate, backend_dial out[MUON_DIALS]);
void NAMED(muon, descend)(const MUON *o, const backend_dial dial[MUON_DIALS], REAL *parameters,
                          const REAL *gradient);
/* One step down the gradient (parameters). */
void NAMED(muon, step)(MUON *o, double rate, REAL *parameters, const REAL *gradient);
/* X (rows, cols), not 0, becomes its orthogonal factor, roughly: singular values above about 0.0015
 * |X| land between 0.6 and 1.3, smaller ones grow 500-fold at most. work: rows cols + 2 min(rows,
 * cols)^2. */
void NAMED(muon, orthogonal)(const device *on, size_t rows, size_t cols, REAL *x, REAL *work);
