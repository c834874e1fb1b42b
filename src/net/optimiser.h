/* Adam (Kingma & Ba 2015) and AdaBelief (Zhuang et al. 2020): running means of the gradient g and
 * of its square, or of the square of its surprise,
 *
 *   m <- b1 m + (1 - b1) g,    s <- b2 s + (1 - b2) e^2 + inside,   e = g or g - m
 *   p <- p - rate m^ / (sqrt(s^) + outside),    m^ = m/(1 - b1^t),  s^ = s/(1 - b2^t)
 *
 * State is one array and a count, so a checkpoint that holds both, the parameters and the settings
 * continues bit for bit. Each parameter is updated by itself: the same bits for any thread count.
 */
#ifndef LSCM_NET_OPTIMISER_H
#define LSCM_NET_OPTIMISER_H

#include "backend/backend.h"

typedef struct optimiser_settings {
    bool belief; /* AdaBelief */
    double b1, b2;
    double inside, outside; /* the square root */
} optimiser_settings;

/* Adam: b1 = .9, b2 = .999, 1e-8 outside. */
optimiser_settings optimiser_adam(void);
/* AdaBelief as published: its epsilon, here 1e-8, is added to s at every step and again outside.
 * So s^ is at least 1e-8 (1e-5 in the long run) and gradients far below 3e-3 take small steps;
 * inside = 1e-16 is what optax does when its eps is set to 1e-8. */
optimiser_settings optimiser_adabelief(void);

/* The next `count` parameters and their learning rate. */
typedef struct optimiser_group {
    size_t count;
    double rate;
} optimiser_group;

/* optimiser_f32 or optimiser_f64 */
#define OPTIMISER TYPED(optimiser)

#include "backend/float32.h"

#include "net/optimiser_real.h"

#include "backend/float64.h"

#include "net/optimiser_real.h" /* NOLINT(readability-duplicate-include) */

#endif
