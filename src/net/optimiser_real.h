/* An optimiser in one precision; included by optimiser.h for each. */
typedef struct OPTIMISER {
    optimiser_settings settings;
    const device *device;
    size_t n;       /* parameters */
    uint64_t steps; /* done */
    REAL *state;    /* (2, n): m, s; zero at first */
} OPTIMISER;

/* Measures or places the state of n parameters. */
void NAMED(optimiser, lay_out)(OPTIMISER *o, arena *a, size_t n, const optimiser_settings *settings,
                               const device *on);

/* The dial of step number `steps`, from 1, of a group with this rate. */
backend_dial NAMED(optimiser, dial)(const OPTIMISER *o, double rate);
/* What a step does to parameters `at` .. at + count - 1, by a dial in memory that the device can be
 * given. */
void NAMED(optimiser, descend)(const OPTIMISER *o, size_t at, size_t count,
                               const backend_dial *dial, REAL *parameters, const REAL *gradient);
/* One step down the gradient (n). The groups follow one another and together have n parameters;
 * their rates may differ from step to step. */
void NAMED(optimiser, step)(OPTIMISER *o, const optimiser_group *groups, size_t count,
                            REAL *parameters, const REAL *gradient);
