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

/* One step down the gradient (n). The groups follow one another and together have n parameters;
 * their rates may differ from step to step. */
void NAMED(optimiser, step)(OPTIMISER *o, const optimiser_group *groups, size_t count,
                            REAL *parameters, const REAL *gradient);
