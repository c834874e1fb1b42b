/* Seconds, and the best of several runs. */
#ifndef LSCM_BENCH_CLOCK_H
#define LSCM_BENCH_CLOCK_H

#include <time.h>

static inline double clock_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* best = the shortest of `times` runs of the statement */
#define BEST_OF(best, times, statement)                                                            \
    do {                                                                                           \
        (best) = 1e300;                                                                            \
        for (int run_ = 0; run_ < (times); run_++) {                                               \
            double begun_ = clock_now();                                                           \
            statement;                                                                             \
            double spent_ = clock_now() - begun_;                                                  \
            (best) = spent_ < (best) ? spent_ : (best);                                            \
        }                                                                                          \
    } while (0)

#endif
