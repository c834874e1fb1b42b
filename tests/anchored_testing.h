/* Settings, and what every result of the anchored method must be, for its tests. */
#ifndef LSCM_TESTS_ANCHORED_TESTING_H
#define LSCM_TESTS_ANCHORED_TESTING_H

#include "infer/anchored/anchored.h"
#include "infer/encoder/encoder.h"

#include "testing.h"

static lscm_error why;

static inline lscm_fit_settings defaults(void)
{
    lscm_fit_settings s;
    lscm_settings_defaults(lscm_fit_table(), &s);
    return s;
}

static inline void assert_finite(const double *x, size_t count)
{
    for (size_t k = 0; k < count && x != NULL; k++) {
        assert_true(isfinite(x[k]));
    }
}

/* Nothing that could reach a file is NaN; draws follow their orders. */
static inline void check_finite(const anchored *a, const linear_view *s)
{
    size_t d = a->d;
    size_t n = a->rank + 1;
    double *z = calloc(2 * s->rows * d + d * (s->D + 1) + s->D, sizeof *z);
    double *weights = z + 2 * s->rows * d;
    assert_non_null(z);
    assert_finite(a->unit, d);
    assert_finite(a->z, a->rows * d);
    assert_finite(a->shift, d);
    assert_finite(a->slope, a->rank * d);
    assert_finite(a->spread, d * n * n);
    assert_finite(a->w, a->draws * d * d);
    assert_finite(a->sigma, a->draws * d);
    assert_finite(a->intercept, a->draws * d);
    assert_finite(a->log_p, a->draws);
    assert_finite(a->log_q, a->draws);
    assert_finite(a->edge_prob, d * d);
    assert_finite(a->anchor.standard_error, d);
    assert_true(isfinite(a->r_hat) && isfinite(a->ess) && a->dispersion >= 1);
    for (size_t k = 0; k < a->draws * d; k++) {
        assert_true(a->sigma[k] > 0 && a->order[k] < d);
    }
    for (size_t e = 0; e < d * d; e++) {
        assert_true(a->edge_prob[e] >= 0 && a->edge_prob[e] <= 1 + 1e-9);
    }
    encoder_z(s, a, z, z + s->rows * d);
    if (s->basis != NULL) {
        assert_ok(encoder_invert(s, a, weights, weights + d * s->D, &why));
    }
    assert_finite(z, 2 * s->rows * d + d * (s->D + 1) + s->D);
    free(z);
}

#endif
